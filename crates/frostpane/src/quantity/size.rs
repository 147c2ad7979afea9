use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use super::Quantity;
use crate::error::Error;

/// Largest first.
const DECIMAL: [(&str, u64); 4] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
const BINARY: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

/// A number of bytes: `16MB`, `1.5GB`, `64 MiB`, `64000000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

fn unit(name: &str) -> Option<u64> {
    let name = name.to_lowercase();
    let name = name.strip_suffix('b').unwrap_or(&name);
    Some(match name {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        "ki" => 1 << 10,
        "mi" => 1 << 20,
        "gi" => 1 << 30,
        "ti" => 1 << 40,
        _ => return None,
    })
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = Quantity::first_of(text.trim());
        let bytes = number.and_then(|(number, name)| match unit(name.trim())? {
            1 => number.times(1),
            unit => number.at_most(unit),
        });
        bytes.map(Self).ok_or_else(|| Error::parameter("give a size such as 64MB, 1.5GB or 64MiB"))
    }
}

impl fmt::Display for Size {
    /// At most one digit after the point; otherwise in bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |(_, unit): &&(&str, u64)| self.0 >= *unit && self.0.is_multiple_of(unit / 10);
        let whole = |(_, unit): &&(&str, u64)| self.0 >= *unit && self.0.is_multiple_of(*unit);
        match DECIMAL.iter().find(short).or_else(|| BINARY.iter().find(whole)) {
            None => write!(f, "{}", self.0),
            Some((name, unit)) => match self.0 % unit / (unit / 10) {
                0 => write!(f, "{}{name}", self.0 / unit),
                tenths => write!(f, "{}.{tenths}{name}", self.0 / unit),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a number of bytes, or a size such as \"64MB\"")]
        enum SizeInput {
            Bytes(u64),
            Text(String),
        }
        match SizeInput::deserialize(deserializer)? {
            SizeInput::Bytes(bytes) => Ok(Self(bytes)),
            SizeInput::Text(text) => text.parse().map_err(de::Error::custom),
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
            ("64 mb", 64_000_000, "64MB"),
            ("1500M", 1_500_000_000, "1.5GB"),
            ("1.5GB", 1_500_000_000, "1.5GB"),
            ("1550MB", 1_550_000_000, "1550MB"),
            ("2G", 2_000_000_000, "2GB"),
            ("1e6", 1_000_000, "1MB"),
            ("1KiB", 1_024, "1KiB"),
            ("64 MiB", 64 << 20, "64MiB"),
            ("5k", 5_000, "5kB"),
            ("7.4MB", 7_400_000, "7.4MB"),
            ("7.4 MB", 7_400_000, "7.4MB"),
            ("7.45MB", 7_450_000, "7450kB"),
            ("0.5GiB", 1 << 29, "512MiB"),
            ("7.4MiB", 7_759_462, "7759462"),
            ("1.0000001kB", 1_000, "1kB"),
            ("1001 B", 1_001, "1001"),
            ("0", 0, "0"),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), said);
            assert_eq!(said.parse(), Ok(Size(bytes)));
        }
        for text in ["", "MB", "1XB", "-1", "1.5", "1,5GB", "99999999999GB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
