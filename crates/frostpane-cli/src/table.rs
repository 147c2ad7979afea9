//! A release for people.

use std::io::{self, Write};

use anstyle::Style;
use frostpane::words::title;
use frostpane::{Heavy, Key, Release};

use crate::guarantee::{write_privacy, write_statements};
use crate::screen::Screen;
use crate::text::{cut, printable, width, write_wrapped};
use crate::units::{Asked, grouped};

const BAR_WIDTHS: (usize, usize) = (10, 40);
/// A key has at least this much room, even where the line then is too long.
const LEAST_KEY: usize = 8;
const GAP: usize = 2;

/// So many rows leave the guarantee in sight.
const ROWS_ON_A_TERMINAL: u64 = 25;

/// As many as are looked at, unless more were asked for.
pub fn rows_on_a_terminal<K: Key>(release: &Release<K>) -> usize {
    ROWS_ON_A_TERMINAL.max(release.top.unwrap_or(0)) as usize
}

/// The lists, and what they can be trusted for. Shows no more than so many rows of each, if that is given.
pub fn write_releases<K: Key>(
    out: &mut impl Write,
    releases: &[(Asked, Release<K>)],
    screen: &Screen,
    most: Option<usize>,
) -> io::Result<()> {
    for (asked, release) in releases {
        if releases.len() > 1 {
            write_heading(out, asked, screen)?;
        }
        write_wrapped(out, "", &title(release), screen.width, Style::new())?;
        writeln!(out)?;
        if release.heavy.is_empty() {
            write_note(out, release, screen)?;
        } else {
            write_list(out, &release.heavy, screen, most.unwrap_or(usize::MAX))?;
        }
        writeln!(out)?;
        write_statements(out, release, screen)?;
        if releases.len() > 1 {
            writeln!(out)?;
        }
    }
    write_privacy(out, releases, screen)
}

/// Which of several windows the following is about.
pub fn write_heading(out: &mut impl Write, asked: &Asked, screen: &Screen) -> io::Result<()> {
    let style = screen.styles.heading;
    writeln!(out, "{style}Window of {}{style:#}", asked.spoken())
}

fn write_note<K: Key>(out: &mut impl Write, release: &Release<K>, screen: &Screen) -> io::Result<()> {
    write_wrapped(out, "  ", &why_empty(release), screen.width, Style::new())
}

/// Why there is no list.
pub fn why_empty<K: Key>(release: &Release<K>) -> String {
    let why = release
        .note
        .map_or("nothing passed".to_owned(), |note| note.to_string());
    format!("The list is empty: {why}.")
}

/// A row for each key, the first so many.
pub fn write_list<K: Key>(
    out: &mut impl Write,
    heavy: &[Heavy<K>],
    screen: &Screen,
    most: usize,
) -> io::Result<()> {
    let rows: Vec<Row> = heavy.iter().take(most).map(Row::new).collect();
    let widest = |heading: &str, cell: fn(&Row) -> &str| {
        let cells = rows.iter().map(|row| width(cell(row)));
        cells.fold(heading.len(), usize::max)
    };
    let counts = widest("count", |row| &row.shown);
    let intervals = widest("between", |row| &row.interval);
    let room = Room::beside(&[counts, intervals], widest("key", |row| &row.key), screen);
    let first = rows.first().map_or(0, |row| row.count);
    let dim = screen.styles.interval;

    let blank = " ".repeat(room.bar_width);
    writeln!(
        out,
        "  {:>counts$}  {:<intervals$}  {blank}  key",
        "count", "between"
    )?;
    for row in &rows {
        let (shown, interval, key) = (&row.shown, &row.interval, room.key(&row.key));
        let bar = room.bar(row.count, first, screen);
        writeln!(
            out,
            "  {shown:>counts$}  {dim}{interval:<intervals$}{dim:#}  {bar}  {key}"
        )?;
    }
    write_rest(out, heavy.len() - rows.len())
}

/// How many keys a table leaves out.
pub fn write_rest(out: &mut impl Write, more: usize) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(out, "  ... and {} more", grouped(more as u64)),
    }
}

struct Row {
    count: u64,
    shown: String,
    interval: String,
    key: String,
}

impl Row {
    fn new<K: Key>(heavy: &Heavy<K>) -> Self {
        Self {
            count: heavy.count,
            shown: grouped(heavy.count),
            interval: interval(heavy),
            key: printable(&heavy.key.shown().to_string()),
        }
    }
}

/// The two numbers between which what was counted lies.
pub fn interval<K: Key>(heavy: &Heavy<K>) -> String {
    format!("{} to {}", grouped(heavy.low), grouped(heavy.high))
}

/// How a line shares what its numbers leave between bar and key.
pub struct Room {
    pub bar_width: usize,
    pub key_width: usize,
}

impl Room {
    /// The key takes what it needs and leaves room for a short bar; the bar takes the rest, up to a point.
    pub fn beside(numbers: &[usize], widest_key: usize, screen: &Screen) -> Self {
        let (shortest, longest) = BAR_WIDTHS;
        let taken: usize = numbers.iter().map(|number| GAP + number).sum();
        let left = screen.width.saturating_sub(taken + 2 * GAP);
        let key_width = widest_key.min(left.saturating_sub(shortest).max(LEAST_KEY));
        Self {
            bar_width: left.saturating_sub(key_width).clamp(shortest, longest),
            key_width,
        }
    }

    /// A bar in proportion, in its colour, with spaces up to the next column.
    pub fn bar(&self, count: u64, most: u64, screen: &Screen) -> String {
        let bar = bar(count, most, self.bar_width);
        let (style, blank) = (screen.styles.bar, " ".repeat(self.bar_width - width(&bar)));
        format!("{style}{bar}{style:#}{blank}")
    }

    /// The key, as far as there is room for it.
    pub fn key(&self, key: &str) -> String {
        cut(key, self.key_width)
    }
}

/// A bar in proportion, in eighths of a column.
pub fn bar(count: u64, most: u64, columns: usize) -> String {
    let share = (count as f64 / most.max(1) as f64).min(1.0);
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Styles;

    fn room(columns: usize, widest_key: usize) -> (usize, usize) {
        let screen = Screen {
            height: 40,
            width: columns,
            styles: Styles::default(),
        };
        let room = Room::beside(&[6, 16], widest_key, &screen);
        (room.bar_width, room.key_width)
    }

    #[test]
    fn keys_take_what_they_need_and_bars_the_rest() {
        assert_eq!(room(100, 3), (40, 3));
        assert_eq!(room(100, 50), (20, 50));
        assert_eq!(room(100, 500), (10, 60));
        assert_eq!(room(60, 3), (27, 3));
        assert_eq!(room(20, 30), (10, LEAST_KEY));
    }

    #[test]
    fn bars_are_in_proportion() {
        assert_eq!(bar(100, 100, 20), "█".repeat(20));
        assert_eq!(bar(50, 100, 20), "█".repeat(10));
        assert_eq!(bar(1, 160, 20), "▏");
        assert_eq!(bar(0, 0, 20), "");
    }
}
