//! Where the windows of a list end: found before any event is counted, where that is possible.

use frostpane::{Builder, Key, Keys, Policy};

use crate::clock::Clock;
use crate::failure::{Failure, Result};
use crate::input::Source;
use crate::list::TextKey;
use crate::request::Request;
use crate::survey::Survey;

/// What a list is asked to be, with its end if that could be found.
pub struct Ending {
    pub request: Request,
    pub clock: Clock,
    survey: Option<Survey>,
}

impl Ending {
    /// The end that was given, or that of the files, which are read once more for it. That of a pipe is not known before it
    /// comes: its windows are made of panes that were laid in advance.
    pub fn find<K: TextKey>(
        request: &Request,
        keys: &Keys<K>,
        clock: Clock,
        source: impl Fn() -> Result<Source>,
    ) -> Result<Self> {
        let request = request.clone();
        if let Some(end) = request.end(&clock)? {
            let clock = clock.ending(end);
            return Ok(Self {
                request: request.ending(end, &clock)?,
                clock,
                survey: None,
            });
        }
        if request.is_of_users() {
            // What is wrong with the request comes first.
            request.builder(keys.clone()).decided()?;
            return Err(Failure::Message(
                "people are protected, so events do not say where the windows end: give --until TIME, such as --until 2025-12-01"
                    .to_owned(),
            ));
        }
        let at_rest = source()?.total_bytes().is_some();
        if !at_rest || !request.may_be_laid() {
            return Ok(Self {
                request,
                clock,
                survey: None,
            });
        }
        let request = request.laid();
        // What is wrong with the request is said before a long look at the files.
        request.builder(keys.clone()).decided()?;
        let survey = Survey::of(source()?.quietly(), &clock, request.longest())?;
        let end = survey.end(request.by_clock(), &clock)?;
        let request = request.ending(end, &clock)?;
        Ok(Self {
            request: with_fewer_cuts(request, survey.within, |request| request.builder(keys.clone())),
            clock,
            survey: Some(survey),
        })
    }

    /// That the files have as many events as before.
    pub fn check(&self, events: u64) -> Result<()> {
        self.survey.as_ref().map_or(Ok(()), |survey| survey.check(events))
    }
}

/// With panes as long as the windows, unless their length was given, if less is then cut from so many events: many short panes keep more
/// keys in all, a long one keeps each of them once.
pub fn with_fewer_cuts<K: Key>(
    request: Request,
    events: u64,
    build: impl Fn(&Request) -> Builder<K>,
) -> Request {
    if request.spec.slide.is_some() || request.spec.policy != Some(Policy::Fixed) {
        return request;
    }
    let mut longest = request.clone();
    longest.spec.slide = Some(longest.longest());
    let forecast = |request: &Request| build(request).forecast(events, Some(events));
    match (forecast(&longest), forecast(&request)) {
        (Ok(long), Ok(usual)) if long.cut < usual.cut => longest,
        _ => request,
    }
}
