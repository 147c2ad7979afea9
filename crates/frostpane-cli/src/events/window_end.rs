//! Finds where the windows of a list end, before any event is counted where that is possible.

use frostpane::{Builder, Key, Keys, Policy};

use super::TextKey;
use super::scan::Scan;
use crate::failure::{Failure, Result};
use crate::settings::{ReleaseRequest, TimeSettings};
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
                "people are protected, so events do not say where the windows end: give --until TIME, such as --until 2025-12-01",
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
        let scan = Scan::new(first_pass, &clock, request.longest())?;
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
