//! Files, read one after the other, or side by side.

mod part;

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::Bytes;

use super::column::Wanted;
use super::files::{bytes_on_disk, expand, is_standard_input, name, total_bytes, unreadable};
use super::format::advice_to_unpack;
use super::header::seems_header;
use super::sink::{Sink, Tally};
use super::stream::{Counted, Stream};
use super::whole_lines::WholeLines;
use super::{Delimiter, Event, Format, Packing, Selection, csv, jsonl, parquet, pattern, text, tsv};
use crate::failure::{Failure, Result};
use crate::units::grouped;
use crate::warnings::tell;
pub use part::Part;

/// The events of some files.
pub struct Source {
    files: Vec<Layout>,
    selection: Selection,
    bytes_read: Rc<Cell<u64>>,
    total_bytes: Option<u64>,
    found: Found,
    /// Whether it was said that a first line seems to name the columns.
    is_advised: bool,
    /// What was last said about a file.
    announced: String,
    quiet: bool,
}

/// What there is to say about files once they are read.
#[derive(Default)]
pub struct Found {
    tally: Tally,
    /// Whether one of them has lines with columns.
    is_delimited: bool,
    /// Those without a byte.
    empty: Vec<String>,
    /// One whose last line has no end, and was left out.
    cut: Option<String>,
}

/// How a file is to be read.
struct Layout {
    file: PathBuf,
    format: Format,
    /// From the outside in.
    packings: Vec<Packing>,
}

impl Layout {
    fn of(file: PathBuf, selection: &Selection) -> Result<Self> {
        let format = Format::of(&file, selection);
        Ok(Self {
            format: format.map_err(|wrong| format!("{}: {wrong}", name(&file)))?,
            packings: match selection.packing {
                Some(Packing::None) => Vec::new(),
                Some(packing) => vec![packing],
                None => Packing::of_name(&file),
            },
            file,
        })
    }

    /// In words.
    fn text(&self, selection: &Selection) -> String {
        let mut text = self.format.name().to_owned();
        if self.is_delimited() && selection.has_header() {
            text.push_str(" with a header");
        }
        for packing in &self.packings {
            text = format!("{text}, {}", packing.name());
        }
        text
    }

    fn is_delimited(&self) -> bool {
        matches!(self.format, Format::Csv | Format::Tsv)
    }
}

impl Source {
    /// The files as given on the command line: names, patterns, `-`; none for standard input. How they are to be
    /// read is settled here, before anything is.
    pub fn new(files: &[PathBuf], selection: Selection) -> Result<Self> {
        let files = expand(files)?;
        Ok(Self {
            total_bytes: total_bytes(&files),
            ..Self::of(
                files
                    .into_iter()
                    .map(|file| Layout::of(file, &selection))
                    .collect::<Result<_>>()?,
                selection,
            )
        })
    }

    fn of(files: Vec<Layout>, selection: Selection) -> Self {
        Self {
            files,
            selection,
            bytes_read: Rc::default(),
            total_bytes: None,
            found: Found::default(),
            is_advised: false,
            announced: String::new(),
            quiet: false,
        }
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

    /// Says nothing about the files: they are read again.
    pub fn quietly(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// The files, as they are found.
    pub fn files(&self) -> Vec<&Path> {
        self.files.iter().map(|layout| layout.file.as_path()).collect()
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

    /// Calls `visit` for every event, in order.
    pub fn for_each(&mut self, visit: impl FnMut(Event<'_>) -> Result<()>) -> Result<()> {
        self.for_each_and_pause(visit, || Ok(()))
    }

    /// The same, and calls `pause` before it reads on, which may take as long as it likes to come.
    pub fn for_each_and_pause(
        &mut self,
        visit: impl FnMut(Event<'_>) -> Result<()>,
        pause: impl FnMut() -> io::Result<()>,
    ) -> Result<()> {
        self.read_all(visit, pause)?;
        self.check_times()
    }

    /// The same, but for events for which there is no time to be had.
    pub fn read_all(
        &mut self,
        mut visit: impl FnMut(Event<'_>) -> Result<()>,
        mut pause: impl FnMut() -> io::Result<()>,
    ) -> Result<()> {
        for layout in std::mem::take(&mut self.files) {
            if let Some(cut) = &self.found.cut {
                return Err(Failure::Message(format!(
                    "the last line of {cut} has no end, and other files follow it: end it, or say with --whole that the files are complete"
                )));
            }
            let before = self.bytes_read.get();
            self.read(&layout, &mut visit, &mut pause)?;
            if let Some(bytes) = bytes_on_disk(&layout.file) {
                self.bytes_read.set(before + bytes);
            }
        }
        Ok(())
    }

    fn check_times(&self) -> Result<()> {
        let tally = &self.found.tally;
        match (&self.selection.time, &tally.first) {
            // Of people it is told, and released all the same: one of them may be all that there is.
            _ if self.selection.user.is_some() => Ok(()),
            (Some(time), Some(first)) if tally.waiting > 0 => Err(Failure::Message(format!(
                "no event has a time: is --time {} right? The first is in {first}",
                time.text()
            ))),
            _ => Ok(()),
        }
    }

    /// Whether some of it may come only as time goes by.
    pub fn is_live(&self) -> bool {
        self.files.iter().any(|layout| is_standard_input(&layout.file))
    }

    /// What the operator should know about the events, once they are read.
    pub fn notes(&self) -> Vec<String> {
        let notes = [
            self.unreadable(),
            self.without_users(),
            self.empty_files(),
            self.sorted_by_path(),
            self.repeated_headers(),
            self.cut(),
        ];
        notes.into_iter().flatten().collect()
    }

    fn unreadable(&self) -> Option<String> {
        let first = self.found.tally.first.as_ref()?;
        let headless = first.number == 1 && self.found.is_delimited && !self.selection.has_header();
        let advice = if headless {
            "; if it names the columns, use --header"
        } else {
            ""
        };
        Some(format!(
            "{} of {} events could not be read and have no key; the first is in {first}{advice}",
            grouped(self.found.tally.unreadable),
            grouped(self.found.tally.events)
        ))
    }

    fn cut(&self) -> Option<String> {
        let name = self.found.cut.as_ref()?;
        Some(format!(
            "the last line of {name} has no end, so it was left out: give all of it again when it has one, under the same name or --id, and what was taken is \
             passed over; if it is complete as it is say so, with --whole"
        ))
    }

    /// Where no event has a user, the column is what is wrong.
    fn without_users(&self) -> Option<String> {
        let user = self.selection.user.as_ref()?;
        let tally = &self.found.tally;
        (tally.events > 0 && tally.with_user == 0).then(|| {
            format!(
                "warning: none of the events has a user: is --user {} right?",
                user.text()
            )
        })
    }

    fn empty_files(&self) -> Option<String> {
        match &self.found.empty[..] {
            [] => None,
            [only] => Some(format!("warning: {only} is empty")),
            [first, ..] => Some(format!(
                "warning: {} files are empty; the first is {first}",
                self.found.empty.len()
            )),
        }
    }

    fn sorted_by_path(&self) -> Option<String> {
        (self.found.tally.key_of_path && !self.selection.by_clock).then(|| {
            "warning: the key is part of the paths, so the files are sorted by it, and a window by count is not private then: take a window by time"
                .to_owned()
        })
    }

    fn repeated_headers(&self) -> Option<String> {
        match self.found.tally.repeated_headers {
            0 => None,
            1 => Some("1 line repeats the header; it counts as an event without a key".to_owned()),
            lines => Some(format!(
                "{} lines repeat the header; each counts as an event without a key",
                grouped(lines)
            )),
        }
    }

    fn read(
        &mut self,
        layout: &Layout,
        visit: &mut dyn FnMut(Event<'_>) -> Result<()>,
        pause: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<()> {
        let Layout {
            file,
            format,
            packings,
        } = layout;
        let name = name(file);
        let before = self.bytes_read.get();
        let broken = |cause: io::Error| unreadable(&name, &cause);
        let raw = Counted {
            reader: open(file).map_err(broken)?,
            bytes: self.bytes_read(),
            pause,
        };
        let mut stream = Stream::new(raw, packings, self.selection.live).map_err(broken)?;
        let cut = Rc::<Cell<bool>>::default();
        if self.selection.whole_lines && packings.is_empty() && *format != Format::Parquet {
            stream.reader = Box::new(BufReader::new(WholeLines::new(stream.reader, Rc::clone(&cut))));
        }
        self.announce(&name, layout, &stream);
        if stream.head.is_empty() && !is_standard_input(file) {
            if *format == Format::Parquet {
                return Err(Failure::Message(format!(
                    "{name} is empty, so it is no Parquet file: write it again"
                )));
            }
            self.found.empty.push(name.clone());
        }
        let mut sink = Sink {
            file: &name,
            unit: format.unit(),
            by_clock: self.selection.by_clock,
            live: self.selection.live,
            show_input: self.selection.show_input,
            tally: &mut self.found.tally,
            visit,
        };
        match (format, bytes_on_disk(file), self.selection.wanted(file)) {
            (Format::Parquet, Some(bytes), Some(wanted)) if packings.is_empty() => {
                let file = File::open(file).map_err(broken)?;
                let progress = |share: f64| self.bytes_read.set(before + (bytes as f64 * share) as u64);
                parquet::read(file, &wanted, &progress, &mut sink)
            }
            (_, _, wanted) => read_stream(stream, *format, wanted, &self.selection, &mut sink),
        }?;
        if cut.get() {
            self.found.cut = Some(name);
        }
        Ok(())
    }

    /// Says how a file is read where a person looks at it, unless it was just said, and what its first bytes
    /// suggest against that.
    fn announce(&mut self, name: &str, layout: &Layout, stream: &Stream<'_>) {
        if self.quiet {
            return;
        }
        let text = layout.text(&self.selection);
        self.found.is_delimited |= layout.is_delimited();
        if io::stderr().is_terminal() && text != self.announced {
            tell(format_args!("reading {name} as {text}"));
            self.announced = text;
        }
        if layout.is_delimited() && !self.selection.has_header() && !self.is_advised {
            self.advise_header(name, layout.format, &stream.head);
        }
        // What is packed may look like anything else besides.
        let unpack = advice_to_unpack(&stream.head).filter(|_| self.selection.packing.is_none());
        if let Some(advice) = unpack.or_else(|| layout.format.advice(&stream.head)) {
            tell(format_args!(
                "warning: {name} is read as {}, but {advice}",
                layout.format.name()
            ));
        }
    }

    /// Says that a first line seems to name the columns, where no time in it tells so anyway.
    fn advise_header(&mut self, name: &str, format: Format, head: &[u8]) {
        let usual = match format {
            Format::Tsv => Delimiter::TAB,
            _ => Delimiter::COMMA,
        };
        let delimiter = self.selection.delimiter.unwrap_or(usual);
        if self.selection.time.is_none() && seems_header(head, delimiter) {
            self.is_advised = true;
            tell(format_args!(
                "warning: the first line of {name} seems to name the columns, but counts as an event: if it names them, use --header"
            ));
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

/// Reads a whole stream in a format; text has no columns but those of a pattern.
pub fn read_stream(
    mut stream: Stream<'_>,
    format: Format,
    wanted: Option<Wanted>,
    selection: &Selection,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let reader = &mut *stream.reader;
    let Some(wanted) = wanted else {
        return text::read(reader, sink);
    };
    match format {
        Format::Text => match &selection.pattern {
            Some(pattern) => pattern::read(reader, pattern, &wanted, sink),
            None => text::read(reader, sink),
        },
        Format::Csv if selection.multiline => csv::read_multiline(reader, &wanted, sink),
        Format::Csv => csv::read(reader, &wanted, sink),
        Format::Tsv => tsv::read(reader, &wanted, sink),
        Format::Jsonl => jsonl::read(reader, &wanted, sink),
        Format::Parquet => {
            let mut bytes = Vec::new();
            reader
                .read_to_end(&mut bytes)
                .map_err(|cause| sink.broken(cause))?;
            parquet::read(Bytes::from(bytes), &wanted, &|_| (), sink)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::super::Column;
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

    /// What is read from a file of this name, as text.
    fn read(name: &str, content: &str, selection: Selection) -> Result<(Vec<[String; 3]>, Vec<String>)> {
        let folder = std::env::temp_dir().join(format!("frostpane-users-{}", std::process::id()));
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        let mut events = Vec::new();
        let mut source = Source::new(from_ref(&file), selection)?;
        let outcome = source.for_each(|event| {
            let text = |bytes: Option<&[u8]>| {
                bytes.map_or("none".to_owned(), |bytes| {
                    String::from_utf8(bytes.to_vec()).unwrap()
                })
            };
            let time = event.time.map(|time| time.to_string().into_bytes());
            events.push([text(time.as_deref()), text(event.user), text(event.key)]);
            Ok(())
        });
        std::fs::remove_file(&file).unwrap();
        outcome.map(|()| (events, source.notes()))
    }

    fn columns([key, time, user]: [&str; 3]) -> Selection {
        let column = |text: &str| Some(Column::new(text).unwrap());
        Selection {
            key: column(key),
            time: column(time),
            user: column(user),
            by_clock: true,
            ..Selection::default()
        }
    }

    /// Somebody, somebody else, nobody; and what cannot be read, or has no time, is nobody's.
    #[test]
    fn the_same_users_are_read_in_every_format_of_lines() {
        let expected = [
            ["1000000", "17", "elm"],
            ["2000000", "ann", "none"],
            ["3000000", "none", "oak"],
            ["3000000", "none", "none"],
            ["3000000", "none", "none"],
            ["4000000", "17", "ash"],
        ]
        .map(|event| event.map(str::to_owned));
        let csv = "at,who,tree\n1,\"17\",elm\n2,ann,\n3,,oak\nnoon,ann,oak\n3,\"ann\n4,17,ash\n";
        let tsv = "1\t17\telm\n2\tann\t\n3\t\toak\nnoon\tann\toak\n3\tann\n4\t17\tash\n";
        let jsonl = [
            r#"{"at": 1, "who": {"id": 17}, "tree": "elm"}"#,
            r#"{"at": 2, "who": {"id": "ann"}}"#,
            r#"{"at": 3, "tree": "oak"}"#,
            r#"{"at": "noon", "who": {"id": "ann"}, "tree": "oak"}"#,
            r#"{"at": 3, "who": {"id": "ann"}, "tree": "oak""#,
            r#"{"at": 4, "who": {"id": "17"}, "tree": "ash"}"#,
        ];
        let log = "1 17 said elm\n2 ann said \n3  said oak\nnoon ann said oak\n3 ann sang\n4 17 said ash\n";
        let pattern = r"^(?<at>\w*) (?<who>\w*) said (?<tree>.*)$".parse().unwrap();
        let named = columns(["tree", "at", "who"]);
        let several_lines =
            "at;who;tree\n1;17;elm\n2;\"ann\";\n3;;oak\nnoon;ann;\"oak\nelm\"\n3;ann\n4;17;ash\n";
        for (name, content, selection) in [
            ("a.csv", csv, named.clone()),
            (
                "b.csv",
                several_lines,
                Selection {
                    multiline: true,
                    ..named.clone()
                },
            ),
            ("c.tsv", tsv, columns(["3", "1", "2"])),
            ("d.jsonl", &jsonl.join("\n"), columns(["tree", "at", "who.id"])),
            (
                "e.log",
                log,
                Selection {
                    pattern: Some(pattern),
                    ..named
                },
            ),
        ] {
            assert_eq!(read(name, content, selection).unwrap().0, expected, "{name}");
        }
    }

    #[test]
    fn a_user_may_stand_in_the_path_of_every_format() {
        let selection = || columns(["tree", "at", "who"]);
        for (name, content) in [
            ("who=ann%20b/a.csv", "at,tree\n1,elm\n"),
            ("who=ann%20b/a.tsv", "at\ttree\n1\telm\n"),
            ("who=ann%20b/a.jsonl", "{\"at\": 1, \"tree\": \"elm\"}\n"),
        ] {
            let (events, _) = read(name, content, selection()).unwrap();
            assert_eq!(events, [["1000000", "ann b", "elm"]], "{name}");
        }
        let null = "who=__HIVE_DEFAULT_PARTITION__/a.csv";
        let (events, notes) = read(null, "at,tree\n1,elm\n", selection()).unwrap();
        assert_eq!(events, [["1000000", "none", "elm"]]);
        assert_eq!(
            notes,
            ["warning: none of the events has a user: is --user who right?"]
        );
    }

    /// Where times are private, none decides how others are read.
    #[test]
    fn with_users_the_first_time_of_a_file_decides_nothing() {
        for first in ["1700000000", "20251001"] {
            let content = format!("{first},ann,elm\n20251002,bob,oak\n");
            let (events, _) = read("first.csv", &content, columns(["3", "1", "2"])).unwrap();
            assert_eq!(events[1], ["1759363200000000", "bob", "oak"], "after {first}");
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
