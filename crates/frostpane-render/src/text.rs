//! Text within a width of columns, safe to print on a terminal.

use std::io::{self, Write};

use anstyle::Style;
pub use frostpane_events::{cut, is_unseen, printable};
use unicode_width::UnicodeWidthStr;

/// Longer lines are tiring to read, however wide the terminal is.
const LONGEST_LINE: usize = 100;

/// The columns that a text takes up.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Writes a text in lines; all but the first are indented by the width of the bullet.
pub fn write_wrapped(
    out: &mut impl Write,
    bullet: &str,
    text: &str,
    columns: usize,
    style: Style,
) -> io::Result<()> {
    let room = columns.min(LONGEST_LINE).saturating_sub(bullet.width());
    let mut lead = bullet.to_owned();
    for line in lines(text, room) {
        writeln!(out, "{lead}{style}{line}{style:#}")?;
        lead = " ".repeat(bullet.width());
    }
    Ok(())
}

fn lines(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped_under_their_bullet() {
        for columns in [40, 80, 500] {
            let mut out = Vec::new();
            write_wrapped(&mut out, "- ", &"word ".repeat(40), columns, Style::new()).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.len() <= columns.min(LONGEST_LINE)));
            assert!(text.starts_with("- word") && text.lines().nth(1).unwrap().starts_with("  word"));
        }
    }
}
