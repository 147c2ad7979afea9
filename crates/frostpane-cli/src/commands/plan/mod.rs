//! `frostpane plan`: what to expect of a release before any data.

mod changes;
mod plain;
mod target;
mod text;
mod users;

use std::io::Write;

use anstyle::Style;
use frostpane::{Builder, Choice, Forecast, Key, Plan, Span};
use frostpane_paper::Demands;
use serde_json::{Value, json};

use crate::events::window_end::with_fewer_cuts;
use crate::failure::{Failure, Result};
use crate::settings::values::number;
use crate::settings::{ContinualArgs, ReleaseRequest, RequestArgs, WindowArg, for_keys_of, protect_users};
use crate::terminal::print;
use changes::write_changes;
use frostpane_render::text::write_wrapped;
use plain::PlainCounting;
use target::TargetPlan;
use text::{published_words, write_plan, write_windows};
use users::PerUserPlan;

/// Say what to expect of a list before any data: noise, threshold, memory, promises.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  What a list of the last million events will be good for:
    frostpane plan
  The same for 30 days with about 5 million events, at a smaller epsilon:
    frostpane plan --window 30d --events 5000000 --epsilon 0.5
  What to expect of the last week and the last month in one pass:
    frostpane plan --window 7d --window 30d --events 5000000
  What to expect of the top 20 keys, and of a list of them every day:
    frostpane plan --top 20 --window 30d --events 5000000
    frostpane plan --top 20 --window 30d --slide 1d --events 5000000 --watch
  The epsilon at which every key that occurs 500 times is listed:
    frostpane plan --target-count 500
  What it costs to count up to 4 keys of each user and day, or more, or fewer:
    frostpane plan --per-user 4 --window 7d --events 100000 --top 20")]
pub struct PlanArgs {
    #[command(flatten)]
    pub request: RequestArgs,

    /// Plan for users, as --user does for a list; the column is not looked at
    #[arg(long, value_name = "COLUMN")]
    pub user: Option<String>,

    /// Plan continual release, as of `frostpane watch`
    #[arg(long)]
    pub watch: bool,

    #[command(flatten)]
    pub continual: ContinualArgs,

    /// The events will come through a pipe, so that their end is not known before and panes are not fixed by
    /// it
    #[arg(long, conflicts_with = "watch")]
    pub pipe: bool,

    /// How many events to expect in the window, the longest of several; needed if it goes by time. For users:
    /// how many contributions, one of each user for each day (or other epoch) and each of the keys that count
    #[arg(long, value_parser = number)]
    pub events: Option<u64>,

    /// The L2 norm to expect, such as the `norm_estimate` of an earlier list [default: the least at which the
    /// promises are made]
    #[arg(long, value_name = "NORM", value_parser = number)]
    pub at_norm: Option<u64>,

    /// How many different keys to expect in the window, for the comparison with plain counting [default: one
    /// an event]
    #[arg(long, value_name = "KEYS", value_parser = number)]
    pub distinct: Option<u64>,

    /// Tell which epsilon and alpha list every key that occurs so often
    #[arg(long, value_name = "COUNT", value_parser = number)]
    pub target_count: Option<u64>,

    /// Write the plan as one JSON object
    #[arg(long)]
    pub json: bool,
}
impl PlanArgs {
    fn resolve(&self) -> Result<ReleaseRequest> {
        let mut request = self.request.resolve(self.watch)?;
        if self.user.is_some() {
            protect_users(&mut request.spec);
        }
        if !self.watch && self.continual.together.is_some() {
            return Err(Failure::from("--together is about continual release: plan it with --watch"));
        }
        self.continual.apply(&mut request.spec);
        let is_of_files = !self.watch && !self.pipe;
        Ok(if is_of_files && request.may_be_fixed() { request.fixed() } else { request })
    }
}

pub fn run(args: &PlanArgs) -> Result<()> {
    let request = args.resolve()?;
    if request.is_printed()? {
        return Ok(());
    }
    for_keys_of!(request, |keys| plan(args, &request, |request| request.builder(keys.clone())))
}

fn events(plan: &Plan, expected: Option<u64>) -> Result<u64> {
    match (plan.layout.by_count, expected) {
        (true, events) => Ok(events.unwrap_or(u64::MAX).min(plan.layout.window)),
        (false, Some(events)) => Ok(events),
        (false, None) if plan.users_in_memory.is_some() => Err(Failure::Message(users::NO_NUMBER.to_owned())),
        (false, None) => Err(Failure::from(
            "a window by time may hold any number of events: say how many to expect, with --events",
        )),
    }
}

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

struct PlanReport {
    plan: Plan,
    choice: Choice,
    total_epsilon: f64,
    forecast: Forecast,
    windows: Vec<(WindowArg, Forecast)>,
    target: Option<TargetPlan>,
    per_user: Option<Vec<PerUserPlan>>,
    /// `None` where users are protected.
    plain: Option<PlainCounting>,
    /// `None` but for single releases of heavy keys by events.
    published: Option<Demands>,
}

impl PlanReport {
    fn new<K: Key>(
        args: &PlanArgs,
        request: &ReleaseRequest,
        build: &impl Fn(&ReleaseRequest) -> Builder<K>,
        choice: Choice,
    ) -> Result<Self> {
        let builder = &build(request).policy(choice.policy).decided()?;
        let plan = builder.plan()?;
        let events = events(&plan, args.events)?;
        let forecast = builder.forecast(events, args.at_norm)?;
        let forecast_of = |window: &WindowArg| -> Result<(WindowArg, Forecast)> {
            let events = events_within(window.span, request.longest(), events);
            Ok((window.clone(), builder.forecast_over(window.span, events, args.at_norm)?))
        };
        let spec = &request.spec;
        let is_published = spec.lists_heavy() && !spec.continual && !spec.unit.is_user();
        let plain = (!spec.unit.is_user())
            .then(|| PlainCounting::new(args.distinct, request, builder, &plan, &forecast))
            .transpose()?;
        Ok(Self {
            choice,
            total_epsilon: builder.cost()?.epsilon(),
            windows: match request.windows.len() {
                1 => vec![(request.windows[0].clone(), forecast.clone())],
                _ => request.windows.iter().map(forecast_of).collect::<Result<_>>()?,
            },
            target: args
                .target_count
                .map(|count| TargetPlan::new(count, request, builder, &forecast))
                .transpose()?,
            per_user: spec.unit.bounds().map(|bounds| users::compare(request, bounds, events, build)),
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

fn plan<K: Key>(
    args: &PlanArgs,
    request: &ReleaseRequest,
    build: impl Fn(&ReleaseRequest) -> Builder<K>,
) -> Result<()> {
    let asked = request;
    let expected = events(&build(asked).plan()?, args.events)?;
    let request = &with_fewer_cuts(asked.clone(), expected, &build);
    let report = PlanReport::new(args, request, &build, build(request).choice()?)?;
    print(args.json, &report.json(), |out, screen| {
        write_plan(out, request, &report, screen.width)?;
        if report.windows.len() > 1 {
            write_windows(out, request, &report.windows)?;
        }
        if let Some(per_user) = &report.per_user {
            users::write_table(out, request, per_user)?;
        }
        write_changes(out, asked, (report.forecast.events, args.at_norm), &build)?;
        let target = report.target.as_ref().map(|target| target.words(request));
        let plain = report.plain.as_ref().map(|plain| plain.words(&report.forecast));
        let published = report.published.as_ref().map(published_words);
        for (index, words) in target.into_iter().chain(plain).chain(published).enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write_wrapped(out, "", &words, screen.width, Style::new())?;
        }
        Ok(())
    })
}
