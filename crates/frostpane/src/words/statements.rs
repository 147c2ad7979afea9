//! What a release can be trusted for and what it protects, in sentences.

use jiff::Timestamp;

use super::numbers::{grouped, percent, plain, times};
use super::people::{bounded, counted, never, not_hidden, occurred};
use super::readers::fewer_than_asked;
use crate::budget::Cost;
use crate::key::Key;
use crate::release::{Asked, Estimator, Release};
use crate::spec::{Edge, Policy, Unit};

const BY_SKETCH: &str = "Counts were read from the sketch, which was more precise here than the counts kept.";

/// How sure the statements are.
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
        Policy::Uniform | Policy::Fixed => None,
        Policy::Exponential => Some("Panes: exponential, merged as they age."),
        Policy::Smooth => Some("Panes: smooth, ended where the norm had grown."),
    }
}

/// Something that holds of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// What is promised.
    Promise(String),
    /// Less than is usual.
    Warning(String),
}

impl Statement {
    /// In words.
    pub fn text(&self) -> &str {
        match self {
            Statement::Promise(text) | Statement::Warning(text) => text,
        }
    }
}

/// All that holds at once, with the confidence of the release.
pub fn statements<K: Key>(release: &Release<K>) -> Vec<Statement> {
    let mut statements = Vec::new();
    match release.window.missed {
        0 => {}
        missed => statements.push(Statement::Warning(format!(
            "{} more events lie in this window, but came too late: what follows is about the {} that were counted;",
            grouped(missed),
            grouped(release.window.events)
        ))),
    }
    if !release.heavy.is_empty() {
        statements.push(Statement::Promise(format!(
            "{} lies between the two numbers beside it{};",
            counted(release.unit),
            deviation(release)
        )));
    }
    statements.push(Statement::Promise(format!(
        "every key that {} {} or more is listed;",
        occurred(release.unit),
        times(release.complete_above)
    )));
    statements.push(nothing_below(release));
    statements.extend(fewer_than_asked(release).map(|why| Statement::Promise(why + ";")));
    statements.extend(promises(release));
    statements.extend(left_out(release).map(Statement::Promise));
    if let Some(Statement::Promise(last) | Statement::Warning(last)) = statements.last_mut()
        && last.ends_with(';')
    {
        last.replace_range(last.len() - 1.., ".");
    }
    statements
}

fn nothing_below<K: Key>(release: &Release<K>) -> Statement {
    let never = never(release.unit);
    match release.nothing_below {
        0 => Statement::Warning(format!(
            "but a key may be listed because of its noise alone, even if it {never};"
        )),
        1 => Statement::Promise(format!("no key that {never} is;")),
        least => Statement::Promise(format!(
            "no key that {} fewer than {} is;",
            occurred(release.unit),
            times(least)
        )),
    }
}

/// How far noise is off as a rule, where that is known.
fn deviation<K: Key>(release: &Release<K>) -> String {
    release.deviation.map_or_else(String::new, |deviation| {
        format!(" (the standard deviation of its noise is {deviation:.1})")
    })
}

/// What the release does not cover of the window that was asked for, if there is anything to say.
fn left_out<K: Key>(release: &Release<K>) -> Option<String> {
    let Asked { slack, promises, .. } = &release.asked;
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
            ", and the promises are not made for that window; at alpha {alpha} they hold for the keys listed with {} or more",
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
            "{begins}: how often keys occurred in what is left out was not measured, because it has been in as many releases as it may."
        )),
    }
}

/// Where the window asked for begins, if that is before the one covered.
pub(super) fn earlier<K: Key>(release: &Release<K>) -> Option<Edge> {
    match (release.asked.from?, release.window.from?) {
        (Edge::Event(asked), Edge::Event(covered)) if asked < covered => Some(Edge::Event(asked)),
        (Edge::Instant(asked), Edge::Instant(covered)) if asked < covered => {
            // The microsecond after the latest event is of no interest.
            Some(Edge::Instant(
                Timestamp::from_second(asked.as_second()).unwrap_or(asked),
            ))
        }
        _ => None,
    }
}

fn promises<K: Key>(release: &Release<K>) -> Option<Statement> {
    let (alpha, promises) = (release.alpha?, release.promises.as_ref()?);
    Some(match &promises.reason {
        None => Statement::Promise(format!(
            "the three promises at alpha {alpha}: every key with alpha times the norm (about {}) is listed, none with half of that, \
             and counts are right to a quarter of it.",
            grouped((alpha * release.norm_estimate as f64).round() as u64)
        )),
        Some(reason) => Statement::Warning(format!(
            "the three promises are not made at alpha {alpha}: {reason}."
        )),
    })
}

/// What a release protects, and at what price: `each` of several, and what `more` is to be said.
pub fn privacy<K: Key>(release: &Release<K>, each: &str, more: &str) -> String {
    let boundaries = match release.boundaries_epsilon {
        0.0 => String::new(),
        boundaries => format!(" ({} of it for where panes end)", plain(boundaries)),
    };
    format!(
        "Privacy: epsilon {}{boundaries}, {}{each}, for {}{more}. {}",
        release.epsilon,
        delta_words(release.delta),
        release.unit,
        within(release.unit)
    )
}

/// How far the unit goes.
fn within(unit: Unit) -> String {
    let not_hidden = format!("Not hidden: {}.", not_hidden(unit));
    match unit {
        Unit::Event => {
            format!("{not_hidden} Someone with several events is protected for each, not for all together.")
        }
        Unit::User(bounds) => format!("{} {not_hidden}", bounded(&bounds)),
    }
}

/// A delta, also of none.
pub fn delta_words(delta: f64) -> String {
    match delta {
        0.0 => "pure (delta 0)".to_owned(),
        delta => format!("delta {delta:e}"),
    }
}

/// How long delta holds, where there is one and more lists are to come.
pub fn horizon<K: Key>(release: &Release<K>) -> Option<String> {
    let continual = release.continual.as_ref().filter(|_| release.delta > 0.0)?;
    let horizon = grouped(continual.horizon);
    let adaptive = match release.unit {
        Unit::Event => "for an event that someone times by what lists showed",
        Unit::User(_) => "for someone who decides by what lists showed when to take part",
    };
    Some(match continual.delta_past_horizon {
        None => format!("{adaptive}, delta is for the first {horizon} lists"),
        Some(delta) => format!(
            "{adaptive}, delta has grown to {delta:.1e}, because this is list {}, past the horizon of {horizon}",
            grouped(continual.number)
        ),
    })
}

/// What several releases of one stream cost together.
pub fn together<'a, K: Key>(releases: impl IntoIterator<Item = &'a Release<K>>) -> String {
    let releases: Vec<&Release<K>> = releases.into_iter().collect();
    let cost = Cost::of(releases.iter().copied());
    format!(
        "the {} lists together cost epsilon {}, {}",
        releases.len(),
        cost.epsilon(),
        delta_words(cost.delta())
    )
}
