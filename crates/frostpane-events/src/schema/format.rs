//! Formats and delimiters. The name of a file or the operator says which it is, never a line that may be an event.

use std::path::Path;
use std::str::FromStr;

use super::Schema;
use crate::compression::outermost;
use crate::find::Fields;

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
        if implied.is_some() && !matches!(format, Some(Format::Csv | Format::Tsv)) {
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
    match head {
        [0x1F, 0x8B, 0x08, ..] => Some("begins as gzip does: if it is packed, use --packing gzip"),
        // Or a frame to be skipped, with which some writers begin.
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => {
            Some("begins as zstd does: if it is packed, use --packing zstd")
        }
        _ => None,
    }
}

/// Returns true if a first line seems to name the columns, for advice alone: it has no number and as many fields as the second, which has one.
pub fn seems_header(head: &[u8], delimiter: Delimiter) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    let numbers = |line| Fields::new(line, delimiter.0).map(is_number);
    let (first, second): (Vec<bool>, Vec<bool>) = (numbers(first).collect(), numbers(second).collect());
    let is_named = Fields::new(head, delimiter.0).next().is_some_and(|name| !name.is_empty());
    is_named && first.len() == second.len() && !first.contains(&true) && second.contains(&true)
}

/// Also of dates and times: digits, and what stands between them.
fn is_number(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let field = field.strip_prefix(b"\"").unwrap_or(field);
    field.strip_prefix(b"-").unwrap_or(field).first().is_some_and(u8::is_ascii_digit)
}

/// Delimiters that a first line which names the columns is tried with, in this order.
const USUAL: [Delimiter; 4] = [Delimiter::COMMA, Delimiter(b';'), Delimiter::TAB, Delimiter(b'|')];

/// A byte that separates columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Delimiter {
    /// The usual one of CSV.
    pub const COMMA: Self = Self(b',');
    /// The usual one of TSV.
    pub const TAB: Self = Self(b'\t');

    /// The first by which a header has all columns that are asked for, or else the one by which it has most.
    pub(crate) fn of_header(columns: impl Fn(Self) -> usize, has_all: impl Fn(Self) -> bool) -> Self {
        let fit = USUAL.into_iter().find(|delimiter| has_all(*delimiter));
        let most = || USUAL.into_iter().rev().max_by_key(|delimiter| columns(*delimiter));
        fit.or_else(most).unwrap_or(Self::COMMA)
    }
}

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.as_bytes()) {
            ("tab" | "\\t", _) => Ok(Self::TAB),
            (_, [b'"' | b'\n' | b'\r']) => {
                Err("quotes and ends of lines have a meaning of their own: give another character".to_owned())
            }
            (_, [byte]) if byte.is_ascii() => Ok(Self(*byte)),
            _ => Err("give one character of ASCII such as ';' or '|', or the word tab".to_owned()),
        }
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

    #[test]
    fn a_first_line_without_numbers_above_one_with_some_seems_a_header() {
        for (head, seems) in [
            ("time,user,search\n1700000000,7,snow\n", true),
            ("time,search\r\n\"2025-10-01\",snow\r\n", true),
            ("snow,rain\nrain,snow\n", false),
            ("1,snow\n2,rain\n", false),
            ("snow\n1,2\n", false),
            ("time,search", false),
            ("time,search\n", false),
            ("", false),
        ] {
            assert_eq!(seems_header(head.as_bytes(), Delimiter::COMMA), seems, "{head}");
        }
    }

    #[test]
    fn a_delimiter_is_one_byte_and_tabs_have_a_name() {
        for (text, byte) in [(";", b';'), ("|", b'|'), ("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t')] {
            assert_eq!(text.parse(), Ok(Delimiter(byte)));
        }
        for text in ["", ";;", "ü", "\"", "\n", "\r", "space"] {
            assert!(text.parse::<Delimiter>().is_err(), "{text:?}");
        }
    }
}
