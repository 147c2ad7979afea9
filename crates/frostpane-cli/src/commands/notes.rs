//! Notes on events for the operator alone, on standard error: they are not private.

use frostpane::{Builder, Cost, Edge, Key, Release, Tally, Unit};
use frostpane_render::{Warning, WindowLabel, megabytes};
use jiff::Timestamp;

use crate::events::time_filter::TimeFilter;
use crate::events::window_end::{NOT_RELEASED, no_events, no_time};
use crate::failure::{Failure, Result};
use crate::settings::values::{count_of, grouped};
use crate::settings::{InputArgs, ReleaseRequest};
use crate::terminal::{tell, warn};
use frostpane_events::Source;

pub struct EventTally {
    unit: Unit,
    events: u64,
    /// Events with a time that cannot be.
    set_aside: u64,
    counted: Tally,
    /// Events in time, whose key was looked at.
    looked_at: u64,
}

impl EventTally {
    pub fn new(unit: Unit, events: u64, filter: &TimeFilter, counted: Tally) -> Self {
        let set_aside = filter.set_aside;
        let not_in_time = counted.not_counted() - counted.without_key;
        let looked_at = (events - set_aside).saturating_sub(not_in_time);
        Self { unit, events, set_aside, counted, looked_at }
    }

    pub fn tell(&self, source: &Source, filter: &TimeFilter) {
        read_notes(source).into_iter().chain(filter.note()).chain(self.users_note()).for_each(tell);
        let without_key = if self.lacks_keys() { 0 } else { self.counted.without_key };
        Warning::of_events(self.events, self.counted.late, without_key).into_iter().for_each(tell);
        if self.counted.ahead > 0 {
            tell(format_args!(
                "{} of {} events were ahead of the clock and were left out: is the clock of their source right?",
                grouped(self.counted.ahead),
                grouped(self.events)
            ));
        }
    }

    fn users_note(&self) -> Option<String> {
        let without = self.counted.without_user;
        let events = count_of(without, "event has no user, and is", "events have no user, and are");
        (without > 0)
            .then(|| format!("{events} not counted, because what one person did could not be bounded"))
    }

    /// True if there were keys to look at, and none of them counts.
    fn lacks_keys(&self) -> bool {
        self.looked_at > 0 && self.counted.without_key == self.looked_at
    }

    /// Refuses a stream without events. Numbers of events are public, and so is that there are none.
    pub fn check_events(&self) -> Result<()> {
        match self.events - self.set_aside {
            0 if self.events == 0 => Err(no_events()),
            0 => Err(no_time()),
            _ => Ok(()),
        }
    }

    /// Fails if no event had a key that counts. Where users are protected, the exit code does not tell: it is
    /// said here.
    pub fn check_keys(&self, input: &InputArgs) -> Result<()> {
        match (self.unit, self.lacks_keys()) {
            (Unit::User(_), _) if self.events == 0 => {
                warn("there was no event, so the list is of nobody: are these the right files?");
            }
            (Unit::User(_), true) => {
                warn(
                    "none of the events of users has a key that counts, so the list is of nobody: is --key right, and --keys?",
                );
            }
            (_, true) => {
                let key = match &input.columns.key {
                    Some(key) => format!("is --key {key} right, and --keys?"),
                    None => "are they empty lines, or is --keys another list?".to_owned(),
                };
                return Err(Failure::NoKeys(format!(
                    "the list is empty because none of the events has a key that counts: {key}"
                )));
            }
            (_, false) => {}
        }
        Ok(())
    }
}

pub fn tell_of_bounds(counted: Tally) {
    let Tally { beyond_bounds, offered, .. } = counted;
    if beyond_bounds > 0 {
        tell(format_args!(
            "{} of the {} events of users in the window were beyond what they may contribute, and are not \
             counted: --per-user and --per-key say how much that is (these numbers are for you, not for \
             publication)",
            grouped(beyond_bounds),
            grouped(offered)
        ));
    }
}

/// Tells that no event of users lies in the window: the list is made all the same.
pub fn tell_of_empty_window(filter: &TimeFilter) {
    if let Some(range) = filter.range() {
        tell(format_args!(
            "no event that counts lies in the window; events before its end are {range}: is --until right?"
        ));
    }
}

pub fn empty_window(filter: &TimeFilter) -> Failure {
    let advice = filter.range().map_or(String::new(), |range| {
        format!("; they are {range}: --until TIME says where the window ends")
    });
    Failure::Message(format!("no event lies in the window: {NOT_RELEASED}{advice}"))
}

/// Warns of keys so much longer than assumed that the memory may not suffice for as many as are kept.
pub fn length_warning<K: Key>(request: &ReleaseRequest, builder: &Builder<K>, mean: u64) -> Option<String> {
    if mean <= request.spec.key_bytes {
        return None;
    }
    let entries = builder.plan().ok()?.entries;
    let plan = builder.clone().key_bytes(mean).entries(entries).plan().ok()?;
    let (taken, given) = (plan.memory.total(), request.spec.memory.0);
    (taken > given).then(|| {
        format!(
            "keys have {mean} bytes in the mean, but {} were assumed: up to {} of memory may be taken \
             instead of {}; write `key_bytes = {mean}` into the specification, if that may be known, and \
             fewer keys are kept",
            request.spec.key_bytes,
            megabytes(taken),
            megabytes(given)
        )
    })
}

/// All warnings that apply. Of several releases, those about one of them name its window.
pub fn warnings_of<K: Key>(
    request: &ReleaseRequest,
    releases: &[(WindowLabel, Release<K>)],
    first: Option<i64>,
) -> Vec<String> {
    let first = first.and_then(|first| Timestamp::from_microsecond(first).ok());
    let cost = Cost::of(releases.iter().map(|(_, release)| release));
    let total = Warning::of_cost(&cost).map(|warning| match releases.len() {
        1 => warning.to_string(),
        lists => format!("the {lists} lists together: {warning}"),
    });
    let each = releases.iter().flat_map(|(window, release)| {
        let name = match releases.len() {
            1 => String::new(),
            _ => format!("window of {}: ", window.spoken()),
        };
        let given = request.windows_given.then_some(window.span);
        let short = given
            .zip(first)
            .filter(|_| request.spec.until.is_some() && !request.is_of_users())
            .and_then(|(span, first)| Warning::of_first_event(span, Edge::Instant(first), &release.window));
        let warnings = Warning::of_release(&request.spec, given, release);
        warnings.into_iter().chain(short).map(move |warning| format!("{name}{warning}"))
    });
    total.into_iter().chain(each).collect()
}

/// Notes about files that were read.
pub fn read_notes(source: &Source) -> Vec<String> {
    let (report, schema) = (&source.report, &source.schema);
    let tally = &report.tally;
    let mut notes = Vec::new();
    if let Some(first) = &tally.first {
        let headless = first.number == 1 && report.is_delimited && !schema.has_header();
        let advice = if headless { "; if it names the columns, use --header" } else { "" };
        notes.push(format!(
            "{} of {} events could not be read and have no key; the first is in {first}{advice}",
            grouped(tally.unreadable),
            grouped(tally.read())
        ));
    }
    // Where no event has a user, the column is wrong.
    if let (Some(user), true, 0) = (&schema.user, tally.events > 0, tally.with_user) {
        let user = user.text();
        notes.push(format!("warning: none of the events has a user: is --user {user} right?"));
    }
    notes.extend(report.without_events().map(|files| format!("warning: {files}")));
    if tally.key_of_path && !schema.by_clock {
        notes.push(
            "warning: the key is part of the paths, so the files are sorted by it, and a window by count is not private then: take a window by time"
                .to_owned(),
        );
    }
    if tally.repeated_headers > 0 {
        let (one, many) = ("line repeats the header; it counts", "lines repeat the header; each counts");
        notes.push(count_of(tally.repeated_headers, one, many) + " as an event without a key");
    }
    if let Some(name) = &report.cut {
        notes.push(format!(
            "the last line of {name} has no end, so it was left out: give all of it again when it has one, under the same name or --id, and what was taken is \
             passed over; if it is complete as it is say so, with --whole"
        ));
    }
    notes
}
