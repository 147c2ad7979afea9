//! The bytes of a file, unpacked.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

const BLOCK: usize = 1 << 16;
/// Bytes that are looked at to tell what a file is.
const HEAD: usize = 1 << 14;
/// Nobody packs a file more often than that.
const MOST_PACKINGS: usize = 4;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A way to pack a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    pub fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, 0x08, ..] => Some(Packing::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Packing::Zstd),
            // A frame to be skipped, with which some writers begin.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    fn unpack<'a>(self, packed: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::Decoder::with_buffer(packed)?),
        })
    }
}

/// What a file holds once it is unpacked.
pub struct Stream<'a> {
    pub reader: Box<dyn BufRead + 'a>,
    /// Its first bytes, which the reader will give again.
    pub head: Vec<u8>,
    /// From the outside in.
    pub packings: Vec<Packing>,
}

impl<'a> Stream<'a> {
    /// Of a file that is there already, unless it is `live`: then it does not wait for more than the first line.
    pub fn new(raw: impl Read + 'a, live: bool) -> io::Result<Self> {
        let mut packings = Vec::new();
        let (mut reader, mut head) = peek(Box::new(raw), live)?;
        while let Some(packing) = Packing::of(&head)
            && packings.len() < MOST_PACKINGS
        {
            packings.push(packing);
            (reader, head) = peek(packing.unpack(reader)?, live)?;
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
            head.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Self {
            reader,
            head,
            packings,
        })
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

/// Counts the bytes that pass.
pub struct Counted<R> {
    pub reader: R,
    pub bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn packed_files_are_unpacked_however_deep_and_however_many() {
        let zstd = zstd::encode_all(b"\xEF\xBB\xBFsnow\n".as_slice(), 1).unwrap();
        let twice = [gzip(&zstd), gzip(b"")].concat();
        let mut stream = Stream::new(twice.as_slice(), false).unwrap();
        assert_eq!(stream.packings, [Packing::Gzip, Packing::Zstd]);
        assert_eq!(stream.head, b"snow\n");
        let mut text = String::new();
        stream.reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "snow\n");
    }
}
