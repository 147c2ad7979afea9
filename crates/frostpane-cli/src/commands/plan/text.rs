//! A plan in words.

use std::io::{self, Write};
use std::time::Duration;

use anstyle::Style;
use frostpane::{Forecast, KeySpec, Norm, Plan, Policy, Span};
use frostpane_paper::Demands;
use frostpane_render::text::write_wrapped;
use frostpane_render::{UnitWords, megabytes, percent, policy_reason, things};

use super::{PlanReport, users};
use crate::settings::values::{grouped, plain, spoken};
use crate::settings::{ReleaseRequest, WindowArg};

pub fn write_plan(
    out: &mut impl Write,
    request: &ReleaseRequest,
    report: &PlanReport,
    width: usize,
) -> io::Result<()> {
    let PlanReport { plan, forecast, .. } = report;
    let longest = match report.windows.len() {
        1 => String::new(),
        windows => format!(", the longest of {windows} windows"),
    };
    writeln!(
        out,
        "{} epsilon {} of {} {}{longest}\n",
        asked_words(request),
        request.spec.epsilon.as_f64(),
        grouped(forecast.events),
        things(request.spec.unit)
    )?;
    for (name, words) in [
        ("protected", users::protected_words(request)),
        ("policy", Some(policy_words(report))),
        ("panes", Some(panes_words(request, plan, forecast.events))),
        ("memory", Some(memory_words(request, plan))),
        ("people", users::memory_words(request, plan)),
        ("privacy", privacy_words(request, report)),
        ("noise", Some(noise_words(request, forecast))),
        ("cut", cut_words(request, forecast)),
        ("threshold", Some(threshold_words(request, forecast))),
        ("surely listed", Some(listed_words(request, forecast))),
        ("promises", promises_words(request, forecast)),
        ("whole window", whole_words(request, report)),
        ("not foreseen", Some(unknown_words(request, report))),
    ] {
        if let Some(words) = words {
            write_wrapped(out, &format!("  {name:<14} "), &words, width, Style::new())?;
        }
    }
    Ok(())
}

/// The assumptions are said, as neither the length of keys nor how many are listed may decide what is kept.
fn memory_words(request: &ReleaseRequest, plan: &Plan) -> String {
    let most = grouped(plan.longest_list);
    let lists = match request.spec.top {
        None => format!("lists of up to {most} keys"),
        Some(_) => format!("up to {most} keys to take the top from"),
    };
    let assumed = match request.spec.keys {
        KeySpec::Open => format!("keys of {} bytes in the mean and {lists}", request.spec.key_bytes),
        _ => lists,
    };
    format!(
        "at most {} of {}, for {assumed}",
        megabytes(plan.memory.total()),
        megabytes(request.spec.memory.0)
    )
}

/// The keys that are listed, up to "epsilon".
fn asked_words(request: &ReleaseRequest) -> String {
    let spec = &request.spec;
    let listed = match (spec.top, spec.all, spec.norm) {
        (Some(top), ..) => format!("The top {} keys at", grouped(top)),
        (None, true, _) => "All keys that may be listed at".to_owned(),
        (None, false, Norm::L1) => format!("L1 heavy hitters at alpha {} and", spec.alpha),
        (None, false, Norm::L2) => format!("L2 heavy hitters at alpha {} and", spec.alpha),
    };
    if spec.continual { format!("Continual release. {listed}") } else { listed }
}

fn policy_words(report: &PlanReport) -> String {
    let policy = match report.plan.layout.policy {
        Policy::Uniform => "uniform",
        Policy::Exponential => "exponential",
        Policy::Smooth => "smooth",
        Policy::Fixed => "fixed",
    };
    let mark = if report.choice.is_given() { "," } else { ":" };
    format!("{policy}{mark} {}", policy_reason(report.choice.reason))
}

/// The privacy that releases spend, unless all of it is spent on one list.
fn privacy_words(request: &ReleaseRequest, report: &PlanReport) -> Option<String> {
    let epsilon = request.spec.epsilon.as_f64();
    if request.spec.continual {
        return Some(format!("all lists together cost epsilon {epsilon}, however many there are"));
    }
    let boundaries = match report.forecast.boundaries_epsilon {
        0.0 => None,
        boundaries => Some(format!("{} of epsilon {epsilon} goes into where panes end", plain(boundaries))),
    };
    let total = match report.windows.len() {
        1 => None,
        lists => Some(format!("the {lists} lists together cost epsilon {}", report.total_epsilon)),
    };
    let parts: Vec<String> = boundaries.into_iter().chain(total).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn panes_words(request: &ReleaseRequest, plan: &Plan, events: u64) -> String {
    let layout = &plan.layout;
    let length = match request.longest() {
        Span::Events(_) => format!("{} events", grouped(layout.slide)),
        Span::Clock(_) => spoken(Duration::from_micros(layout.slide)),
    };
    let panes = grouped(layout.panes);
    let panes = match layout.policy {
        Policy::Uniform | Policy::Fixed => format!("{panes} of {length}"),
        Policy::Exponential => format!("up to {panes} of {length} or, with age, more"),
        _ => format!("up to {panes}, asked every {length} whether to end"),
    };
    let entries = grouped(u64::from(plan.entries));
    let even = matches!(layout.policy, Policy::Uniform | Policy::Fixed);
    let kept = if plan.always_exact {
        "all counted exactly".to_owned()
    } else if even && events.div_ceil(layout.panes) <= u64::from(plan.entries) {
        format!("counted exactly up to {entries} events each")
    } else {
        format!("of which each keeps up to {entries} keys")
    };
    format!("{panes}, {kept}")
}

fn noise_words(request: &ReleaseRequest, forecast: &Forecast) -> String {
    let law = users::law_words(request, forecast);
    let sure = format!("with {} % confidence no count", percent(request.spec.confidence));
    let most = grouped(forecast.noise);
    match &forecast.continual {
        None => format!(
            "{law}scale {:.2}, standard deviation {:.1}; {sure} is off by more than {most}",
            forecast.scale, forecast.deviation
        ),
        Some(continual) => format!(
            "{law}up to {} values of scale {:.2} add up, standard deviation {:.1}; {sure} in any {} lists is off by more than {most}",
            grouped(continual.nodes),
            continual.scale,
            forecast.deviation,
            grouped(continual.together)
        ),
    }
}

/// `None` where users are protected: there nothing is cut, but goes to disk.
fn cut_words(request: &ReleaseRequest, forecast: &Forecast) -> Option<String> {
    let missing = "of each count may be missing, because memory is bounded";
    let words = match (forecast.cut, forecast.most_cut) {
        (0, 0) => "none".to_owned(),
        (cut, most) if cut >= most => format!("up to {} {missing}", grouped(cut)),
        (0, most) => {
            format!("none if events spread evenly over panes; else up to {} {missing}", grouped(most))
        }
        (cut, most) => {
            format!("up to {} {missing}; {} if events spread evenly over panes", grouped(most), grouped(cut))
        }
    };
    (!request.is_of_users()).then_some(words)
}

fn threshold_words(request: &ReleaseRequest, forecast: &Forecast) -> String {
    let floor = grouped(forecast.floor);
    let why = match request.spec.keys {
        KeySpec::Open => ", for privacy",
        _ => "",
    };
    match (request.spec.lists_heavy(), request.spec.norm) {
        (false, _) => format!("{floor}{why}: what is listed has a count, noise included, of that or more"),
        (true, Norm::L1) => format!("{} (never below {floor}{why})", grouped(forecast.threshold)),
        (true, Norm::L2) => format!("3/4 of alpha times the norm, and never below {floor}{why}"),
    }
}

fn listed_words(request: &ReleaseRequest, forecast: &Forecast) -> String {
    let listed = format!(
        "every key that {} {} times",
        UnitWords::of(request.spec.unit).occurs,
        grouped(forecast.least_listed)
    );
    match (request.spec.top, request.spec.all, request.spec.norm, forecast.norm) {
        (Some(top), ..) => format!("{listed}, unless {} others are listed before it", grouped(top)),
        (None, true, ..) | (_, _, Norm::L1, _) => listed,
        (None, false, Norm::L2, Some(norm)) => {
            format!("{listed}, at a norm of {}; more at larger norms", grouped(norm))
        }
        (None, false, Norm::L2, None) => format!("{listed}, if the norm is small; more at larger norms"),
    }
}

fn promises_words(request: &ReleaseRequest, forecast: &Forecast) -> Option<String> {
    if !request.spec.lists_heavy() {
        return None;
    }
    Some(match (request.spec.norm, forecast.least_norm) {
        (Norm::L1, _) if forecast.held => "held".to_owned(),
        (Norm::L2, Some(norm)) => {
            format!(
                "held from an L2 norm of {} on, {:.2} % of the {}",
                grouped(norm),
                share(norm, forecast.events),
                things(request.spec.unit)
            )
        }
        _ => "not held; see what would change that".to_owned(),
    })
}

/// The promises for the whole window that was asked for, of which a release may leave out the start.
fn whole_words(request: &ReleaseRequest, report: &PlanReport) -> Option<String> {
    let (spec, forecast) = (&request.spec, &report.forecast);
    if spec.norm == Norm::L1 || !spec.lists_heavy() || spec.continual || request.is_of_users() {
        return None;
    }
    Some(match (report.plan.layout.policy, forecast.least_norm_asked) {
        (Policy::Fixed, _) => "covered: panes are laid from the end of the files".to_owned(),
        (_, Some(norm)) => format!(
            "held for all of it, wherever it begins, from a norm of {} on, {:.2} % of the events",
            grouped(norm),
            share(norm, forecast.events)
        ),
        (_, None) => {
            "not foreseen: its start may be left out; the list measures how much, and says".to_owned()
        }
    })
}

/// The unknowns, and what is assumed instead.
fn unknown_words(request: &ReleaseRequest, report: &PlanReport) -> String {
    let norm = match (request.spec.lists_heavy(), request.spec.norm) {
        (true, Norm::L2) => Some("the norm (--at-norm tells it)"),
        _ => None,
    };
    let spread = match (request.longest(), report.plan.layout.policy) {
        _ if request.is_of_users() => {
            Some("how much of what users do is beyond their bounds, which no list says")
        }
        (Span::Events(_), Policy::Uniform | Policy::Fixed) => None,
        (_, Policy::Smooth) => Some("where panes end"),
        _ => Some("how events spread over panes (taken as evenly, unless said)"),
    };
    let unpacking = "what unpacking takes (zstd about 10 MB)";
    let unknown: Vec<&str> = norm.into_iter().chain(spread).chain([unpacking]).collect();
    unknown.join("; ")
}

fn share(norm: u64, events: u64) -> f64 {
    100.0 * norm as f64 / events.max(1) as f64
}

pub fn write_windows(
    out: &mut impl Write,
    request: &ReleaseRequest,
    windows: &[(WindowArg, Forecast)],
) -> io::Result<()> {
    let whole = |words: &str| match (request.spec.lists_heavy(), request.spec.norm) {
        (true, Norm::L2) if !request.is_of_users() => words.to_owned(),
        _ => String::new(),
    };
    let heavy = |words: String| {
        if request.spec.lists_heavy() { words } else { String::new() }
    };
    let things = things(request.spec.unit);
    let heading = ["window", &things, "noise", "cut", "surely listed"].map(str::to_owned);
    writeln!(out)?;
    let mut row = |[window, events, noise, cut, listed]: &[String; 5], promises: &str, last: &str| {
        let line =
            format!("  {window:<12} {events:>13} {noise:>7} {cut:>9} {listed:>14} {promises:>16} {last:>16}");
        writeln!(out, "{}", line.trim_end())
    };
    row(&heading, &heavy("promises".to_owned()), &whole("whole window"))?;
    let from = |norm: Option<u64>| norm.map(|norm| format!("norm {}", grouped(norm)));
    for (window, forecast) in windows {
        let cells = [
            window.text.clone(),
            grouped(forecast.events),
            grouped(forecast.noise),
            grouped(forecast.cut),
            grouped(forecast.least_listed),
        ];
        let promises = heavy(from(forecast.least_norm).unwrap_or(held_words(forecast.held)));
        let asked = from(forecast.least_norm_asked).unwrap_or("not foreseen".to_owned());
        row(&cells, &promises, &whole(&asked))?;
    }
    Ok(())
}

pub fn held_words(held: bool) -> String {
    if held { "held" } else { "not held" }.to_owned()
}

pub fn published_words(published: &Demands) -> String {
    format!(
        "With the constants as published (Theorem 1.2 of the paper) the window would have to hold at least \
         {:.1e} events, and memory {:.0e} timestamps with {:.0e} counters each.",
        published.window, published.timestamps, published.counters
    )
}
