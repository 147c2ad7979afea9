//! Which columns make an event.

use super::delimiter::Delimiter;
use super::partitions::Partitions;
use super::time::Times;
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

    /// Where the column stands among these. A column of the file counts more than one of its path.
    fn among(&self, names: &Names<'_>, paths: &Partitions, option: &str) -> Result<Place, String> {
        let all = names.all;
        let (found, asked) = match self {
            Column::Name(name) => {
                let in_file = all.iter().position(|there| there == name).map(Place::Field);
                let found = in_file.or_else(|| paths.position(name).map(Place::Path));
                (found, format!("{name:?}"))
            }
            Column::Position(position) => (
                (*position <= all.len()).then(|| Place::Field(position - 1)),
                format!("number {position}"),
            ),
        };
        found.ok_or_else(|| {
            format!(
                "there is no column {asked}, for which {option} asks; {}",
                names.told(paths)
            )
        })
    }
}

/// The names of the columns of a file.
pub struct Names<'a> {
    pub all: &'a [String],
    /// Whether they may be told: a first line may be an event after all, unless someone said that it is none.
    pub are_public: bool,
}

impl Names<'_> {
    fn told(&self, paths: &Partitions) -> String {
        let there = match (self.are_public, self.all.len()) {
            (true, _) => format!("there are {}", listed(self.all)),
            (false, 1) => {
                "the first line has 1 column: if another character separates more, use --delimiter".to_owned()
            }
            (false, columns) => format!("the first line has {columns} columns"),
        };
        let of_path: Vec<String> = paths.names().map(str::to_owned).collect();
        let of_path = match &of_path[..] {
            [] => String::new(),
            names => format!(", and of the path {}", listed(names)),
        };
        let advice = match self.are_public {
            true => "",
            false => "; --header says that it names them, and then they are shown here",
        };
        there + &of_path + advice
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

/// The columns that were asked for, and how to read them.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub key: Column,
    pub time: Option<Column>,
    pub user: Option<Column>,
    /// Whether the first line names columns although none that is looked for is given by name.
    pub header: bool,
    /// Whether an error may tell what stands in a first line that names columns.
    pub show_names: bool,
    pub delimiter: Option<Delimiter>,
    pub times: Times,
    pub partitions: Partitions,
}

impl Wanted {
    #[cfg(test)]
    /// These columns and this one.
    pub fn by(self, user: Column) -> Self {
        let user = Some(user);
        Self { user, ..self }
    }

    #[cfg(test)]
    /// These columns, with nothing else told.
    pub fn new(key: Column, time: Option<Column>) -> Self {
        Self {
            key,
            time,
            user: None,
            header: false,
            show_names: false,
            delimiter: None,
            times: Times::default(),
            partitions: Partitions::default(),
        }
    }

    /// Whether the first line names the columns: if one is asked for by name, or if told.
    pub fn has_header(&self) -> bool {
        let others = [&self.time, &self.user];
        self.header || self.key.is_named() || others.into_iter().flatten().any(Column::is_named)
    }

    /// Where the columns stand in a file that names its columns.
    pub fn among(&self, names: &Names<'_>) -> Result<Positions, String> {
        let place = |column: &Column, option| column.among(names, &self.partitions, option);
        let other = |column: &Option<Column>, option| column.as_ref().map(|column| place(column, option));
        Ok(Positions {
            key: place(&self.key, "--key")?,
            time: other(&self.time, "--time").transpose()?,
            user: other(&self.user, "--user").transpose()?,
        })
    }

    /// Where the columns stand, if all are given by number.
    pub fn by_number(&self) -> Option<Positions> {
        let place = |column: &Column| match column {
            Column::Position(position) => Some(Place::Field(position - 1)),
            Column::Name(_) => None,
        };
        let other = |column: &Option<Column>| match column {
            Some(column) => place(column).map(Some),
            None => Some(None),
        };
        Some(Positions {
            key: place(&self.key)?,
            time: other(&self.time)?,
            user: other(&self.user)?,
        })
    }
}

/// Where the columns of an event stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    pub key: Place,
    pub time: Option<Place>,
    pub user: Option<Place>,
}

/// Where a column stands, from 0: among the fields of a line, or among the columns of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Field(usize),
    Path(usize),
}

impl Place {
    pub fn is_of_path(self) -> bool {
        matches!(self, Place::Path(_))
    }

    /// How many fields of a line have to be looked at.
    pub fn fields(self) -> usize {
        match self {
            Place::Field(index) => index + 1,
            Place::Path(_) => 0,
        }
    }
}
