//! What a plan says of people: what is protected, where they are held, and what it costs to count more of each.

use std::io::Write;

use frostpane::words::{bounded, meaning};
use frostpane::{Bounds, Builder, Forecast, Key, NoiseLaw, Plan, Unit};
use serde::Serialize;

use crate::failure::Result;
use crate::request::Request;
use crate::units::grouped;

/// That nothing says how much is to be expected.
pub const NO_NUMBER: &str = "a window by time may hold any number of people: say how many contributions to expect, with --events; a person \
                             is one for each day, or other epoch, and each of the keys that count";

/// Numbers of keys of a person that are compared, with the one asked for.
const COMPARED: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// What it costs to count so many keys of a person in an epoch.
#[derive(Serialize)]
pub struct Keys {
    per_user: u32,
    noise_law: NoiseLaw,
    scale: f64,
    deviation: f64,
    floor: u64,
    least_listed_at_floor: u64,
}

/// For several numbers of keys, rising. One for which there is no list is left out.
pub fn by_keys<K: Key>(
    request: &Request,
    asked: Bounds,
    events: u64,
    build: impl Fn(&Request) -> Builder<K>,
) -> Vec<Keys> {
    let mut compared: Vec<u32> = COMPARED.into_iter().chain([asked.per_user]).collect();
    compared.sort_unstable();
    compared.dedup();
    let keys = |per_user: u32| {
        let (mut changed, mut bounds) = (request.clone(), asked);
        bounds.per_user = per_user;
        changed.spec.unit = Unit::User(bounds);
        let forecast = build(&changed).forecast(events, None).ok()?;
        Some(Keys {
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

/// As a table, to choose from.
pub fn write_keys(out: &mut impl Write, request: &Request, choices: &[Keys]) -> Result<()> {
    let asked = request.spec.unit.bounds().map(|bounds| bounds.per_user);
    writeln!(out)?;
    let mut row = |first: &str, [noise, deviation, threshold, listed]: [&str; 4]| {
        writeln!(
            out,
            "  {first:<26} {noise:>10} {deviation:>11} {threshold:>11} {listed:>14}"
        )
    };
    row(
        "keys of each person",
        ["law", "deviation", "threshold", "surely listed"],
    )?;
    for keys in choices {
        let name = match asked == Some(keys.per_user) {
            true => format!("{}, as asked", grouped(keys.per_user.into())),
            false => grouped(keys.per_user.into()),
        };
        let (deviation, threshold, listed) = (
            format!("{:.1}", keys.deviation),
            grouped(keys.floor),
            grouped(keys.least_listed_at_floor),
        );
        row(&name, [law(keys.noise_law), &deviation, &threshold, &listed])?;
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

/// Which noise it is, where that was a choice.
pub fn law_words(request: &Request, forecast: &Forecast) -> String {
    match request.is_of_users() {
        true => format!("{}, ", law(forecast.noise_law)),
        false => String::new(),
    }
}

/// What is done to a key, once for every time that it counts.
pub fn occurs(request: &Request) -> &'static str {
    match request.is_of_users() {
        true => "is counted",
        false => "occurs",
    }
}

/// Whom the list protects, and what its counts are.
pub fn protected_words(request: &Request) -> Option<String> {
    let unit = request.spec.unit;
    let (bounds, meaning) = (unit.bounds()?, meaning(unit)?);
    Some(format!("{unit}. {} {meaning}", bounded(&bounds)))
}

/// How many people the memory holds.
pub fn memory_words(request: &Request, plan: &Plan) -> Option<String> {
    let people = grouped(plan.users_in_memory?);
    let rest = match request.spec.continual {
        false => "those beyond go to disk, where temporary files are",
        true => {
            "of files those beyond go to disk; a pipe with more of them in the slides that are open is refused"
        }
    };
    Some(format!(
        "about {people} are held in memory, each in one epoch, if ids have 16 bytes and each has as many keys as count; {rest}"
    ))
}
