//! Plans: what to expect of a stream before any data.

use frostpane::{Builder, Key, Span, Spec, Unit};
use frostpane_render::expectations;
use serde_json::{Value, json};

use crate::key::SpecKeys;
use crate::problem::{Problem, Result};

/// The events expected in a window by the clock, by default.
const EVENTS: u64 = 100_000;
/// Numbers of keys per user that are compared, beside the one asked for.
const COMPARED: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// The most memory for which a plan is made: making it computes tables of that size.
const MEMORY: u64 = 1 << 30;
/// The most slides of a window in continual release.
const SLIDES: u64 = 1 << 17;

/// The plan, if the longest window has so many events.
pub fn make(spec: &Spec, events: Option<u64>) -> Result<Value> {
    if spec.until.is_some() {
        return Err(Problem::invalid("until is given, but a stream of the service goes on", "leave it out"));
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
    match SpecKeys::of(spec)? {
        SpecKeys::Bytes(keys) => of(spec, events, |spec| Builder::from_spec(spec, keys.clone())),
        SpecKeys::Integers(keys) => of(spec, events, |spec| Builder::from_spec(spec, keys.clone())),
    }
}

fn of<K: Key>(spec: &Spec, events: Option<u64>, build: impl Fn(Spec) -> Builder<K>) -> Result<Value> {
    let builder = build(spec.clone()).decided()?;
    let plan = builder.plan()?;
    let events = if plan.layout.by_count {
        events.unwrap_or(u64::MAX).min(plan.layout.window)
    } else {
        events.unwrap_or(EVENTS)
    };
    let forecast = builder.forecast(events, None)?;
    let decided = builder.spec()?;
    Ok(json!({
        "events": events,
        "spec": decided,
        "plan": plan,
        "forecast": forecast,
        "cost": { "epsilon": builder.cost()?.epsilon(), "delta": builder.cost()?.delta() },
        "per_user": per_user(&decided, events, &build),
        "words": expectations(&decided, &forecast),
    }))
}

/// The cost of counting so many keys of a user in an epoch, for several numbers of keys.
fn per_user<K: Key>(spec: &Spec, events: u64, build: &impl Fn(Spec) -> Builder<K>) -> Option<Vec<Value>> {
    let asked = spec.unit.bounds()?;
    let mut compared: Vec<u32> = COMPARED.into_iter().chain([asked.per_user]).collect();
    compared.sort_unstable();
    compared.dedup();
    let keys = |per_user: u32| {
        let (mut changed, mut bounds) = (spec.clone(), asked);
        bounds.per_user = per_user;
        changed.unit = Unit::User(bounds);
        let forecast = build(changed).forecast(events, None).ok()?;
        Some(json!({
            "per_user": per_user,
            "noise_law": forecast.noise_law,
            "deviation": forecast.deviation,
            "floor": forecast.floor,
            "least_listed_at_floor": forecast.least_listed_at_floor,
        }))
    };
    Some(compared.into_iter().filter_map(keys).collect())
}
