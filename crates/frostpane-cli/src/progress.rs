//! How far the reading has come, on standard error where a person looks at it.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::screen::Screen;
use crate::table::bar;
use crate::text::cut;
use crate::units::grouped;

/// Events between two looks at the clock, less one.
const MASK: u64 = (1 << 16) - 1;
/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
const BAR_WIDTH: usize = 20;
const ERASE_LINE: &str = "\r\x1b[K";

/// A line that is drawn over itself, and erased at the end.
pub struct Progress {
    total_bytes: Option<u64>,
    events: u64,
    start: Instant,
    shown: bool,
    drawn: Option<Instant>,
}

impl Progress {
    /// Shows how much of `total_bytes` is left, where that is known.
    pub fn new(total_bytes: Option<u64>) -> Self {
        Self {
            total_bytes,
            events: 0,
            start: Instant::now(),
            shown: io::stderr().is_terminal(),
            drawn: None,
        }
    }

    /// Keeps still if something else is drawn on the terminal.
    pub fn unless(self, drawn_over: bool) -> Self {
        Self {
            shown: self.shown && !drawn_over,
            ..self
        }
    }

    /// One event more; so many bytes have been read by now.
    #[inline]
    pub fn step(&mut self, bytes_read: u64) {
        self.events += 1;
        if self.events & MASK == 0 {
            self.look(bytes_read);
        }
    }

    /// Erases the line, and tells how many events there were.
    pub fn finish(self) -> u64 {
        self.events
    }

    #[cold]
    fn look(&mut self, bytes_read: u64) {
        let now = Instant::now();
        if !self.shown || now - self.drawn.unwrap_or(self.start) < PAUSE {
            return;
        }
        self.drawn = Some(now);
        let share = self
            .total_bytes
            .map(|total| bytes_read as f64 / total.max(1) as f64);
        // Measured each time: people resize their terminals, and a line that wraps cannot be erased.
        let room = Screen::of(&io::stderr()).width - 1;
        let line = cut(&line(self.events, now - self.start, share), room);
        // A terminal that has gone is no reason to stop.
        let _ = write!(io::stderr(), "{ERASE_LINE}{line}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(io::stderr(), "{ERASE_LINE}");
        }
    }
}

/// Erases the line, of whichever thread, where there may be one.
pub fn erase() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "{ERASE_LINE}");
    }
}

/// What the line says when this share of the bytes has been read.
fn line(events: u64, elapsed: Duration, share: Option<f64>) -> String {
    let rate = events as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6;
    let speed = format!("{} events, {rate:.1} million a second", grouped(events));
    match share.map(|share| share.min(1.0)) {
        None => speed,
        Some(share) => {
            let permille = (share * 1e3) as u64;
            let bar = bar(permille, 1_000, BAR_WIDTH);
            let left = time_left(elapsed, share);
            format!("{bar:·<BAR_WIDTH$} {:>3} %  {speed}{left}", permille / 10)
        }
    }
}

/// Nothing has been read so far that could tell, if the share is 0.
fn time_left(elapsed: Duration, share: f64) -> String {
    let seconds = elapsed.as_secs_f64() * (1.0 - share) / share;
    if !seconds.is_finite() {
        return String::new();
    }
    let seconds = seconds.ceil() as u64;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!(", {seconds} s left"),
        (0, minutes, seconds) => format!(", {minutes}:{seconds:02} left"),
        (hours, minutes, seconds) => format!(", {hours}:{minutes:02}:{seconds:02} left"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_size_gives_a_bar_and_the_time_left() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(
            line(25_000_000, elapsed, Some(0.25)),
            "█████···············  25 %  25,000,000 events, 2.5 million a second, 30 s left"
        );
        assert!(line(1, elapsed, Some(0.1)).ends_with(", 1:30 left"));
        assert!(line(1, elapsed, Some(0.001)).ends_with(", 2:46:30 left"));
        assert!(line(1, elapsed, Some(1.5)).contains("100 %"));
    }

    #[test]
    fn an_unknown_size_gives_events_and_rate() {
        let expected = "3,000,000 events, 1.5 million a second";
        assert_eq!(line(3_000_000, Duration::from_secs(2), None), expected);
        assert!(line(3_000_000, Duration::from_secs(2), Some(0.0)).ends_with(expected));
    }
}
