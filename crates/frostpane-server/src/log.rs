//! The log: lines for the operator, on standard error. No request is logged, because the number and size of
//! requests would reveal the number of events, and no line contains any input. A line that cannot be written is
//! lost; a slow reader delays nothing. For each place in the code and each stream, a few lines a minute are
//! written, then the number of those left out.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{LazyLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::sync;

const EACH: u64 = 5;
const PERIOD: Duration = Duration::from_secs(60);
const WAITING: usize = 256;
/// The most time for which the end of the process waits for them.
const FLUSHING: Duration = Duration::from_secs(1);

/// The queue of lines, until the log is closed.
static LINES: LazyLock<RwLock<Option<SyncSender<LogLine>>>> = LazyLock::new(|| RwLock::new(start()));
/// Lines for which the queue had no place.
static LOST: AtomicU64 = AtomicU64::new(0);

/// The place in the code and the stream that a line is about; the stream may be empty.
type LineKind = (String, String);

enum LogLine {
    Text(LineKind, String),
    /// The last line: the sender is told when all lines before it have been written.
    End(SyncSender<()>),
}

#[track_caller]
pub fn tell(what: impl fmt::Display) {
    put(Location::caller(), "", what.to_string());
}

#[track_caller]
pub fn of_stream(stream: &str, what: impl fmt::Display) {
    put(Location::caller(), stream, format!("stream {stream}: {what}"));
}

/// Writes the place of a panic. Its message may contain input.
pub fn panicked(place: Option<&Location<'_>>) {
    if let Some(place) = place {
        put(place, "", format!("something went wrong at {place}"));
    }
}

/// Writes how many lines were left out, and all lines that wait, for a limited time. Later lines are dropped.
pub fn close() {
    let lines = sync::write(&LINES).take();
    let (done, ended) = sync_channel(1);
    if lines.is_some_and(|lines| lines.try_send(LogLine::End(done)).is_ok()) {
        let _ = ended.recv_timeout(FLUSHING);
    }
}

fn put(place: &Location<'_>, stream: &str, text: String) {
    let line = LogLine::Text((place.to_string(), stream.to_owned()), text);
    let lines = sync::read(&LINES);
    if lines.as_ref().is_some_and(|lines| lines.try_send(line).is_err()) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

fn start() -> Option<SyncSender<LogLine>> {
    let (lines, waiting) = sync_channel(WAITING);
    thread::Builder::new().name("log".to_owned()).spawn(|| write_all(waiting)).ok()?;
    Some(lines)
}

fn write_all(lines: Receiver<LogLine>) {
    let mut limit = LineLimit::default();
    loop {
        let now = Instant::now();
        limit.sweep(now).into_iter().for_each(|line| write(&line));
        match LOST.swap(0, Ordering::Relaxed) {
            0 => {}
            lost => write(&format!(
                "{lost} lines were left out, because those before them could not be written in time"
            )),
        }
        match lines.recv_timeout(PERIOD) {
            Ok(LogLine::Text(kind, text)) => {
                if let Some(text) = limit.admit(Instant::now(), kind, text) {
                    write(&text);
                }
            }
            Ok(LogLine::End(done)) => {
                limit.drain().into_iter().for_each(|line| write(&line));
                let _ = done.send(());
                return;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn write(text: &str) {
    let line = format!("{:.3} {}\n", Timestamp::now(), visible(text));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// Escapes characters that would move the cursor of a terminal or reverse its text.
fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        {
            line.extend(c.escape_unicode());
        } else {
            line.push(c);
        }
    }
    line
}

/// The lines of each kind in its period.
#[derive(Default)]
struct LineLimit(BTreeMap<LineKind, LogPeriod>);

struct LogPeriod {
    began: Instant,
    lines: u64,
    /// The last line that was left out.
    last: String,
}

impl LineLimit {
    fn admit(&mut self, now: Instant, kind: LineKind, text: String) -> Option<String> {
        let period =
            self.0.entry(kind).or_insert_with(|| LogPeriod { began: now, lines: 0, last: String::new() });
        period.lines += 1;
        if period.lines <= EACH {
            return Some(text);
        }
        period.last = text;
        None
    }

    /// Reports lines left out in periods that have ended.
    fn sweep(&mut self, now: Instant) -> Vec<String> {
        let ended = self.0.extract_if(.., |_, period| now.duration_since(period.began) >= PERIOD);
        ended.filter_map(|(_, period)| period.left_out()).collect()
    }

    fn drain(&mut self) -> Vec<String> {
        std::mem::take(&mut self.0).values().filter_map(LogPeriod::left_out).collect()
    }
}

impl LogPeriod {
    fn left_out(&self) -> Option<String> {
        let left_out = self.lines.checked_sub(EACH).filter(|&left_out| left_out > 0)?;
        Some(format!("{} (one of {left_out} lines of this kind that were left out)", self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(stream: &str) -> LineKind {
        ("place".to_owned(), stream.to_owned())
    }

    #[test]
    fn of_each_kind_a_few_lines_are_written_and_the_others_counted() {
        let (mut limit, began) = (LineLimit::default(), Instant::now());
        let mut written = 0;
        for number in 0..1_000 {
            written += u64::from(limit.admit(began, kind("one"), format!("line {number}")).is_some());
        }
        assert_eq!(written, EACH);
        assert!(
            limit.admit(began, kind("two"), "other".to_owned()).is_some(),
            "other streams have periods of their own"
        );
        assert!(limit.sweep(began).is_empty(), "not before the period has ended");
        let left_out = limit.sweep(began + PERIOD);
        assert_eq!(left_out, ["line 999 (one of 995 lines of this kind that were left out)"]);
        let line = limit.admit(began + PERIOD, kind("one"), "again".to_owned());
        assert_eq!(line.as_deref(), Some("again"));
        assert!(limit.drain().is_empty());
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(visible("a\nb\r\u{1b}[2Jc\u{202e}d ü"), "a\\u{a}b\\u{d}\\u{1b}[2Jc\\u{202e}d ü");
    }
}
