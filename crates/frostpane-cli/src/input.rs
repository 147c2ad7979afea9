//! Events from files: lines, columns, compression.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::failure::Result;

const BLOCK: usize = 1 << 20;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Which columns of a line make an event. Without a key column the whole line is the key.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// From 1.
    pub key: Option<usize>,
    /// From 1.
    pub time: Option<usize>,
}

/// An event as it stands in a line.
pub struct Event<'a> {
    /// In microseconds since 1970, if there is a time column.
    pub time: Option<i64>,
    /// Not if it is empty.
    pub key: Option<&'a [u8]>,
}

/// Calls `visit` for every line of every file, with its line number from 1, without its end.
pub fn for_each_line(
    files: &[PathBuf],
    mut visit: impl FnMut(&Path, u64, &[u8]) -> Result<()>,
) -> Result<()> {
    let standard_input = [PathBuf::from("-")];
    let files = if files.is_empty() { &standard_input } else { files };
    for file in files {
        let failed = |cause: io::Error| format!("cannot read {}: {cause}", name(file));
        let mut reader = open(file).map_err(failed)?;
        let (mut line, mut number) = (Vec::new(), 0);
        while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 {
            number += 1;
            visit(file, number, without_end(&line))?;
            line.clear();
        }
    }
    Ok(())
}

/// What to call a file in a message.
pub fn name(file: &Path) -> String {
    if file == Path::new("-") {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    }
}

fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> = if file == Path::new("-") {
        if io::stdin().is_terminal() {
            eprintln!("frostpane: reading from the terminal, one event a line; end with Ctrl-D");
        }
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file)?)
    };
    let mut reader = BufReader::with_capacity(BLOCK, raw);
    if reader.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        let decoder = zstd::Decoder::with_buffer(reader)?;
        return Ok(Box::new(BufReader::with_capacity(BLOCK, decoder)));
    }
    Ok(Box::new(reader))
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl Columns {
    /// Finds the event in a line.
    pub fn event<'a>(&self, line: &'a [u8]) -> std::result::Result<Event<'a>, String> {
        let key = match self.key {
            None => line,
            Some(column) => field(line, column, "--key")?,
        };
        let time = match self.time {
            None => None,
            Some(column) => Some(parse_time(field(line, column, "--time")?)?),
        };
        Ok(Event {
            time,
            key: (!key.is_empty()).then_some(key),
        })
    }
}

fn field<'a>(line: &'a [u8], column: usize, option: &str) -> std::result::Result<&'a [u8], String> {
    let mut fields = line.split(|&byte| byte == b'\t');
    fields.nth(column - 1).ok_or_else(|| {
        let there = line.split(|&byte| byte == b'\t').count();
        format!("there are {there} tab-separated columns, but {option} asks for column {column}")
    })
}

fn parse_time(field: &[u8]) -> std::result::Result<i64, String> {
    let seconds = std::str::from_utf8(field)
        .ok()
        .and_then(|text| text.parse::<i64>().ok());
    seconds
        .and_then(|seconds| seconds.checked_mul(MICROS_PER_SECOND))
        .ok_or_else(|| {
            format!(
                "the time is {:?}, but must be in whole Unix seconds",
                String::from_utf8_lossy(field)
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_from_one() {
        let columns = Columns {
            key: Some(2),
            time: Some(1),
        };
        let event = columns.event(b"12\tkey\tmore").unwrap();
        assert_eq!(
            (event.time, event.key),
            (Some(12_000_000), Some(b"key".as_slice()))
        );
        let event = columns.event(b"12\t").unwrap();
        assert_eq!((event.time, event.key), (Some(12_000_000), None));
        assert!(
            columns
                .event(b"12")
                .is_err_and(|message| message.contains("there are 1 tab-separated columns"))
        );
        assert!(
            columns
                .event(b"noon\tkey")
                .is_err_and(|message| message.contains("Unix seconds"))
        );
    }

    #[test]
    fn the_whole_line_is_the_key_and_an_empty_one_is_no_key() {
        let columns = Columns {
            key: None,
            time: None,
        };
        assert_eq!(columns.event(b"a\tb").unwrap().key, Some(b"a\tb".as_slice()));
        assert_eq!(columns.event(b"").unwrap().key, None);
        assert_eq!(without_end(b"a\r\n"), b"a");
        assert_eq!(without_end(b"a"), b"a");
    }
}
