//! `frostpane plan`: what to expect of a list before any data.

mod changes;
mod people;
mod plain;
mod target;
mod words;

use std::io::{self, BufWriter, Write};

use anstyle::Style;
use frostpane::{Builder, Choice, Forecast, Key, Plan, Span};
use frostpane_paper::Demands;
use serde_json::{Value, json};

use crate::args::PlanArgs;
use crate::ending::with_fewer_cuts;
use crate::failure::{Failure, Result};
use crate::list::lines_of;
use crate::request::{AnyKeys, Request};
use crate::screen::Screen;
use crate::text::write_wrapped;
use crate::units::Asked;
use changes::write_changes;
use people::Keys;
use plain::Plain;
use target::Target;
use words::{published_words, write_plan, write_windows};

pub fn run(args: &PlanArgs) -> Result<()> {
    let request = args.resolve()?;
    if request.is_printed(lines_of)? {
        return Ok(());
    }
    match request.keys(lines_of)? {
        AnyKeys::Bytes(keys) => plan(args, &request, |request| request.builder(keys.clone())),
        AnyKeys::Integers(keys) => plan(args, &request, |request| request.builder(keys.clone())),
    }
}

/// How many events the longest window has.
fn events(plan: &Plan, expected: Option<u64>) -> Result<u64> {
    match (plan.layout.by_count, expected) {
        (true, events) => Ok(events.unwrap_or(u64::MAX).min(plan.layout.window)),
        (false, Some(events)) => Ok(events),
        (false, None) if plan.users_in_memory.is_some() => {
            Err(Failure::Message(people::NO_NUMBER.to_owned()))
        }
        (false, None) => Err(Failure::Message(
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
    target: Option<Target>,
    /// Of people: what counting more or fewer keys of each would change.
    per_user: Option<Vec<Keys>>,
    /// Of events.
    plain: Option<Plain>,
    /// Of single lists of heavy keys.
    published: Option<Demands>,
}

impl Outlook {
    fn new<K: Key>(
        args: &PlanArgs,
        request: &Request,
        build: &impl Fn(&Request) -> Builder<K>,
        choice: Choice,
    ) -> Result<Self> {
        let builder = &build(request).policy(choice.policy).decided()?;
        let plan = builder.plan()?;
        let events = events(&plan, args.events)?;
        let forecast = builder.forecast(events, args.at_norm)?;
        let forecast_of = |window: &Asked| -> Result<(Asked, Forecast)> {
            let events = events_within(window.span, request.longest(), events);
            let forecast = builder.forecast_over(window.span, events, args.at_norm)?;
            Ok((window.clone(), forecast))
        };
        let spec = &request.spec;
        let is_published = spec.lists_heavy() && !spec.continual && !spec.unit.is_user();
        let plain = match spec.unit.is_user() {
            true => None,
            false => Some(Plain::new(args.distinct, request, builder, &plan, &forecast)?),
        };
        Ok(Self {
            choice,
            total_epsilon: builder.cost()?.epsilon(),
            windows: match request.windows.len() {
                1 => vec![(request.windows[0].clone(), forecast.clone())],
                _ => request.windows.iter().map(forecast_of).collect::<Result<_>>()?,
            },
            target: args
                .target_count
                .map(|count| Target::new(count, request, builder, &forecast))
                .transpose()?,
            per_user: spec
                .unit
                .bounds()
                .map(|bounds| people::by_keys(request, bounds, events, build)),
            plain,
            published: is_published.then(|| Demands::new(spec.alpha, spec.epsilon.as_f64(), events)),
            plan,
            forecast,
        })
    }

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
            "target": self.target,
            "plain": self.plain,
            "published": self.published,
        });
        if let Some(per_user) = &self.per_user {
            whole["per_user"] = json!(per_user);
        }
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

fn plan<K: Key>(args: &PlanArgs, request: &Request, build: impl Fn(&Request) -> Builder<K>) -> Result<()> {
    let asked = request;
    let expected = events(&build(asked).plan()?, args.events)?;
    let request = &with_fewer_cuts(asked.clone(), expected, &build);
    let choice = build(request).choice()?;
    let outlook = Outlook::new(args, request, &build, choice)?;
    let stdout = io::stdout().lock();
    let width = Screen::of(&stdout).width;
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer(&mut out, &outlook.json()).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write_plan(&mut out, request, &outlook, width)?;
        if outlook.windows.len() > 1 {
            write_windows(&mut out, request, &outlook.windows)?;
        }
        if let Some(per_user) = &outlook.per_user {
            people::write_keys(&mut out, request, per_user)?;
        }
        write_changes(&mut out, asked, (outlook.forecast.events, args.at_norm), &build)?;
        let target = outlook.target.as_ref().map(|target| target.words(request));
        let plain = outlook.plain.as_ref().map(|plain| plain.words(&outlook.forecast));
        let published = outlook.published.as_ref().map(published_words);
        let paragraphs: Vec<String> = target.into_iter().chain(plain).chain(published).collect();
        for (index, words) in paragraphs.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write_wrapped(&mut out, "", words, width, Style::new())?;
        }
    }
    Ok(out.flush()?)
}
