//! What other parameters would change about a plan.

use std::io::Write;

use frostpane::Key;
use frostpane::plan::megabytes;

use super::{Built, held_words};
use crate::failure::Result;
use crate::request::RequestArgs;
use crate::units::{Asked, Extent, grouped};

/// What more epsilon, alpha, memory or a longer window would change.
pub fn write_changes<K: Key>(
    out: &mut impl Write,
    request: &RequestArgs,
    events: u64,
    build: &impl Fn(&RequestArgs) -> Built<K>,
) -> Result<()> {
    writeln!(
        out,
        "\n  {:<26} {:>7} {:>9} {:>14} {:>24}",
        "", "noise", "cut", "surely listed", "promises"
    )?;
    for (change, request, events) in changes(request, events) {
        let forecast = build(&request).and_then(|(builder, _)| Ok(builder.forecast(events, None)?));
        let Ok(forecast) = forecast else { continue };
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

fn changes(request: &RequestArgs, events: u64) -> [(String, RequestArgs, u64); 5] {
    let window = match request.window[..] {
        [] => vec![longer(request.extent())],
        _ => request
            .window
            .iter()
            .map(|window| longer(window.extent))
            .collect(),
    };
    let slide = request.slide.map(longer);
    let (epsilon, alpha, memory) = (
        request.epsilon * 2.0,
        request.alpha * 2.0,
        request.memory.saturating_mul(4),
    );
    [
        ("as asked".to_owned(), request.clone(), events),
        (
            format!("epsilon {epsilon}"),
            RequestArgs {
                epsilon,
                ..request.clone()
            },
            events,
        ),
        (
            format!("alpha {alpha}"),
            RequestArgs {
                alpha,
                ..request.clone()
            },
            events,
        ),
        (
            format!("memory {}", megabytes(memory)),
            RequestArgs {
                memory,
                ..request.clone()
            },
            events,
        ),
        (
            "a window 4 times as long".to_owned(),
            RequestArgs {
                window: window.into_iter().map(Asked::from).collect(),
                slide,
                ..request.clone()
            },
            events.saturating_mul(4),
        ),
    ]
}

fn longer(extent: Extent) -> Extent {
    match extent {
        Extent::Events(length) => Extent::Events(length.saturating_mul(4)),
        Extent::Clock(length) => Extent::Clock(length.saturating_mul(4)),
    }
}
