//! `frostpane plan`: what to expect of a list before any data.

mod changes;

use std::io::{self, BufWriter, Write};
use std::time::Duration;

use anstyle::Style;
use frostpane::words::megabytes;
use frostpane::{Builder, Choice, Forecast, Key, Norm, Plan, Policy, Span};
use frostpane_paper::Demands;
use serde_json::{Value, json};

use crate::args::PlanArgs;
use crate::failure::{Failure, Result};
use crate::list::lines_of;
use crate::request::{AnyKeys, Request};
use crate::screen::Screen;
use crate::text::write_wrapped;
use crate::units::{Asked, grouped, plain, spoken};
use changes::write_changes;

pub fn run(args: &PlanArgs) -> Result<()> {
    let request = args.request.resolve(false)?;
    if request.is_printed(lines_of)? {
        return Ok(());
    }
    match request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => plan(args, &request, |request| request.builder(keys.clone())),
        AnyKeys::Integers(keys) => plan(args, &request, |request| request.builder(keys.clone())),
    }
}

/// How many events the longest window has.
fn events(longest: Span, expected: Option<u64>) -> Result<u64> {
    match (longest, expected) {
        (Span::Events(length), events) => Ok(events.unwrap_or(length).min(length)),
        (Span::Clock(_), Some(events)) => Ok(events),
        (Span::Clock(_), None) => Err(Failure::Message(
            "a window by time may hold any number of events: say how many to expect, with --events"
                .to_owned(),
        )),
    }
}

/// How many of the events of the longest window a shorter one has.
fn events_within(window: Span, longest: Span, events: u64) -> u64 {
    match window {
        Span::Events(length) => events.min(length),
        Span::Clock(_) => {
            let share =
                u128::from(events) * u128::from(window.length()) / u128::from(longest.length().max(1));
            u64::try_from(share).unwrap_or(events)
        }
    }
}

/// All that a plan says.
struct Outlook {
    plan: Plan,
    /// Why the plan has its policy.
    choice: Choice,
    /// What the releases of all windows cost together.
    total_epsilon: f64,
    /// Of the longest window.
    forecast: Forecast,
    /// Of each window, in the order in which they were given.
    windows: Vec<(Asked, Forecast)>,
    target: Option<(u64, Option<f64>)>,
    published: Demands,
}

fn plan<K: Key>(args: &PlanArgs, request: &Request, build: impl Fn(&Request) -> Builder<K>) -> Result<()> {
    let builder = build(request);
    let choice = builder.choice()?;
    let builder = builder.policy(choice.policy).decided()?;
    let events = events(request.longest(), args.events)?;
    let forecast_of = |window: &Asked| -> Result<(Asked, Forecast)> {
        let events = events_within(window.span, request.longest(), events);
        let forecast = builder.forecast_over(window.span, events, None)?;
        Ok((window.clone(), forecast))
    };
    let outlook = Outlook {
        plan: builder.plan()?,
        choice,
        total_epsilon: builder.cost()?.epsilon(),
        forecast: builder.forecast(events, None)?,
        windows: request.windows.iter().map(forecast_of).collect::<Result<_>>()?,
        target: match args.target_count {
            Some(count) => Some((count, builder.epsilon_for(count, events)?)),
            None => None,
        },
        published: Demands::new(request.spec.alpha, request.spec.epsilon.as_f64(), events),
    };
    let stdout = io::stdout().lock();
    let width = Screen::of(&stdout).width;
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer(&mut out, &outlook.json()).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write_plan(&mut out, request, &outlook)?;
        if outlook.windows.len() > 1 {
            write_windows(&mut out, request, &outlook.windows)?;
        }
        write_changes(&mut out, request, events, &build)?;
        if let Some((count, epsilon)) = outlook.target {
            let words = target_words(count, epsilon, &outlook.forecast, request);
            write_wrapped(&mut out, "", &words, width, Style::new())?;
            writeln!(out)?;
        }
        let words = published_words(&outlook.published);
        write_wrapped(&mut out, "", &words, width, Style::new())?;
    }
    Ok(out.flush()?)
}

impl Outlook {
    fn json(&self) -> Value {
        let mut whole = json!({
            "plan": self.plan,
            "policy": {
                "policy": self.plan.layout.policy,
                "reason": self.choice.reason,
                "boundaries_epsilon": self.forecast.boundaries_epsilon,
            },
            "memory": self.plan.memory.total(),
            "forecast": self.forecast,
            "target": self.target.map(|(count, epsilon)| json!({ "count": count, "epsilon": epsilon })),
            "published": self.published,
        });
        if self.windows.len() > 1 {
            let each = self.windows.iter();
            whole["windows"] = each
                .map(|(window, forecast)| json!({ "window": window.text, "forecast": forecast }))
                .collect();
            whole["total_epsilon"] = json!(self.total_epsilon);
        }
        whole
    }
}

fn write_plan(out: &mut impl Write, request: &Request, outlook: &Outlook) -> io::Result<()> {
    let Outlook { plan, forecast, .. } = outlook;
    let norm = if request.spec.norm == Norm::L1 { "L1" } else { "L2" };
    let longest = match outlook.windows.len() {
        1 => String::new(),
        windows => format!(", the longest of {windows} windows"),
    };
    writeln!(
        out,
        "{norm} heavy hitters at alpha {} and epsilon {} of {} events{longest}\n",
        request.spec.alpha,
        request.spec.epsilon.as_f64(),
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
        megabytes(request.spec.memory.0)
    );
    for (name, words) in [
        ("policy", Some(policy_words(outlook))),
        ("panes", Some(panes_words(plan, forecast.events))),
        ("memory", Some(memory)),
        ("privacy", privacy_words(request, outlook)),
        ("noise", Some(noise)),
        ("cut", Some(cut)),
        ("threshold", Some(threshold_words(request, forecast))),
        ("surely listed", Some(listed_words(request, forecast))),
        ("promises", Some(promises_words(request, forecast))),
        ("whole window", whole_words(request, forecast)),
    ] {
        if let Some(words) = words {
            writeln!(out, "  {name:<14} {words}")?;
        }
    }
    Ok(())
}

fn policy_words(outlook: &Outlook) -> String {
    let policy = match outlook.plan.layout.policy {
        Policy::Uniform => "uniform",
        Policy::Exponential => "exponential",
        Policy::Smooth => "smooth",
        _ => "other",
    };
    match outlook.choice.is_given() {
        true => format!("{policy}, {}", outlook.choice.reason),
        false => format!("{policy}: {}", outlook.choice.reason),
    }
}

/// What the releases spend, where that is not all on one list.
fn privacy_words(request: &Request, outlook: &Outlook) -> Option<String> {
    let boundaries = match outlook.forecast.boundaries_epsilon {
        0.0 => None,
        boundaries => Some(format!(
            "{} of epsilon {} goes into where panes end",
            plain(boundaries),
            request.spec.epsilon.as_f64()
        )),
    };
    let total = match outlook.windows.len() {
        1 => None,
        lists => Some(format!(
            "the {lists} lists together cost epsilon {}",
            outlook.total_epsilon
        )),
    };
    let parts: Vec<String> = boundaries.into_iter().chain(total).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn panes_words(plan: &Plan, events: u64) -> String {
    let layout = &plan.layout;
    let length = match layout.by_count {
        true => format!("{} events", grouped(layout.slide)),
        false => spoken(Duration::from_micros(layout.slide)),
    };
    let panes = grouped(layout.panes);
    let panes = match layout.policy {
        Policy::Uniform => format!("{panes} of {length}"),
        Policy::Exponential => format!("up to {panes} of {length} or, with age, more"),
        _ => format!("up to {panes}, asked every {length} whether to end"),
    };
    let entries = grouped(u64::from(plan.entries));
    let even = layout.policy == Policy::Uniform;
    let kept = if plan.always_exact {
        "all counted exactly".to_owned()
    } else if even && events.div_ceil(layout.panes) <= u64::from(plan.entries) {
        format!("counted exactly up to {entries} events each")
    } else {
        format!("of which each keeps up to {entries} keys")
    };
    format!("{panes}, {kept}")
}

fn threshold_words(request: &Request, forecast: &Forecast) -> String {
    let floor = grouped(forecast.floor);
    match request.spec.norm {
        Norm::L1 => format!("{} ({floor} for privacy alone)", grouped(forecast.threshold)),
        Norm::L2 => format!("3/4 of alpha times the norm, and never below {floor}, for privacy"),
    }
}

fn listed_words(request: &Request, forecast: &Forecast) -> String {
    let listed = format!("every key that occurs {} times", grouped(forecast.least_listed));
    match (request.spec.norm, forecast.norm) {
        (Norm::L1, _) => listed,
        (Norm::L2, Some(norm)) => {
            format!("{listed}, at a norm of {}; more at larger norms", grouped(norm))
        }
        (Norm::L2, None) => format!("{listed}, if the norm is small; more at larger norms"),
    }
}

fn promises_words(request: &Request, forecast: &Forecast) -> String {
    match (request.spec.norm, forecast.least_norm) {
        (Norm::L1, _) if forecast.held => "held".to_owned(),
        (Norm::L2, Some(norm)) => {
            format!(
                "held from an L2 norm of {} on, {:.2} % of the events",
                grouped(norm),
                share(norm, forecast.events)
            )
        }
        _ => "not held; see what would change that".to_owned(),
    }
}

/// The promises for the window as it is asked for, of which a release may leave out the start.
fn whole_words(request: &Request, forecast: &Forecast) -> Option<String> {
    if request.spec.norm == Norm::L1 {
        return None;
    }
    Some(match forecast.least_norm_asked {
        Some(norm) => format!(
            "held for all of it, wherever it begins, from a norm of {} on, {:.2} % of the events",
            grouped(norm),
            share(norm, forecast.events)
        ),
        None => "not foreseen: its start may be left out; the list measures how much, and says".to_owned(),
    })
}

fn share(norm: u64, events: u64) -> f64 {
    100.0 * norm as f64 / events.max(1) as f64
}

/// What to expect of each window.
fn write_windows(out: &mut impl Write, request: &Request, windows: &[(Asked, Forecast)]) -> io::Result<()> {
    let whole = |words: &str| match request.spec.norm {
        Norm::L1 => String::new(),
        Norm::L2 => words.to_owned(),
    };
    let heading = ["window", "events", "noise", "cut", "surely listed", "promises"].map(str::to_owned);
    writeln!(out)?;
    write_row(out, &heading, &whole("whole window"))?;
    let from = |norm: Option<u64>| norm.map(|norm| format!("norm {}", grouped(norm)));
    for (window, forecast) in windows {
        let cells = [
            window.text.clone(),
            grouped(forecast.events),
            grouped(forecast.noise),
            grouped(forecast.cut),
            grouped(forecast.least_listed),
            from(forecast.least_norm).unwrap_or(held_words(forecast.held)),
        ];
        let last = from(forecast.least_norm_asked).unwrap_or(whole("not foreseen"));
        write_row(out, &cells, &last)?;
    }
    Ok(())
}

fn write_row(out: &mut impl Write, cells: &[String; 6], last: &str) -> io::Result<()> {
    let [window, events, noise, cut, listed, promises] = cells;
    let line =
        format!("  {window:<12} {events:>13} {noise:>7} {cut:>9} {listed:>14} {promises:>16} {last:>16}");
    writeln!(out, "{}", line.trim_end())
}

fn held_words(held: bool) -> String {
    if held { "held" } else { "not held" }.to_owned()
}

fn target_words(count: u64, epsilon: Option<f64>, forecast: &Forecast, request: &Request) -> String {
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
    let alpha = match request.spec.norm {
        Norm::L1 => {
            let most = 4.0 / 3.0 * count.saturating_sub(forecast.cut) as f64 / forecast.events.max(1) as f64;
            format!("if alpha is well below {most:.1e}")
        }
        Norm::L2 => "if alpha times the L2 norm is well below it".to_owned(),
    };
    format!("Epsilon {epsilon} lists every key that occurs {times} times, with 95 % confidence, {alpha}.")
}

fn published_words(published: &Demands) -> String {
    format!(
        "With the constants as published (Theorem 1.1 of the paper) the window would have to hold at least {:.1e} events, \
         and memory {:.0e} timestamps with {:.0e} counters each.",
        published.window, published.timestamps, published.counters
    )
}
