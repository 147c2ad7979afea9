//! What the operator should know, told on standard error.

use std::fmt::Display;
use std::io::{self, Write};

use frostpane::words::{Warning, megabytes};
use frostpane::{Builder, Cost, Edge, Key, Release};
use jiff::Timestamp;

use crate::request::Request;
use crate::units::Asked;

/// Tells the operator. If nobody listens, that is no reason to stop.
pub fn tell(message: impl Display) {
    let _ = writeln!(io::stderr(), "frostpane: {message}");
}

/// That keys are so much longer than was reckoned with that the memory may not do for as many as are kept.
pub fn about_length<K: Key>(request: &Request, builder: &Builder<K>, mean: u64) -> Option<String> {
    if mean <= request.spec.key_bytes {
        return None;
    }
    let entries = builder.plan().ok()?.entries;
    let plan = builder.clone().key_bytes(mean).entries(entries).plan().ok()?;
    let (taken, given) = (plan.memory.total(), request.spec.memory.0);
    (taken > given).then(|| {
        format!(
            "keys have {mean} bytes in the mean, but {} were reckoned with: up to {} of memory may be taken instead of {}; write \
             `key_bytes = {mean}` into the specification, if that may be known, and fewer keys are kept",
            request.spec.key_bytes,
            megabytes(taken),
            megabytes(given)
        )
    })
}

/// All that apply. Of several releases, those about one of them name its window.
pub fn about<K: Key>(request: &Request, releases: &[(Asked, Release<K>)], first: Option<i64>) -> Vec<String> {
    let first = first.and_then(|first| Timestamp::from_microsecond(first).ok());
    let cost = Cost::of(releases.iter().map(|(_, release)| release));
    let total = Warning::of_cost(&cost).map(|warning| match releases.len() {
        1 => warning.to_string(),
        lists => format!("the {lists} lists together: {warning}"),
    });
    let each = releases.iter().flat_map(|(asked, release)| {
        let name = match releases.len() {
            1 => String::new(),
            _ => format!("window of {}: ", asked.spoken()),
        };
        let given = request.windows_given.then_some(asked.span);
        let short = given
            .zip(first)
            .filter(|_| request.spec.until.is_some() && !request.is_of_users())
            .and_then(|(asked, first)| Warning::of_first_event(asked, Edge::Instant(first), &release.window));
        let warnings = Warning::of_release(&request.spec, given, release);
        warnings
            .into_iter()
            .chain(short)
            .map(move |warning| format!("{name}{warning}"))
    });
    total.into_iter().chain(each).collect()
}
