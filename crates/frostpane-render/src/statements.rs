//! The guarantees of a release, as its operator reads them.

use frostpane::numbers::grouped;
use frostpane::{Edge, Estimator, Key, Policy, Release, RequestedWindow};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::numbers::{percent, times};
use crate::unit::UnitWords;

/// The sentence that introduces the statements, with their confidence.
pub fn sure<K: Key>(release: &Release<K>) -> String {
    let confidence = percent(release.confidence);
    match &release.continual {
        None => format!("With {confidence} % confidence, all of this holds at once:"),
        Some(continual) => format!(
            "With {confidence} % confidence, all of this holds at once, for any {} lists together:",
            grouped(continual.together)
        ),
    }
}

pub(crate) fn source<K: Key>(release: &Release<K>) -> Option<&'static str> {
    match release.estimator {
        Estimator::Counts => None,
        Estimator::Sketch => {
            Some("Counts were read from the sketch, which was more precise here than the counts kept.")
        }
    }
}

pub(crate) fn panes<K: Key>(release: &Release<K>) -> Option<&'static str> {
    match release.policy {
        Policy::Uniform | Policy::Fixed => None,
        Policy::Exponential => Some("Panes: exponential, merged as they age."),
        Policy::Smooth => Some("Panes: smooth, ended where the norm had grown."),
    }
}

/// The reason for which nothing is listed, if nothing is, with advice to the operator.
pub fn empty_note<K: Key>(release: &Release<K>) -> Option<String> {
    release.heavy.is_empty().then(|| match release.note {
        None => "The list is empty: nothing passed.".to_owned(),
        Some(note) => format!("The list is empty: {note}."),
    })
}

/// A statement that holds of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A guarantee.
    Promise(String),
    /// A guarantee that is weaker than usual.
    Warning(String),
}

impl Statement {
    /// The statement in words.
    pub fn text(&self) -> &str {
        match self {
            Statement::Promise(text) | Statement::Warning(text) => text,
        }
    }
}

/// A pair: the text, and true for a warning.
impl Serialize for Statement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.text(), matches!(self, Statement::Warning(_))).serialize(serializer)
    }
}

/// All statements that hold at once, with the confidence of the release.
pub fn statements<K: Key>(release: &Release<K>) -> Vec<Statement> {
    let promise = |clause: String| Statement::Promise(clause + ";");
    let fewer = fewer_than_asked(release).map(promise);
    let mut statements: Vec<Statement> = [missed(release), intervals(release)]
        .into_iter()
        .chain([Some(promise(complete(release))), Some(nothing_below(release)), fewer])
        .chain([promises(release), left_out(release).map(Statement::Promise)])
        .flatten()
        .collect();
    if let Some(Statement::Promise(last) | Statement::Warning(last)) = statements.last_mut()
        && last.ends_with(';')
    {
        last.replace_range(last.len() - 1.., ".");
    }
    statements
}

fn missed<K: Key>(release: &Release<K>) -> Option<Statement> {
    let missed = release.window.missed;
    (missed > 0).then(|| {
        Statement::Warning(format!(
            "{} more events lie in this window, but came too late: what follows is about the {} that were \
             counted;",
            grouped(missed),
            grouped(release.window.events)
        ))
    })
}

fn intervals<K: Key>(release: &Release<K>) -> Option<Statement> {
    let deviation = release.deviation.map_or_else(String::new, |deviation| {
        format!(" (the standard deviation of its noise is {deviation:.1})")
    });
    (!release.heavy.is_empty()).then(|| {
        Statement::Promise(format!(
            "{} lies between the two numbers beside it{deviation};",
            UnitWords::of(release.unit).counts
        ))
    })
}

pub(crate) fn complete<K: Key>(release: &Release<K>) -> String {
    let occurred = UnitWords::of(release.unit).occurred;
    format!("every key that {occurred} {} or more is listed", times(release.complete_above))
}

fn nothing_below<K: Key>(release: &Release<K>) -> Statement {
    let UnitWords { never, occurred, .. } = UnitWords::of(release.unit);
    match release.nothing_below {
        0 => Statement::Warning(format!(
            "but a key may be listed because of its noise alone, even if it {never};"
        )),
        1 => Statement::Promise(format!("no key that {never} is;")),
        least => Statement::Promise(format!("no key that {occurred} fewer than {} is;", times(least))),
    }
}

/// The reason for which a list of the top keys ends early.
pub(crate) fn fewer_than_asked<K: Key>(release: &Release<K>) -> Option<String> {
    let top = release.top.filter(|top| *top > release.heavy.len() as u64)?;
    (!release.heavy.is_empty()).then(|| {
        format!(
            "fewer than {} keys are listed: with its noise, no other reached {}, the least that may be \
             listed",
            grouped(top),
            grouped(release.threshold)
        )
    })
}

fn promises<K: Key>(release: &Release<K>) -> Option<Statement> {
    let (alpha, promises) = (release.alpha?, release.promises.as_ref()?);
    Some(match &promises.reason {
        None => Statement::Promise(format!(
            "the three promises at alpha {alpha}: every key with alpha times the norm (about {}) is listed, \
             none with half of that, and counts are right to a quarter of it.",
            grouped((alpha * release.norm_estimate as f64).round() as u64)
        )),
        Some(reason) => {
            Statement::Warning(format!("the three promises are not made at alpha {alpha}: {reason}."))
        }
    })
}

/// The part of the window asked for that the release does not cover, if that matters.
fn left_out<K: Key>(release: &Release<K>) -> Option<String> {
    let RequestedWindow { slack, promises, .. } = &release.asked;
    let from = match earlier(release)? {
        Edge::Event(number) => format!("number {}", grouped(number)),
        Edge::Instant(at) => at.to_string(),
    };
    let held = promises.as_ref().map(|promises| promises.held);
    let begins = format!("the window asked for begins at {from}");
    let at = promises.as_ref().and_then(|promises| promises.reason?.holds);
    let verdict = match (release.held(), held, at) {
        (true, Some(true), _) => ", and the promises hold for that window too".to_owned(),
        (true, Some(false), None) => ", and the promises are not made for that window".to_owned(),
        (true, Some(false), Some((alpha, least))) => format!(
            ", and the promises are not made for that window; at alpha {alpha} they hold for the keys listed \
             with {} or more",
            grouped(least)
        ),
        _ => String::new(),
    };
    match slack {
        // No pane lies there, or nothing in it.
        Some(0) if held.is_none_or(|held| held == release.held()) => None,
        Some(slack) => Some(format!(
            "{begins}: no key occurred more than {} in what is left out{verdict}.",
            times(*slack)
        )),
        None => Some(format!(
            "{begins}: how often keys occurred in what is left out was not measured, because it has been in \
             as many releases as it may."
        )),
    }
}

/// The beginning of the window asked for, if it is before the one covered.
pub(crate) fn earlier<K: Key>(release: &Release<K>) -> Option<Edge> {
    match (release.asked.from?, release.window.from?) {
        (Edge::Event(asked), Edge::Event(covered)) if asked < covered => Some(Edge::Event(asked)),
        (Edge::Instant(asked), Edge::Instant(covered)) if asked < covered => {
            // The microsecond after the latest event is of no interest.
            Some(Edge::Instant(Timestamp::from_second(asked.as_second()).unwrap_or(asked)))
        }
        _ => None,
    }
}
