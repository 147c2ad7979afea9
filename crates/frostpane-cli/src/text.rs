//! Text that stays within its columns.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Longer lines are tiring to read, however wide the terminal is.
const LONGEST_LINE: usize = 100;
/// Marks that sit on one letter: more of them than this for each column are cut.
const MOST_MARKS: usize = 4;

/// Text that cannot take over the terminal.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unseen(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Whether a character cannot be seen where it stands, but changes what else is.
pub fn is_unseen(c: char) -> bool {
    c.is_control() || turns_text(c)
}

/// Whether a character changes the direction of what follows, or breaks the line.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text if it fits, otherwise as much of its beginning as does, and an ellipsis.
pub fn cut(text: &str, most: usize) -> String {
    if text.width() <= most && text.chars().count() <= MOST_MARKS * most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let mut short = String::new();
    let mut taken = 0;
    for c in text.chars().take(MOST_MARKS * room) {
        taken += c.width().unwrap_or(0);
        if taken > room {
            break;
        }
        short.push(c);
    }
    while short.width() > room {
        short.pop();
    }
    short + "…"
}

/// Breaks a text into lines; all but the first are indented as far as the bullet is wide.
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
    fn keys_cannot_take_over_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(printable("höhe 東京"), "höhe 東京");
    }

    #[test]
    fn texts_are_cut_by_columns_and_not_by_characters() {
        assert_eq!(cut("maple", 5), "maple");
        assert_eq!(cut("maples", 5), "mapl…");
        assert_eq!(cut("東京都", 6), "東京都");
        assert_eq!(cut("東京都", 5), "東京…");
        assert_eq!(cut("東京都", 4), "東…");
        assert_eq!(cut("x", 0), "…");
    }

    #[test]
    fn marks_without_end_are_cut() {
        let pile = "e".to_owned() + &"\u{301}".repeat(60_000);
        assert!(cut(&pile, 10).chars().count() <= 40);
    }

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
