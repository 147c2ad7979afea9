//! Which columns make an event.

use super::path_columns::PathColumns;
use crate::error::Error;
use crate::printable::printable;
use crate::source::nearest;
use crate::time::Times;

/// The most names that a message lists.
const NAMES_SHOWN: usize = 20;

/// A column by its name, or by its number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Its name or, in JSON, the path to it.
    Name(String),
    /// Its number, from 1.
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

    /// Returns true if it is given by name.
    pub fn is_named(&self) -> bool {
        matches!(self, Column::Name(_))
    }

    /// The text that it was made of.
    pub fn text(&self) -> String {
        match self {
            Column::Name(name) => name.clone(),
            Column::Position(position) => position.to_string(),
        }
    }

    /// The place of the column among these. A column of the file counts more than one of its path.
    fn among(
        &self,
        names: &ColumnNames<'_>,
        paths: &PathColumns,
        option: &str,
    ) -> Result<ColumnPlace, Error> {
        let all = names.all;
        let (found, asked) = match self {
            Column::Name(name) => {
                let in_file = all.iter().position(|there| there == name).map(ColumnPlace::Field);
                let found = in_file.or_else(|| paths.position(name).map(ColumnPlace::Path));
                (found, format!("{name:?}"))
            }
            Column::Position(position) => (
                (*position <= all.len()).then(|| ColumnPlace::Field(position - 1)),
                format!("number {position}"),
            ),
        };
        found.ok_or_else(|| Error::Column {
            column: self.text(),
            message: format!(
                "there is no column {asked}, for which {option} asks; {}",
                names.told(self, paths)
            ),
        })
    }
}

pub struct ColumnNames<'a> {
    pub all: &'a [String],
    /// They may be shown: a first line may be an event, unless the operator has said otherwise.
    pub are_public: bool,
}

impl ColumnNames<'_> {
    fn told(&self, asked: &Column, paths: &PathColumns) -> String {
        let there = match self.all.len() {
            _ if self.are_public => format!("there are {}", listed(self.all)),
            1 => {
                "the first line has 1 column: if another character separates more, use --delimiter".to_owned()
            }
            columns => format!("the first line has {columns} columns"),
        };
        let of_path: Vec<String> = paths.names().map(str::to_owned).collect();
        let of_path = match &of_path[..] {
            [] => String::new(),
            names => format!(", and of the path {}", listed(names)),
        };
        let advice = match (nearest(&asked.text(), self.all), self.are_public) {
            (Some(near), _) => format!("; did you mean {}?", printable(near)),
            (None, true) => String::new(),
            (None, false) => "; --header says that it names them, and then they are shown here".to_owned(),
        };
        there + &of_path + &advice
    }
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_SHOWN).map(|name| printable(name)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The columns that were asked for, and how to read them.
#[derive(Clone, Debug)]
pub struct ColumnSelection {
    pub key: Column,
    pub time: Option<Column>,
    pub user: Option<Column>,
    pub times: Times,
    pub path_columns: PathColumns,
}

impl ColumnSelection {
    /// The places of the columns in a file that names its columns.
    pub fn among(&self, names: &ColumnNames<'_>) -> Result<ColumnPlaces, Error> {
        // A line that has one of the names is no event.
        let asked = [Some(&self.key), self.time.as_ref(), self.user.as_ref()];
        let is_header =
            asked.into_iter().flatten().any(|column| column.is_named() && names.all.contains(&column.text()));
        let names = &ColumnNames { all: names.all, are_public: names.are_public || is_header };
        let place = |column: &Column, option| column.among(names, &self.path_columns, option);
        let other = |column: &Option<Column>, option| column.as_ref().map(|column| place(column, option));
        Ok(ColumnPlaces {
            key: place(&self.key, "--key")?,
            time: other(&self.time, "--time").transpose()?,
            user: other(&self.user, "--user").transpose()?,
        })
    }

    pub fn by_number(&self) -> Option<ColumnPlaces> {
        let place = |column: &Column| match column {
            Column::Position(position) => Some(ColumnPlace::Field(position - 1)),
            Column::Name(_) => None,
        };
        let other = |column: &Option<Column>| match column {
            Some(column) => place(column).map(Some),
            None => Some(None),
        };
        Some(ColumnPlaces { key: place(&self.key)?, time: other(&self.time)?, user: other(&self.user)? })
    }
}

/// Something for each column of an event, if there is one.
#[derive(Clone, Copy)]
pub struct EventColumns<T> {
    pub key: Option<T>,
    pub time: Option<T>,
    pub user: Option<T>,
}

impl<T> EventColumns<T> {
    pub fn map<U>(self, f: impl Fn(T) -> Option<U>) -> EventColumns<U> {
        EventColumns {
            key: self.key.and_then(&f),
            time: self.time.and_then(&f),
            user: self.user.and_then(&f),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPlaces {
    pub key: ColumnPlace,
    pub time: Option<ColumnPlace>,
    pub user: Option<ColumnPlace>,
}

/// The place of a column, from 0: among the fields of a line, or among the columns of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnPlace {
    Field(usize),
    Path(usize),
}

impl ColumnPlace {
    pub fn is_of_path(self) -> bool {
        matches!(self, ColumnPlace::Path(_))
    }

    /// The number of fields of a line that have to be looked at.
    pub fn fields(self) -> usize {
        match self {
            ColumnPlace::Field(index) => index + 1,
            ColumnPlace::Path(_) => 0,
        }
    }
}
