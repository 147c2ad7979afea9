//! What to expect of a stream before any data.

use frostpane::words::{Warning, bounded, meaning};
use frostpane::{Builder, Forecast, Key, Plan, Span, Spec, Unit};
use serde::Serialize;
use serde_json::{Value, json};

use crate::key::AnyKeys;
use crate::problem::{Problem, Result};

/// How many events a window by the clock is expected to have, unless told.
pub const EVENTS: u64 = 100_000;
/// Numbers of keys of a person that are compared, with the one asked for.
const COMPARED: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// The most memory that a plan is made for: tables of its size are reckoned.
const MEMORY: u64 = 1 << 30;
/// The most slides of a window with a list at each.
const SLIDES: u64 = 1 << 17;

/// What a list will be good for, if its longest window has so many events.
pub fn outlook(spec: &Spec, events: Option<u64>) -> Result<Value> {
    if spec.until.is_some() {
        return Err(Problem::invalid(
            "until is given, but a stream of the service goes on",
            "leave it out",
        ));
    }
    if spec.memory.0 > MEMORY {
        return Err(Problem::invalid(
            "memory is more than 1 GB, for which the service makes no plan",
            "ask `frostpane plan`, or give less",
        ));
    }
    let slides = |slide: Span| spec.longest().length() / slide.length().max(1);
    if spec.continual && spec.slide.is_some_and(|slide| slides(slide) > SLIDES) {
        return Err(Problem::invalid(
            "the window has more than 131,072 slides, for which the service makes no plan",
            "ask `frostpane plan`, or take longer slides",
        ));
    }
    match AnyKeys::of(spec)? {
        AnyKeys::Bytes(keys) => of(spec, events, |spec| Builder::from_spec(spec, keys.clone())),
        AnyKeys::Integers(keys) => of(spec, events, |spec| Builder::from_spec(spec, keys.clone())),
    }
}

fn of<K: Key>(spec: &Spec, events: Option<u64>, build: impl Fn(Spec) -> Builder<K>) -> Result<Value> {
    let builder = build(spec.clone()).decided()?;
    let plan = builder.plan()?;
    let events = expected(&plan, events);
    let forecast = builder.forecast(events, None)?;
    let decided = builder.spec()?;
    Ok(json!({
        "events": events,
        "spec": decided,
        "plan": plan,
        "forecast": forecast,
        "cost": { "epsilon": builder.cost()?.epsilon(), "delta": builder.cost()?.delta() },
        "per_user": per_user(&decided, events, &build),
        "words": words(&decided, &forecast),
    }))
}

fn expected(plan: &Plan, events: Option<u64>) -> u64 {
    match plan.layout.by_count {
        true => events.unwrap_or(u64::MAX).min(plan.layout.window),
        false => events.unwrap_or(EVENTS),
    }
}

/// What it costs to count so many keys of a person in an epoch.
#[derive(Serialize)]
struct Keys {
    per_user: u32,
    noise_law: frostpane::NoiseLaw,
    deviation: f64,
    floor: u64,
    least_listed_at_floor: u64,
}

fn per_user<K: Key>(spec: &Spec, events: u64, build: &impl Fn(Spec) -> Builder<K>) -> Option<Vec<Keys>> {
    let asked = spec.unit.bounds()?;
    let mut compared: Vec<u32> = COMPARED.into_iter().chain([asked.per_user]).collect();
    compared.sort_unstable();
    compared.dedup();
    let keys = |per_user: u32| {
        let (mut changed, mut bounds) = (spec.clone(), asked);
        bounds.per_user = per_user;
        changed.unit = Unit::User(bounds);
        let forecast = build(changed).forecast(events, None).ok()?;
        Some(Keys {
            per_user,
            noise_law: forecast.noise_law,
            deviation: forecast.deviation,
            floor: forecast.floor,
            least_listed_at_floor: forecast.least_listed_at_floor,
        })
    };
    Some(compared.into_iter().filter_map(keys).collect())
}

fn words(spec: &Spec, forecast: &Forecast) -> Vec<String> {
    let grouped = frostpane::words::grouped;
    let what = match spec.unit.is_user() {
        true => "is counted",
        false => "occurs",
    };
    let unless = spec.top.map_or_else(String::new, |top| {
        format!(", unless {} others are listed before it", grouped(top))
    });
    let mut words = vec![
        format!(
            "A key is listed if its noisy count is {} or more{unless}; one that {what} {} times or more surely is{}. The noise has a deviation of {:.1}.",
            grouped(forecast.threshold.max(forecast.floor)),
            grouped(forecast.least_listed),
            if unless.is_empty() { "" } else { " then" },
            forecast.deviation
        ),
        match spec.continual {
            true => "There is a list at every slide, and all of them together cost what one does.".to_owned(),
            false => "Each list is asked for, and costs budget of every pane that it covers.".to_owned(),
        },
    ];
    if let Some(bounds) = spec.unit.bounds() {
        words.push(bounded(&bounds));
        words.extend(meaning(spec.unit));
    }
    words.extend(Warning::of_forecast(spec, forecast).map(|warning| warning.to_string()));
    words
}
