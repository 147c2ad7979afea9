//! Lines with an end: the rest of one without may still come.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use memchr::memrchr;

const BLOCK: usize = 1 << 16;
/// A longer line is no event with a key, and is handed on as it comes.
const LONGEST: usize = 1 << 25;

/// Hands on what a reader gives up to the last end of a line, and leaves out what follows it.
pub struct WholeLines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The part of the buffer that is handed on next, up to an end of a line.
    start: usize,
    end: usize,
    /// Set when something was left out.
    cut: Rc<Cell<bool>>,
}

impl<R: Read> WholeLines<R> {
    pub fn new(reader: R, cut: Rc<Cell<bool>>) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, cut }
    }

    /// Reads on until there is an end of a line, or there is no more.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        (self.start, self.end) = (0, 0);
        while self.end == 0 {
            let before = self.buffer.len();
            self.buffer.resize(before + BLOCK, 0);
            let read = self.reader.read(&mut self.buffer[before..]);
            self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => {
                    self.cut.set(self.cut.get() || !self.buffer.is_empty());
                    self.buffer.clear();
                    return Ok(());
                }
                Ok(_) => {
                    let ends = memrchr(b'\n', &self.buffer[before..]).map(|place| before + place + 1);
                    self.end =
                        ends.unwrap_or(if self.buffer.len() > LONGEST { self.buffer.len() } else { 0 });
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for WholeLines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end {
            self.fill()?;
        }
        let some = out.len().min(self.end - self.start);
        out[..some].copy_from_slice(&self.buffer[self.start..self.start + some]);
        self.start += some;
        Ok(some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Vec<u8>, bool) {
        let (cut, mut whole) = (Rc::<Cell<bool>>::default(), Vec::new());
        let parts = text.chunks(3).map(|part| part as &[u8]);
        let reader: Box<dyn Read> =
            parts.fold(Box::new(io::empty()), |before, part| Box::new(before.chain(part)));
        WholeLines::new(reader, cut.clone()).read_to_end(&mut whole).unwrap();
        (whole, cut.get())
    }

    #[test]
    fn what_follows_the_last_end_of_a_line_is_left_out() {
        for (text, whole, cut) in [
            ("", "", false),
            ("\n", "\n", false),
            ("elm\noak\n", "elm\noak\n", false),
            ("elm\noak", "elm\n", true),
            ("elm\r\noa\r", "elm\r\n", true),
            ("a long line that never ends", "", true),
        ] {
            assert_eq!(read(text.as_bytes()), (whole.as_bytes().to_vec(), cut), "{text:?}");
        }
    }
}
