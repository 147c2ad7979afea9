//! Which columns make an event.

use crate::text::printable;

/// Most names that a message lists.
const NAMES_SHOWN: usize = 20;

/// A column by its name, or by its number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    Name(String),
    Position(usize),
}

impl Column {
    /// A number is a position, everything else a name.
    pub fn new(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("columns are counted from 1".to_owned()),
            Ok(position) => Ok(Column::Position(position)),
            Err(_) if text.is_empty() => Err("the name of a column is empty".to_owned()),
            Err(_) => Ok(Column::Name(text.to_owned())),
        }
    }

    pub fn is_named(&self) -> bool {
        matches!(self, Column::Name(_))
    }

    /// As it was given.
    pub fn text(&self) -> String {
        match self {
            Column::Name(name) => name.clone(),
            Column::Position(position) => position.to_string(),
        }
    }

    /// Where the column stands among these, from 0.
    fn among(&self, names: &[String], option: &str) -> Result<usize, String> {
        let (found, asked) = match self {
            Column::Name(name) => (names.iter().position(|there| there == name), format!("{name:?}")),
            Column::Position(position) => (
                (*position <= names.len()).then(|| position - 1),
                format!("number {position}"),
            ),
        };
        found.ok_or_else(|| {
            format!(
                "there is no column {asked}, for which {option} asks; there are {}",
                listed(names)
            )
        })
    }
}

/// Names for a message.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(NAMES_SHOWN)
        .map(|name| printable(name))
        .collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The columns that were asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub key: Column,
    pub time: Option<Column>,
    /// Whether `--header` was given.
    pub header: bool,
}

impl Wanted {
    /// Whether the first line names the columns: if one is asked for by name, or if told.
    pub fn has_header(&self) -> bool {
        self.header || self.key.is_named() || self.time.as_ref().is_some_and(Column::is_named)
    }

    /// Where the columns stand in a file that names its columns.
    pub fn among(&self, names: &[String]) -> Result<Positions, String> {
        let time = self.time.as_ref().map(|time| time.among(names, "--time"));
        Ok(Positions {
            key: self.key.among(names, "--key")?,
            time: time.transpose()?,
        })
    }

    /// Where the columns stand, if all are given by number.
    pub fn by_number(&self) -> Option<Positions> {
        let index = |column: &Column| match column {
            Column::Position(position) => Some(position - 1),
            Column::Name(_) => None,
        };
        let time = match &self.time {
            Some(time) => Some(index(time)?),
            None => None,
        };
        Some(Positions {
            key: index(&self.key)?,
            time,
        })
    }
}

/// Where the columns of an event stand in a line, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    pub key: usize,
    pub time: Option<usize>,
}
