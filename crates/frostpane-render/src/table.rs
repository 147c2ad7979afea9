//! Releases as tables for a terminal or a text file.

use std::io::{self, Write};

use anstyle::Style;
use frostpane::numbers::grouped;
use frostpane::{Heavy, Key, Release};

use crate::guarantee::{write_privacy, write_statements};
use crate::layout::{TextLayout, WindowLabel};
use crate::statements::empty_note;
use crate::text::{cut, printable, width, write_wrapped};
use crate::titles::title;

const BAR_WIDTHS: (usize, usize) = (10, 40);
/// The least width of a key, even where the line then is too long.
const LEAST_KEY: usize = 8;
const GAP: usize = 2;

/// Writes the lists, at most `most` rows of each, and their guarantee.
pub fn write<K: Key>(
    out: &mut impl Write,
    releases: &[(WindowLabel, Release<K>)],
    layout: &TextLayout,
    most: Option<usize>,
) -> io::Result<()> {
    for (window, release) in releases {
        if releases.len() > 1 {
            write_heading(out, window, layout)?;
        }
        write_wrapped(out, "", &title(release), layout.width, Style::new())?;
        writeln!(out)?;
        match empty_note(release) {
            Some(why) => write_wrapped(out, "  ", &why, layout.width, Style::new())?,
            None => write_list(out, &release.heavy, layout, most.unwrap_or(usize::MAX))?,
        }
        writeln!(out)?;
        write_statements(out, release, layout)?;
        if releases.len() > 1 {
            writeln!(out)?;
        }
    }
    write_privacy(out, releases.iter().map(|(_, release)| release), layout)
}

pub(crate) fn write_heading(
    out: &mut impl Write,
    window: &WindowLabel,
    layout: &TextLayout,
) -> io::Result<()> {
    let style = layout.styles.heading;
    writeln!(out, "{style}Window of {}{style:#}", window.spoken())
}

/// Writes a row for each of the first `most` keys.
pub fn write_list<K: Key>(
    out: &mut impl Write,
    heavy: &[Heavy<K>],
    layout: &TextLayout,
    most: usize,
) -> io::Result<()> {
    let cells =
        |heavy: &Heavy<K>| [grouped(heavy.count), interval(heavy), printable(&heavy.key.shown().to_string())];
    let rows: Vec<[String; 3]> = heavy.iter().take(most).map(cells).collect();
    let widest = |heading: &str, column: usize| {
        rows.iter().map(|row| width(&row[column])).fold(heading.len(), usize::max)
    };
    let (counts, intervals) = (widest("count", 0), widest("between", 1));
    let room = RowLayout::beside(&[counts, intervals], widest("key", 2), layout);
    let first = heavy.first().map_or(0, |heavy| heavy.count);
    let dim = layout.styles.interval;

    let blank = " ".repeat(room.bar_width);
    writeln!(out, "  {:>counts$}  {:<intervals$}  {blank}  key", "count", "between")?;
    for (heavy, [shown, interval, key]) in heavy.iter().zip(&rows) {
        let (bar, key) = (room.bar(heavy.count, first, layout), cut(key, room.key_width));
        writeln!(out, "  {shown:>counts$}  {dim}{interval:<intervals$}{dim:#}  {bar}  {key}")?;
    }
    write_rest(out, heavy.len() - rows.len())
}

/// Writes how many more keys there are than rows.
pub fn write_rest(out: &mut impl Write, more: usize) -> io::Result<()> {
    match more {
        0 => Ok(()),
        more => writeln!(out, "  ... and {} more", grouped(more as u64)),
    }
}

/// The interval of a count.
pub fn interval<K: Key>(heavy: &Heavy<K>) -> String {
    format!("{} to {}", grouped(heavy.low), grouped(heavy.high))
}

/// The widths of the bar and the key beside the numbers of a row.
pub struct RowLayout {
    /// The width of the bar in columns.
    pub bar_width: usize,
    /// The most columns of the key.
    pub key_width: usize,
}

impl RowLayout {
    /// The key takes what it needs but for a short bar; the bar takes the rest, up to its greatest width.
    pub fn beside(numbers: &[usize], widest_key: usize, layout: &TextLayout) -> Self {
        let (shortest, longest) = BAR_WIDTHS;
        let taken: usize = numbers.iter().map(|number| GAP + number).sum();
        let left = layout.width.saturating_sub(taken + 2 * GAP);
        let key_width = widest_key.min(left.saturating_sub(shortest).max(LEAST_KEY));
        Self { bar_width: left.saturating_sub(key_width).clamp(shortest, longest), key_width }
    }

    /// A bar in proportion, in its style, with spaces up to its full width.
    pub fn bar(&self, count: u64, most: u64, layout: &TextLayout) -> String {
        let bar = bar(count, most, self.bar_width);
        let (style, blank) = (layout.styles.bar, " ".repeat(self.bar_width - width(&bar)));
        format!("{style}{bar}{style:#}{blank}")
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
    use crate::layout::Styles;

    fn room(columns: usize, widest_key: usize) -> (usize, usize) {
        let layout = TextLayout { width: columns, styles: Styles::default() };
        let row = RowLayout::beside(&[6, 16], widest_key, &layout);
        (row.bar_width, row.key_width)
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
