//! How far an audit has come, on standard error where a person looks at it.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::screen::Screen;
use crate::table::bar;
use crate::text::cut;

/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
const BAR_WIDTH: usize = 20;
const ERASE_LINE: &str = "\r\x1b[K";

/// A line that is drawn over itself, and erased at the end.
pub struct Progress {
    checks: usize,
    shown: bool,
    drawn: Mutex<Option<Instant>>,
}

impl Progress {
    pub fn new(checks: usize) -> Self {
        Self {
            checks,
            shown: io::stderr().is_terminal(),
            drawn: Mutex::new(None),
        }
    }

    /// This share of a check is done.
    pub fn look(&self, number: usize, name: &str, share: f64) {
        if !self.shown {
            return;
        }
        // Whoever finds it taken leaves the drawing to the other thread.
        let Ok(mut drawn) = self.drawn.try_lock() else {
            return;
        };
        if drawn.is_some_and(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        *drawn = Some(Instant::now());
        let done = (number as f64 + share) / self.checks as f64;
        let bar = bar((done * 1e3) as u64, 1_000, BAR_WIDTH);
        let line = format!(
            "{bar:·<BAR_WIDTH$}  check {} of {}: {name}, {:.0} %",
            number + 1,
            self.checks,
            100.0 * share
        );
        let room = Screen::of(&io::stderr()).width - 1;
        let _ = write!(io::stderr(), "{ERASE_LINE}{}", cut(&line, room));
    }

    /// Makes room for a message.
    pub fn erase(&self) {
        if self.shown {
            let _ = write!(io::stderr(), "{ERASE_LINE}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.erase();
    }
}
