//! How files are packed. It follows from their names or from what was told, never from their bytes: those may
//! be the key of an event.

use std::io::{self, BufRead, Read};
use std::path::Path;

use clap::ValueEnum;
use flate2::bufread::MultiGzDecoder;

/// A way to pack a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Packing {
    /// As they are, whatever they are called
    None,
    /// Gzip
    Gzip,
    /// Zstandard
    Zstd,
}

impl Packing {
    pub fn name(self) -> &'static str {
        match self {
            Packing::None => "not packed",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    /// How a file is packed by its name, from the outside in.
    pub fn of_name(file: &Path) -> Vec<Self> {
        let mut packings = Vec::new();
        let mut inner = file;
        while let Some((packing, stem)) = outermost(inner) {
            packings.push(packing);
            inner = stem;
        }
        packings
    }

    /// What a file seems to be packed with: for advice alone.
    pub fn seeming(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, 0x08, ..] => Some(Packing::Gzip),
            // Or a frame to be skipped, with which some writers begin.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    pub fn unpack<'a>(self, packed: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Packing::None => Box::new(packed),
            Packing::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::Decoder::with_buffer(packed)?),
        })
    }
}

/// The packing that the end of a name tells, and the name without it.
pub fn outermost(file: &Path) -> Option<(Packing, &Path)> {
    let ending = file.extension()?.to_str()?.to_ascii_lowercase();
    let packing = match ending.as_str() {
        "gz" => Packing::Gzip,
        "zst" => Packing::Zstd,
        _ => return None,
    };
    Some((packing, Path::new(file.file_stem()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_packings_from_the_outside_in() {
        for (name, packings) in [
            ("a.csv", &[][..]),
            ("a.csv.GZ", &[Packing::Gzip]),
            ("dir.gz/a.tsv.zst", &[Packing::Zstd]),
            ("a.zst.gz", &[Packing::Gzip, Packing::Zstd]),
            ("gz", &[]),
            ("-", &[]),
        ] {
            assert_eq!(Packing::of_name(Path::new(name)), packings, "{name}");
        }
    }
}
