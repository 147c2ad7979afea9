//! The listed keys as comma-separated values (RFC 4180).

use std::io::{self, Write};

use csv::{ErrorKind, Writer};
use frostpane::{Key, Release};

use crate::layout::WindowLabel;

const COLUMNS: [&str; 4] = ["key", "count", "low", "high"];

/// Writes a header and a row for each listed key. Of several releases each row begins with its window.
pub fn write<K: Key>(out: &mut impl Write, releases: &[(WindowLabel, Release<K>)]) -> io::Result<()> {
    let mut rows = Writer::from_writer(out);
    let several = releases.len() > 1;
    write_row(&mut rows, several.then_some("window"), COLUMNS)?;
    for (window, release) in releases {
        write_rows(&mut rows, several.then_some(&window.text), release)?;
    }
    rows.flush()
}

/// Writes the rows of one list of a continual release, each after the end of its window. The header comes
/// before the first list.
pub fn write_next<K: Key>(out: &mut impl Write, release: &Release<K>, first: bool) -> io::Result<()> {
    let mut rows = Writer::from_writer(out);
    if first {
        write_row(&mut rows, Some("to"), COLUMNS)?;
    }
    let to = release.window.to.map_or(String::new(), |to| to.to_string());
    write_rows(&mut rows, Some(&to), release)?;
    rows.flush()
}

fn write_rows<K: Key, W: Write>(
    rows: &mut Writer<W>,
    before: Option<&String>,
    release: &Release<K>,
) -> io::Result<()> {
    release.heavy.iter().try_for_each(|heavy| {
        let [count, low, high] = [heavy.count, heavy.low, heavy.high].map(|number| number.to_string());
        let key = heavy.key.shown().to_string();
        write_row(rows, before.map(String::as_str), [&key, &count, &low, &high])
    })
}

fn write_row<W: Write>(rows: &mut Writer<W>, before: Option<&str>, cells: [&str; 4]) -> io::Result<()> {
    rows.write_record(before.into_iter().chain(cells)).map_err(cause)
}

/// The error of the output, by which a closed pipe can be told.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}
