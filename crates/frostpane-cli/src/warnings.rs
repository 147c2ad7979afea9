//! What the operator should know about a release, told on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use frostpane::{Coverage, Edge, Key, Release};

use crate::request::{RequestArgs, total_epsilon};
use crate::units::{Asked, Extent, grouped, spoken};

const MOST_EPSILON: f64 = 10.0;
/// Fewer keys that may come from noise alone can be overlooked.
const FLOOD: usize = 100;
/// Panes of a window by the clock, unless the slide is given.
const PANES: u32 = 60;

/// Tells the operator. If nobody listens, that is no reason to stop.
pub fn tell(message: impl Display) {
    let _ = writeln!(io::stderr(), "frostpane: {message}");
}

/// All that apply. Of several releases, those about one of them name its window.
pub fn about<K: Key>(args: &RequestArgs, releases: &[(Asked, Release<K>)]) -> Vec<String> {
    let total = releases.first().and_then(|(_, release)| {
        let Release {
            epsilon,
            boundaries_epsilon,
            ..
        } = *release;
        let warning = self::epsilon(total_epsilon(releases.len(), epsilon, boundaries_epsilon));
        warning.map(|warning| match releases.len() {
            1 => warning,
            lists => format!("the {lists} lists together: {warning}"),
        })
    });
    let each = releases.iter().flat_map(|(asked, release)| {
        let name = match releases.len() {
            1 => String::new(),
            _ => format!("window of {}: ", asked.spoken()),
        };
        about_one(args, asked, release)
            .into_iter()
            .map(move |warning| name.clone() + &warning)
    });
    total.into_iter().chain(each).collect()
}

/// Those about a list that is released at every slide.
pub fn about_sequence<K: Key>(release: &Release<K>) -> Vec<String> {
    let of_delta = delta(release.delta, release.window.events);
    epsilon(release.epsilon).into_iter().chain(of_delta).collect()
}

/// That delta begins to grow with this release of a sequence.
pub fn horizon<K: Key>(release: &Release<K>) -> Option<String> {
    let continual = release.continual.as_ref()?;
    let first_past = continual.delta_past_horizon.is_some() && continual.number == continual.horizon + 1;
    first_past.then(|| {
        format!(
            "the horizon of {} releases is past: for an event that someone times by what releases showed, delta grows from \
             here on with each of them; what begins anew does not begin with a new delta",
            grouped(continual.horizon)
        )
    })
}

fn about_one<K: Key>(args: &RequestArgs, asked: &Asked, release: &Release<K>) -> Vec<String> {
    let from_zero = release.heavy.iter().filter(|heavy| heavy.low == 0).count();
    [
        delta(release.delta, release.window.events),
        window(asked.extent, args.slide, &release.window).filter(|_| !args.window.is_empty()),
        flood(release.heavy.len(), from_zero).filter(|_| args.keys.is_some()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What became of the events: for the operator alone.
pub fn about_events(events: u64, late: u64, without_key: u64) -> Vec<String> {
    [self::late(events, late), self::without_key(events, without_key)]
        .into_iter()
        .flatten()
        .collect()
}

/// Events that came after their pane had closed.
fn late(events: u64, late: u64) -> Option<String> {
    let remedy = if 2 * late > events {
        "that is most of them: give them in the order of time, and look for a time far in the future"
    } else {
        "allow for them with --lateness"
    };
    (late > 0).then(|| {
        format!(
            "{} of {} events came too late and were left out; {remedy}",
            grouped(late),
            grouped(events)
        )
    })
}

/// Events that only take their place in the window.
fn without_key(events: u64, without_key: u64) -> Option<String> {
    (without_key > 0).then(|| {
        format!(
            "{} of {} events had no key that counts: none, an undeclared one, or one of more than 64 KiB \
             (this number is for you, not for publication)",
            grouped(without_key),
            grouped(events)
        )
    })
}

/// Too much epsilon.
fn epsilon(epsilon: f64) -> Option<String> {
    (epsilon > MOST_EPSILON).then(|| {
        format!(
            "epsilon is {epsilon}, but above {MOST_EPSILON} protects nobody; take 1, or less where it matters"
        )
    })
}

/// Too much delta for so many events.
fn delta(delta: f64, events: u64) -> Option<String> {
    let most = 1.0 / events.max(1) as f64;
    (events > 0 && delta > most).then(|| {
        format!(
            "delta is {delta:e}, but should be far below {most:.1e}, one over the {} events covered: \
             so much may give whole keys away; take 1e-9",
            grouped(events)
        )
    })
}

/// A stream that is shorter than the window asked for. An empty one is told in the release.
fn window(asked: Extent, slide: Option<Extent>, covered: &Coverage) -> Option<String> {
    let (what, covers) = match (asked, covered.from?, covered.to?) {
        (Extent::Events(asked), Edge::Event(0), Edge::Event(to)) if 0 < to && to < asked => (
            format!("{} events", grouped(asked)),
            format!("all of its {} events", grouped(to)),
        ),
        (Extent::Clock(asked), Edge::Instant(from), Edge::Instant(to)) => {
            let slide = match slide {
                Some(Extent::Clock(slide)) => slide,
                _ => asked / PANES,
            };
            let covers = Duration::try_from(to.duration_since(from)).ok()?;
            if covers + slide > asked {
                return None;
            }
            (
                spoken(asked),
                format!("{} of it, from {from} up to {to}", spoken(covers)),
            )
        }
        _ => return None,
    };
    Some(format!(
        "the stream is shorter than the window of {what}: the release covers {covers}"
    ))
}

/// A list that is mostly noise.
fn flood(listed: usize, from_zero: usize) -> Option<String> {
    (from_zero > FLOOD && 2 * from_zero > listed).then(|| {
        format!(
            "{} of the {} listed keys may be there because of noise alone (their interval begins at 0); \
             take a larger --alpha, or declare fewer keys",
            grouped(from_zero as u64),
            grouped(listed as u64)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(to: u64) -> Coverage {
        Coverage {
            events: to,
            from: Some(Edge::Event(0)),
            to: Some(Edge::Event(to)),
        }
    }

    fn clock(from: &str, to: &str) -> Coverage {
        Coverage {
            events: 9,
            from: Some(Edge::Instant(from.parse().unwrap())),
            to: Some(Edge::Instant(to.parse().unwrap())),
        }
    }

    fn days(days: u64) -> Extent {
        Extent::Clock(Duration::from_secs(86_400 * days))
    }

    #[test]
    fn what_became_of_events_is_told() {
        assert_eq!(about_events(10, 0, 0), Vec::<String>::new());
        assert_eq!(
            about_events(1_000, 2, 0),
            ["2 of 1,000 events came too late and were left out; allow for them with --lateness"]
        );
        assert!(
            about_events(10, 9, 0)[0]
                .ends_with("give them in the order of time, and look for a time far in the future")
        );
        assert!(about_events(10, 0, 4)[0].starts_with("4 of 10 events had no key that counts"));
    }

    #[test]
    fn epsilon_above_ten_is_told() {
        assert_eq!(epsilon(10.0), None);
        assert_eq!(
            epsilon(10.5).unwrap(),
            "epsilon is 10.5, but above 10 protects nobody; take 1, or less where it matters"
        );
    }

    #[test]
    fn delta_above_one_over_the_events_is_told() {
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
        let asked = Extent::Events(1_000);
        assert_eq!(window(asked, None, &events(1_000)), None);
        assert_eq!(window(asked, None, &events(0)), None);
        let slid = Coverage {
            events: 990,
            from: Some(Edge::Event(10)),
            to: Some(Edge::Event(1_000)),
        };
        assert_eq!(window(asked, None, &slid), None, "short by less than a slide");
        assert_eq!(
            window(asked, None, &events(999)).unwrap(),
            "the stream is shorter than the window of 1,000 events: the release covers all of its 999 events"
        );
    }

    #[test]
    fn a_stream_shorter_than_a_window_by_the_clock_is_told() {
        let week = clock("2026-03-02T00:00:00Z", "2026-03-08T18:00:00Z");
        assert_eq!(window(days(7), Some(days(1)), &week), None);
        assert_eq!(
            window(days(30), Some(days(1)), &week).unwrap(),
            "the stream is shorter than the window of 30 days: the release covers 6 days of it, \
             from 2026-03-02T00:00:00Z up to 2026-03-08T18:00:00Z"
        );
        let none = Coverage {
            events: 0,
            from: None,
            to: None,
        };
        assert_eq!(window(days(7), None, &none), None);
    }

    #[test]
    fn a_list_that_is_mostly_noise_is_told() {
        assert_eq!(flood(100, 100), None);
        assert_eq!(flood(1_000, 500), None);
        assert_eq!(
            flood(1_000, 501).unwrap(),
            "501 of the 1,000 listed keys may be there because of noise alone (their interval begins at 0); \
             take a larger --alpha, or declare fewer keys"
        );
    }
}
