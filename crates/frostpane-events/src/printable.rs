//! Text of unknown origin, made safe to show.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Combining marks on one letter: more of them than this for each column are cut.
const MOST_MARKS: usize = 4;

/// The text, with characters escaped that could take over a terminal.
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

/// Returns true for a character that is invisible, but changes how others are shown.
pub fn is_unseen(c: char) -> bool {
    // Others change the direction of what follows, or break the line.
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text if it fits into `most` columns, otherwise as much of its beginning as does, and an ellipsis.
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
}
