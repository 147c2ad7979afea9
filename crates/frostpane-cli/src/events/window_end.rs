//! Finds where the windows of a list end, before any event is counted where that is possible.

use std::collections::BTreeMap;

use frostpane::{Builder, Edge, Key, Keys, Policy, Span};
use jiff::Timestamp;

use super::TextKey;
use super::time_filter::TimeFilter;
use crate::failure::{Failure, Result};
use crate::settings::time::whole_second;
use crate::settings::{ReleaseRequest, TimeSettings};
use crate::terminal::progress::Progress;
use crate::terminal::warn;
use frostpane_events::Source;

/// A request with the end of its windows, if that could be found.
pub struct WindowEnd {
    pub request: ReleaseRequest,
    pub clock: TimeSettings,
    scan: Option<Scan>,
}

impl WindowEnd {
    /// The end that was given, or that of the files, which are read once more for it. The end of a pipe is
    /// not known before it comes: its windows are made of panes that begin at fixed steps.
    pub fn find<K: TextKey>(
        request: &ReleaseRequest,
        keys: &Keys<K>,
        clock: TimeSettings,
        source: impl Fn() -> Result<Source>,
    ) -> Result<Self> {
        let request = request.clone();
        if let Some(end) = request.end(&clock)? {
            let clock = clock.ending(end);
            return Ok(Self { request: request.ending(end, &clock)?, clock, scan: None });
        }
        if request.is_of_users() {
            // What is wrong with the request is said first.
            request.builder(keys.clone()).decided()?;
            return Err(Failure::from(
                "users are protected, so events do not say where the windows end: give --until TIME, such as --until 2025-12-01",
            ));
        }
        let is_of_files = source()?.total_bytes.is_some();
        if !is_of_files || !request.may_be_fixed() {
            return Ok(Self { request, clock, scan: None });
        }
        let request = request.fixed();
        // What is wrong with the request is said before a long look at the files.
        request.builder(keys.clone()).decided()?;
        let mut first_pass = source()?;
        // The second pass tells the operator about the files.
        first_pass.schema.tell = |_| ();
        let scan = Scan::new(&mut first_pass, &clock, request.longest())?;
        if scan.events == 0 {
            first_pass.report.without_events().into_iter().for_each(warn);
            return Err(no_events());
        }
        let end = scan.end(&clock)?;
        let request = request.ending(end, &clock)?;
        Ok(Self {
            request: with_fewer_cuts(request, scan.within, |request| request.builder(keys.clone())),
            clock,
            scan: Some(scan),
        })
    }

    /// Refuses files that have another number of events than before.
    pub fn check(&self, events: u64) -> Result<()> {
        self.scan.as_ref().map_or(Ok(()), |scan| scan.check(events))
    }
}

/// Returns the request with panes as long as the windows, unless their length was given, if that cuts less
/// from so many events: many short panes keep more keys in all, a long one keeps each of them once.
pub fn with_fewer_cuts<K: Key>(
    request: ReleaseRequest,
    events: u64,
    build: impl Fn(&ReleaseRequest) -> Builder<K>,
) -> ReleaseRequest {
    if request.spec.slide.is_some() || request.spec.policy != Some(Policy::Fixed) {
        return request;
    }
    let mut longest = request.clone();
    longest.spec.slide = Some(longest.longest());
    let forecast = |request: &ReleaseRequest| build(request).forecast(events, Some(events));
    match (forecast(&longest), forecast(&request)) {
        (Ok(long), Ok(usual)) if long.cut < usual.cut => longest,
        _ => request,
    }
}

/// The end of messages about a release that is not made.
pub const NOT_RELEASED: &str = "nothing was released, and no file was written";

/// A first pass over files that finds where their events end, before any is counted.
struct Scan {
    window: Span,
    events: u64,
    /// About how many of the events lie in the window.
    within: u64,
    latest: Option<i64>,
    days: bool,
}

impl Scan {
    fn new(source: &mut Source, clock: &TimeSettings, window: Span) -> Result<Self> {
        let mut progress = Progress::new(source);
        let (mut gate, mut recent) = (TimeFilter::new(clock, window), Recent::new(window));
        let mut days = true;
        source.for_each(|event| -> Result<()> {
            progress.step();
            if gate.admits(event.time) {
                recent.add(event.time);
                days = days && event.time.is_some_and(|time| clock.is_midnight(time));
            }
            Ok(())
        })?;
        let events = progress.finish();
        Ok(Self {
            window,
            events,
            within: match window {
                Span::Events(length) => length.min(events),
                Span::Clock(_) => recent.events(),
            },
            latest: gate.latest,
            days,
        })
    }

    /// The first moment, or the first number, after all events.
    fn end(&self, clock: &TimeSettings) -> Result<Edge> {
        let Span::Clock(_) = self.window else {
            return Ok(Edge::Event(self.events));
        };
        let after = self.latest.map(|latest| Timestamp::from_microsecond(latest + 1));
        match after {
            // Of events whose times are days, the last day is over when the next begins.
            Some(Ok(after)) if self.days => Ok(Edge::Instant(clock.next_midnight(after)?)),
            Some(Ok(after)) => Ok(Edge::Instant(whole_second(after))),
            _ => Err(no_time()),
        }
    }

    /// Refuses a second pass that has found another number of events.
    fn check(&self, events: u64) -> Result<()> {
        if self.events == events {
            return Ok(());
        }
        Err(Failure::from(
            "the files changed while they were read, and nothing was released: run this again when nobody writes to them",
        ))
    }
}

/// Counts the events of the latest stretch of time of a length, to a 64th of it.
struct Recent {
    step: i64,
    /// Events by the number of the step.
    steps: BTreeMap<i64, u64>,
}

impl Recent {
    const STEPS: i64 = 64;

    fn new(window: Span) -> Self {
        Self { step: (window.length() as i64 / Self::STEPS).max(1), steps: BTreeMap::new() }
    }

    fn add(&mut self, time: Option<i64>) {
        let Some(step) = time.map(|time| time.div_euclid(self.step)) else { return };
        if let Some(mut latest) = self.steps.last_entry().filter(|latest| *latest.key() == step) {
            *latest.get_mut() += 1;
            return;
        }
        *self.steps.entry(step).or_default() += 1;
        while let (Some(first), Some(last)) = (self.steps.keys().next(), self.steps.keys().next_back())
            && last - first > Self::STEPS
        {
            self.steps.pop_first();
        }
    }

    fn events(&self) -> u64 {
        self.steps.values().sum()
    }
}

pub fn no_time() -> Failure {
    Failure::Message(format!(
        "every event was set aside, because its time cannot be: {NOT_RELEASED}; look at --time, --until and --ahead"
    ))
}

pub fn no_events() -> Failure {
    Failure::Message(format!("there is no event: {NOT_RELEASED}; is this the right file?"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Ten events a second for a thousand seconds, in order and not.
    #[test]
    fn events_of_the_window_are_counted_to_a_part_of_it() {
        for step in [1, 7_919] {
            let mut recent = Recent::new(Span::Clock(Duration::from_secs(64)));
            for i in 0..10_000 {
                recent.add(Some(i * step % 10_000 * 100_000));
            }
            recent.add(None);
            assert!((640..=650).contains(&recent.events()), "{}", recent.events());
        }
    }
}
