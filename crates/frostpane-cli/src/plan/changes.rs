//! What other parameters would change about a plan.

use std::io::Write;

use frostpane::words::megabytes;
use frostpane::{Builder, Epsilon, Key, Size, Span, Spec};

use super::held_words;
use crate::failure::Result;
use crate::request::Request;
use crate::units::grouped;

/// What more epsilon, alpha, memory or a longer window would change.
pub fn write_changes<K: Key>(
    out: &mut impl Write,
    request: &Request,
    events: u64,
    build: &impl Fn(&Request) -> Builder<K>,
) -> Result<()> {
    writeln!(
        out,
        "\n  {:<26} {:>7} {:>9} {:>14} {:>24}",
        "", "noise", "cut", "surely listed", "promises"
    )?;
    for (change, request, events) in changes(request, events) {
        let Ok(forecast) = build(&request).forecast(events, None) else {
            continue;
        };
        let promises = match forecast.least_norm {
            Some(norm) => format!("from a norm of {}", grouped(norm)),
            None => held_words(forecast.held),
        };
        let (noise, cut, listed) = (
            grouped(forecast.noise),
            grouped(forecast.cut),
            grouped(forecast.least_listed),
        );
        writeln!(
            out,
            "  {change:<26} {noise:>7} {cut:>9} {listed:>14} {promises:>24}"
        )?;
    }
    Ok(writeln!(out)?)
}

fn changes(request: &Request, events: u64) -> Vec<(String, Request, u64)> {
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut changed = request.clone();
        change(&mut changed.spec);
        changed
    };
    let (alpha, memory) = (request.spec.alpha * 2.0, request.spec.memory.0.saturating_mul(4));
    let epsilon = request.spec.epsilon.as_f64() * 2.0;
    let mut changes = vec![("as asked".to_owned(), request.clone(), events)];
    if let Ok(twice) = Epsilon::new(epsilon) {
        let changed = with(&|spec| spec.epsilon = twice);
        changes.push((format!("epsilon {epsilon}"), changed, events));
    }
    changes.extend([
        (format!("alpha {alpha}"), with(&|spec| spec.alpha = alpha), events),
        (
            format!("memory {}", megabytes(memory)),
            with(&|spec| spec.memory = Size(memory)),
            events,
        ),
        (
            "a window 4 times as long".to_owned(),
            with(&|spec| {
                spec.windows
                    .iter_mut()
                    .for_each(|window| *window = longer(*window));
                spec.slide = spec.slide.map(longer);
            }),
            events.saturating_mul(4),
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
