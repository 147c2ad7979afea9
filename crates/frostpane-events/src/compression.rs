//! Compression of files. Their names or the operator tell it, never their bytes: those may be an event's key.

use std::io::{self, BufRead, Read};
use std::iter;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// A compression of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Compression {
    /// As they are, whatever they are called
    None,
    /// Gzip
    Gzip,
    /// Zstandard
    Zstd,
}

impl Compression {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::None => "not packed",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }

    /// The compressions that the name of a file says, from the outside in.
    pub(crate) fn of_name(file: &Path) -> Vec<Self> {
        iter::successors(outermost(file), |(_, inner)| outermost(inner)).map(|(outer, _)| outer).collect()
    }

    pub(crate) fn unpack<'a>(self, packed: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Compression::None => Box::new(packed),
            Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Compression::Zstd => Box::new(zstd::Decoder::with_buffer(packed)?),
        })
    }
}

/// The compression that the end of a name says, and the name without it.
pub fn outermost(file: &Path) -> Option<(Compression, &Path)> {
    let compression = match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "gz" => Compression::Gzip,
        "zst" => Compression::Zstd,
        _ => return None,
    };
    Some((compression, Path::new(file.file_stem()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_packings_from_the_outside_in() {
        for (name, compressions) in [
            ("a.csv", &[][..]),
            ("a.csv.GZ", &[Compression::Gzip]),
            ("dir.gz/a.tsv.zst", &[Compression::Zstd]),
            ("a.zst.gz", &[Compression::Gzip, Compression::Zstd]),
            ("gz", &[]),
            ("-", &[]),
        ] {
            assert_eq!(Compression::of_name(Path::new(name)), compressions, "{name}");
        }
    }
}
