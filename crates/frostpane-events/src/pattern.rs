//! Lines of text, each a key, or taken apart by a pattern with named groups.

use std::io::BufRead;
use std::str::FromStr;

use regex::bytes::{Regex, RegexBuilder};

use crate::EventRef;
use crate::error::Result;
use crate::lines::{Lines, too_long};
use crate::schema::{Column, ColumnNames, ColumnPlace, ColumnSelection};
use crate::sink::{EventFault, EventSink};

/// Bytes that a pattern may take when it is compiled, and as many again while it is used.
const LARGEST: usize = 1 << 20;

/// The default format of web servers; the key is the path. The time before it is read in any case.
const COMMON: &str = r#"^(?<host>\S+) \S+ (?<user>\S+) \[(?<time>[^\]]*)\](?: "(?<method>\S+) (?<key>\S+)[^"]*" (?<status>\d+|-) (?<size>\d+|-))?"#;
/// The default format with the referrer and the agent.
const COMBINED: &str = r#"^(?<host>\S+) \S+ (?<user>\S+) \[(?<time>[^\]]*)\](?: "(?<method>\S+) (?<key>\S+)[^"]*" (?<status>\d+|-) (?<size>\d+|-) "(?<referer>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)")?"#;

/// A pattern that takes lines apart. It matches bytes as they are: letters and spaces are those of ASCII, and
/// a dot is any byte.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    /// The name of each group; empty if it has none.
    names: Vec<String>,
    /// It is a format of web servers, which write a dash for an unknown user.
    is_usual: bool,
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, is_usual) = match text {
            "common" => (COMMON, true),
            "combined" => (COMBINED, true),
            other => (other, false),
        };
        let built =
            RegexBuilder::new(text).unicode(false).size_limit(LARGEST).dfa_size_limit(LARGEST).build();
        let regex = built.map_err(|cause| cause.to_string())?;
        let groups = regex.capture_names().skip(1);
        let names: Vec<String> = groups.map(|name| name.unwrap_or_default().to_owned()).collect();
        if names.iter().all(String::is_empty) {
            return Err(
                "give common, combined, or a pattern with named groups, such as '^(?<time>\\S+) (?<key>.*)$'"
                    .to_owned(),
            );
        }
        Ok(Self { regex, names, is_usual })
    }
}

impl Pattern {
    /// The group with this name, if there is one.
    pub fn group(&self, name: &str) -> Option<Column> {
        self.names.iter().any(|there| there == name).then(|| Column::Name(name.to_owned()))
    }

    /// The group of users, if a pattern has one. Those of web servers are asked for by name: few are set.
    pub fn group_of_users(&self) -> Option<Column> {
        self.group("user").filter(|_| !self.is_usual)
    }
}

pub fn read(
    reader: &mut dyn BufRead,
    pattern: &Pattern,
    selection: &ColumnSelection,
    sink: &mut EventSink<'_>,
) -> Result<()> {
    let names = ColumnNames { all: &pattern.names, are_public: true };
    let positions = selection.among(&names).map_err(|wrong| sink.unfit(wrong))?;
    sink.tally.key_of_path |= positions.key.is_of_path();
    let mut groups = pattern.regex.capture_locations();
    let mut lines = Lines::new(reader);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        let matches = pattern.regex.captures_read(&mut groups, line).is_some();
        let find = |place| match place {
            ColumnPlace::Field(_) if !matches => None,
            ColumnPlace::Field(group) => groups.get(group + 1).map(|(start, end)| &line[start..end]),
            ColumnPlace::Path(position) => Some(selection.path_columns.value(position)),
        };
        let time = positions.time.and_then(find).and_then(|time| selection.times.parse(time));
        let fault = too_long(line).or((!matches).then_some(EventFault::NoMatch));
        match (find(positions.key), fault) {
            (Some(key), None) => {
                let key = Some(key).filter(|key| !key.is_empty());
                let user = positions.user.and_then(find);
                let user = user.filter(|user| !(pattern.is_usual && *user == b"-"));
                sink.event(number, EventRef { time, key, user }, line)?;
            }
            (_, fault) => sink.unreadable(number, time, fault.unwrap_or(EventFault::NoMatch), line)?,
        }
    }
    Ok(())
}

/// Reads lines of which each is a key.
pub fn read_whole(reader: &mut dyn BufRead, sink: &mut EventSink<'_>) -> Result<()> {
    let mut lines = Lines::new(reader);
    while let Some((number, line)) = lines.next().map_err(|cause| sink.broken(cause))? {
        if let Some(fault) = too_long(line) {
            sink.unreadable(number, None, fault, line)?;
            continue;
        }
        let key = Some(line).filter(|line| !line.is_empty());
        sink.event(number, EventRef { key, ..EventRef::at(None) }, line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::testing::{events, selection, text};

    fn found(pattern: &str, lines: &str) -> Vec<(Option<String>, Option<String>)> {
        let selection = selection("key", None, Some("user"));
        let pattern = pattern.parse().unwrap();
        let (found, _) =
            events(&Schema::default(), |sink| read(&mut lines.as_bytes(), &pattern, &selection, sink));
        found.unwrap().into_iter().map(|(_, key, user)| (text(key), text(user))).collect()
    }

    #[test]
    fn a_dash_is_a_user_but_in_the_logs_of_web_servers() {
        let owned = |text: &str| Some(text.to_owned());
        let request = r#"[01/Oct/2025:12:00:00 +0200] "GET /elm HTTP/1.1" 200 17"#;
        let lines = format!("10.0.0.1 - ann {request}\n10.0.0.1 - - {request}\n- - -- {request}\n");
        let expected = ["ann", "-", "--"].map(|user| (owned("/elm"), owned(user).filter(|user| user != "-")));
        assert_eq!(found("common", &lines), expected);
        let own = r"^(?:(?<user>\S+) )?says (?<key>.+)$";
        assert_eq!(
            found(own, "ann says elm\n- says elm\nsays elm\nann thinks elm\n"),
            [(owned("elm"), owned("ann")), (owned("elm"), owned("-")), (owned("elm"), None), (None, None)]
        );
    }

    #[test]
    fn users_are_looked_for_in_a_pattern_that_was_written_for_it() {
        let group = |pattern: &str| pattern.parse::<Pattern>().unwrap().group_of_users();
        assert_eq!(group(r"(?<user>\S+) (?<key>.*)"), Some(Column::Name("user".to_owned())));
        assert_eq!(group(r"(?<key>.*)"), None);
        assert_eq!(group("combined"), None);
    }
}
