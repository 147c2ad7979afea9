//! Files, read one after the other, or side by side.

mod files;
mod part;

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::EventRef;
use crate::compression::Compression;
use crate::error::{Error, Halt, Result, visiting};
use crate::schema::{ColumnSelection, Delimiter, Format, Schema, advice_to_unpack, seems_header};
use crate::sink::{EventSink, ReadTally};
use crate::stream::{BYTE_ORDER_MARK, ByteStream, Counted, WholeLines};
use crate::{csv, json, pattern};
use files::{bytes_on_disk, expand, is_standard_input, name};
pub use files::{nearest, unreadable};
pub use part::FilePart;

/// The events of some files.
pub struct Source {
    files: Vec<FileLayout>,
    /// The columns and the format.
    pub schema: Schema,
    bytes_read: Rc<Cell<u64>>,
    /// The number of bytes to read, unless one of the files is a pipe.
    pub total_bytes: Option<u64>,
    /// Facts about the files that have been read.
    pub report: ReadReport,
    /// The operator was told that a first line seems to name the columns.
    is_advised: bool,
    announced: String,
}

/// Facts about files that were read.
#[derive(Debug, Default)]
pub struct ReadReport {
    /// Numbers of events.
    pub tally: ReadTally,
    /// One of the files has lines with columns.
    pub is_delimited: bool,
    /// The files without events.
    empty: Vec<String>,
    /// A file whose last line has no end, and was left out.
    pub cut: Option<String>,
}

impl ReadReport {
    /// Says which files have no events, for the operator.
    pub fn without_events(&self) -> Option<String> {
        match &self.empty[..] {
            [] => None,
            [only] => Some(format!("{only} has no events")),
            [first, ..] => Some(format!("{} files have no events; the first is {first}", self.empty.len())),
        }
    }
}

struct FileLayout {
    file: PathBuf,
    format: Format,
    /// From the outside in.
    compressions: Vec<Compression>,
}

impl FileLayout {
    fn of(file: PathBuf, schema: &Schema) -> Result<Self, Error> {
        let format = Format::of(&file, schema);
        Ok(Self {
            format: format.map_err(|wrong| Error::Input(format!("{}: {wrong}", name(&file))))?,
            compressions: match schema.compression {
                Some(Compression::None) => Vec::new(),
                Some(compression) => vec![compression],
                None => Compression::of_name(&file),
            },
            file,
        })
    }

    fn text(&self, schema: &Schema) -> String {
        let mut text = self.format.name().to_owned();
        if self.is_delimited() && schema.has_header() {
            text.push_str(" with a header");
        }
        for compression in &self.compressions {
            text = format!("{text}, {}", compression.name());
        }
        text
    }

    fn is_delimited(&self) -> bool {
        matches!(self.format, Format::Csv | Format::Tsv)
    }
}

impl Source {
    /// The files as given on the command line: names, patterns, `-`; none for standard input. How they are to
    /// be read is settled here, before anything is.
    pub fn new(files: &[PathBuf], schema: Schema) -> Result<Self, Error> {
        let files = expand(files)?;
        let total_bytes = files.iter().map(|file| bytes_on_disk(file)).sum();
        let layouts = files.into_iter().map(|file| FileLayout::of(file, &schema));
        Ok(Self { total_bytes, ..Self::of(layouts.collect::<Result<_, _>>()?, schema) })
    }

    fn of(files: Vec<FileLayout>, schema: Schema) -> Self {
        Self {
            files,
            schema,
            bytes_read: Rc::default(),
            total_bytes: None,
            report: ReadReport::default(),
            is_advised: false,
            announced: String::new(),
        }
    }

    /// The files, as they are found.
    pub fn files(&self) -> Vec<&Path> {
        self.files.iter().map(|layout| layout.file.as_path()).collect()
    }

    /// The number of bytes on disk that have been read so far: to be looked at while reading.
    pub fn bytes_read(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.bytes_read)
    }

    /// Returns true if some of it may come only as time goes by.
    pub fn is_live(&self) -> bool {
        self.files.iter().any(|layout| is_standard_input(&layout.file))
    }

    /// Calls `visit` for every event, in order.
    pub fn for_each<E: From<Error>>(
        &mut self,
        visit: impl FnMut(EventRef<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_and_pause(visit, || Ok(()))
    }

    /// Calls `visit` for every event, in order, and `pause` before it reads on, which may take any time.
    pub fn for_each_and_pause<E: From<Error>>(
        &mut self,
        visit: impl FnMut(EventRef<'_>) -> Result<(), E>,
        pause: impl FnMut() -> io::Result<()>,
    ) -> Result<(), E> {
        self.read_all(visit, pause)?;
        Ok(self.check_times()?)
    }

    /// Like [`Self::for_each_and_pause`], but does not refuse files of which no event has a time.
    pub fn read_all<E: From<Error>>(
        &mut self,
        visit: impl FnMut(EventRef<'_>) -> Result<(), E>,
        mut pause: impl FnMut() -> io::Result<()>,
    ) -> Result<(), E> {
        visiting(visit, |visit| {
            for layout in std::mem::take(&mut self.files) {
                if let Some(cut) = &self.report.cut {
                    return Err(Halt::from(format!(
                        "the last line of {cut} has no end, and other files follow it: end it, or say with --whole that the files are complete"
                    )));
                }
                let before = self.bytes_read.get();
                self.read(&layout, visit, &mut pause)?;
                if let Some(bytes) = bytes_on_disk(&layout.file) {
                    self.bytes_read.set(before + bytes);
                }
            }
            Ok(())
        })
    }

    fn check_times(&self) -> Result<(), Error> {
        let tally = &self.report.tally;
        match (&self.schema.time, &tally.first) {
            // With users the operator is told, and the list is released: one event may be all that there is.
            _ if self.schema.user.is_some() => Ok(()),
            (Some(time), Some(first)) if tally.waiting > 0 => Err(Error::Input(format!(
                "no event has a time: is --time {} right? The first is in {first}",
                time.text()
            ))),
            _ => Ok(()),
        }
    }

    fn read(
        &mut self,
        layout: &FileLayout,
        visit: &mut dyn FnMut(EventRef<'_>) -> Result<()>,
        pause: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<()> {
        let FileLayout { file, format, compressions } = layout;
        let name = name(file);
        #[cfg(feature = "parquet")]
        let before = self.bytes_read.get();
        let broken = |cause: io::Error| unreadable(&name, &cause);
        let raw = Counted {
            reader: open(file, self.schema.tell).map_err(broken)?,
            bytes: self.bytes_read(),
            pause,
        };
        let mut stream = ByteStream::new(raw, compressions, self.schema.live).map_err(broken)?;
        let cut = Rc::<Cell<bool>>::default();
        if self.schema.whole_lines && compressions.is_empty() && *format != Format::Parquet {
            stream.reader = Box::new(BufReader::new(WholeLines::new(stream.reader, Rc::clone(&cut))));
        }
        self.announce(&name, layout, &stream);
        if stream.head.is_empty() && !is_standard_input(file) && *format == Format::Parquet {
            return Err(format!("{name} is empty, so it is no Parquet file: write it again").into());
        }
        let tally = &mut self.report.tally;
        let events = tally.read();
        let mut sink = EventSink { file: &name, unit: format.unit(), schema: &self.schema, tally, visit };
        match (format, bytes_on_disk(file), self.schema.selection(file)) {
            #[cfg(feature = "parquet")]
            (Format::Parquet, Some(bytes), Some(selection)) if compressions.is_empty() => {
                let file = File::open(file).map_err(broken)?;
                let progress = |share: f64| self.bytes_read.set(before + (bytes as f64 * share) as u64);
                crate::parquet::read(file, &selection, &progress, &mut sink)
            }
            (_, _, selection) => read_stream(stream, *format, selection, &mut sink),
        }?;
        if cut.get() {
            self.report.cut = Some(name);
        } else if self.report.tally.read() == events {
            self.report.empty.push(name);
        }
        Ok(())
    }

    /// Says how a file is read where a person looks at it, unless it was just said, and what its first bytes
    /// suggest against that.
    fn announce(&mut self, name: &str, layout: &FileLayout, stream: &ByteStream<'_>) {
        let text = layout.text(&self.schema);
        self.report.is_delimited |= layout.is_delimited();
        if io::stderr().is_terminal() && text != self.announced {
            (self.schema.tell)(format_args!("reading {name} as {text}"));
            self.announced = text;
        }
        if layout.is_delimited() && !self.schema.has_header() && !self.is_advised {
            self.advise_header(name, layout.format, &stream.head);
        }
        // What is packed may look like anything else besides.
        let unpack = advice_to_unpack(&stream.head).filter(|_| self.schema.compression.is_none());
        if let Some(advice) = unpack.or_else(|| layout.format.advice(&stream.head)) {
            (self.schema.tell)(format_args!(
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
        if self.schema.time.is_none() && seems_header(head, self.schema.delimiter.unwrap_or(usual)) {
            self.is_advised = true;
            (self.schema.tell)(format_args!(
                "warning: the first line of {name} seems to name the columns, but counts as an event: if it names them, use --header"
            ));
        }
    }
}

fn open(file: &Path, tell: fn(fmt::Arguments<'_>)) -> io::Result<Box<dyn Read>> {
    if !is_standard_input(file) {
        return Ok(Box::new(File::open(file)?));
    }
    if io::stdin().is_terminal() {
        tell(format_args!("reading from the terminal, one event a line; end with Ctrl-D"));
    }
    Ok(Box::new(io::stdin().lock()))
}

/// Reads a whole stream in a format; text has no columns but those of a pattern.
pub fn read_stream(
    mut stream: ByteStream<'_>,
    format: Format,
    selection: Option<ColumnSelection>,
    sink: &mut EventSink<'_>,
) -> Result<()> {
    let (reader, schema) = (&mut *stream.reader, sink.schema);
    let Some(selection) = selection else {
        return pattern::read_whole(reader, sink);
    };
    match format {
        Format::Text => match &schema.pattern {
            Some(pattern) => pattern::read(reader, pattern, &selection, sink),
            None => pattern::read_whole(reader, sink),
        },
        Format::Csv => csv::read(reader, &selection, sink),
        Format::Tsv => csv::read_tsv(reader, &selection, sink),
        Format::Jsonl => json::read(reader, &selection, sink),
        _ => {
            let mut body = Vec::new();
            reader.read_to_end(&mut body).map_err(|cause| sink.broken(cause))?;
            match format {
                Format::JsonArray => json::read_array(&body, &selection, sink),
                #[cfg(feature = "parquet")]
                Format::Parquet => crate::parquet::read(bytes::Bytes::from(body), &selection, &|_| (), sink),
                other => Err(sink.unfit(format!("{} is not read here", other.name()))),
            }
        }
    }
}

/// Reads the events of bytes in memory, in a format, and returns how many there were. Those at the end for
/// which there is no time to be had [wait](ReadTally::waiting) for ever.
pub fn read_bytes<E: From<Error>>(
    body: &[u8],
    format: Format,
    schema: &Schema,
    visit: impl FnMut(EventRef<'_>) -> Result<(), E>,
) -> Result<ReadTally, E> {
    let mut tally = ReadTally::default();
    visiting(visit, |visit| {
        let mut sink =
            EventSink { file: "the events", unit: format.unit(), schema, tally: &mut tally, visit };
        match (format, schema.selection(Path::new(""))) {
            (Format::JsonArray, Some(selection)) => {
                let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
                json::read_array(body, &selection, &mut sink)
            }
            #[cfg(feature = "arrow")]
            (Format::Arrow, Some(selection)) => crate::arrow::read(body, &selection, &mut sink),
            (_, selection) => {
                let stream = ByteStream::new(body, &[], false).map_err(|cause| sink.broken(cause))?;
                read_stream(stream, format, selection, &mut sink)
            }
        }
    })?;
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::schema::Column;

    #[test]
    fn bytes_are_counted_up_to_their_total_and_a_pipe_has_none() {
        assert_eq!(Source::new(&[], Schema::default()).unwrap().total_bytes, None);
        let file = |name: &str| std::env::temp_dir().join(format!("frostpane-{}-{name}", std::process::id()));
        let (text, packed) = (file("a.txt"), file("b.txt.zst"));
        let lines = b"elm\n".repeat(1 << 20);
        std::fs::write(&text, &lines).unwrap();
        std::fs::write(&packed, zstd::encode_all(lines.as_slice(), 1).unwrap()).unwrap();
        let mut source = Source::new(&[text.clone(), packed.clone()], Schema::default()).unwrap();
        let total = source.total_bytes.unwrap();
        let (read, mut last, mut steps) = (source.bytes_read(), 0, 0);
        source
            .for_each(|_| -> Result<(), Error> {
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

    fn read(name: &str, content: &str, schema: Schema) -> (Vec<[String; 3]>, ReadTally) {
        let folder = std::env::temp_dir().join(format!("frostpane-users-{}", std::process::id()));
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        let mut events = Vec::new();
        let mut source = Source::new(from_ref(&file), schema).unwrap();
        let outcome: Result<(), Error> = source.for_each(|event| {
            let text = |bytes: Option<&[u8]>| {
                bytes.map_or("none".to_owned(), |bytes| String::from_utf8(bytes.to_vec()).unwrap())
            };
            let time = event.time.map(|time| time.to_string().into_bytes());
            events.push([text(time.as_deref()), text(event.user), text(event.key)]);
            Ok(())
        });
        std::fs::remove_file(&file).unwrap();
        outcome.unwrap();
        (events, source.report.tally)
    }

    fn columns([key, time, user]: [&str; 3]) -> Schema {
        let column = |text: &str| Some(Column::new(text).unwrap());
        Schema {
            key: column(key),
            time: column(time),
            user: column(user),
            by_clock: true,
            ..Schema::default()
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
        for (name, content, schema) in [
            ("a.csv", csv, named.clone()),
            ("b.csv", several_lines, Schema { multiline: true, ..named.clone() }),
            ("c.tsv", tsv, columns(["3", "1", "2"])),
            ("d.jsonl", &jsonl.join("\n"), columns(["tree", "at", "who.id"])),
            ("e.log", log, Schema { pattern: Some(pattern), ..named }),
        ] {
            assert_eq!(read(name, content, schema).0, expected, "{name}");
        }
    }

    #[test]
    fn a_user_may_stand_in_the_path_of_every_format() {
        let schema = || columns(["tree", "at", "who"]);
        for (name, content) in [
            ("who=ann%20b/a.csv", "at,tree\n1,elm\n"),
            ("who=ann%20b/a.tsv", "at\ttree\n1\telm\n"),
            ("who=ann%20b/a.jsonl", "{\"at\": 1, \"tree\": \"elm\"}\n"),
        ] {
            let (events, _) = read(name, content, schema());
            assert_eq!(events, [["1000000", "ann b", "elm"]], "{name}");
        }
        let null = "who=__HIVE_DEFAULT_PARTITION__/a.csv";
        let (events, tally) = read(null, "at,tree\n1,elm\n", schema());
        assert_eq!(events, [["1000000", "none", "elm"]]);
        assert_eq!((tally.events, tally.with_user), (1, 0));
    }
}
