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
    writeln!(out)?;
    write_row(out, "", &heading, &heavy("promises".to_owned()))?;
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
        write_row(out, &change, &cells, &heavy(promises))?;
    }
    Ok(writeln!(out)?)
}

fn write_row(out: &mut impl Write, change: &str, cells: &[String; 3], promises: &str) -> Result<()> {
    let [noise, cut, listed] = cells;
    let line = format!("  {change:<26} {noise:>7} {cut:>9} {listed:>14} {promises:>24}");
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
    changes.extend([
        (
            format!("memory {}", megabytes(memory)),
            with(&|spec| spec.memory = Size(memory)),
            expected,
        ),
        (
            "a window 4 times as long".to_owned(),
            with(&|spec| {
                spec.windows
                    .iter_mut()
                    .for_each(|window| *window = longer(*window));
                spec.slide = spec.slide.map(longer);
            }),
            (events.saturating_mul(4), norm.map(|norm| norm.saturating_mul(4))),
        ),
    ]);
    changes
}

fn longer(span: Span) -> Span {
    match span {
        Span::Events(length) => Span::Events(length.saturating_mul(4)),
        Span::Clock(length) => Span::Clock(length.saturating_mul(4)),
    }
}
