//! The exact value of every number of a release, through the interface that the program uses: events in
//! batches, several threads, and a release over a span. Noise is known or absent.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::common::{NO_NOISE, SECOND, arrivals, without_key};
use frostpane::testing::{DiscreteLaplace, Entropy, Epsilon, InsecureSeededEntropy};
use frostpane::{Builder, Bytes, Edge, ErrorKind, Event, HeavyHitters, Keys, Norm, Policy, Release, Window};
use jiff::Timestamp;

const EPSILON: f64 = 0.5;

fn builder(keys: Keys<u64>, norm: Norm) -> Builder<u64> {
    HeavyHitters::builder(keys)
        .norm(norm)
        .policy(Policy::Uniform)
        .alpha(0.1)
        .epsilon(EPSILON)
        .window(Window::events(2_000).slide(100))
        .entries(1_000)
}

fn noise(sensitivity: u32, share: f64, entropy: &mut impl Entropy) -> i64 {
    DiscreteLaplace::new(sensitivity, Epsilon::new(share * EPSILON).unwrap()).sample(entropy).unwrap()
}

/// The least `q` with `2 Pr[noise > q] <= 0.05 * 0.05` at sensitivity 1, by the formula of the tail.
fn quantile(share: f64) -> i64 {
    let p = (-share * EPSILON).exp();
    (0..).find(|q| 2.0 * p.powi(q + 1) / (1.0 + p) <= 0.05 * 0.05).unwrap().into()
}

/// 2,550 events: key 7, but ten others in turn in the pane from 1,500, in which the last 1,025 events begin.
fn events() -> impl Iterator<Item = Option<u64>> {
    (0..2_550).map(|event| Some(if event / 100 == 15 { 100 + event % 10 } else { 7 }))
}

fn by_count(from: u64, to: u64) -> [Option<Edge>; 2] {
    [from, to].map(|event| Some(Edge::Event(event)))
}

#[test]
fn a_release_over_a_span_has_the_noise_that_its_entropy_gives() {
    for norm in [Norm::L1, Norm::L2] {
        for (threads, keys) in
            [(1, Keys::open()), (2, Keys::open()), (3, Keys::open()), (2, Keys::list([7]).unwrap())]
        {
            let declared = matches!(keys, Keys::Declared { .. });
            let mut hitters = builder(keys, norm).threads(threads).releases(100).build().unwrap();
            hitters.extend(arrivals(events())).unwrap();
            for seed in 0..20 {
                let entropy = &mut InsecureSeededEntropy::new(seed);
                let release = hitters.release_with_entropy(1_025, entropy).unwrap();

                let again = &mut InsecureSeededEntropy::new(seed);
                let (counts_share, slack_share) = match norm {
                    Norm::L1 => (1.0, 1.0),
                    Norm::L2 => (0.9, 0.5),
                };
                let measured = match norm {
                    Norm::L1 => 950,
                    Norm::L2 => 950 + noise(1, 0.1, again),
                };
                let noisy = (950 + noise(2, counts_share, again)) as u64;
                // Undeclared keys are not counted, so the pane that is left out has none.
                let largest = if declared { 0 } else { 10 };
                let slack = largest + noise(1, slack_share, again) + quantile(slack_share);
                let slack = match norm {
                    Norm::L1 => slack,
                    // No count is above the norm.
                    Norm::L2 => {
                        let length = if declared { 0 } else { 31 } + noise(1, 0.5, again);
                        slack.min((length + quantile(0.5) + 1).max(0))
                    }
                };
                assert_eq!(entropy.word().unwrap(), again.word().unwrap(), "nothing else is drawn");

                assert_eq!(release.window.events, 950);
                assert_eq!([release.window.from, release.window.to], by_count(1_600, 2_550));
                assert_eq!(release.asked.from, Some(Edge::Event(1_525)));
                assert_eq!(release.asked.slack, Some(slack.clamp(0, 100) as u64));
                assert_eq!(release.norm_estimate, measured.clamp(0, 950) as u64);
                assert_eq!(release.cut, 0);
                let heavy = &release.heavy[0];
                assert_eq!((release.heavy.len(), heavy.key, heavy.count), (1, 7, noisy));
                assert!(heavy.low < noisy && noisy - heavy.low <= release.noise);
                assert!(heavy.high > noisy && heavy.high - noisy <= release.noise);
            }
        }
    }
}

/// A thousand declared keys and a threshold that noise alone passes: two releases list the same keys with a
/// chance below 2^-500.
#[test]
fn no_two_releases_have_the_same_noise() {
    let mut hitters =
        builder(Keys::range(0..1_000).unwrap(), Norm::L1).alpha(1e-9).releases(4).build().unwrap();
    hitters.extend(arrivals((0..2_000).map(|event| Some(event % 10)))).unwrap();
    let mut other = builder(Keys::range(0..1_000).unwrap(), Norm::L1).alpha(1e-9).build().unwrap();
    other.extend(arrivals((0..2_000).map(|event| Some(event % 10)))).unwrap();
    let keys =
        |release: Release<u64>| -> BTreeSet<u64> { release.heavy.iter().map(|heavy| heavy.key).collect() };
    let lists = [
        hitters.release_over(2_000).unwrap(),
        hitters.release_over(2_000).unwrap(),
        hitters.release().unwrap(),
        hitters.release().unwrap(),
        other.release_over(2_000).unwrap(),
    ]
    .map(keys);
    for (number, list) in lists.iter().enumerate() {
        assert!(list.len() > 100);
        assert!(!lists[..number].contains(list), "release {number} lists the keys of another");
    }
}

#[test]
fn a_release_without_a_span_is_one_over_the_longest() {
    let entropy = || InsecureSeededEntropy::new(4);
    let mut hitters = builder(Keys::open(), Norm::L2).epsilon(NO_NOISE).releases(2).build().unwrap();
    hitters.extend(arrivals(events())).unwrap();
    let over = hitters.release_with_entropy(2_000, &mut entropy()).unwrap();
    assert_eq!(hitters.release().unwrap(), over);
    assert_eq!([over.window.from, over.window.to], by_count(600, 2_550));

    let minute = Duration::from_secs(60);
    let mut hitters = builder(Keys::open(), Norm::L2)
        .epsilon(NO_NOISE)
        .window(Window::clock(minute))
        .releases(2)
        .build()
        .unwrap();
    hitters.extend((0..500).map(|event| Event::at(event * SECOND / 5, 7))).unwrap();
    let over = hitters.release_with_entropy(minute, &mut entropy()).unwrap();
    assert_eq!(hitters.release().unwrap(), over);
    assert_eq!(over.window.events, 300);
}

/// Panes of ten seconds. The latest event came at 25.25 s, so 20 seconds begin a microsecond after 5.25 s, in
/// the first pane; the window covers events from 10 s on, and ends with the next whole second.
#[test]
fn by_the_clock_the_edges_are_those_of_panes_and_of_what_was_asked_for() {
    let seconds = Duration::from_secs;
    let at = |micros| Some(Edge::Instant(Timestamp::from_microsecond(micros).unwrap()));
    for shift in [0, -1_000, 86_400 * 365] {
        let mut hitters = builder(Keys::range(0..8).unwrap(), Norm::L1)
            .epsilon(NO_NOISE)
            .window(Window::clock(seconds(60)).slide(seconds(10)))
            .releases(3)
            .build()
            .unwrap();
        let shift = shift * SECOND;
        for (time, key) in [(2_000_000, 1), (5_500_000, 1), (17_000_000, 2), (25_250_000, 3)] {
            hitters.update_at(shift + time, key).unwrap();
        }
        let release = hitters.release_over(seconds(20)).unwrap();
        assert_eq!(release.window.from, at(shift + 10_000_000));
        assert_eq!(release.window.to, at(shift + 26_000_000));
        assert_eq!(release.asked.from, at(shift + 5_250_001));
        assert_eq!((release.window.events, release.asked.slack), (2, Some(2)));
        let whole = hitters.release_over(seconds(60)).unwrap();
        assert_eq!(whole.window.from, at(shift), "where the first pane begins");
        assert_eq!(whole.asked.from, at(shift - 34_749_999));
        assert_eq!((whole.window.events, whole.asked.slack), (4, Some(0)));
        // An event exactly on a whole second moves the end to the next one.
        hitters.update_at(shift + 26_000_000, 1).unwrap();
        assert_eq!(hitters.release().unwrap().window.to, at(shift + 27_000_000));
    }
}

/// For L1 the promises of the requested window are relative to its number of events, which is known by count:
/// 40 of the 100 events before the window of 300 have its key, and must be at most an eighth of the requested
/// events.
#[test]
fn by_count_the_window_asked_for_has_as_many_events_as_were_asked_for() {
    let mut hitters = builder(Keys::range(0..8).unwrap(), Norm::L1)
        .epsilon(NO_NOISE)
        .alpha(0.5)
        .window(Window::events(400).slide(100))
        .releases(9)
        .build()
        .unwrap();
    let few = (0..100).map(|event| (event < 40).then_some(1));
    hitters.extend(arrivals(few.chain([Some(1); 300]))).unwrap();
    for (span, expected) in [(301, false), (319, false), (320, true), (399, true)] {
        let release = hitters.release_over(span).unwrap();
        assert_eq!([release.window.from, release.window.to], by_count(100, 400));
        assert_eq!((release.window.events, release.threshold), (300, 113));
        assert_eq!(release.asked.from, Some(Edge::Event(400 - span)));
        assert_eq!(release.asked.slack, Some(40));
        assert!(release.held());
        assert_eq!(release.asked.promises.unwrap().held, expected, "{span} events were asked for");
    }
    let whole = hitters.release_over(400).unwrap();
    assert_eq!(whole.asked.promises, whole.promises);
}

/// Ten events, of which alpha asks for one: with one event fewer the promises would not hold.
#[test]
fn a_window_that_is_not_full_is_asked_for_from_the_first_event_on() {
    let mut hitters = builder(Keys::range(0..3).unwrap(), Norm::L1).epsilon(NO_NOISE).build().unwrap();
    (0..10).for_each(|_| hitters.update(1).unwrap());
    let release = hitters.release().unwrap();
    assert_eq!([release.window.from, release.window.to], by_count(0, 10));
    assert_eq!(release.asked.from, Some(Edge::Event(0)));
    assert!(release.held());
    assert_eq!(release.asked.promises, release.promises);
}

/// By the clock the number of requested events is at least that of the covered ones, and at most that with the
/// pane before: a threshold of 38 is above a quarter of 151 events, and not above one of 152; and an eighth of
/// 300 events is less than 38 that are left out of a key.
#[test]
fn by_the_clock_the_window_asked_for_has_the_events_covered_and_at_most_those_of_the_pane_before() {
    let seconds = Duration::from_secs;
    let keyed = |left_out| [(Some(1), left_out), (None, 60)];
    for (before, covered, slack, expected) in [
        ([(None, 0); 2], 100, 0, true),
        ([(None, 51), (None, 0)], 100, 0, true),
        ([(None, 52), (None, 0)], 100, 0, false),
        ([(None, 1_000), (None, 0)], 100, 0, false),
        (keyed(37), 300, 37, true),
        (keyed(38), 300, 38, false),
        (keyed(40), 300, 40, false),
    ] {
        let mut hitters = builder(Keys::range(0..8).unwrap(), Norm::L1)
            .epsilon(NO_NOISE)
            .alpha(0.5)
            .window(Window::clock(seconds(60)).slide(seconds(10)))
            .build()
            .unwrap();
        for (key, times) in before {
            (0..times).for_each(|_| hitters.push(Event { time: Some(0), key, user: None }).unwrap());
        }
        (0..covered).for_each(|_| hitters.update_at(15 * SECOND, 1).unwrap());
        let release = hitters.release_over(seconds(10)).unwrap();
        assert_eq!((release.window.events, release.asked.slack), (covered, Some(slack)));
        assert!(covered == 300 || release.threshold == 38 && release.held());
        assert_eq!(release.asked.promises.unwrap().held, expected, "{before:?}");
    }
}

#[test]
fn a_window_without_events_is_the_one_that_was_asked_for() {
    let minute = Window::clock(Duration::from_secs(60));
    for (window, edges) in [(Window::events(50), by_count(0, 0)), (minute, [None, None])] {
        for norm in [Norm::L1, Norm::L2] {
            let mut hitters = builder(Keys::open(), norm).window(window).build().unwrap();
            let release = hitters.release().unwrap();
            assert_eq!([release.window.from, release.window.to], edges);
            assert_eq!((release.window.events, release.cut), (0, 0));
            assert_eq!(release.asked.from, edges[0]);
            assert_eq!(release.asked.slack, Some(0));
            assert_eq!(release.asked.promises, release.promises);
            assert_eq!(release.note.unwrap().to_string(), "the window has no events");
        }
    }
}

/// A pane without remaining budget is not measured, and measuring is charged.
#[test]
fn the_pane_that_a_window_begins_within_is_measured_if_it_can_pay_and_pays() {
    for threads in [1, 2] {
        let mut hitters = builder(Keys::open(), Norm::L2)
            .window(Window::events(100).slide(10))
            .threads(threads)
            .releases(2)
            .build()
            .unwrap();
        let slack = |release: Release<u64>| {
            assert_eq!(release.asked.slack.is_some(), release.asked.promises.is_some());
            release.asked.slack
        };
        hitters.extend(arrivals([Some(1); 20])).unwrap();
        assert_eq!(slack(hitters.release_over(10).unwrap()), Some(0));
        hitters.extend(arrivals([Some(1); 10])).unwrap();
        assert!(slack(hitters.release_over(15).unwrap()).is_some());
        assert_eq!(slack(hitters.release_over(15).unwrap()), None, "the pane from 10 has paid twice");
        assert_eq!(hitters.release_over(10).unwrap_err().kind(), ErrorKind::Budget);
        hitters.extend(arrivals([Some(1); 10])).unwrap();
        assert_eq!(slack(hitters.release_over(15).unwrap()), None, "and so has the one from 20");
        assert_eq!(slack(hitters.release_over(10).unwrap()), Some(0));
    }
}

#[test]
fn a_pane_that_another_thread_closes_stays_charged() {
    for threads in 1..=4 {
        let mut hitters = builder(Keys::open(), Norm::L1)
            .window(Window::events(100).slide(10))
            .threads(threads)
            .build()
            .unwrap();
        hitters.extend(arrivals([Some(1); 25])).unwrap();
        hitters.release().unwrap();
        hitters.extend(arrivals([Some(1); 30])).unwrap();
        for span in [35, 55, 100] {
            let error = hitters.release_over(span).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Budget, "{threads} threads, {span} events");
        }
        assert_eq!(hitters.release_over(25).unwrap().window.events, 25);
    }
}

/// 30,000 of 40,000 declared keys occur once. Noise alone passes the threshold: thousands of both are listed.
#[test]
fn a_declared_key_is_listed_once_however_many_there_are() {
    for threads in [1, 2] {
        let mut hitters = builder(Keys::range(0..40_000).unwrap(), Norm::L1)
            .alpha(1e-9)
            .window(Window::events(100_000).slide(40_000))
            .entries(40_000)
            .threads(threads)
            .build()
            .unwrap();
        hitters.extend(arrivals((0..30_000).map(Some))).unwrap();
        let release = hitters.release_over(100_000).unwrap();
        let keys: BTreeSet<u64> = release.heavy.iter().map(|heavy| heavy.key).collect();
        assert_eq!(keys.len(), release.heavy.len(), "keys are listed twice");
        let present = keys.iter().filter(|key| **key < 30_000).count();
        // Pr[noise >= 0] is 0.562 and Pr[noise >= 1] 0.438: 6 standard deviations are 516 and 298.
        assert!(present.abs_diff(16_866) < 516, "{present} of 30,000");
        assert!((keys.len() - present).abs_diff(4_378) < 298, "{} of 10,000", keys.len() - present);
    }
}

/// Repeated keys change neither the noise nor the list.
#[test]
fn a_declared_list_with_repeated_keys_is_the_list_without() {
    let declared = |texts: &[&str]| {
        let keys = texts.iter().map(|text| Bytes::from(text.as_bytes()));
        HeavyHitters::builder(Keys::list(keys).unwrap()).norm(Norm::L1).alpha(0.1)
    };
    for epsilon in [NO_NOISE, EPSILON] {
        let released = |texts: &[&str]| {
            let mut hitters = declared(texts).epsilon(epsilon).build().unwrap();
            hitters
                .extend(arrivals(
                    (0..9_000).map(|event| Some(if event % 3 == 0 { b"elm".as_slice() } else { b"oak" })),
                ))
                .unwrap();
            hitters.release().unwrap()
        };
        let (plain, repeated) =
            (released(&["oak", "ash", "elm"]), released(&["oak", "elm", "oak", "ash", "elm", "oak"]));
        assert_eq!(repeated.noise, plain.noise);
        let keys = |release: &Release<Bytes>| -> Vec<Bytes> {
            release.heavy.iter().map(|heavy| heavy.key.clone()).collect()
        };
        assert_eq!(keys(&repeated), keys(&plain));
        assert_eq!(repeated.heavy.len(), 2);
    }
    // Noise lists a key that did not occur with a chance of 0.44: of forty more than one, but for 1 in 10^8.
    let mut hitters = declared(&["ash"; 40]).all().epsilon(EPSILON).build().unwrap();
    hitters.extend(arrivals((0..9_000).map(|_| Some(b"elm".as_slice())))).unwrap();
    assert!(hitters.release().unwrap().heavy.len() <= 1);
}

/// Numbers for the operator alone: events without a declared key, by every method, and late events.
#[test]
fn events_that_are_not_counted_are_told_and_are_events_all_the_same() {
    let mut declared = builder(Keys::range(0..8).unwrap(), Norm::L1).build().unwrap();
    declared.extend(arrivals([Some(1), None, Some(9), Some(2), None])).unwrap();
    declared.update_batch([8, 7]).unwrap();
    declared.update(100).unwrap();
    declared.push(without_key(None)).unwrap();
    assert_eq!((declared.tally().without_key, declared.tally().late), (6, 0));
    assert_eq!(declared.release().unwrap().window.events, 9);

    let mut open = builder(Keys::open(), Norm::L1).build().unwrap();
    open.extend(arrivals([Some(1), None, Some(9), None])).unwrap();
    assert_eq!(open.tally().without_key, 2);

    let seconds = Duration::from_secs;
    let mut clock = builder(Keys::range(0..8).unwrap(), Norm::L1)
        .window(Window::clock(seconds(60)).slide(seconds(10)))
        .build()
        .unwrap();
    clock.extend([Event::at(5 * SECOND, 1), Event::at(12 * SECOND, 9)]).unwrap();
    clock.push(without_key(Some(13 * SECOND))).unwrap();
    clock.push(without_key(Some(2 * SECOND))).unwrap();
    clock.update_at(9 * SECOND, 1).unwrap();
    assert_eq!((clock.tally().without_key, clock.tally().late), (2, 2), "each in one number");
    assert_eq!(clock.release().unwrap().window.events, 3);
}
