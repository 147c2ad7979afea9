//! The lines of a file.

use std::io::{self, BufRead};
use std::ops::Range;

use memchr::memchr;

use crate::find::find;
use crate::sink::EventFault;

/// More than the buffer of the reader, which then stays out of the way.
const BLOCK: usize = 1 << 17;
/// Longer lines have no key; reading them would take the memory that was promised to the window.
const LONGEST_LINE: usize = 16_000_000;
/// Bytes that are handed out of a longer line: more than the longest, also without a carriage return.
const KEPT: usize = LONGEST_LINE + 2;

#[inline]
pub fn too_long(line: &[u8]) -> Option<EventFault> {
    (line.len() > LONGEST_LINE).then_some(EventFault::TooLong)
}

pub struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not yet handed out.
    start: usize,
    end: usize,
    /// The reader has no more. A terminal that is asked again would wait for more.
    ended: bool,
    number: u64,
    /// The place of the next quote in the buffer, once that is known.
    quote: Option<usize>,
}

impl<'a> Lines<'a> {
    pub fn new(reader: &'a mut dyn BufRead) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, ended: false, number: 0, quote: None }
    }

    #[inline]
    pub fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        let line = self.advance()?;
        Ok(self.numbered(line))
    }

    /// The next line, which stays the next.
    pub fn peek(&mut self) -> io::Result<&[u8]> {
        let line = self.advance()?;
        self.start = line.start;
        self.number -= 1;
        Ok(without_end(&self.buffer[line]))
    }

    /// The next line, its number, and whether it has a quote.
    #[inline]
    pub fn next_quoted(&mut self) -> io::Result<Option<(u64, &[u8], bool)>> {
        let line = self.advance()?;
        let quoted = line.contains(&self.next_quote(line.start));
        let numbered = self.numbered(line);
        Ok(numbered.map(|(number, line)| (number, line, quoted)))
    }

    /// The range of the next line in the buffer, with its end; empty if there is none.
    #[inline]
    fn advance(&mut self) -> io::Result<Range<usize>> {
        let length = match find(b'\n', &self.buffer[self.start..self.end]) {
            Some(place) => place + 1,
            None => self.read_line()?,
        };
        let line = self.start..self.start + length;
        self.start = line.end;
        self.number += 1;
        Ok(line)
    }

    #[inline]
    fn numbered(&self, line: Range<usize>) -> Option<(u64, &[u8])> {
        (!line.is_empty()).then(|| (self.number, without_end(&self.buffer[line])))
    }

    /// The place of the first quote from `from` on, or the end. Most blocks have none, and are searched once.
    #[inline]
    fn next_quote(&mut self, from: usize) -> usize {
        match self.quote {
            Some(quote) if quote >= from => quote,
            _ => {
                let quote = memchr(b'"', &self.buffer[from..self.end]);
                *self.quote.insert(quote.map_or(self.end, |place| from + place))
            }
        }
    }

    /// Reads on until the buffer begins with a whole line. Returns its length with its end.
    #[cold]
    fn read_line(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.quote = None;
        let mut length = None;
        while length.is_none() && !self.ended && self.end < KEPT {
            let before = self.end;
            self.read_block()?;
            length = find(b'\n', &self.buffer[before..self.end]).map(|place| before + place + 1);
        }
        match length {
            Some(length) if length <= KEPT => Ok(length),
            None if self.end < KEPT => Ok(self.end),
            _ => self.skip_rest(),
        }
    }

    /// Reads over what a line has beyond the part that is kept, without holding it.
    fn skip_rest(&mut self) -> io::Result<usize> {
        loop {
            if let Some(place) = find(b'\n', &self.buffer[KEPT..self.end]) {
                self.buffer.copy_within(KEPT + place..self.end, KEPT);
                self.end -= place;
                return Ok(KEPT + 1);
            }
            self.end = KEPT;
            if self.ended {
                return Ok(KEPT);
            }
            self.read_block()?;
        }
    }

    fn read_block(&mut self) -> io::Result<()> {
        let room = self.end + BLOCK;
        self.buffer.resize(self.buffer.len().max(room), 0);
        match self.reader.read(&mut self.buffer[self.end..]) {
            Ok(read) => {
                self.end += read;
                self.ended = read == 0;
                Ok(())
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(cause) => Err(cause),
        }
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_cut_and_the_next_one_is_whole() {
        for length in [LONGEST_LINE - 1, LONGEST_LINE, LONGEST_LINE + 1, KEPT, KEPT + 1, KEPT + 300_000] {
            for byte in [b'x', b'\r'] {
                let long = vec![byte; length];
                let text = [&long, b"\nelm\n".as_slice(), &long, b"\r\n\n", &long].concat();
                let mut reader = text.as_slice();
                let mut lines = Lines::new(&mut reader);
                let mut next = || lines.next().unwrap().map(|(number, line)| (number, line.len()));
                let kept = |ending: usize| match length + ending {
                    whole if byte == b'\r' => whole.min(KEPT) - 1,
                    _ => length.min(KEPT),
                };
                assert_eq!(next(), Some((1, kept(0))));
                assert_eq!(next(), Some((2, 3)));
                assert_eq!(next(), Some((3, kept(1))), "{length} {byte}");
                assert_eq!(next(), Some((4, 0)));
                assert_eq!(next(), Some((5, kept(0))));
                assert_eq!(next(), None);
                assert!(lines.buffer.len() < KEPT + 2 * BLOCK);
            }
        }
        assert_eq!(too_long(&vec![0; LONGEST_LINE]), None);
        assert_eq!(too_long(&vec![0; KEPT - 1]), Some(EventFault::TooLong));
    }

    /// Gives a few bytes at a time, and is interrupted now and then.
    struct Halting<'a> {
        text: &'a [u8],
        reads: usize,
    }

    impl Read for Halting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.reads += 1;
            if self.reads.is_multiple_of(7) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let some = buffer.len().min(self.reads % 5 * 30_011 + 1);
            self.text.read(&mut buffer[..some])
        }
    }

    #[test]
    fn lines_and_their_quotes_are_found_however_the_bytes_come() {
        let lines: Vec<String> = (0..30_000_usize)
            .map(|line| match line % 1_000 {
                0 => "long".repeat(line * 20),
                1..500 => "x".repeat(line % 41),
                _ => format!("{}\"{}", "y".repeat(line % 7), "z".repeat(line % 23)),
            })
            .collect();
        let text = lines.join("\n") + "\n";
        let mut reader = BufReader::new(Halting { text: text.as_bytes(), reads: 0 });
        let mut found = Lines::new(&mut reader);
        for (index, line) in lines.iter().enumerate() {
            let expected = (index as u64 + 1, line.as_bytes(), line.contains('"'));
            assert!(found.next_quoted().unwrap() == Some(expected), "line {}", index + 1);
        }
        assert_eq!(found.next_quoted().unwrap(), None);
        assert_eq!(found.next_quoted().unwrap(), None);
    }
}
