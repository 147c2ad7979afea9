//! What other parameters would change about a plan.

use std::io::Write;

use frostpane::words::{enough_delta, megabytes};
use frostpane::{Builder, Delta, Epsilon, Key, KeySpec, Size, Span, Spec};

use super::words::held_words;
use crate::ending::with_fewer_cuts;
use crate::failure::Result;
use crate::request::Request;
use crate::units::grouped;

/// How many events, and the norm if it is told.
type Expected = (u64, Option<u64>);

/// What more epsilon, alpha, delta, memory or a longer window would change.
pub fn write_changes<K: Key>(
    out: &mut impl Write,
    request: &Request,
    expected: Expected,
    build: &impl Fn(&Request) -> Builder<K>,
) -> Result<()> {
    let heavy = |words: String| match request.spec.lists_heavy() {
        true => words,
        false => String::new(),
    };
    let heading = ["noise", "cut", "surely listed"].map(str::to_owned);
    let row = |out: &mut _, change: &str, cells: &[String; 3], promises: &str| match request.is_of_users() {
        true => write_row(out, change, &[&cells[0], &cells[2]], promises),
        false => write_row(out, change, &cells.each_ref(), promises),
    };
    writeln!(out)?;
    row(out, "", &heading, &heavy("promises".to_owned()))?;
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
        row(out, &change, &cells, &heavy(promises))?;
    }
    Ok(writeln!(out)?)
}

/// The noise, the cut where there can be one, and what is surely listed.
fn write_row(out: &mut impl Write, change: &str, cells: &[&String], promises: &str) -> Result<()> {
    let numbers = match cells {
        [noise, cut, listed] => format!("{noise:>7} {cut:>9} {listed:>14}"),
        cells => cells.iter().map(|cell| format!("{cell:>14}")).collect(),
    };
    let line = format!("  {change:<26} {numbers} {promises:>24}");
    Ok(writeln!(out, "{}", line.trim_end())?)
}

fn changes(request: &Request, expected: Expected) -> Vec<(String, Request, Expected)> {
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
        changes.push((
            format!("alpha {alpha}"),
            with(&|spec| spec.alpha = alpha),
            expected,
        ));
    }
    let delta = enough_delta(events);
    if request.spec.keys == KeySpec::Open && delta > 9.0 * request.spec.delta.as_f64() {
        let changed = with(&|spec| spec.delta = Delta::new(delta));
        changes.push((format!("delta {delta:e}"), changed, expected));
    }
    // Of people nothing is cut, whatever the memory is.
    if !request.is_of_users() {
        let more = with(&|spec| spec.memory = Size(memory));
        changes.push((format!("memory {}", megabytes(memory)), more, expected));
    }
    let longer = with(&|spec| {
        spec.windows
            .iter_mut()
            .for_each(|window| *window = longer(*window));
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
