//! The lines of a file.

use std::io::{self, BufRead, Read};
use std::mem;

use memchr::memchr;

/// Longer lines are no events; reading them would take the memory that was promised to the window.
const LONGEST_LINE: u64 = 16_000_000;

/// Reads lines one by one.
pub struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    /// A line that did not lie in the reader's buffer as a whole.
    line: Vec<u8>,
    /// How much of that buffer the last line has taken.
    taken: usize,
    number: u64,
}

impl<'a> Lines<'a> {
    pub fn new(reader: &'a mut dyn BufRead) -> Self {
        Self {
            reader,
            line: Vec::new(),
            taken: 0,
            number: 0,
        }
    }

    /// The next line without its end, and its number from 1.
    #[inline]
    pub fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        self.reader.consume(mem::take(&mut self.taken));
        let Some(end) = memchr(b'\n', self.reader.fill_buf()?) else {
            return self.read();
        };
        self.taken = end + 1;
        self.number += 1;
        Ok(Some((self.number, without_end(&self.reader.fill_buf()?[..=end]))))
    }

    /// The next line, however much has to be read for it.
    #[cold]
    fn read(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        self.line.clear();
        let mut reader = (&mut self.reader).take(LONGEST_LINE);
        if reader.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if reader.limit() == 0 {
            return Err(io::Error::other(format!(
                "line {} is longer than 16 MB: is this the right file?",
                self.number
            )));
        }
        Ok(Some((self.number, without_end(&self.line))))
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut endless = BufReader::new(io::repeat(b'x'));
        let fault = Lines::new(&mut endless).next().unwrap_err();
        assert!(fault.to_string().contains("longer than 16 MB"), "{fault}");
    }

    #[test]
    fn lines_come_without_their_ends_and_with_their_numbers() {
        let mut text: &[u8] = b"a\r\n\nb";
        let mut lines = Lines::new(&mut text);
        for expected in [(1, b"a".as_slice()), (2, b""), (3, b"b")] {
            assert_eq!(lines.next().unwrap(), Some(expected));
        }
        assert_eq!(lines.next().unwrap(), None);
    }
}
