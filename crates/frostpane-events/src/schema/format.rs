//! Formats. The name of a file or the operator says which it is, never a line that may be an event.

use std::path::Path;

use super::Schema;
use crate::compression::{Compression, outermost};

/// A format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// The whole line is the key
    Text,
    /// Separated by commas or by --delimiter, with quotes
    Csv,
    /// Separated by tabs or by --delimiter, without quotes
    Tsv,
    /// JSON Lines: one object a line
    Jsonl,
    /// Parquet
    Parquet,
    /// One array of objects, in memory
    #[cfg_attr(feature = "clap", value(skip))]
    JsonArray,
    /// The stream format of Arrow, in memory
    #[cfg_attr(feature = "clap", value(skip))]
    Arrow,
}

impl Format {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Csv => "CSV",
            Format::Tsv => "TSV",
            Format::Jsonl => "JSON Lines",
            Format::Parquet => "Parquet",
            Format::JsonArray => "a JSON array",
            Format::Arrow => "an Arrow stream",
        }
    }

    /// The part of a file that is an event.
    pub fn unit(self) -> &'static str {
        match self {
            Format::Parquet | Format::Arrow => "row",
            Format::JsonArray => "element",
            _ => "line",
        }
    }

    /// The format of a file: as the schema says, or else its name. By default lines are text, which has no
    /// columns but those of a pattern.
    pub(crate) fn of(file: &Path, schema: &Schema) -> Result<Self, String> {
        let told = schema.format;
        if schema.pattern.is_some() {
            return match told {
                None | Some(Format::Text) => Ok(Format::Text),
                Some(format) => Err(format!(
                    "--pattern is for lines of text, not for {}: leave out one of the two",
                    format.name()
                )),
            };
        }
        let implied = schema.delimiter.map(|_| Format::Csv);
        let format = told
            .or_else(|| Self::of_name(file).filter(|format| implied.is_none() || *format != Format::Text))
            .or(implied);
        if let (
            Some(_),
            Some(Format::Text | Format::Jsonl | Format::Parquet | Format::JsonArray | Format::Arrow),
        ) = (implied, format)
        {
            return Err(
                "--delimiter is for CSV and TSV: leave it out, or give one of them as --format".to_owned()
            );
        }
        match (format, schema.key.is_some()) {
            (None | Some(Format::Text), false) => Ok(Format::Text),
            (Some(format), false) => Err(format!(
                "this is {}: say which column holds the key, with --key, or take whole lines with --format text",
                format.name()
            )),
            (Some(Format::Text), true) if told.is_some() => {
                Err("text has no columns: leave out --key, --time and --user, or give another --format".to_owned())
            }
            (None | Some(Format::Text), true) => Err(
                "nothing tells how its columns are written: say so with --format csv, tsv, jsonl or parquet, or what separates them with --delimiter"
                    .to_owned(),
            ),
            (Some(format), true) => Ok(format),
        }
    }

    fn of_name(file: &Path) -> Option<Self> {
        if let Some((_, inner)) = outermost(file) {
            return Self::of_name(inner);
        }
        match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "txt" => Some(Format::Text),
            "csv" => Some(Format::Csv),
            "tsv" | "tab" => Some(Format::Tsv),
            "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }

    /// Advice for the operator where the first bytes of a file suggest another format. It changes nothing.
    pub(crate) fn advice(self, head: &[u8]) -> Option<&'static str> {
        const UNPACK: &str = "begins as packed files do that are not read here: if it is one, unpack it";
        match head {
            [b'P', b'K', 3 | 5, 4 | 6, ..] | [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(UNPACK),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] | [b'7', b'z', 0xBC, 0xAF, ..] => Some(UNPACK),
            _ if self == Format::Parquet => None,
            [b'P', b'A', b'R', b'1', ..] => Some("begins as Parquet does: if it is, use --format parquet"),
            _ if head.contains(&0) => Some("has zero bytes: if it is UTF-16, convert it to UTF-8"),
            _ => match (self, head.trim_ascii_start().first()) {
                (Format::Jsonl, Some(b'[')) => Some(
                    "begins with an array, but must have one object a line, as `jq -c '.[]'` writes them",
                ),
                (Format::Text, Some(b'{')) => {
                    Some("begins as JSON does: if its lines are objects, use --format jsonl and --key")
                }
                _ => None,
            },
        }
    }
}

/// Advice for the operator where bytes look compressed that should not be any more.
pub fn advice_to_unpack(head: &[u8]) -> Option<&'static str> {
    match Compression::seeming(head)? {
        Compression::None => None,
        Compression::Gzip => Some("begins as gzip does: if it is packed, use --packing gzip"),
        Compression::Zstd => Some("begins as zstd does: if it is packed, use --packing zstd"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Column;

    #[test]
    fn what_is_no_text_is_pointed_out() {
        for packed in [&b"PK\x03\x04"[..], b"BZh9", b"\xFD7zXZ\0", b"7z\xBC\xAF"] {
            assert!(Format::Text.advice(packed).unwrap().contains("unpack it"));
        }
        assert!(Format::Csv.advice(b"\xFF\xFEt\0e\0a\0").unwrap().contains("UTF-8"));
        assert!(Format::Text.advice(b" {\"a\": 1}").unwrap().contains("--format jsonl"));
        assert!(Format::Jsonl.advice(b"[{").unwrap().contains("jq"));
        assert!(Format::Text.advice(b"PAR1\0").unwrap().contains("--format parquet"));
        for known in [&b"tea\n"[..], b"", b"PK"] {
            assert_eq!(Format::Text.advice(known), None);
        }
        assert_eq!(Format::Parquet.advice(b"PAR1\0\0"), None);
        assert_eq!(Format::Jsonl.advice(b"{\"a\": 1}"), None);
    }

    #[test]
    fn names_tell_the_format_and_nothing_else_does() {
        for (file, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.CSV.gz", Some(Format::Csv)),
            ("a.tsv.zst", Some(Format::Tsv)),
            ("a.jsonl.zst.gz", Some(Format::Jsonl)),
            ("a.parquet", Some(Format::Parquet)),
            ("a.txt", None),
            ("a.log", None),
            ("a.gz", None),
            ("-", None),
        ] {
            let file = Path::new(file);
            let of = |format, columns: bool| {
                let schema =
                    Schema { format, key: columns.then_some(Column::Position(1)), ..Schema::default() };
                Format::of(file, &schema)
            };
            assert_eq!(of(None, true).ok(), format, "{}", file.display());
            assert_eq!(of(Some(Format::Tsv), true), Ok(Format::Tsv));
            assert_eq!(of(Some(Format::Text), false), Ok(Format::Text));
            assert_eq!(of(None, false).is_ok(), format.is_none());
        }
    }
}
