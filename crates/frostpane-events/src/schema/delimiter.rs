//! The byte that separates the columns of a line.

use std::str::FromStr;

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
