//! Formats, and how to tell them.

use std::path::Path;

use clap::ValueEnum;

const PARQUET_MAGIC: &[u8] = b"PAR1";

/// How events stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The whole line is the key
    Text,
    /// Comma-separated, with quotes
    Csv,
    /// Tab-separated, without quotes
    Tsv,
    /// JSON Lines: one object a line
    Jsonl,
    /// Parquet
    Parquet,
}

/// A format, and whether only the first bytes of the file speak for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess {
    pub format: Format,
    pub from_content: bool,
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Csv => "CSV",
            Format::Tsv => "TSV",
            Format::Jsonl => "JSON Lines",
            Format::Parquet => "Parquet",
        }
    }

    /// What a file seems to be, by its name and its first bytes. Without columns to look for, lines are text.
    pub fn guess(file: &Path, head: &[u8], columns: bool) -> Guess {
        let by_content = |format| Guess {
            format,
            from_content: true,
        };
        let by_name = |format| Guess {
            format,
            from_content: false,
        };
        if head.starts_with(PARQUET_MAGIC) {
            return match Self::of_name(file) {
                Some(Format::Parquet) => by_name(Format::Parquet),
                _ => by_content(Format::Parquet),
            };
        }
        match Self::of_name(file) {
            Some(Format::Text) if columns => by_content(Self::of_columns(head)),
            Some(format) => by_name(format),
            None if head.trim_ascii_start().starts_with(b"{") => by_content(Format::Jsonl),
            None if columns => by_content(Self::of_columns(head)),
            None => by_name(Format::Text),
        }
    }

    /// What to say of first bytes that no format has.
    pub fn foreign(head: &[u8]) -> Option<&'static str> {
        const UNPACK: &str =
            "it is packed in a way that is not read here: unpack it, or pack it with gzip or zstd";
        const BINARY: &str = "it does not look like text, it has zero bytes: convert it to UTF-8, or say what it is with --format";
        match head {
            [b'P', b'K', 3 | 5, 4 | 6, ..] | [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(UNPACK),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] | [b'7', b'z', 0xBC, 0xAF, ..] => Some(UNPACK),
            head if head.starts_with(PARQUET_MAGIC) => None,
            head => head.contains(&0).then_some(BINARY),
        }
    }

    fn of_name(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "gz" | "zst" => Self::of_name(Path::new(file.file_stem()?)),
            "txt" => Some(Format::Text),
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }

    /// JSON Lines if it begins with an object; comma-separated if the first line has commas and no tab.
    fn of_columns(head: &[u8]) -> Self {
        let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
        if head.trim_ascii_start().starts_with(b"{") {
            Format::Jsonl
        } else if line.contains(&b',') && !line.contains(&b'\t') {
            Format::Csv
        } else {
            Format::Tsv
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told() {
        for packed in [&b"PK\x03\x04"[..], b"BZh9", b"\xFD7zXZ\0", b"7z\xBC\xAF"] {
            assert!(Format::foreign(packed).unwrap().contains("unpack it"));
        }
        assert!(Format::foreign(b"\xFF\xFEt\0e\0a\0").unwrap().contains("UTF-8"));
        for known in [&b"PAR1\0\0"[..], b"tea\n", b"", b"PK"] {
            assert_eq!(Format::foreign(known), None);
        }
    }

    #[test]
    fn names_decide_before_content() {
        for (file, head, columns, format, from_content) in [
            ("a.csv", "x", true, Format::Csv, false),
            ("a.CSV.gz", "x\ty", true, Format::Csv, false),
            ("a.tsv.zst", "x,y", true, Format::Tsv, false),
            ("a.jsonl", "", false, Format::Jsonl, false),
            ("a.parquet", "PAR1", true, Format::Parquet, false),
            ("a.csv", "PAR1", true, Format::Parquet, true),
            ("a.txt", "{}", false, Format::Text, false),
            ("a.txt", "x,y\n", true, Format::Csv, true),
            ("-", "{\"a\": 1}", false, Format::Jsonl, true),
            ("-", "x,y\tz\n", true, Format::Tsv, true),
            ("-", "x,y\n", false, Format::Text, false),
            ("a.log", "x y\na,b", true, Format::Tsv, true),
        ] {
            let guess = Guess { format, from_content };
            assert_eq!(
                Format::guess(Path::new(file), head.as_bytes(), columns),
                guess,
                "{file} {head:?}"
            );
        }
    }
}
