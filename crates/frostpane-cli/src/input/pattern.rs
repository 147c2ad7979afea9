//! Lines of text that a pattern with named groups takes apart.

use std::io::BufRead;
use std::str::FromStr;

use regex::bytes::{CaptureLocations, Regex, RegexBuilder};

use super::Event;
use super::column::{Column, Names, Place, Wanted};
use super::lines::{Lines, too_long};
use super::sink::{Fault, Sink};
use crate::failure::Result;

/// Bytes that a pattern may take when it is compiled, and as many again while it is used.
const LARGEST: usize = 1 << 20;

/// What web servers write unless told otherwise; the key is what was asked for. Whatever a request holds, the time
/// before it is read.
const COMMON: &str = r#"^(?<host>\S+) \S+ (?<user>\S+) \[(?<time>[^\]]*)\](?: "(?<method>\S+) (?<key>\S+)[^"]*" (?<status>\d+|-) (?<size>\d+|-))?"#;
/// The same, and where the request came from.
const COMBINED: &str = r#"^(?<host>\S+) \S+ (?<user>\S+) \[(?<time>[^\]]*)\](?: "(?<method>\S+) (?<key>\S+)[^"]*" (?<status>\d+|-) (?<size>\d+|-) "(?<referer>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)")?"#;

/// Takes bytes as they are: letters and spaces are those of ASCII, and a dot is any byte.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// Of each group, from the first; those without a name have an empty one.
    names: Vec<String>,
    /// Whether it is what web servers write, who have a dash where nobody has told who he is.
    is_usual: bool,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (text, is_usual) = match text {
            "common" => (COMMON, true),
            "combined" => (COMBINED, true),
            other => (other, false),
        };
        let built = RegexBuilder::new(text)
            .unicode(false)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build();
        let regex = built.map_err(|cause| cause.to_string())?;
        let groups = regex.capture_names().skip(1);
        let names: Vec<String> = groups.map(|name| name.unwrap_or_default().to_owned()).collect();
        if names.iter().all(String::is_empty) {
            return Err(
                "give common, combined, or a pattern with named groups, such as '^(?<time>\\S+) (?<key>.*)$'"
                    .to_owned(),
            );
        }
        Ok(Self {
            regex,
            names,
            is_usual,
        })
    }
}

impl Pattern {
    /// The group that is looked for unless told otherwise, if there is one.
    pub fn group(&self, name: &str) -> Option<Column> {
        self.names
            .iter()
            .any(|there| there == name)
            .then(|| Column::Name(name.to_owned()))
    }

    /// The group of users, if the pattern was written with one. Those of web servers are asked for by name: hardly any request has a
    /// user there.
    pub fn group_of_users(&self) -> Option<Column> {
        self.group("user").filter(|_| !self.is_usual)
    }

    fn is_somebody(&self, user: &[u8]) -> bool {
        !(self.is_usual && user == b"-")
    }
}

pub fn read(reader: &mut dyn BufRead, pattern: &Pattern, wanted: &Wanted, sink: &mut Sink<'_>) -> Result<()> {
    let names = Names {
        all: &pattern.names,
        are_public: true,
    };
    let positions = wanted.among(&names).map_err(|wrong| sink.unfit(wrong))?;
    sink.tally.key_of_path |= positions.key.is_of_path();
    let mut groups = pattern.regex.capture_locations();
    let mut lines = Lines::new(reader);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        let matches = pattern.regex.captures_read(&mut groups, line).is_some();
        let find = |place| match place {
            Place::Field(group) => matched(&groups, group, line).filter(|_| matches),
            Place::Path(position) => Some(wanted.partitions.value(position)),
        };
        let time = positions
            .time
            .and_then(find)
            .and_then(|time| wanted.times.parse(time));
        let fault = too_long(line).or((!matches).then_some(Fault::NoMatch));
        match (find(positions.key), fault) {
            (Some(key), None) => {
                let key = Some(key).filter(|key| !key.is_empty());
                let user = positions.user.and_then(find);
                let user = user.filter(|user| pattern.is_somebody(user));
                sink.event(number, Event { time, key, user }, line)?;
            }
            (_, fault) => sink.unreadable(number, time, fault.unwrap_or(Fault::NoMatch), line)?,
        }
    }
    Ok(())
}

/// What a group has matched, from 0.
fn matched<'a>(groups: &CaptureLocations, group: usize, line: &'a [u8]) -> Option<&'a [u8]> {
    let (start, end) = groups.get(group + 1)?;
    Some(&line[start..end])
}
