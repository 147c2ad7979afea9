//! The listed keys as comma-separated values.

use std::io::{self, Write};

use csv::{ErrorKind, Writer};
use frostpane::{Key, Release};

use crate::units::Asked;

/// A header, and a row for each listed key, quoted where needed (RFC 4180). Of several releases each row
/// begins with its window.
pub fn write_releases<K: Key>(out: &mut impl Write, releases: &[(Asked, Release<K>)]) -> io::Result<()> {
    let mut rows = Writer::from_writer(out);
    let several = releases.len() > 1;
    let window = |text: &str| several.then(|| text.to_owned());
    let header = ["key", "count", "low", "high"].map(str::to_owned);
    rows.write_record(window("window").iter().chain(&header))
        .map_err(cause)?;
    for (asked, release) in releases {
        let window = window(&asked.text);
        for heavy in &release.heavy {
            let numbers = [heavy.count, heavy.low, heavy.high].map(|number| number.to_string());
            let key = [heavy.key.shown().to_string()];
            rows.write_record(window.iter().chain(&key).chain(&numbers))
                .map_err(cause)?;
        }
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
