//! The bytes of a file, decompressed.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use crate::compression::Compression;

const BLOCK: usize = 1 << 16;
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
    let again = Cursor::new(head.clone()).chain(reader);
    let mut buffered = BufReader::with_capacity(BLOCK, again);
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

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
}
