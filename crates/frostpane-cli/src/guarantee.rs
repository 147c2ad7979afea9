//! What the numbers of a release mean, in words.

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;
use frostpane::{Edge, Estimator, Key, Policy, Release};
use jiff::Timestamp;

use crate::draft::Draft;
use crate::failure::Result;
use crate::request::total_epsilon;
use crate::screen::Screen;
use crate::table::{title, why_empty, write_heading};
use crate::text::write_wrapped;
use crate::units::{Asked, grouped, plain};

/// What no release hides.
pub const NOT_HIDDEN: &str = "that an event took place, when, and how many did";
/// What the file is called in a message.
const WHAT: &str = "guarantee";
const BY_SKETCH: &str = "Counts were read from the sketch, which was more precise here than the counts kept.";

/// What a release can be trusted for, and what it protects.
pub fn write_guarantee<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    screen: &Screen,
) -> io::Result<()> {
    write_statements(out, release, screen)?;
    write_about(out, release, &privacy(release, "", ""), screen)
}

/// Whether the guarantee can be written there: asked before any budget is spent.
pub fn check(file: &Path) -> Result<()> {
    Draft::check(WHAT, file)
}

/// Writes what releases are, what they can be trusted for and what they cost to a file, as a whole or not at all.
pub fn save<K: Key>(file: &Path, releases: &[(Asked, Release<K>)]) -> Result<()> {
    let mut draft = Draft::create(WHAT, file)?;
    let written = write_guarantees(&mut draft, releases, &Screen::of_files());
    draft.finish(written)
}

fn write_guarantees<K: Key>(
    out: &mut impl Write,
    releases: &[(Asked, Release<K>)],
    screen: &Screen,
) -> io::Result<()> {
    for (asked, release) in releases {
        if releases.len() > 1 {
            write_heading(out, asked, screen)?;
        }
        write_wrapped(out, "", &title(release), screen.width, Style::new())?;
        if release.heavy.is_empty() {
            write_wrapped(out, "", &why_empty(release), screen.width, Style::new())?;
        }
        write_statements(out, release, screen)?;
    }
    write_privacy(out, releases, screen)
}

/// What holds of a release.
pub fn write_statements<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    screen: &Screen,
) -> io::Result<()> {
    write_wrapped(out, "", &sure(release), screen.width, Style::new())?;
    for statement in statements(release) {
        let style = match statement {
            Statement::Promise(_) => Style::new(),
            Statement::Warning(_) => screen.styles.warning,
        };
        write_wrapped(out, "- ", statement.text(), screen.width, style)?;
    }
    match source(release) {
        None => Ok(()),
        Some(source) => write_wrapped(out, "", source, screen.width, Style::new()),
    }
}

/// What releases protect, and at what price.
pub fn write_privacy<K: Key>(
    out: &mut impl Write,
    releases: &[(Asked, Release<K>)],
    screen: &Screen,
) -> io::Result<()> {
    match releases {
        [] => Ok(()),
        [(_, release)] => write_about(out, release, &privacy(release, "", &of_sequence(release)), screen),
        [(_, release), ..] => {
            let more = format!("; {}", together(releases.len(), release));
            write_about(out, release, &privacy(release, " a list", &more), screen)
        }
    }
}

/// What the price of a list at every slide is for.
fn of_sequence<K: Key>(release: &Release<K>) -> String {
    match (&release.continual, horizon(release)) {
        (None, _) => String::new(),
        (Some(_), None) => ", once for all lists".to_owned(),
        (Some(_), Some(horizon)) => format!(", once for all lists; {horizon}"),
    }
}

/// How long delta holds, where there is one and more lists are to come.
pub fn horizon<K: Key>(release: &Release<K>) -> Option<String> {
    let continual = release.continual.as_ref().filter(|_| release.delta > 0.0)?;
    let horizon = grouped(continual.horizon);
    Some(match continual.delta_past_horizon {
        None => format!(
            "for an event that someone times by what lists showed, delta is for the first {horizon} lists"
        ),
        Some(delta) => format!(
            "for an event that someone times by what lists showed, delta has grown to {delta:.1e}, because this is list {}, past \
             the horizon of {horizon}",
            grouped(continual.number)
        ),
    })
}

/// How panes were kept, where that is not the usual way, and what is protected.
fn write_about<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    privacy: &str,
    screen: &Screen,
) -> io::Result<()> {
    for text in panes(release).into_iter().chain([privacy]) {
        write_wrapped(out, "", text, screen.width, Style::new())?;
    }
    Ok(())
}

/// What so many releases of one stream cost together.
pub fn together<K: Key>(lists: usize, release: &Release<K>) -> String {
    let epsilon = total_epsilon(lists, release.epsilon, release.boundaries_epsilon);
    let delta = plain(lists as f64 * release.delta);
    format!(
        "the {lists} lists together cost epsilon {epsilon}, {}",
        delta_words(delta)
    )
}

/// How sure the statements are.
pub fn sure<K: Key>(release: &Release<K>) -> String {
    let confidence = percent(release.confidence);
    match &release.continual {
        None => format!("With {confidence} % confidence, all of this holds at once:"),
        Some(continual) => format!(
            "With {confidence} % confidence, all of this holds at once, for any {} releases together:",
            grouped(continual.together)
        ),
    }
}

/// What counts were read from, where that is not the usual way.
pub fn source<K: Key>(release: &Release<K>) -> Option<&'static str> {
    match release.estimator {
        Estimator::Counts => None,
        Estimator::Sketch => Some(BY_SKETCH),
    }
}

/// How panes were kept, where that is not the usual way.
pub fn panes<K: Key>(release: &Release<K>) -> Option<&'static str> {
    match release.policy {
        Policy::Uniform => None,
        Policy::Exponential => Some("Panes: exponential, merged as they age."),
        Policy::Smooth => Some("Panes: smooth, ended where the norm had grown."),
    }
}

/// Something that holds of a release.
pub enum Statement {
    Promise(String),
    /// Less than is usual.
    Warning(String),
}

impl Statement {
    pub fn text(&self) -> &str {
        match self {
            Statement::Promise(text) | Statement::Warning(text) => text,
        }
    }
}

/// All that holds at once, with the confidence of the release.
pub fn statements<K: Key>(release: &Release<K>) -> Vec<Statement> {
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
    statements.extend(left_out(release).map(Statement::Promise));
    statements
}

/// What the release does not cover of the window that was asked for, if there is anything to say.
fn left_out<K: Key>(release: &Release<K>) -> Option<String> {
    let frostpane::Asked {
        from,
        slack,
        promises,
    } = &release.asked;
    let from = match (*from, release.window.from) {
        (Some(Edge::Event(asked)), Some(Edge::Event(covered))) if asked < covered => {
            format!("number {}", grouped(asked))
        }
        (Some(Edge::Instant(asked)), Some(Edge::Instant(covered))) if asked < covered => {
            // The microsecond after the latest event is of no interest.
            Timestamp::from_second(asked.as_second())
                .unwrap_or(asked)
                .to_string()
        }
        _ => return None,
    };
    let held = promises.as_ref().map(|promises| promises.held);
    let begins = format!("the window asked for begins at {from}");
    let verdict = match (release.promises.held, held) {
        (true, Some(true)) => ", and the promises hold for that window too",
        (true, Some(false)) => ", and the promises are not made for that window",
        _ => "",
    };
    match slack {
        // No pane lies there, or nothing in it.
        Some(0) if held == Some(release.promises.held) => None,
        Some(slack) => Some(format!(
            "{begins}: no key occurred more than {} times in what is left out{verdict}.",
            grouped(*slack)
        )),
        None => Some(format!(
            "{begins}: how often keys occurred in what is left out was not measured, because it has been in as many releases as it may."
        )),
    }
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

fn privacy<K: Key>(release: &Release<K>, each: &str, more: &str) -> String {
    let boundaries = match release.boundaries_epsilon {
        0.0 => String::new(),
        boundaries => format!(" ({} of it for where panes end)", plain(boundaries)),
    };
    format!(
        "Privacy: epsilon {}{boundaries}, {}{each}, for {}{more}. Not hidden: {NOT_HIDDEN}.",
        release.epsilon,
        delta_words(release.delta),
        release.unit
    )
}

/// A delta, also of none.
pub fn delta_words(delta: f64) -> String {
    match delta {
        0.0 => "pure (delta 0)".to_owned(),
        delta => format!("delta {delta:e}"),
    }
}

/// A share in percent, to two digits.
pub fn percent(share: f64) -> f64 {
    (share * 1e4).round() / 100.0
}
