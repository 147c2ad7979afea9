//! The listed keys as comma-separated values.

use std::io::{self, Write};

use csv::{ErrorKind, Writer};
use frostpane::{Key, Release};

/// A header, and a row for each listed key, quoted where needed (RFC 4180).
pub fn write_release<K: Key>(out: &mut impl Write, release: &Release<K>) -> io::Result<()> {
    let mut rows = Writer::from_writer(out);
    rows.write_record(["key", "count", "low", "high"])
        .map_err(cause)?;
    for heavy in &release.heavy {
        let numbers = [heavy.count, heavy.low, heavy.high].map(|number| number.to_string());
        let key = [heavy.key.shown().to_string()];
        rows.write_record(key.iter().chain(&numbers)).map_err(cause)?;
    }
    rows.flush()
}

/// What went wrong with the output. A closed pipe must still be seen as one.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::Io(cause) => cause,
        other => io::Error::other(format!("{other:?}")),
    }
}
