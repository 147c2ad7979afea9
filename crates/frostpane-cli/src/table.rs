//! A release for people.

use std::io::{self, Write};

use frostpane::{Coverage, Edge, Key, Norm, Release};

use crate::units::grouped;

/// Keys longer than this are cut in the middle of the screen, never in the JSON.
const KEY_WIDTH: usize = 48;
const BAR_WIDTH: usize = 20;
const TEXT_WIDTH: usize = 96;

/// The list, and what it can be trusted for.
pub fn write_release<K: Key>(out: &mut impl Write, release: &Release<K>) -> io::Result<()> {
    writeln!(out, "{}\n", title(release))?;
    write_list(out, release)?;
    write_guarantee(out, release)
}

fn title<K: Key>(release: &Release<K>) -> String {
    let norm = match release.norm {
        Norm::L1 => "L1",
        Norm::L2 => "L2",
    };
    format!(
        "{norm} heavy hitters at alpha {} of {}",
        release.alpha,
        covered(&release.window)
    )
}

fn covered(window: &Coverage) -> String {
    let events = match window.events {
        1 => "1 event".to_owned(),
        events => format!("{} events", grouped(events)),
    };
    match (window.from, window.to) {
        (Some(Edge::Event(from)), Some(Edge::Event(to))) => {
            format!("{events}, number {} up to {}", grouped(from), grouped(to))
        }
        (Some(Edge::Instant(from)), Some(Edge::Instant(to))) => {
            format!("{events} from {from} up to {to}")
        }
        _ => "no events".to_owned(),
    }
}

fn write_list<K: Key>(out: &mut impl Write, release: &Release<K>) -> io::Result<()> {
    let Some(first) = release.heavy.first() else {
        return writeln!(
            out,
            "  The list is empty: {}.\n",
            release.note.as_deref().unwrap_or("nothing passed")
        );
    };
    let rows: Vec<(String, String)> = release
        .heavy
        .iter()
        .map(|heavy| {
            let interval = format!("{} to {}", grouped(heavy.low), grouped(heavy.high));
            (grouped(heavy.count), interval)
        })
        .collect();
    let wide = |width: usize, text: &String| width.max(text.len());
    let count_width = rows.iter().map(|(count, _)| count).fold("count".len(), wide);
    let interval_width = rows
        .iter()
        .map(|(_, interval)| interval)
        .fold("between".len(), wide);
    writeln!(
        out,
        "  {:>count_width$}  {:<interval_width$}  {:<BAR_WIDTH$}  key",
        "count", "between", ""
    )?;
    for ((count, interval), heavy) in rows.iter().zip(&release.heavy) {
        let bar = bar(heavy.count, first.count);
        let key = printable(&heavy.key.shown().to_string());
        writeln!(
            out,
            "  {count:>count_width$}  {interval:<interval_width$}  {bar:<BAR_WIDTH$}  {key}"
        )?;
    }
    writeln!(out)
}

/// What the numbers of a release mean, in words.
pub fn write_guarantee<K: Key>(out: &mut impl Write, release: &Release<K>) -> io::Result<()> {
    let mut statements = Vec::new();
    if !release.heavy.is_empty() {
        statements.push("every true count lies between the two numbers beside it;".to_owned());
    }
    statements.push(format!(
        "every key that occurred {} times or more is listed;",
        grouped(release.complete_above)
    ));
    statements.push(match release.nothing_below {
        0 => "but a key may be listed because of its noise alone, even if it never occurred;".to_owned(),
        least => format!("no key that occurred fewer than {} times is;", grouped(least)),
    });
    statements.push(promises(release));
    writeln!(
        out,
        "With {} % confidence, all of this holds at once:",
        percent(release.confidence)
    )?;
    for statement in statements {
        write_wrapped(out, "- ", &statement)?;
    }
    let delta = match release.delta {
        0.0 => "pure (delta 0)".to_owned(),
        delta => format!("delta {delta:e}"),
    };
    let privacy = format!(
        "Privacy: epsilon {}, {delta}, for {}. Not hidden: that an event took place, when, and how many did.",
        release.epsilon, release.unit
    );
    write_wrapped(out, "", &privacy)
}

fn promises<K: Key>(release: &Release<K>) -> String {
    let Release { alpha, promises, .. } = release;
    match &promises.reason {
        None => format!(
            "the three promises at alpha {alpha}: every key with alpha times the norm (about {}) is listed, none with half of that, \
             and counts are right to a quarter of it.",
            grouped((alpha * release.norm_estimate as f64).round() as u64)
        ),
        Some(reason) => format!("the three promises are not made at alpha {alpha}: {reason}."),
    }
}

/// Breaks a text into lines; all but the first are indented as far as the bullet is wide.
fn write_wrapped(out: &mut impl Write, bullet: &str, text: &str) -> io::Result<()> {
    let (mut line, indent) = (bullet.to_owned(), " ".repeat(bullet.len()));
    let mut fresh = true;
    for word in text.split(' ') {
        if !fresh && line.chars().count() + 1 + word.chars().count() > TEXT_WIDTH {
            writeln!(out, "{line}")?;
            line.clone_from(&indent);
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    writeln!(out, "{line}")
}

fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}

/// A bar in proportion, in eighths of a character.
pub fn bar(count: u64, most: u64) -> String {
    let eighths = (count as f64 / most.max(1) as f64 * BAR_WIDTH as f64 * 8.0).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

/// Text that cannot take over the terminal, shortened where it is very long.
pub fn printable(text: &str) -> String {
    let safe: String = text
        .chars()
        .map(|c| {
            if c.is_control() {
                c.escape_unicode().to_string()
            } else {
                c.to_string()
            }
        })
        .collect();
    match safe.char_indices().nth(KEY_WIDTH) {
        Some((end, _)) => format!("{}…", &safe[..end]),
        None => safe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cannot_take_over_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(printable(&"x".repeat(60)).chars().count(), KEY_WIDTH + 1);
    }

    #[test]
    fn long_texts_are_wrapped_under_their_bullet() {
        let mut out = Vec::new();
        write_wrapped(&mut out, "- ", &"word ".repeat(40)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().all(|line| line.len() <= TEXT_WIDTH));
        assert!(text.starts_with("- word") && text.lines().nth(1).unwrap().starts_with("  word"));
    }

    #[test]
    fn bars_are_in_proportion() {
        assert_eq!(bar(100, 100).chars().count(), BAR_WIDTH);
        assert_eq!(bar(50, 100).chars().count(), BAR_WIDTH / 2);
        assert_eq!(bar(0, 0), "");
    }
}
