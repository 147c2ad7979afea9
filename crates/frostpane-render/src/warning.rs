//! Warnings about a release and its events, for the operator alone.

use std::fmt;
use std::time::Duration;

use frostpane::numbers::{grouped, spoken};
use frostpane::{Cost, Coverage, Edge, Forecast, Key, KeySpec, Norm, Release, Span, Spec};
use jiff::Timestamp;

use crate::numbers::percent;

const MOST_EPSILON: f64 = 10.0;
/// Few streams have a norm above this part of their events.
const LARGE_NORM: u64 = 10;
/// Up to this number, keys that may come from noise alone can be overlooked.
const FLOOD: usize = 100;
/// Panes of a window by the clock, by default.
const PANES: u32 = 60;

/// A warning for the operator: **it is not for publication**.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(String);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Warning {
    /// The warning about the joint cost of releases of one stream.
    pub fn of_cost(cost: &Cost) -> Option<Self> {
        let epsilon = cost.epsilon();
        (epsilon > MOST_EPSILON).then(|| {
            Self(format!(
                "epsilon is {epsilon}, but above {MOST_EPSILON} protects nobody; take 1, or less where it \
                 matters"
            ))
        })
    }

    /// The warnings about one release of a window that was asked for, apart from its cost.
    pub fn of_release<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Vec<Self> {
        let from_zero = release.heavy.iter().filter(|heavy| heavy.low == 0).count();
        let declared = spec.keys != KeySpec::Open;
        [
            Self::of_delta(release.delta, release.window.events),
            asked
                .filter(|_| release.window.missed == 0)
                .and_then(|asked| Self::of_window(asked, spec.slide, &release.window)),
            Self::of_flood(release.heavy.len(), from_zero).filter(|_| declared),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// All warnings about a release, made once for a window or as the first list of a continual release.
    pub fn of_any<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Vec<Self> {
        match release.continual {
            None => {
                let cost = Self::of_cost(&Cost::of([release]));
                cost.into_iter().chain(Self::of_release(spec, asked, release)).collect()
            }
            Some(_) => Self::of_sequence(release),
        }
    }

    /// The warnings about the first list of a continual release.
    pub fn of_sequence<K: Key>(release: &Release<K>) -> Vec<Self> {
        let epsilon = Self::of_cost(&Cost::of([release]));
        epsilon.into_iter().chain(Self::of_delta(release.delta, release.window.events)).collect()
    }

    /// The warning about a continual release before its first list: that its windows have too few events for
    /// the promises.
    pub fn of_forecast(spec: &Spec, forecast: &Forecast) -> Option<Self> {
        let events = forecast.events;
        let scarce = match spec.norm {
            Norm::L1 => !forecast.held,
            Norm::L2 => forecast.least_norm.is_none_or(|norm| norm > events / LARGE_NORM),
        };
        let below = forecast.least_norm.map_or_else(String::new, |norm| {
            format!(
                " below an L2 norm of {}, {} % of the events, which few streams have",
                grouped(norm),
                percent(norm as f64 / events.max(1) as f64)
            )
        });
        (spec.lists_heavy() && scarce).then(|| {
            Self(format!(
                "in windows of {} events the three promises cannot be made at alpha {}{below}: a key is \
                 listed from a count of about {} on, and surely from {} on; take a longer window, a larger \
                 epsilon, fewer slides or --top",
                grouped(events),
                spec.alpha,
                grouped(forecast.floor),
                grouped(forecast.least_listed_at_floor)
            ))
        })
    }

    /// The warnings about events that were not counted.
    pub fn of_events(events: u64, late: u64, without: u64) -> Vec<Self> {
        let remedy = if 2 * late > events {
            "that is most of them: give them in the order of time, or to `list` as files, which may be in \
             any order"
        } else {
            "allow for them with --lateness"
        };
        let late = (late > 0).then(|| {
            format!(
                "{} of {} events came too late and were left out; {remedy}",
                grouped(late),
                grouped(events)
            )
        });
        let without = (without > 0).then(|| {
            format!(
                "{} of {} events had no key that counts: none, an undeclared one, or one of more than 64 \
                 KiB; if you expected fewer, look at --key and --keys (this number is for you, not for \
                 publication)",
                grouped(without),
                grouped(events)
            )
        });
        late.into_iter().chain(without).map(Self).collect()
    }

    /// The order of events seems to follow from their keys.
    pub fn sorted() -> Self {
        Self::of_order("the events seem to be sorted by key")
    }

    /// All events of a key seem to stand together.
    pub fn grouped() -> Self {
        Self::of_order("the events seem to be grouped by key")
    }

    /// The order of events of the same time seems to follow from their keys.
    pub fn sorted_within_times() -> Self {
        Self::of_order("events of the same time seem to be sorted by key")
    }

    fn of_order(finding: &str) -> Self {
        Self(format!(
            "{finding}, so with another key an event would stand elsewhere and push others from pane to \
             pane, which a window by count does not hide: use a window by time, or give the events in the \
             order in which they arrived"
        ))
    }

    /// Many events in a row were late, which suggests that an earlier time was wrong.
    pub fn of_time_ahead(events: u64) -> Self {
        Self(format!(
            "{} events in a row came too late and were left out: was there a time far in the future? The \
             clock does not go back; start again without it",
            grouped(events)
        ))
    }

    fn of_delta(delta: f64, events: u64) -> Option<Self> {
        let most = 1.0 / events.max(1) as f64;
        (events > 0 && delta > most).then(|| {
            Self(format!(
                "delta is {delta:e}, but should be far below {most:.1e}, one over the {} events covered: so \
                 much may give whole keys away; take 1e-9",
                grouped(events)
            ))
        })
    }

    /// The stream is shorter than the window asked for. An empty one is noted in the release.
    fn of_window(asked: Span, slide: Option<Span>, window: &Coverage) -> Option<Self> {
        match (asked, window.from?, window.to?) {
            (Span::Events(asked), Edge::Event(0), Edge::Event(covered)) if 0 < covered && covered < asked => {
                Some(Self(format!(
                    "the stream is shorter than the window of {} events: the release covers all of its {} \
                     events; if there are more, give them too",
                    grouped(asked),
                    grouped(covered)
                )))
            }
            (Span::Clock(asked), Edge::Instant(from), Edge::Instant(to)) => {
                let slide = match slide {
                    Some(Span::Clock(slide)) => slide,
                    _ => asked / PANES,
                };
                Self::of_period(asked, slide, from, to)
            }
            _ => None,
        }
    }

    /// The first event lies well inside a window that begins where it was asked to.
    pub fn of_first_event(asked: Span, first: Edge, window: &Coverage) -> Option<Self> {
        match (asked, first, window.to?) {
            (Span::Clock(asked), Edge::Instant(first), Edge::Instant(to)) => {
                Self::of_period(asked, asked / PANES, first, to)
            }
            _ => None,
        }
    }

    /// A period is shorter than the window by a slide or more.
    fn of_period(asked: Duration, slide: Duration, from: Timestamp, to: Timestamp) -> Option<Self> {
        let covered = Duration::try_from(to.duration_since(from)).ok()?;
        (covered + slide <= asked).then(|| {
            Self(format!(
                "the stream is shorter than the window of {}: the release covers {} of it, from {from} up to \
                 {to}; if there are events before, give them too",
                spoken(asked),
                spoken(covered)
            ))
        })
    }

    fn of_flood(listed: usize, from_zero: usize) -> Option<Self> {
        (from_zero > FLOOD && 2 * from_zero > listed).then(|| {
            Self(format!(
                "{} of the {} listed keys may be there because of noise alone (their interval begins at 0); \
                 list fewer, with a larger --alpha or with --top, or declare fewer keys",
                grouped(from_zero as u64),
                grouped(listed as u64)
            ))
        })
    }
}

/// A power of ten that is no more than a thousandth of one over the number of events, nor than a millionth.
pub fn enough_delta(events: u64) -> f64 {
    let most = 1e-3 / events.max(1) as f64;
    let exponent = most.min(1e-6).log10().floor() as i32;
    // Parsed from decimals, so that it is the number that people write.
    format!("1e{exponent}").parse().unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covered(events: u64, from: Option<Edge>, to: Option<Edge>) -> Coverage {
        Coverage { events, between: None, from, to, missed: 0 }
    }

    #[test]
    fn late_events_are_told_with_what_to_do() {
        let told = |events, late, without| {
            Warning::of_events(events, late, without).iter().map(Warning::to_string).collect::<Vec<_>>()
        };
        assert_eq!(told(10, 0, 0), Vec::<String>::new());
        assert_eq!(
            told(1_000, 2, 0),
            ["2 of 1,000 events came too late and were left out; allow for them with --lateness"]
        );
        assert!(told(10, 9, 0)[0].ends_with("or to `list` as files, which may be in any order"));
        assert!(told(10, 0, 4)[0].starts_with("4 of 10 events had no key that counts"));
    }

    #[test]
    fn delta_may_be_one_over_the_events_and_no_more() {
        for (delta, events, is_told) in
            [(0.0, 4_000, false), (0.5, 0, false), (0.00025, 4_000, false), (0.00026, 4_000, true)]
        {
            assert_eq!(Warning::of_delta(delta, events).is_some(), is_told, "{delta} of {events}");
        }
    }

    #[test]
    fn a_stream_is_short_by_a_slide_or_more() {
        let at = |text: &str| Some(Edge::Instant(text.parse().unwrap()));
        let week = covered(9, at("2026-03-02T00:00:00Z"), at("2026-03-08T18:00:00Z"));
        let days = |days: u64| Span::Clock(Duration::from_secs(86_400 * days));
        let number = |number| Some(Edge::Event(number));
        for (asked, slide, window, is_told) in [
            (Span::Events(1_000), None, covered(1_000, number(0), number(1_000)), false),
            (Span::Events(1_000), None, covered(0, number(0), number(0)), false),
            (Span::Events(1_000), None, covered(990, number(10), number(1_000)), false),
            (Span::Events(1_000), None, covered(999, number(0), number(999)), true),
            (days(7), Some(days(1)), week.clone(), false),
            (days(30), Some(days(1)), week, true),
            (days(7), None, covered(0, None, None), false),
        ] {
            assert_eq!(Warning::of_window(asked, slide, &window).is_some(), is_told, "{asked} {window:?}");
        }
    }

    #[test]
    fn a_list_that_is_mostly_noise_is_told() {
        assert_eq!(Warning::of_flood(100, 100), None);
        assert_eq!(Warning::of_flood(1_000, 500), None);
        assert_eq!(
            Warning::of_flood(1_000, 501).unwrap().to_string(),
            "501 of the 1,000 listed keys may be there because of noise alone (their interval begins at 0); \
             list fewer, with a larger --alpha or with --top, or declare fewer keys"
        );
    }
}
