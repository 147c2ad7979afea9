//! Plans for users: what is protected, memory, and the cost of counting more keys of each.

use std::io::Write;

use frostpane::{Bounds, Builder, Forecast, Key, NoiseLaw, Plan, Unit};
use frostpane_render::{bounded, meaning};
use serde::Serialize;

use crate::failure::Result;
use crate::settings::ReleaseRequest;
use crate::settings::values::grouped;

pub const NO_NUMBER: &str = "a window by time may hold any number of people: say how many contributions to \
                             expect, with --events; a person is one for each day, or other epoch, and each \
                             of the keys that count";

const COMPARED: [u32; 6] = [1, 2, 4, 8, 16, 32];

#[derive(Serialize)]
pub struct PerUserPlan {
    per_user: u32,
    noise_law: NoiseLaw,
    scale: f64,
    deviation: f64,
    floor: u64,
    least_listed_at_floor: u64,
}

/// Plans for several numbers of keys, in order. A number that is refused is left out.
pub fn compare<K: Key>(
    request: &ReleaseRequest,
    asked: Bounds,
    events: u64,
    build: impl Fn(&ReleaseRequest) -> Builder<K>,
) -> Vec<PerUserPlan> {
    let mut compared: Vec<u32> = COMPARED.into_iter().chain([asked.per_user]).collect();
    compared.sort_unstable();
    compared.dedup();
    let keys = |per_user: u32| {
        let (mut changed, mut bounds) = (request.clone(), asked);
        bounds.per_user = per_user;
        changed.spec.unit = Unit::User(bounds);
        let forecast = build(&changed).forecast(events, None).ok()?;
        Some(PerUserPlan {
            per_user,
            noise_law: forecast.noise_law,
            scale: forecast.scale,
            deviation: forecast.deviation,
            floor: forecast.floor,
            least_listed_at_floor: forecast.least_listed_at_floor,
        })
    };
    compared.into_iter().filter_map(keys).collect()
}

pub fn write_table(out: &mut impl Write, request: &ReleaseRequest, plans: &[PerUserPlan]) -> Result<()> {
    let asked = request.spec.unit.bounds().map(|bounds| bounds.per_user);
    writeln!(out)?;
    let mut row = |first: &str, [noise, deviation, threshold, listed]: [&str; 4]| {
        writeln!(out, "  {first:<26} {noise:>10} {deviation:>11} {threshold:>11} {listed:>14}")
    };
    row("keys of each person", ["law", "deviation", "threshold", "surely listed"])?;
    for plan in plans {
        let as_asked = if asked == Some(plan.per_user) { ", as asked" } else { "" };
        let name = grouped(plan.per_user.into()) + as_asked;
        let (deviation, threshold, listed) =
            (format!("{:.1}", plan.deviation), grouped(plan.floor), grouped(plan.least_listed_at_floor));
        row(&name, [law(plan.noise_law), &deviation, &threshold, &listed])?;
    }
    if request.spec.lists_heavy() {
        writeln!(out, "  (surely listed where alpha asks for no more)")?;
    }
    Ok(())
}

fn law(law: NoiseLaw) -> &'static str {
    match law {
        NoiseLaw::Gaussian => "Gaussian",
        _ => "Laplace",
    }
}

/// The law of the noise, where users are protected: there it is a choice.
pub fn law_words(request: &ReleaseRequest, forecast: &Forecast) -> String {
    if request.is_of_users() { format!("{}, ", law(forecast.noise_law)) } else { String::new() }
}

pub fn protected_words(request: &ReleaseRequest) -> Option<String> {
    let unit = request.spec.unit;
    let (bounds, meaning) = (unit.bounds()?, meaning(unit)?);
    Some(format!("{unit}. {} {meaning}", bounded(&bounds)))
}

pub fn memory_words(request: &ReleaseRequest, plan: &Plan) -> Option<String> {
    let users = grouped(plan.users_in_memory?);
    let rest = if request.spec.continual {
        "of files those beyond go to disk; a pipe with more of them in the slides that are open is refused"
    } else {
        "those beyond go to disk, where temporary files are"
    };
    Some(format!(
        "about {users} are held in memory, each in one epoch, if ids have 16 bytes and each has as many keys as count; {rest}"
    ))
}
