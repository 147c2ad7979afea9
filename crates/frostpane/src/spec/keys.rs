//! The keys of a specification, in text form.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::Error;
use crate::key::{Key, Keys};

/// The keys that a release may name, as a specification gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySpec {
    /// Any key that occurs.
    #[default]
    Open,
    /// The integers of a range, excluding its end.
    Range(Range<u64>),
    /// A list of keys.
    List(Vec<String>),
    /// The lines of a file.
    File(PathBuf),
}

impl KeySpec {
    /// The text form of these keys. Fails for keys that are not text.
    pub(crate) fn of<K: Key>(keys: &Keys<K>) -> Result<Self, Error> {
        let Keys::Declared(universe) = keys else {
            return Ok(KeySpec::Open);
        };
        if let Some(range) = universe.range() {
            return Ok(KeySpec::Range(range));
        }
        let mut list = Vec::new();
        universe.for_each(&mut |key| list.push(K::text(key)));
        let list: Option<Vec<String>> = list.into_iter().collect();
        list.map(KeySpec::List).ok_or_else(|| {
            Error::parameter("a declared key is not text, and cannot be written down in a specification: declare keys of text")
        })
    }
}

impl FromStr for KeySpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        if text == "open" {
            return Ok(KeySpec::Open);
        }
        if let Some((start, end)) = text.split_once("..")
            && let (Ok(start), Ok(end)) = (start.parse(), end.replace('_', "").parse())
        {
            return Ok(KeySpec::Range(start..end));
        }
        if text.contains("..") && text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
            return Err(Error::parameter(
                "a range of keys is START..END in whole numbers from 0 to 18446744073709551615, END not included",
            ));
        }
        Ok(KeySpec::File(text.into()))
    }
}

impl fmt::Display for KeySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeySpec::Open => f.write_str("open"),
            KeySpec::Range(range) => write!(f, "{}..{}", range.start, range.end),
            KeySpec::List(keys) => write!(f, "{} keys", keys.len()),
            KeySpec::File(file) => match file.to_str().map(str::parse) {
                // A file name that would read as something else.
                Some(Ok(KeySpec::Open | KeySpec::Range(_)) | Err(_)) => write!(f, "./{}", file.display()),
                _ => write!(f, "{}", file.display()),
            },
        }
    }
}

impl Serialize for KeySpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            KeySpec::List(keys) => keys.serialize(serializer),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for KeySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected \"open\", a range \"START..END\", the name of a file, or a list of keys"
        )]
        enum KeySpecInput {
            Text(String),
            List(Vec<String>),
        }
        match KeySpecInput::deserialize(deserializer)? {
            KeySpecInput::Text(text) => text.parse().map_err(de::Error::custom),
            KeySpecInput::List(keys) => Ok(KeySpec::List(keys)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Bytes;

    #[test]
    fn keys_that_are_there_are_written_down_as_they_were_declared() {
        assert_eq!(KeySpec::of(&Keys::<u64>::open()), Ok(KeySpec::Open));
        assert_eq!(KeySpec::of(&Keys::range(3..9).unwrap()), Ok(KeySpec::Range(3..9)));
        let list = |keys: &[&str]| KeySpec::List(keys.iter().map(|key| (*key).to_owned()).collect());
        assert_eq!(KeySpec::of(&Keys::list([9, 30]).unwrap()), Ok(list(&["9", "30"])));
        let bytes = |keys: [&[u8]; 2]| Keys::list(keys.map(Bytes::from)).unwrap();
        assert_eq!(KeySpec::of(&bytes([b"snow", b"rain"])), Ok(list(&["rain", "snow"])));
        assert!(KeySpec::of(&bytes([b"snow", b"\xff"])).is_err(), "not text");
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        for (text, keys) in [
            ("open", KeySpec::Open),
            ("0..65536", KeySpec::Range(0..65_536)),
            ("pages.txt", KeySpec::File("pages.txt".into())),
            ("./open", KeySpec::File("./open".into())),
        ] {
            assert_eq!(text.parse(), Ok(keys.clone()));
            assert_eq!(keys.to_string(), text);
        }
        for name in ["open", "0..5", "-3..5"] {
            assert_eq!(KeySpec::File(name.into()).to_string(), format!("./{name}"));
        }
        assert_eq!("5..1_000".parse(), Ok(KeySpec::Range(5..1_000)));
        assert!("-3..5".parse::<KeySpec>().is_err());
    }
}
