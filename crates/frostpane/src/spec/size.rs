//! A number of bytes as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::Error;

const UNITS: [(&str, u64); 13] = [
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("", 1),
    ("B", 1),
    ("KB", 1_000),
    ("K", 1_000),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A number of bytes: `16MB`, `1GB`, `64000000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = UNITS.into_iter().find(|(name, _)| *name == unit);
        unit.and_then(|(_, unit)| number.parse::<u64>().ok()?.checked_mul(unit))
            .map(Self)
            .ok_or_else(|| Error::parameter("give a size such as 16MB, 64MB or 1GB"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().find(|(_, unit)| self.0.is_multiple_of(*unit));
        let (name, unit) = whole.unwrap_or(&("", 1));
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a number of bytes, or a size such as \"64MB\""
        )]
        enum Given {
            Bytes(u64),
            Text(String),
        }
        match Given::deserialize(deserializer)? {
            Given::Bytes(bytes) => Ok(Self(bytes)),
            Given::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them_and_said_in_their_largest_whole_unit() {
        for (text, bytes, said) in [
            ("64MB", 64_000_000, "64MB"),
            ("1500M", 1_500_000_000, "1500MB"),
            ("2G", 2_000_000_000, "2GB"),
            ("1KiB", 1_024, "1024"),
            ("5k", 5_000, "5kB"),
            ("0", 0, "0GB"),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), said);
            assert_eq!(said.parse(), Ok(Size(bytes)));
        }
        for text in ["", "MB", "1XB", "-1", "99999999999GB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
