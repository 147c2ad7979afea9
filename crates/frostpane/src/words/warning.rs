//! What the operator should know about a release and its events.

use std::fmt;
use std::time::Duration;

use super::numbers::{grouped, percent, spoken};
use crate::budget::Cost;
use crate::key::Key;
use crate::plan::Forecast;
use crate::release::{Coverage, Release};
use crate::spec::{Edge, KeySpec, Norm, Span, Spec};

const MOST_EPSILON: f64 = 10.0;
/// Fewer events have no list worth the name at any delta.
const LEAST_EVENTS: u64 = 1_000;
/// Few streams have a norm above one in so many of their events.
const LARGE_NORM: u64 = 10;
/// Fewer keys that may come from noise alone can be overlooked.
const FLOOD: usize = 100;
/// Panes of a window by the clock, unless the slide is given.
const PANES: u32 = 60;

/// Where events stand follows from their keys: why that matters, and what to do.
const NOT_BY_COUNT: &str = ", so with another key an event would stand elsewhere and push others from pane to pane, which a \
                            window by count does not hide: use a window by time, or give the events in the order in which they arrived";

/// What the operator should know: **it is not for publication**.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// So much epsilon protects nobody.
    Epsilon(f64),
    /// So much delta may give whole keys away.
    Delta {
        /// The delta.
        delta: f64,
        /// How many events are covered.
        events: u64,
    },
    /// So few events could do with more delta, and keys would be listed from a lower count on.
    SmallDelta {
        /// The delta.
        delta: f64,
        /// How many events are covered.
        events: u64,
        /// A delta that is small enough for them.
        enough: f64,
    },
    /// Windows with so many events cannot keep the promises, or only if few keys have almost all of them.
    OutOfReach {
        /// How many.
        events: u64,
        /// The alpha.
        alpha: f64,
        /// The least count that is listed.
        floor: u64,
        /// The least count that is surely listed then.
        surely: u64,
        /// The least norm at which the promises are made, if there is one.
        least_norm: Option<u64>,
    },
    /// The stream is shorter than a window by count.
    FewEvents {
        /// The window.
        asked: u64,
        /// How many events there are.
        covered: u64,
    },
    /// The stream is shorter than a window by the clock.
    ShortTime {
        /// The window.
        asked: Duration,
        /// From where on the release covers it.
        from: Edge,
        /// And up to where.
        to: Edge,
        /// How long that is.
        covered: Duration,
    },
    /// Most listed keys may be there because of noise alone.
    Flood {
        /// How many may.
        from_zero: usize,
        /// Of how many.
        listed: usize,
    },
    /// Delta grows from here on.
    PastHorizon(u64),
    /// Events came too late and were left out.
    Late {
        /// How many.
        late: u64,
        /// Of how many.
        events: u64,
    },
    /// Events had no key that counts.
    WithoutKey {
        /// How many.
        without: u64,
        /// Of how many.
        events: u64,
    },
    /// The order of events seems to follow from their keys.
    Sorted,
    /// All events of a key seem to stand together.
    Grouped,
    /// Where times are equal, the order of events seems to follow from their keys.
    SortedWithinTimes,
    /// So many events in a row were too late that it is not them that is wrong.
    TimeAhead(u64),
}

impl Warning {
    /// About what releases of one stream cost together.
    pub fn of_cost(cost: &Cost) -> Option<Self> {
        let epsilon = cost.epsilon();
        (epsilon > MOST_EPSILON).then_some(Self::Epsilon(epsilon))
    }

    /// About one release of a window that was asked for.
    pub fn of_release<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Vec<Self> {
        let from_zero = release.heavy.iter().filter(|heavy| heavy.low == 0).count();
        let declared = spec.keys != KeySpec::Open;
        [
            Self::of_delta(release.delta, release.window.events),
            Self::of_small_delta(release),
            asked
                .filter(|_| release.window.missed == 0)
                .and_then(|asked| Self::of_window(asked, spec.slide, &release.window)),
            Self::of_flood(release.heavy.len(), from_zero).filter(|_| declared),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// About the first release of a list at every slide.
    pub fn of_sequence<K: Key>(release: &Release<K>) -> Vec<Self> {
        let epsilon = Self::of_cost(&Cost::of([release]));
        let delta = Self::of_delta(release.delta, release.window.events);
        epsilon.into_iter().chain(delta).collect()
    }

    /// That delta begins to grow with this release of a sequence.
    pub fn of_horizon<K: Key>(release: &Release<K>) -> Option<Self> {
        let continual = release.continual.as_ref()?;
        let first_past = continual.delta_past_horizon.is_some() && continual.number == continual.horizon + 1;
        first_past.then_some(Self::PastHorizon(continual.horizon))
    }

    /// About lists at every slide before there is one.
    pub fn of_forecast(spec: &Spec, forecast: &Forecast) -> Option<Self> {
        let Forecast {
            events, least_norm, ..
        } = *forecast;
        let scarce = match spec.norm {
            Norm::L1 => !forecast.held,
            Norm::L2 => least_norm.is_none_or(|norm| norm > events / LARGE_NORM),
        };
        (spec.lists_heavy() && scarce).then_some(Self::OutOfReach {
            events,
            alpha: spec.alpha,
            floor: forecast.floor,
            surely: forecast.least_listed_at_floor,
            least_norm,
        })
    }

    /// What became of so many events.
    pub fn of_events(events: u64, late: u64, without: u64) -> Vec<Self> {
        let late = (late > 0).then_some(Self::Late { late, events });
        let without = (without > 0).then_some(Self::WithoutKey { without, events });
        late.into_iter().chain(without).collect()
    }

    fn of_delta(delta: f64, events: u64) -> Option<Self> {
        let most = 1.0 / events.max(1) as f64;
        (events > 0 && delta > most).then_some(Self::Delta { delta, events })
    }

    /// Where what is listed is decided by privacy, and not by alpha.
    fn of_small_delta<K: Key>(release: &Release<K>) -> Option<Self> {
        let (delta, events) = (release.delta, release.window.events);
        let enough = enough_delta(events);
        (release.alpha.is_none() && delta > 0.0 && events >= LEAST_EVENTS && enough > 9.0 * delta).then_some(
            Self::SmallDelta {
                delta,
                events,
                enough,
            },
        )
    }

    /// A stream that is shorter than the window asked for. An empty one is told in the release.
    fn of_window(asked: Span, slide: Option<Span>, window: &Coverage) -> Option<Self> {
        match (asked, window.from?, window.to?) {
            (Span::Events(asked), Edge::Event(0), Edge::Event(covered)) if 0 < covered && covered < asked => {
                Some(Self::FewEvents { asked, covered })
            }
            (Span::Clock(asked), Edge::Instant(from), Edge::Instant(to)) => {
                let slide = match slide {
                    Some(Span::Clock(slide)) => slide,
                    _ => asked / PANES,
                };
                let covered = Duration::try_from(to.duration_since(from)).ok()?;
                let (from, to) = (Edge::Instant(from), Edge::Instant(to));
                (covered + slide <= asked).then_some(Self::ShortTime {
                    asked,
                    from,
                    to,
                    covered,
                })
            }
            _ => None,
        }
    }

    /// A stream whose first event lies well inside a window that begins where it was asked to.
    pub fn of_first_event(asked: Span, first: Edge, window: &Coverage) -> Option<Self> {
        match (asked, first, window.to?) {
            (Span::Clock(asked), Edge::Instant(first), Edge::Instant(to)) => {
                let covered = Duration::try_from(to.duration_since(first)).ok()?;
                let (from, to) = (Edge::Instant(first), Edge::Instant(to));
                (covered + asked / PANES <= asked).then_some(Self::ShortTime {
                    asked,
                    from,
                    to,
                    covered,
                })
            }
            _ => None,
        }
    }

    fn of_flood(listed: usize, from_zero: usize) -> Option<Self> {
        let is_flood = from_zero > FLOOD && 2 * from_zero > listed;
        is_flood.then_some(Self::Flood { from_zero, listed })
    }
}

/// A power of ten that is no more than a thousandth of one over the number of events, nor than a millionth.
pub fn enough_delta(events: u64) -> f64 {
    let most = 1e-3 / events.max(1) as f64;
    let exponent = most.min(1e-6).log10().floor() as i32;
    // As decimals, so that it is the number that people write.
    format!("1e{exponent}").parse().unwrap_or(most)
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Warning::Epsilon(epsilon) => write!(
                f,
                "epsilon is {epsilon}, but above {MOST_EPSILON} protects nobody; take 1, or less where it matters"
            ),
            Warning::Delta { delta, events } => write!(
                f,
                "delta is {delta:e}, but should be far below {:.1e}, one over the {} events covered: so much may give whole keys \
                 away; take 1e-9",
                1.0 / events.max(1) as f64,
                grouped(events)
            ),
            Warning::SmallDelta {
                delta,
                events,
                enough,
            } => write!(
                f,
                "delta is {delta:e}, less than {} events need: --delta {enough:e} is still no more than a thousandth of one over \
                 their number, and keys would be listed from a lower count on (`frostpane plan` says from which)",
                grouped(events)
            ),
            Warning::OutOfReach {
                events,
                alpha,
                floor,
                surely,
                least_norm,
            } => {
                write!(
                    f,
                    "in windows of {} events the three promises cannot be made at alpha {alpha}",
                    grouped(events)
                )?;
                if let Some(norm) = least_norm {
                    let share = percent(norm as f64 / events.max(1) as f64);
                    write!(
                        f,
                        " below an L2 norm of {}, {share} % of the events, which few streams have",
                        grouped(norm)
                    )?;
                }
                write!(
                    f,
                    ": a key is listed from a count of about {} on, and surely from {} on; take a longer window, a larger \
                     epsilon, fewer slides or --top",
                    grouped(floor),
                    grouped(surely)
                )
            }
            Warning::FewEvents { asked, covered } => write!(
                f,
                "the stream is shorter than the window of {} events: the release covers all of its {} events; if there are more, give them too",
                grouped(asked),
                grouped(covered)
            ),
            Warning::ShortTime {
                asked,
                from,
                to,
                covered,
            } => write!(
                f,
                "the stream is shorter than the window of {}: the release covers {} of it, from {from} up to {to}; if there are \
                 events before, give them too",
                spoken(asked),
                spoken(covered)
            ),
            Warning::Flood { from_zero, listed } => write!(
                f,
                "{} of the {} listed keys may be there because of noise alone (their interval begins at 0); list fewer, with a \
                 larger --alpha or with --top, or declare fewer keys",
                grouped(from_zero as u64),
                grouped(listed as u64)
            ),
            Warning::PastHorizon(horizon) => write!(
                f,
                "the horizon of {} releases is past: for an event that someone times by what releases showed, delta grows from \
                 here on with each of them, and beginning anew does not begin with a new delta: end here, or take what each release then \
                 says",
                grouped(horizon)
            ),
            Warning::Late { late, events } => write!(
                f,
                "{} of {} events came too late and were left out; {}",
                grouped(late),
                grouped(events),
                match 2 * late > events {
                    true =>
                        "that is most of them: give them in the order of time, or to `list` as files, which may be in any order",
                    false => "allow for them with --lateness",
                }
            ),
            Warning::WithoutKey { without, events } => write!(
                f,
                "{} of {} events had no key that counts: none, an undeclared one, or one of more than 64 KiB; \
                 if you expected fewer, look at --key and --keys (this number is for you, not for publication)",
                grouped(without),
                grouped(events)
            ),
            Warning::Sorted => write!(f, "the events seem to be sorted by key{NOT_BY_COUNT}"),
            Warning::Grouped => write!(f, "the events seem to be grouped by key{NOT_BY_COUNT}"),
            Warning::SortedWithinTimes => write!(
                f,
                "events of the same time seem to be sorted by key{NOT_BY_COUNT}"
            ),
            Warning::TimeAhead(events) => write!(
                f,
                "{} events in a row came too late and were left out: was there a time far in the future? The clock does not go \
                 back; start again without it",
                grouped(events)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(to: u64) -> Coverage {
        Coverage {
            events: to,
            between: None,
            from: Some(Edge::Event(0)),
            to: Some(Edge::Event(to)),
            missed: 0,
        }
    }

    fn clock(from: &str, to: &str) -> Coverage {
        Coverage {
            events: 9,
            between: None,
            from: Some(Edge::Instant(from.parse().unwrap())),
            to: Some(Edge::Instant(to.parse().unwrap())),
            missed: 0,
        }
    }

    fn days(days: u64) -> Span {
        Span::Clock(Duration::from_secs(86_400 * days))
    }

    fn said(warning: Option<Warning>) -> Option<String> {
        warning.map(|warning| warning.to_string())
    }

    fn about_events(events: u64, late: u64, without: u64) -> Vec<String> {
        let warnings = Warning::of_events(events, late, without);
        warnings.iter().map(Warning::to_string).collect()
    }

    #[test]
    fn what_became_of_events_is_told() {
        assert_eq!(about_events(10, 0, 0), Vec::<String>::new());
        assert_eq!(
            about_events(1_000, 2, 0),
            ["2 of 1,000 events came too late and were left out; allow for them with --lateness"]
        );
        assert!(
            about_events(10, 9, 0)[0].ends_with(
                "give them in the order of time, or to `list` as files, which may be in any order"
            )
        );
        assert!(about_events(10, 0, 4)[0].starts_with("4 of 10 events had no key that counts"));
    }

    #[test]
    fn epsilon_above_ten_is_told() {
        assert_eq!(
            Warning::Epsilon(10.5).to_string(),
            "epsilon is 10.5, but above 10 protects nobody; take 1, or less where it matters"
        );
    }

    #[test]
    fn delta_above_one_over_the_events_is_told() {
        let delta = |delta, events| said(Warning::of_delta(delta, events));
        assert_eq!(delta(0.0, 4_000), None);
        assert_eq!(delta(0.5, 0), None);
        assert_eq!(delta(0.00025, 4_000), None);
        assert_eq!(
            delta(0.001, 4_000).unwrap(),
            "delta is 1e-3, but should be far below 2.5e-4, one over the 4,000 events covered: \
             so much may give whole keys away; take 1e-9"
        );
    }

    #[test]
    fn a_stream_shorter_than_a_window_of_events_is_told() {
        let window = |coverage: &Coverage| said(Warning::of_window(Span::Events(1_000), None, coverage));
        assert_eq!(window(&events(1_000)), None);
        assert_eq!(window(&events(0)), None);
        let slid = Coverage {
            events: 990,
            between: None,
            from: Some(Edge::Event(10)),
            to: Some(Edge::Event(1_000)),
            missed: 0,
        };
        assert_eq!(window(&slid), None, "short by less than a slide");
        assert_eq!(
            window(&events(999)).unwrap(),
            "the stream is shorter than the window of 1,000 events: the release covers all of its 999 events; if there are more, give them too"
        );
    }

    #[test]
    fn a_stream_shorter_than_a_window_by_the_clock_is_told() {
        let week = clock("2026-03-02T00:00:00Z", "2026-03-08T18:00:00Z");
        assert_eq!(Warning::of_window(days(7), Some(days(1)), &week), None);
        assert_eq!(
            said(Warning::of_window(days(30), Some(days(1)), &week)).unwrap(),
            "the stream is shorter than the window of 30 days: the release covers 6 days 18 hours of it, \
             from 2026-03-02T00:00:00Z up to 2026-03-08T18:00:00Z; if there are events before, give them too"
        );
        let none = Coverage {
            events: 0,
            between: None,
            from: None,
            to: None,
            missed: 0,
        };
        assert_eq!(Warning::of_window(days(7), None, &none), None);
    }

    #[test]
    fn a_list_that_is_mostly_noise_is_told() {
        assert_eq!(Warning::of_flood(100, 100), None);
        assert_eq!(Warning::of_flood(1_000, 500), None);
        assert_eq!(
            said(Warning::of_flood(1_000, 501)).unwrap(),
            "501 of the 1,000 listed keys may be there because of noise alone (their interval begins at 0); \
             list fewer, with a larger --alpha or with --top, or declare fewer keys"
        );
    }
}
