//! The log: lines for the operator, on standard error.
//!
//! No request is logged: how many there were, and how large, would tell how many events there were. Nothing that came in is ever a part
//! of a line. A thread of its own writes them, so that nobody waits for a reader of the log that is slow, and one that cannot be written
//! is lost and harms nothing. Of lines from one place about one stream a few are written in a minute; how many more there were is written
//! after it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{LazyLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::problem::Problem;

/// Lines of one kind that are written in a period.
const EACH: u64 = 5;
/// How long a period is.
const PERIOD: Duration = Duration::from_secs(60);
/// Lines that may wait to be written.
const WAITING: usize = 256;
/// How long the end of the process waits for them.
const FLUSHING: Duration = Duration::from_secs(1);

/// Where lines wait, until the log is closed.
static LINES: LazyLock<RwLock<Option<SyncSender<Line>>>> = LazyLock::new(|| RwLock::new(start()));
/// Lines that found no place to wait.
static LOST: AtomicU64 = AtomicU64::new(0);

/// The place in the code that a line comes from, and the stream that it is about, if it is about one.
type Kind = (String, String);

enum Line {
    Text(Kind, String),
    /// The last: everything before it has been written when the other side is told.
    End(SyncSender<()>),
}

/// Writes a line.
#[track_caller]
pub fn tell(what: impl fmt::Display) {
    put(Location::caller(), "", what.to_string());
}

/// Writes a line about a stream.
#[track_caller]
pub fn of_stream(stream: &str, what: impl fmt::Display) {
    put(Location::caller(), stream, format!("stream {stream}: {what}"));
}

/// Writes what went wrong with a stream.
#[track_caller]
pub fn failed(stream: &str, problem: &Problem) {
    of_stream(stream, problem);
}

/// Writes where something went wrong that nobody expected.
pub fn panicked(place: Option<&Location<'_>>) {
    if let Some(place) = place {
        put(place, "", format!("something went wrong at {place}"));
    }
}

/// Writes how many lines were left out, and everything that waits if that does not take too long. Nothing is written afterwards.
pub fn close() {
    let lines = LINES.write().unwrap_or_else(PoisonError::into_inner).take();
    let (done, ended) = sync_channel(1);
    if lines.is_some_and(|lines| lines.try_send(Line::End(done)).is_ok()) {
        let _ = ended.recv_timeout(FLUSHING);
    }
}

fn put(place: &Location<'_>, stream: &str, text: String) {
    let line = Line::Text((place.to_string(), stream.to_owned()), text);
    let lines = LINES.read().unwrap_or_else(PoisonError::into_inner);
    if lines.as_ref().is_some_and(|lines| lines.try_send(line).is_err()) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

fn start() -> Option<SyncSender<Line>> {
    let (lines, waiting) = sync_channel(WAITING);
    let thread = thread::Builder::new().name("log".to_owned());
    thread.spawn(|| write_all(waiting)).ok()?;
    Some(lines)
}

fn write_all(lines: Receiver<Line>) {
    let mut limit = Limit::default();
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
            Ok(Line::Text(kind, text)) => {
                if let Some(text) = limit.admit(Instant::now(), kind, text) {
                    write(&text);
                }
            }
            Ok(Line::End(done)) => {
                limit.drain().into_iter().for_each(|line| write(&line));
                let _ = done.send(());
                return;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Writes a line as one piece. One that cannot be written is nobody's to be told.
fn write(text: &str) {
    let line = format!("{:.3} {}\n", Timestamp::now(), visible(text));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// A text on one line: whatever would move a terminal's cursor, or turn its writing around, as its number.
fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        {
            true => line.extend(c.escape_unicode()),
            false => line.push(c),
        }
    }
    line
}

/// What was written of each kind in its period.
#[derive(Default)]
struct Limit(BTreeMap<Kind, Period>);

struct Period {
    began: Instant,
    lines: u64,
    /// The last of those that were left out.
    last: String,
}

impl Limit {
    /// The line, if it may be written.
    fn admit(&mut self, now: Instant, kind: Kind, text: String) -> Option<String> {
        let period = self.0.entry(kind).or_insert_with(|| Period {
            began: now,
            lines: 0,
            last: String::new(),
        });
        period.lines += 1;
        if period.lines <= EACH {
            return Some(text);
        }
        period.last = text;
        None
    }

    /// What was left out in periods that have ended.
    fn sweep(&mut self, now: Instant) -> Vec<String> {
        let ended = self
            .0
            .extract_if(.., |_, period| now.duration_since(period.began) >= PERIOD);
        ended.filter_map(|(_, period)| period.left_out()).collect()
    }

    /// What was left out.
    fn drain(&mut self) -> Vec<String> {
        let all = std::mem::take(&mut self.0);
        all.values().filter_map(Period::left_out).collect()
    }
}

impl Period {
    fn left_out(&self) -> Option<String> {
        let left_out = self.lines.checked_sub(EACH).filter(|&left_out| left_out > 0)?;
        Some(format!(
            "{} (one of {left_out} lines of this kind that were left out)",
            self.last
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(stream: &str) -> Kind {
        ("place".to_owned(), stream.to_owned())
    }

    #[test]
    fn of_each_kind_a_few_lines_are_written_and_the_others_counted() {
        let (mut limit, began) = (Limit::default(), Instant::now());
        let mut written = 0;
        for number in 0..1_000 {
            let line = limit.admit(began, kind("one"), format!("line {number}"));
            written += u64::from(line.is_some());
        }
        assert_eq!(written, EACH);
        assert!(
            limit.admit(began, kind("two"), "other".to_owned()).is_some(),
            "another stream's are not left out for it"
        );
        assert!(limit.sweep(began).is_empty(), "not before the period has ended");
        let left_out = limit.sweep(began + PERIOD);
        assert_eq!(
            left_out,
            ["line 999 (one of 995 lines of this kind that were left out)"]
        );
        let line = limit.admit(began + PERIOD, kind("one"), "again".to_owned());
        assert_eq!(line.as_deref(), Some("again"));
        assert!(limit.drain().is_empty());
    }

    #[test]
    fn a_line_is_one_line() {
        let text = visible("a\nb\r\u{1b}[2Jc\u{202e}d ü");
        assert_eq!(text, "a\\u{a}b\\u{d}\\u{1b}[2Jc\\u{202e}d ü");
    }
}
