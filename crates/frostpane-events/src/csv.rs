//! Values separated by commas, tabs or another character. In CSV there are quotes as in RFC 4180. A line is a
//! record, even if a quote in it does not end: otherwise one key could swallow the events after it. Records of
//! several lines are read on request. In TSV quotes are ordinary characters.

use std::io::{self, BufRead};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use crate::error::{Halt, Result};
use crate::find::Fields;
use crate::lines::{Lines, too_long};
use crate::records::{Records, names};
use crate::schema::{ColumnNames, ColumnSelection, Delimiter, Schema};
use crate::sink::{EventFault, EventSink};

/// Longer records of several lines would take the memory that was promised to the window.
const LONGEST_RECORD: usize = 16_000_000;

/// Reads records. One over several lines that cannot be read refuses the file: it may be many events.
pub fn read(reader: &mut dyn BufRead, selection: &ColumnSelection, sink: &mut EventSink<'_>) -> Result<()> {
    let several_lines = sink.schema.multiline;
    let mut lines = Lines::new(reader);
    let mut records = Records::new(selection, sink.schema);
    let delimiter = delimiter(&mut lines, selection, sink.schema).map_err(|cause| sink.broken(cause))?;
    let mut quoted = Quoted::new(delimiter);
    let mut open = false;
    while let Some((number, line, has_quote)) = lines.next_quoted().map_err(|cause| sink.broken(cause))? {
        let fault = too_long(line);
        if !open && !has_quote {
            records.take(number, line, Fields::new(line, delimiter.0), fault, sink)?;
            continue;
        }
        if !open {
            quoted.start(number);
        }
        open = !quoted.push(line);
        if !several_lines {
            let unended = std::mem::take(&mut open).then_some(EventFault::OpenQuote);
            records.take(number, line, quoted.fields(), fault.or(unended), sink)?;
            continue;
        }
        if fault.is_some() || quoted.text_length > LONGEST_RECORD {
            return Err(refused(sink, quoted.number, "is longer than 16 MB"));
        }
        if !open {
            records.take(quoted.number, quoted.text(), quoted.fields(), None, sink)?;
        }
    }
    if open {
        return Err(refused(sink, quoted.number, "has a quote that does not end"));
    }
    Ok(())
}

/// Reads lines in which every separator counts.
pub fn read_tsv(
    reader: &mut dyn BufRead,
    selection: &ColumnSelection,
    sink: &mut EventSink<'_>,
) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(selection, sink.schema);
    let delimiter = sink.schema.delimiter.unwrap_or(Delimiter::TAB);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        records.take(number, line, Fields::new(line, delimiter.0), too_long(line), sink)?;
    }
    Ok(())
}

/// The delimiter: as given, or as a header shows; never as an event does.
fn delimiter(lines: &mut Lines<'_>, selection: &ColumnSelection, schema: &Schema) -> io::Result<Delimiter> {
    if let Some(told) = schema.delimiter {
        return Ok(told);
    }
    if !schema.has_header() {
        return Ok(Delimiter::COMMA);
    }
    let line = lines.peek()?;
    let columns = |delimiter| {
        let mut quoted = Quoted::new(delimiter);
        quoted.push(line);
        names(quoted.fields())
    };
    let has_all = |delimiter| {
        let all = &columns(delimiter);
        selection.among(&ColumnNames { all, are_public: false }).is_ok()
    };
    Ok(Delimiter::of_header(|delimiter| columns(delimiter).len(), has_all))
}

fn refused(sink: &EventSink<'_>, number: u64, wrong: &str) -> Halt {
    sink.unfit(format!(
        "the record that begins in line {number} {wrong}: write the file again, or leave out --multiline"
    ))
}

struct Quoted {
    reader: Reader,
    /// The number of its first line.
    number: u64,
    /// The fields without quotes, one after the other, and where each of them ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    text_length: usize,
    field_count: usize,
}

impl Quoted {
    fn new(delimiter: Delimiter) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.delimiter(delimiter.0).terminator(Terminator::Any(b'\n'));
        Self {
            reader: builder.build(),
            number: 0,
            text: Vec::new(),
            ends: Vec::new(),
            text_length: 0,
            field_count: 0,
        }
    }

    fn start(&mut self, number: u64) {
        self.reader.reset();
        self.number = number;
        (self.text_length, self.field_count) = (0, 0);
    }

    /// Takes one more line. Returns true if the record ends with it.
    fn push(&mut self, line: &[u8]) -> bool {
        self.feed(line);
        self.feed(b"\n")
    }

    /// Returns true if the record ends here. An empty input would tell the reader that the file does.
    fn feed(&mut self, mut input: &[u8]) -> bool {
        while !input.is_empty() {
            let (text, ends) = (self.text_length + input.len() + 1, self.field_count + 64);
            self.text.resize(self.text.len().max(text), 0);
            self.ends.resize(self.ends.len().max(ends), 0);
            let (result, read, written, ended) = self.reader.read_record(
                input,
                &mut self.text[self.text_length..],
                &mut self.ends[self.field_count..],
            );
            input = &input[read..];
            self.text_length += written;
            self.field_count += ended;
            if result == ReadRecordResult::Record {
                return true;
            }
        }
        false
    }

    fn text(&self) -> &[u8] {
        &self.text[..self.text_length]
    }

    fn fields(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        let spans = starts.zip(&self.ends[..self.field_count]);
        spans.map(|(&start, &end)| &self.text[start..end])
    }
}
