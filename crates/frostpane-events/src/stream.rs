//! The bytes of a file, decompressed.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use memchr::memrchr;

use crate::compression::Compression;

const BLOCK: usize = 1 << 16;
/// A longer line is no event with a key, and is handed on as it comes.
const LONGEST_LINE: usize = 1 << 25;
/// Bytes that advice is based on.
const HEAD: usize = 1 << 14;
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

pub struct ByteStream<'a> {
    pub reader: Box<dyn BufRead + 'a>,
    /// Its first bytes, which the reader will give again.
    pub head: Vec<u8>,
}

impl<'a> ByteStream<'a> {
    /// Decompresses a file, from the outside in. If it is `live`, it waits for the first line alone.
    pub fn new(raw: impl Read + 'a, compressions: &[Compression], live: bool) -> io::Result<Self> {
        let mut packed: Box<dyn Read + 'a> = Box::new(raw);
        for compression in compressions {
            packed = compression.unpack(BufReader::with_capacity(BLOCK, packed))?;
        }
        let (mut reader, mut head) = peek(packed, live)?;
        if head.starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
            head.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Self { reader, head })
    }
}

/// The first bytes, and a reader that gives them again.
fn peek<'a>(mut reader: Box<dyn Read + 'a>, live: bool) -> io::Result<(Box<dyn BufRead + 'a>, Vec<u8>)> {
    let mut head = vec![0; HEAD];
    let mut filled = 0;
    while filled < HEAD && !(live && head[..filled].contains(&b'\n')) {
        match reader.read(&mut head[filled..]) {
            // A terminal that is read again after its end would wait for another one.
            Ok(0) => reader = Box::new(io::empty()),
            Ok(read) => {
                filled += read;
                continue;
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(cause),
        }
        break;
    }
    head.truncate(filled);
    let mut buffered = BufReader::with_capacity(BLOCK, Cursor::new(head.clone()).chain(reader));
    buffered.fill_buf()?;
    Ok((Box::new(buffered), head))
}

pub struct Counted<'a, R> {
    pub reader: R,
    pub bytes: Rc<Cell<u64>>,
    /// Called before more is read, which may take any time to come.
    pub pause: &'a mut dyn FnMut() -> io::Result<()>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (self.pause)()?;
        let read = self.reader.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}

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
                        ends.unwrap_or(if self.buffer.len() > LONGEST_LINE { self.buffer.len() } else { 0 });
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
    use crate::testing::gzip;

    fn text(packed: &[u8], compressions: &[Compression]) -> Vec<u8> {
        let mut stream = ByteStream::new(packed, compressions, false).unwrap();
        let mut text = Vec::new();
        stream.reader.read_to_end(&mut text).unwrap();
        assert_eq!(stream.head, text);
        text
    }

    #[test]
    fn files_are_unpacked_as_often_as_told_and_no_more() {
        let zstd = zstd::encode_all(b"\xEF\xBB\xBFsnow\n".as_slice(), 1).unwrap();
        let twice = [gzip(&zstd), gzip(b"")].concat();
        assert_eq!(text(&twice, &[Compression::Gzip, Compression::Zstd]), b"snow\n");
        assert_eq!(text(&twice, &[Compression::Gzip]), zstd);
        assert_eq!(text(&twice, &[]), twice);
    }

    fn whole_lines(text: &[u8]) -> (Vec<u8>, bool) {
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
            assert_eq!(whole_lines(text.as_bytes()), (whole.as_bytes().to_vec(), cut), "{text:?}");
        }
    }
}
