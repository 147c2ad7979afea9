//! Columns that stand in the path of a file, as in `country=DE/day=2025-10-01/part.parquet`.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// The value of null in the name of a folder.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns of a path, of which the last counts most: names and values, which are empty for null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathColumns(Vec<(String, Vec<u8>)>);

impl PathColumns {
    pub fn of(file: &Path) -> Self {
        let folders = file.parent().into_iter().flat_map(Path::components);
        let named = folders.filter_map(|folder| match folder {
            Component::Normal(name) => column(name),
            _ => None,
        });
        Self(named.collect())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The position of a column, from 0.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().rposition(|(there, _)| there == name)
    }

    /// The value at a position; empty for null.
    pub fn value(&self, position: usize) -> &[u8] {
        &self.0[position].1
    }

    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.position(name).map(|position| self.value(position))
    }
}

fn column(folder: &OsStr) -> Option<(String, Vec<u8>)> {
    let (name, value) = folder.to_str()?.split_once('=')?;
    let name = String::from_utf8(decoded(name)).ok().filter(|name| !name.is_empty())?;
    Some((name, if value == NULL { Vec::new() } else { decoded(value) }))
}

/// Percent signs with two digits after them are bytes.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.first_chunk::<2>().filter(|_| first == b'%');
        match code.and_then(|code| byte(*code)) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    bytes
}

fn byte(digits: [u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(digits[0])? * 16 + digit(digits[1])?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_an_equals_sign_are_columns() {
        let path =
            "/data/year=2024/x/year=2025/city=S%C3%A3o%20Paulo%/at=__HIVE_DEFAULT_PARTITION__/=x/a=b.csv";
        let columns = PathColumns::of(Path::new(path));
        assert_eq!(columns.names().collect::<Vec<_>>(), ["year", "year", "city", "at"]);
        assert_eq!(columns.get("year"), Some(&b"2025"[..]), "the last counts");
        assert_eq!(columns.get("city"), Some("São Paulo%".as_bytes()));
        assert_eq!(columns.get("at"), Some(&b""[..]), "null");
        assert_eq!(columns.get("a"), None, "the name of the file is no folder");
        assert_eq!(PathColumns::of(Path::new("-")), PathColumns::default());
    }
}
