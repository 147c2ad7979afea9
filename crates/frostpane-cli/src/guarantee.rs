//! What the numbers of a release mean, in words.

use std::io::{self, Write};

use anstyle::Style;
use frostpane::{Key, Release};

use crate::screen::Screen;
use crate::text::write_wrapped;
use crate::units::grouped;

/// What a release can be trusted for, and what it protects.
pub fn write_guarantee<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    screen: &Screen,
) -> io::Result<()> {
    let sure = format!(
        "With {} % confidence, all of this holds at once:",
        percent(release.confidence)
    );
    write_wrapped(out, "", &sure, screen.width, Style::new())?;
    for statement in statements(release) {
        let style = match statement {
            Statement::Promise(_) => Style::new(),
            Statement::Warning(_) => screen.styles.warning,
        };
        write_wrapped(out, "- ", statement.text(), screen.width, style)?;
    }
    write_wrapped(out, "", &privacy(release), screen.width, Style::new())
}

enum Statement {
    Promise(String),
    Warning(String),
}

impl Statement {
    fn text(&self) -> &str {
        match self {
            Statement::Promise(text) | Statement::Warning(text) => text,
        }
    }
}

fn statements<K: Key>(release: &Release<K>) -> Vec<Statement> {
    let mut statements = Vec::new();
    if !release.heavy.is_empty() {
        statements.push(Statement::Promise(
            "every true count lies between the two numbers beside it;".to_owned(),
        ));
    }
    statements.push(Statement::Promise(format!(
        "every key that occurred {} times or more is listed;",
        grouped(release.complete_above)
    )));
    statements.push(match release.nothing_below {
        0 => Statement::Warning(
            "but a key may be listed because of its noise alone, even if it never occurred;".to_owned(),
        ),
        least => Statement::Promise(format!(
            "no key that occurred fewer than {} times is;",
            grouped(least)
        )),
    });
    statements.push(promises(release));
    statements
}

fn promises<K: Key>(release: &Release<K>) -> Statement {
    let Release { alpha, promises, .. } = release;
    match &promises.reason {
        None => Statement::Promise(format!(
            "the three promises at alpha {alpha}: every key with alpha times the norm (about {}) is listed, none with half of that, \
             and counts are right to a quarter of it.",
            grouped((alpha * release.norm_estimate as f64).round() as u64)
        )),
        Some(reason) => Statement::Warning(format!(
            "the three promises are not made at alpha {alpha}: {reason}."
        )),
    }
}

fn privacy<K: Key>(release: &Release<K>) -> String {
    let delta = match release.delta {
        0.0 => "pure (delta 0)".to_owned(),
        delta => format!("delta {delta:e}"),
    };
    format!(
        "Privacy: epsilon {}, {delta}, for {}. Not hidden: that an event took place, when, and how many did.",
        release.epsilon, release.unit
    )
}

fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}
