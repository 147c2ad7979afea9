//! A table of what other parameters would change about a plan.

use std::io::Write;

use frostpane::{Builder, Delta, Epsilon, Key, KeySpec, Size, Span, Spec};
use frostpane_render::{enough_delta, megabytes};

use super::text::held_words;
use crate::events::window_end::with_fewer_cuts;
use crate::failure::Result;
use crate::settings::ReleaseRequest;
use crate::settings::values::grouped;

/// The number of events, and the norm if it was given.
type ExpectedEvents = (u64, Option<u64>);

pub fn write_changes<K: Key>(
    out: &mut impl Write,
    request: &ReleaseRequest,
    expected: ExpectedEvents,
    build: &impl Fn(&ReleaseRequest) -> Builder<K>,
) -> Result<()> {
    let heavy = |words: String| {
        if request.spec.lists_heavy() { words } else { String::new() }
    };
    let heading = ["noise", "cut", "surely listed"].map(str::to_owned);
    writeln!(out)?;
    let mut row = |change: &str, [noise, cut, listed]: &[String; 3], promises: &str| {
        // Where users are protected no cut is possible.
        let numbers = if request.is_of_users() {
            format!("{noise:>14}{listed:>14}")
        } else {
            format!("{noise:>7} {cut:>9} {listed:>14}")
        };
        writeln!(out, "{}", format!("  {change:<26} {numbers} {promises:>24}").trim_end())
    };
    row("", &heading, &heavy("promises".to_owned()))?;
    for (change, request, (events, norm)) in changes(request, expected) {
        let request = with_fewer_cuts(request, events, build);
        let Ok(forecast) = build(&request).forecast(events, norm) else {
            continue;
        };
        let promises = match forecast.least_norm {
            Some(norm) => format!("from a norm of {}", grouped(norm)),
            None => held_words(forecast.held),
        };
        let cells = [forecast.noise, forecast.cut, forecast.least_listed].map(grouped);
        row(&change, &cells, &heavy(promises))?;
    }
    Ok(writeln!(out)?)
}

fn changes(
    request: &ReleaseRequest,
    expected: ExpectedEvents,
) -> Vec<(String, ReleaseRequest, ExpectedEvents)> {
    let (events, norm) = expected;
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut changed = request.clone();
        change(&mut changed.spec);
        changed
    };
    let (alpha, memory) = (request.spec.alpha * 2.0, request.spec.memory.0.saturating_mul(4));
    let epsilon = request.spec.epsilon.as_f64() * 2.0;
    let mut changes = vec![("as asked".to_owned(), request.clone(), expected)];
    if let Ok(twice) = Epsilon::new(epsilon) {
        let changed = with(&|spec| spec.epsilon = twice);
        changes.push((format!("epsilon {epsilon}"), changed, expected));
    }
    if request.spec.lists_heavy() {
        changes.push((format!("alpha {alpha}"), with(&|spec| spec.alpha = alpha), expected));
    }
    let delta = enough_delta(events);
    if request.spec.keys == KeySpec::Open && delta > 9.0 * request.spec.delta.as_f64() {
        let changed = with(&|spec| spec.delta = Delta::new(delta));
        changes.push((format!("delta {delta:e}"), changed, expected));
    }
    // Where users are protected nothing is cut, whatever the memory is.
    if !request.is_of_users() {
        let more = with(&|spec| spec.memory = Size(memory));
        changes.push((format!("memory {}", megabytes(memory)), more, expected));
    }
    let longer = with(&|spec| {
        spec.windows.iter_mut().for_each(|window| *window = longer(*window));
        spec.slide = spec.slide.map(longer);
    });
    changes.push((
        "a window 4 times as long".to_owned(),
        longer,
        (events.saturating_mul(4), norm.map(|norm| norm.saturating_mul(4))),
    ));
    changes
}

fn longer(span: Span) -> Span {
    match span {
        Span::Events(length) => Span::Events(length.saturating_mul(4)),
        Span::Clock(length) => Span::Clock(length.saturating_mul(4)),
    }
}
