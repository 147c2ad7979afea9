//! Values separated by commas, or by another character, with quotes as in RFC 4180. A line is a record, also where a quote in it does not end:
//! else one key could swallow the events after it. Records of several lines are read where that is asked for.

use std::io::{self, BufRead};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::column::{Names, Wanted};
use super::delimiter::Delimiter;
use super::fields::Fields;
use super::lines::{Lines, too_long};
use super::records::{Records, names};
use super::sink::{Fault, Sink};
use crate::failure::{Failure, Result};

/// Longer records of several lines would take the memory that was promised to the window.
const LONGEST_RECORD: usize = 16_000_000;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(wanted);
    let delimiter = delimiter(&mut lines, wanted).map_err(|cause| sink.broken(cause))?;
    let mut quoted = Quoted::new(delimiter);
    while let Some((number, line, has_quote)) = lines.next_quoted().map_err(|cause| sink.broken(cause))? {
        let fault = too_long(line);
        if !has_quote {
            records.take(number, line, Fields::new(line, delimiter.0), fault, sink)?;
            continue;
        }
        quoted.start(number);
        let open = (!quoted.push(line)).then_some(Fault::OpenQuote);
        records.take(number, line, quoted.fields(), fault.or(open), sink)?;
    }
    Ok(())
}

/// Takes the file at its word: what cannot be read is refused, because it may be many events.
pub fn read_multiline(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(wanted);
    let delimiter = delimiter(&mut lines, wanted).map_err(|cause| sink.broken(cause))?;
    let mut quoted = Quoted::new(delimiter);
    let mut open = false;
    while let Some((number, line, has_quote)) = lines.next_quoted().map_err(|cause| sink.broken(cause))? {
        if !open && !has_quote {
            let fields = Fields::new(line, delimiter.0);
            records.take(number, line, fields, too_long(line), sink)?;
            continue;
        }
        if !open {
            quoted.start(number);
        }
        open = !quoted.push(line);
        if too_long(line).is_some() || quoted.text_length > LONGEST_RECORD {
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

/// What separates columns: as told, or as a first line shows that names them; never as an event does.
fn delimiter(lines: &mut Lines<'_>, wanted: &Wanted) -> io::Result<Delimiter> {
    if let Some(told) = wanted.delimiter {
        return Ok(told);
    }
    if !wanted.has_header() {
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
        wanted
            .among(&Names {
                all,
                are_public: false,
            })
            .is_ok()
    };
    Ok(Delimiter::of_header(
        |delimiter| columns(delimiter).len(),
        has_all,
    ))
}

fn refused(sink: &Sink<'_>, number: u64, wrong: &str) -> Failure {
    sink.unfit(format!(
        "the record that begins in line {number} {wrong}: write the file again, or leave out --multiline"
    ))
}

/// A record with quotes.
struct Quoted {
    reader: Reader,
    /// Of its first line.
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

    /// Begins a record in the line with this number.
    fn start(&mut self, number: u64) {
        self.reader.reset();
        self.number = number;
        (self.text_length, self.field_count) = (0, 0);
    }

    /// Takes one more line, and says whether the record ends with it.
    fn push(&mut self, line: &[u8]) -> bool {
        self.feed(line);
        self.feed(b"\n")
    }

    /// Whether the record ends here. An empty input would tell the reader that the file does.
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

    /// The fields without what separates them.
    fn text(&self) -> &[u8] {
        &self.text[..self.text_length]
    }

    /// Those that have ended.
    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let spans = starts.zip(&self.ends[..self.field_count]);
        spans.map(|(&start, &end)| &self.text[start..end])
    }
}
