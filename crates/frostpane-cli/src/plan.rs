//! `frostpane plan`: what to expect of a list before any data.

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use anstyle::Style;
use frostpane::plan::{Published, megabytes};
use frostpane::{Builder, Forecast, Key, Plan};
use serde_json::json;

use crate::args::PlanArgs;
use crate::failure::{Failure, Result};
use crate::list::lines_of;
use crate::request::{AnyKeys, NormArg, RequestArgs};
use crate::screen::Screen;
use crate::text::write_wrapped;
use crate::units::{Extent, grouped, spoken};

pub fn run(args: &PlanArgs) -> Result<()> {
    let events = events(args)?;
    match args.request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => plan(args, events, |request| request.builder(keys.clone())),
        AnyKeys::Integers(keys) => plan(args, events, |request| request.builder(keys.clone())),
    }
}

/// How many events the window has.
fn events(args: &PlanArgs) -> Result<u64> {
    match (args.request.extent(), args.events) {
        (Extent::Events(length), events) => Ok(events.unwrap_or(length).min(length)),
        (Extent::Clock(_), Some(events)) => Ok(events),
        (Extent::Clock(_), None) => Err(Failure::Message(
            "a window by time may hold any number of events: say how many to expect, with --events"
                .to_owned(),
        )),
    }
}

fn plan<K: Key>(
    args: &PlanArgs,
    events: u64,
    build: impl Fn(&RequestArgs) -> Result<Builder<K>>,
) -> Result<()> {
    let request = &args.request;
    let builder = build(request)?;
    let (plan, forecast) = (builder.plan()?, builder.forecast(events, None)?);
    let published = Published::new(request.alpha, request.epsilon, events);
    let target = match args.target_count {
        Some(count) => Some((count, builder.epsilon_for(count, events)?)),
        None => None,
    };
    let stdout = io::stdout().lock();
    let width = Screen::of(&stdout).width;
    let mut out = BufWriter::new(stdout);
    if args.json {
        let whole = json!({
            "plan": plan,
            "memory": plan.memory.total(),
            "forecast": forecast,
            "target": target.map(|(count, epsilon)| json!({ "count": count, "epsilon": epsilon })),
            "published": published,
        });
        serde_json::to_writer(&mut out, &whole).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write_plan(&mut out, request, &plan, &forecast)?;
        write_changes(&mut out, request, events, &build)?;
        if let Some((count, epsilon)) = target {
            let words = target_words(count, epsilon, &forecast, request);
            write_wrapped(&mut out, "", &words, width, Style::new())?;
            writeln!(out)?;
        }
        write_wrapped(&mut out, "", &published_words(&published), width, Style::new())?;
    }
    Ok(out.flush()?)
}

fn write_plan(
    out: &mut impl Write,
    request: &RequestArgs,
    plan: &Plan,
    forecast: &Forecast,
) -> io::Result<()> {
    let norm = if request.norm == NormArg::L1 { "L1" } else { "L2" };
    writeln!(
        out,
        "{norm} heavy hitters at alpha {} and epsilon {} of {} events\n",
        request.alpha,
        request.epsilon,
        grouped(forecast.events)
    )?;
    let noise = format!(
        "scale {:.2}; with 95 % confidence no count is off by more than {}",
        forecast.scale,
        grouped(forecast.noise)
    );
    let cut = match forecast.cut {
        0 => "none".to_owned(),
        cut => format!(
            "up to {} of each count may be missing, because memory is bounded",
            grouped(cut)
        ),
    };
    let memory = format!(
        "at most {} of {}",
        megabytes(plan.memory.total()),
        megabytes(request.memory)
    );
    for (name, words) in [
        ("panes", panes_words(plan, forecast.events)),
        ("memory", memory),
        ("noise", noise),
        ("cut", cut),
        ("threshold", threshold_words(request, forecast)),
        ("surely listed", listed_words(request, forecast)),
        ("promises", promises_words(request, forecast)),
    ] {
        writeln!(out, "  {name:<14} {words}")?;
    }
    Ok(())
}

fn panes_words(plan: &Plan, events: u64) -> String {
    let length = match plan.by_count {
        true => format!("{} events", grouped(plan.slide)),
        false => spoken(Duration::from_micros(plan.slide)),
    };
    let entries = grouped(u64::from(plan.entries));
    let kept = if plan.always_exact {
        "all counted exactly".to_owned()
    } else if events.div_ceil(plan.panes) <= u64::from(plan.entries) {
        format!("counted exactly up to {entries} events each")
    } else {
        format!("of which each keeps up to {entries} keys")
    };
    format!("{} of {length}, {kept}", grouped(plan.panes))
}

fn threshold_words(request: &RequestArgs, forecast: &Forecast) -> String {
    let floor = grouped(forecast.floor);
    match request.norm {
        NormArg::L1 => format!("{} ({floor} for privacy alone)", grouped(forecast.threshold)),
        NormArg::L2 => format!("3/4 of alpha times the norm, and never below {floor}, for privacy"),
    }
}

fn listed_words(request: &RequestArgs, forecast: &Forecast) -> String {
    let listed = format!("every key that occurs {} times", grouped(forecast.least_listed));
    match (request.norm, forecast.norm) {
        (NormArg::L1, _) => listed,
        (NormArg::L2, Some(norm)) => {
            format!("{listed}, at a norm of {}; more at larger norms", grouped(norm))
        }
        (NormArg::L2, None) => format!("{listed}, if the norm is small; more at larger norms"),
    }
}

fn promises_words(request: &RequestArgs, forecast: &Forecast) -> String {
    match (request.norm, forecast.least_norm) {
        (NormArg::L1, _) if forecast.held => "held".to_owned(),
        (NormArg::L2, Some(norm)) => {
            let share = 100.0 * norm as f64 / forecast.events.max(1) as f64;
            format!(
                "held from an L2 norm of {} on, {share:.2} % of the events",
                grouped(norm)
            )
        }
        _ => "not held; see what would change that".to_owned(),
    }
}

/// What more epsilon, alpha, memory or a longer window would change.
fn write_changes<K: Key>(
    out: &mut impl Write,
    request: &RequestArgs,
    events: u64,
    build: &impl Fn(&RequestArgs) -> Result<Builder<K>>,
) -> Result<()> {
    writeln!(
        out,
        "\n  {:<26} {:>7} {:>9} {:>14} {:>24}",
        "", "noise", "cut", "surely listed", "promises"
    )?;
    for (change, request, events) in changes(request, events) {
        let forecast = build(&request).and_then(|builder| Ok(builder.forecast(events, None)?));
        let Ok(forecast) = forecast else { continue };
        let promises = match forecast.least_norm {
            Some(norm) => format!("from a norm of {}", grouped(norm)),
            None if forecast.held => "held".to_owned(),
            None => "not held".to_owned(),
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
    let longer = |extent| match extent {
        Extent::Events(length) => Extent::Events(length.saturating_mul(4)),
        Extent::Clock(length) => Extent::Clock(length.saturating_mul(4)),
    };
    let (window, slide) = (Some(longer(request.extent())), request.slide.map(longer));
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
                window,
                slide,
                ..request.clone()
            },
            events.saturating_mul(4),
        ),
    ]
}

fn target_words(count: u64, epsilon: Option<f64>, forecast: &Forecast, request: &RequestArgs) -> String {
    let times = grouped(count);
    let Some(epsilon) = epsilon else {
        let remedy = match forecast.cut {
            0 => "ask for a larger count".to_owned(),
            cut => format!(
                "up to {} of it may be cut off, take more memory or slide by more",
                grouped(cut)
            ),
        };
        return format!("No epsilon up to 100 surely lists a key that occurs so rarely ({times}): {remedy}.");
    };
    let alpha = match request.norm {
        NormArg::L1 => {
            let most = 4.0 / 3.0 * count.saturating_sub(forecast.cut) as f64 / forecast.events.max(1) as f64;
            format!("if alpha is well below {most:.1e}")
        }
        NormArg::L2 => "if alpha times the L2 norm is well below it".to_owned(),
    };
    format!("Epsilon {epsilon} lists every key that occurs {times} times, with 95 % confidence, {alpha}.")
}

fn published_words(published: &Published) -> String {
    format!(
        "With the constants as published (Theorem 1.1 of the paper) the window would have to hold at least {:.1e} events, \
         and memory {:.0e} timestamps with {:.0e} counters each.",
        published.window, published.timestamps, published.counters
    )
}
