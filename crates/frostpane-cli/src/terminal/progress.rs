//! Progress of long work, on standard error if that is a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::screen::layout_of;
use crate::settings::values::grouped;
use frostpane_events::Source;
use frostpane_render::table::bar;
use frostpane_render::text::cut;

/// Events between two looks at the clock, less one.
const MASK: u64 = (1 << 16) - 1;
/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
const BAR_WIDTH: usize = 20;
const ERASE_LINE: &str = "\r\x1b[K";

/// A line that is drawn over itself, and erased when it is dropped.
pub struct StatusLine {
    is_shown: bool,
    is_drawn: bool,
    latest: Instant,
}

impl StatusLine {
    pub fn new() -> Self {
        Self { is_shown: io::stderr().is_terminal(), is_drawn: false, latest: Instant::now() }
    }

    pub fn draw(&mut self, line: impl FnOnce() -> String) {
        if !self.is_shown || self.latest.elapsed() < PAUSE {
            return;
        }
        (self.is_drawn, self.latest) = (true, Instant::now());
        // Measured each time: terminals are resized, and a line that wraps cannot be erased.
        let room = layout_of(&io::stderr()).width - 1;
        // A terminal that has closed is no reason to stop.
        let _ = write!(io::stderr(), "{ERASE_LINE}{}", cut(&line(), room));
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.is_drawn {
            let _ = write!(io::stderr(), "{ERASE_LINE}");
        }
    }
}

/// A bar of the share that is done, and the words after it.
pub fn bar_line(share: f64, words: &str) -> String {
    let bar = bar((share * 1e3) as u64, 1_000, BAR_WIDTH);
    format!("{bar:·<BAR_WIDTH$}  {words}")
}

pub struct Progress {
    total_bytes: Option<u64>,
    bytes_read: Rc<Cell<u64>>,
    events: u64,
    start: Instant,
    line: StatusLine,
}

impl Progress {
    pub fn new(source: &Source) -> Self {
        Self {
            total_bytes: source.total_bytes,
            bytes_read: source.bytes_read(),
            events: 0,
            start: Instant::now(),
            line: StatusLine::new(),
        }
    }

    /// Shows nothing if something else is drawn on the terminal.
    pub fn unless(mut self, is_drawn_over: bool) -> Self {
        self.line.is_shown &= !is_drawn_over;
        self
    }

    #[inline]
    pub fn step(&mut self) {
        self.events += 1;
        if self.events & MASK == 0 {
            self.draw();
        }
    }

    /// Erases the line, and returns the number of events.
    pub fn finish(self) -> u64 {
        self.events
    }

    #[cold]
    fn draw(&mut self) {
        let read = self.bytes_read.get() as f64;
        let share = self.total_bytes.map(|total| read / total.max(1) as f64);
        self.line.draw(|| line(self.events, self.start.elapsed(), share));
    }
}

/// Erases the line of any thread.
pub fn erase() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "{ERASE_LINE}");
    }
}

fn line(events: u64, elapsed: Duration, share: Option<f64>) -> String {
    let rate = events as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6;
    let speed = format!("{} events, {rate:.1} million a second", grouped(events));
    match share.map(|share| share.min(1.0)) {
        None => speed,
        Some(share) => {
            let (percent, left) = ((share * 1e2) as u64, time_left(elapsed, share));
            bar_line(share, &format!("{percent:>2} %  {speed}{left}"))
        }
    }
}

/// Empty if the share is 0.
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
    fn a_known_size_gives_a_bar_and_the_time_left_and_an_unknown_one_events_and_rate() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(
            line(25_000_000, elapsed, Some(0.25)),
            "█████···············  25 %  25,000,000 events, 2.5 million a second, 30 s left"
        );
        assert!(line(1, elapsed, Some(0.1)).ends_with(", 1:30 left"));
        assert!(line(1, elapsed, Some(0.001)).ends_with(", 2:46:30 left"));
        assert!(line(1, elapsed, Some(1.5)).contains("100 %"));
        let expected = "3,000,000 events, 1.5 million a second";
        assert_eq!(line(3_000_000, Duration::from_secs(2), None), expected);
        assert!(line(3_000_000, Duration::from_secs(2), Some(0.0)).ends_with(expected));
    }
}
