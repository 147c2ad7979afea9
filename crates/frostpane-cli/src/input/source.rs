//! Files, read one after the other.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;

use super::column::Wanted;
use super::files::{bytes_on_disk, expand, is_standard_input, name, total_bytes};
use super::format::Guess;
use super::sink::{Sink, Tally};
use super::stream::{Counted, Stream};
use super::{Event, Format, Selection, csv, jsonl, parquet, text, tsv};
use crate::failure::Result;
use crate::text::printable;
use crate::units::grouped;
use crate::warnings::tell;

/// The events of some files.
pub struct Source {
    files: Vec<PathBuf>,
    selection: Selection,
    bytes_read: Rc<Cell<u64>>,
    total_bytes: Option<u64>,
    tally: Tally,
    /// What was last said about a file.
    announced: String,
}

impl Source {
    /// The files as given on the command line: names, patterns, `-`; none for standard input.
    pub fn new(files: &[PathBuf], selection: Selection) -> Result<Self> {
        let files = expand(files)?;
        Ok(Self {
            total_bytes: total_bytes(&files),
            files,
            selection,
            bytes_read: Rc::default(),
            tally: Tally::default(),
            announced: String::new(),
        })
    }

    /// The lines of a text file, each of them a key.
    pub fn lines(file: &Path) -> Result<Self> {
        let format = Some(Format::Text);
        Self::new(
            &[file.to_owned()],
            Selection {
                format,
                ..Selection::default()
            },
        )
    }

    /// How many bytes of the files, as they are on disk, have been read so far: to be looked at while
    /// reading.
    pub fn bytes_read(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.bytes_read)
    }

    /// How many bytes there are to read, unless one of the files is a pipe.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// Calls `visit` for every event, in order. A message that it returns is taken as a fault of the line.
    pub fn for_each(&mut self, mut visit: impl FnMut(Event<'_>) -> Result<()>) -> Result<()> {
        for file in self.files.clone() {
            let before = self.bytes_read.get();
            self.read(&file, &mut visit)?;
            if let Some(bytes) = bytes_on_disk(&file) {
                self.bytes_read.set(before + bytes);
            }
        }
        Ok(())
    }

    /// What the operator should know about the events, once they are read.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.tally.skipped > 0 {
            let lines = if self.tally.skipped == 1 { "line" } else { "lines" };
            notes.push(format!(
                "{} {lines} could not be read and {} left out",
                grouped(self.tally.skipped),
                if self.tally.skipped == 1 { "was" } else { "were" }
            ));
        }
        if let (1.., 0, Some(key)) = (self.tally.events, self.tally.with_key, &self.selection.key) {
            notes.push(format!(
                "none of the events has a key: is --key {} right?",
                key.text()
            ));
        }
        notes
    }

    fn read(&mut self, file: &Path, visit: &mut dyn FnMut(Event<'_>) -> Result<()>) -> Result<()> {
        let name = name(file);
        let before = self.bytes_read.get();
        let unreadable = |cause: io::Error| format!("cannot read {name}: {cause}");
        let raw = Counted {
            reader: open(file).map_err(unreadable)?,
            bytes: self.bytes_read(),
        };
        let stream = Stream::new(raw, self.selection.live).map_err(unreadable)?;
        let format = self.format(file, &stream)?;
        let mut sink = Sink {
            file: &name,
            skip_bad_lines: self.selection.skip_bad_lines,
            tally: &mut self.tally,
            visit,
        };
        match (format, bytes_on_disk(file), self.selection.wanted()) {
            (Format::Parquet, Some(bytes), Some(wanted)) if stream.packings.is_empty() => {
                let file = File::open(file).map_err(unreadable)?;
                let progress = |share: f64| self.bytes_read.set(before + (bytes as f64 * share) as u64);
                parquet::read(file, &wanted, &progress, &mut sink)
            }
            (format, _, wanted) => read_stream(stream, format, wanted, &mut sink),
        }
    }

    fn format(&mut self, file: &Path, stream: &Stream<'_>) -> Result<Format> {
        if let Some(format) = self.selection.format {
            return Ok(format);
        }
        let name = name(file);
        if let Some(fault) = Format::foreign(&stream.head) {
            return Err(format!("cannot read {name}: {fault}").into());
        }
        let guess = Format::guess(file, &stream.head, self.selection.key.is_some());
        self.announce(&name, guess, stream);
        Ok(guess.format)
    }

    /// Says what a file is taken for, where a person looks at it or where it could be wrong, unless it was
    /// just said.
    fn announce(&mut self, name: &str, guess: Guess, stream: &Stream<'_>) {
        let delimited = matches!(guess.format, Format::Csv | Format::Tsv);
        let headed = delimited && self.selection.wanted().is_some_and(|wanted| wanted.has_header());
        let mut text = guess.format.name().to_owned();
        if headed {
            text.push_str(" with a header");
        }
        for packing in &stream.packings {
            text = format!("{text}, {}", packing.name());
        }
        if (guess.from_content || io::stderr().is_terminal()) && text != self.announced {
            tell(format_args!("reading {name} as {text}"));
            self.announced = text;
        }
    }
}

fn open(file: &Path) -> io::Result<Box<dyn Read>> {
    if !is_standard_input(file) {
        return Ok(Box::new(File::open(file)?));
    }
    if io::stdin().is_terminal() {
        tell("reading from the terminal, one event a line; end with Ctrl-D");
    }
    Ok(Box::new(io::stdin().lock()))
}

/// Reads a whole stream in a format.
pub fn read_stream(
    mut stream: Stream<'_>,
    format: Format,
    wanted: Option<Wanted>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let reader = &mut *stream.reader;
    match (format, wanted) {
        (Format::Text, None) => text::read(reader, sink),
        (Format::Csv, Some(wanted)) => csv::read(reader, &wanted, sink),
        (Format::Tsv, Some(wanted)) => tsv::read(reader, &wanted, sink),
        (Format::Jsonl, Some(wanted)) => jsonl::read(reader, &wanted, sink),
        (Format::Parquet, Some(wanted)) => {
            let mut bytes = Vec::new();
            reader
                .read_to_end(&mut bytes)
                .map_err(|cause| sink.unreadable(cause))?;
            parquet::read(Bytes::from(bytes), &wanted, &|_| (), sink)
        }
        (Format::Text, Some(_)) => Err(sink
            .unfit("text has no columns: leave out --key and --time, or give another --format".to_owned())),
        (format, None) => Err(sink.unfit(without_key(format, &stream.head))),
    }
}

fn without_key(format: Format, head: &[u8]) -> String {
    let advice = format!(
        "this is {}: say which column holds the key, with --key",
        format.name()
    );
    if format == Format::Parquet {
        return advice;
    }
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line.trim_ascii_end());
    format!(
        "{advice}, or take whole lines with --format text; the first one is {}",
        printable(&line)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_up_to_their_total() {
        let file = |name: &str| std::env::temp_dir().join(format!("frostpane-{}-{name}", std::process::id()));
        let (text, packed) = (file("a.txt"), file("b.txt.zst"));
        let lines = b"elm\n".repeat(1 << 20);
        std::fs::write(&text, &lines).unwrap();
        std::fs::write(&packed, zstd::encode_all(lines.as_slice(), 1).unwrap()).unwrap();
        let mut source = Source::new(&[text.clone(), packed.clone()], Selection::default()).unwrap();
        let total = source.total_bytes().unwrap();
        let (read, mut last, mut steps) = (source.bytes_read(), 0, 0);
        source
            .for_each(|_| {
                assert!(read.get() >= last && read.get() <= total);
                steps += u32::from(read.get() > last);
                last = read.get();
                Ok(())
            })
            .unwrap();
        assert_eq!(read.get(), total);
        assert!(steps > 10, "{steps}");
        for file in [text, packed] {
            std::fs::remove_file(file).unwrap();
        }
    }

    #[test]
    fn a_pipe_has_no_total() {
        assert_eq!(
            Source::new(&[], Selection::default()).unwrap().total_bytes(),
            None
        );
    }
}
