//! Comma-separated values, with quotes as in RFC 4180.

use std::io::BufRead;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::column::Wanted;
use super::fields::Fields;
use super::lines::Lines;
use super::records::Records;
use super::sink::Sink;
use crate::failure::Result;

pub fn read(reader: &mut dyn BufRead, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    let mut records = Records::new(wanted);
    let mut quoted = Quoted::new();
    while let Some((number, line, has_quote)) = lines.next_quoted().map_err(|cause| sink.unreadable(cause))? {
        if quoted.start.is_none() && !has_quote {
            records.take(number, Fields::new(line, b','), sink)?;
        } else if let Some(start) = quoted.push(number, line) {
            records.take(start, quoted.fields(), sink)?;
        }
    }
    match quoted.start {
        Some(start) => sink.line(start, Err("a quote that begins here does not end".to_owned())),
        None => Ok(()),
    }
}

/// A record with quotes, which may go on over several lines.
struct Quoted {
    reader: Reader,
    /// The number of its first line, while it goes on.
    start: Option<u64>,
    /// The fields without quotes, one after the other, and where each of them ends.
    text: Vec<u8>,
    ends: Vec<usize>,
    text_length: usize,
    field_count: usize,
}

impl Quoted {
    fn new() -> Self {
        Self {
            reader: ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build(),
            start: None,
            text: Vec::new(),
            ends: Vec::new(),
            text_length: 0,
            field_count: 0,
        }
    }

    /// Takes one more line; if the record ends with it, says in which line it began.
    fn push(&mut self, number: u64, line: &[u8]) -> Option<u64> {
        if self.start.is_none() {
            (self.text_length, self.field_count) = (0, 0);
        }
        let start = *self.start.get_or_insert(number);
        self.feed(line);
        let ended = self.feed(b"\n");
        self.start = (!ended).then_some(start);
        ended.then_some(start)
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

    fn fields(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(&0).chain(&self.ends);
        let spans = starts.zip(&self.ends[..self.field_count]);
        spans.map(|(&start, &end)| &self.text[start..end])
    }
}
