//! The events that a window covers, requests for shorter windows, and errors.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::common::{NO_NOISE, SECOND, count, listed, without_key};
use frostpane::testing::{Entropy, InsecureSeededEntropy, LONGEST_KEY};
use frostpane::{Bytes, Edge, ErrorKind, HeavyHitters, Keys, Norm, Policy, Window};

fn exact(window: Window) -> HeavyHitters<u64> {
    HeavyHitters::builder(Keys::range(0..8).unwrap())
        .norm(Norm::L1)
        .alpha(1e-9)
        .epsilon(NO_NOISE)
        .window(window)
        .releases(u32::MAX)
        .build()
        .unwrap()
}

#[test]
fn by_count_a_release_covers_what_it_says_at_every_moment() {
    let mut entropy = InsecureSeededEntropy::new(1);
    for (length, slide) in [(20, 5), (20, 20), (17, 4), (1, 1), (13, 1)] {
        let mut hitters = exact(Window::events(length).slide(slide));
        let mut events = Vec::new();
        for now in 1..=90_u64 {
            let key = entropy.below(8).unwrap();
            events.push(key);
            hitters.update(key).unwrap();
            let release = hitters.release().unwrap();
            let (Some(Edge::Event(from)), Some(Edge::Event(to))) = (release.window.from, release.window.to)
            else {
                panic!()
            };
            assert_eq!(to, now);
            assert_eq!(from % slide, 0);
            assert!(to - from <= length, "covers {} of {length}", to - from);
            assert!(from == 0 || to - from + slide > length, "covers only {} of {length}", to - from);
            assert_eq!(release.window.events, to - from);
            assert_eq!(listed(&release), BTreeMap::from_iter(count(events[from as usize..].iter().copied())));
        }
    }
}

#[test]
fn a_shorter_window_may_be_asked_for() {
    let mut hitters = exact(Window::events(100).slide(10));
    assert!([10, 100].iter().all(|length| hitters.check_window(*length).is_ok()));
    let events: Vec<u64> = (0..250).map(|i| i / 30).collect();
    hitters.update_batch(events.iter().copied()).unwrap();
    for length in [10, 35, 99, 100] {
        let release = hitters.release_over(length).unwrap();
        let covered = length / 10 * 10;
        assert_eq!(release.window.events, covered);
        let tail = events[250 - covered as usize..].iter().copied().filter(|key| *key < 8);
        assert_eq!(listed(&release), BTreeMap::from_iter(count(tail)));
    }
    for length in [0, 9, 101] {
        let error = hitters.release_over(length).unwrap_err();
        assert_eq!(hitters.check_window(length).as_ref(), Err(&error));
        assert_eq!(error.kind(), ErrorKind::Window);
        assert_eq!(
            error.to_string(),
            format!(
                "a window of {length} events was asked for, but it must be at least the slide of 10 events and at most the \
                 longest window of 100 events: take a longer window or a shorter slide"
            )
        );
    }
    assert_eq!(
        hitters.release_over(Duration::from_secs(1)).unwrap_err().to_string(),
        "this window goes by the number of events: ask for events, not for a duration"
    );
}

/// Random times, out of order, before and after 1970, against a list of the events that are not late.
#[test]
fn by_the_clock_a_release_covers_what_it_says_late_events_included() {
    let mut entropy = InsecureSeededEntropy::new(2);
    for (length, slide, lateness) in [(60, 10, 0), (60, 10, 25), (61, 7, 14), (30, 30, 5), (50, 1, 50)] {
        let seconds = |n: i64| Duration::from_secs(n as u64);
        let window = Window::clock(seconds(length)).slide(seconds(slide)).lateness(seconds(lateness));
        let mut hitters = exact(window);
        let (mut kept, mut clock, mut latest) = (Vec::new(), -200, i64::MIN);
        for _ in 0..400 {
            clock += entropy.below(4).unwrap() as i64;
            let (time, key) = (clock - entropy.below(40).unwrap() as i64, entropy.below(8).unwrap());
            latest = latest.max(time);
            let end = (time.div_euclid(slide) + 1) * slide;
            if end + lateness > latest {
                kept.push((time, key));
            }
            hitters.update_at(time * SECOND, key).unwrap();
            let release = hitters.release().unwrap();
            let (Some(Edge::Instant(from)), Some(Edge::Instant(to))) =
                (release.window.from, release.window.to)
            else {
                panic!()
            };
            let (from, to) = (from.as_second(), to.as_second());
            assert_eq!(to, latest + 1);
            assert_eq!(from.rem_euclid(slide), 0);
            assert!(to - from <= length);
            let covered: Vec<u64> =
                kept.iter().filter(|(time, _)| *time >= from).map(|(_, key)| *key).collect();
            assert_eq!(release.window.events, covered.len() as u64);
            assert_eq!(listed(&release), BTreeMap::from_iter(count(covered)));
        }
        assert!(lateness == 50 || hitters.tally().late > 0, "nothing was late");
    }
}

#[test]
fn a_gap_of_centuries_between_events_costs_nothing() {
    let mut hitters = exact(Window::clock(Duration::from_secs(60)).slide(Duration::from_secs(1)));
    hitters.update_at(-8_000_000_000 * SECOND, 1).unwrap();
    hitters.update_at(8_000_000_000 * SECOND, 2).unwrap();
    assert_eq!(listed(&hitters.release().unwrap()), BTreeMap::from([(2, 1)]));
    let error = hitters.update_at(i64::MAX, 1).unwrap_err();
    assert!(error.to_string().contains("outside the calendar"), "{error}");
}

#[test]
fn an_event_is_in_as_many_releases_as_allowed_and_a_refusal_spends_nothing() {
    let mut hitters = HeavyHitters::builder(Keys::range(0..8).unwrap())
        .window(Window::events(100).slide(10))
        .releases(2)
        .build()
        .unwrap();
    hitters.update_batch([1; 100]).unwrap();
    hitters.release_over(20).unwrap();
    hitters.release().unwrap();
    for _ in 0..3 {
        let error = hitters.release_over(10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Budget);
        assert!(error.to_string().contains("releases(3)"), "{error}");
        assert_eq!(hitters.release().unwrap_err().kind(), ErrorKind::Budget);
    }
    // The first 80 events have been in one release only; a window that ends with new events may include them
    // once more, but not while it includes the last 20 of the first hundred.
    hitters.update_batch([1; 10]).unwrap();
    hitters.release_over(10).unwrap();
    assert_eq!(hitters.release_over(20).unwrap_err().kind(), ErrorKind::Budget);
    hitters.release_over(10).unwrap();
    assert_eq!(hitters.release_over(10).unwrap_err().kind(), ErrorKind::Budget);
}

#[test]
fn every_wrong_parameter_is_an_error_that_says_what_to_do() {
    let open = || HeavyHitters::<Bytes>::builder(Keys::open());
    let cases = [
        (open().alpha(0.0), "alpha is 0, but must be above 0 and below 1"),
        (open().alpha(f64::NAN), "alpha is NaN"),
        (open().epsilon(0.0), "epsilon is 0, but must be above 0"),
        (open().epsilon(-1.0), "epsilon is -1, but must be above 0"),
        (open().epsilon(f64::NAN), "epsilon is NaN"),
        (open().epsilon(1e9), "can be at most 1000000"),
        (open().delta(0.0), "declare the keys"),
        (open().delta(1.0), "delta is 1, but must be above 0 and below 1"),
        (open().confidence(1.0), "confidence is 1"),
        (open().sketch(3, 1 << 62), "at most 16777216"),
        (open().sketch((1 << 60) + 1, 16), "at most 99"),
        (open().sketch(5, 100), "a power of two"),
        (open().window(Window::events(10).slide(11)), "the slide is 11 events"),
        (open().window(Window::events(10).slide(0)), "the slide is 0 events"),
        (open().window(Window::events(u64::MAX)), "must be above 0 and at most"),
        (open().window(Window::clock(Duration::MAX)), "must be above 0 and at most"),
        (open().top(0), "top is 0, but a list must have room for at least 1 key"),
        (open().top(5).all(), "one or the other"),
        (
            open().window(Window::clock(Duration::ZERO)),
            "the window is 0s, but must be above 0 and at most 13343998d",
        ),
        (
            open().window(Window::clock(Duration::from_secs(1)).lateness(Duration::from_secs(2))),
            "the lateness is 2s, but can be at most the window's 1s",
        ),
    ];
    for (builder, expected) in cases {
        let Err(error) = builder.build() else { panic!("accepted, where {expected:?} was expected") };
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(Keys::range(3..3).is_err());
    assert!(Keys::<u64>::list([]).is_err());
    let long = Keys::<Bytes>::list([vec![b'x'; LONGEST_KEY + 1].into()]);
    assert!(long.is_err_and(|error| error.to_string().contains("leave it out")));
}

#[test]
fn events_must_fit_the_kind_of_window() {
    let mut by_count = exact(Window::events(10));
    let error = by_count.update_at(0, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "this window goes by the number of events: give the event without a time, with update"
    );
    let mut by_clock = exact(Window::clock(Duration::from_secs(10)));
    let error = by_clock.update(1).unwrap_err();
    assert_eq!(error.to_string(), "this window goes by the clock: give the time of the event with update_at");
}

#[test]
fn a_release_as_json_has_its_agreed_shape() {
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .norm(Norm::L1)
        .alpha(0.1)
        .window(Window::clock(Duration::from_secs(86_400)).slide(Duration::from_secs(3_600)))
        .build()
        .unwrap();
    (0..10_000).for_each(|i| hitters.update_at(i * SECOND, b"caf\xc3\xa9").unwrap());
    let json = serde_json::to_value(hitters.release().unwrap()).unwrap();
    let fields: BTreeSet<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "version norm alpha epsilon delta boundaries_epsilon unit policy estimator window threshold \
                    norm_estimate cut noise deviation confidence complete_above nothing_below promises asked heavy";
    assert_eq!(fields, expected.split_whitespace().collect());
    assert_eq!(json["norm"], "l1");
    assert_eq!(json["window"]["from"], "1970-01-01T00:00:00Z");
    assert_eq!(json["window"]["to"], "1970-01-01T02:46:40Z");
    assert_eq!(json["window"]["events"], 10_000);
    assert_eq!(json["promises"]["held"], true);
    assert_eq!(json["promises"]["reason"], serde_json::Value::Null);
    assert_eq!(json["policy"], "uniform");
    assert_eq!(json["estimator"], "counts");
    assert_eq!(json["asked"]["slack"], 0);
    assert_eq!(json["asked"]["promises"]["held"], true);
    assert_eq!(json["heavy"][0]["key"], "café");
    for field in ["count", "low", "high"] {
        assert!(json["heavy"][0][field].is_u64());
    }
}

#[test]
fn a_pane_that_waits_for_late_events_is_charged_like_any_other() {
    let seconds = Duration::from_secs;
    let window = Window::clock(seconds(100)).slide(seconds(10)).lateness(seconds(50));
    let mut hitters = HeavyHitters::builder(Keys::range(0..8).unwrap()).window(window).build().unwrap();
    hitters.update_at(5 * SECOND, 1).unwrap();
    hitters.update_at(25 * SECOND, 1).unwrap();
    hitters.release_over(seconds(30)).unwrap();
    hitters.update_at(35 * SECOND, 1).unwrap();
    hitters.update_at(6 * SECOND, 1).unwrap();
    assert_eq!(
        hitters.release_over(seconds(40)).unwrap_err().kind(),
        ErrorKind::Budget,
        "only the panes from 0 and from 20 have been released, and both wait"
    );
    hitters.release_over(seconds(10)).unwrap();
}

#[test]
fn the_smallest_epsilon_and_the_largest_are_released_in_no_time() {
    for epsilon in [1e-6, 1e-4, 1e6] {
        for norm in [Norm::L1, Norm::L2] {
            let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
                .norm(norm)
                .policy(Policy::Uniform)
                .epsilon(epsilon)
                .delta(f64::MIN_POSITIVE)
                .build()
                .unwrap();
            hitters.update(1).unwrap();
            assert!(hitters.release().unwrap().threshold > 1);
        }
        let mut declared = HeavyHitters::builder(Keys::range(0..u64::MAX).unwrap())
            .policy(Policy::Uniform)
            .epsilon(epsilon)
            .build()
            .unwrap();
        declared.release().unwrap();
    }
}

#[test]
fn a_window_within_one_pane_is_not_called_empty() {
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .policy(Policy::Smooth)
        .window(Window::events(1_000_000).slide(100))
        .build()
        .unwrap();
    // Without keys the norm is 0, and no block ends before its longest.
    (0..5_000).for_each(|_| hitters.push(without_key(None)).unwrap());
    let release = hitters.release_over(1_000).unwrap();
    assert_eq!(release.window.events, 0);
    let note = release.note.unwrap().to_string();
    assert!(note.contains("within one pane"), "{note}");
}

/// A late event before the covered part is missing from the requested window.
#[test]
fn promises_of_the_window_asked_for_are_not_made_without_its_late_events() {
    let minute = 60_000_000;
    let mut hitters = HeavyHitters::<u64>::builder(Keys::range(0..10).unwrap())
        .norm(Norm::L1)
        .alpha(0.1)
        .window(Window::clock(Duration::from_secs(3_600)).slide(Duration::from_secs(600)))
        .build()
        .unwrap();
    for event in 0..20_000 {
        hitters.update_at(125 * minute + event, 1).unwrap();
    }
    hitters.update_at(97 * minute, 2).unwrap();
    let found = hitters.release().unwrap();
    assert_eq!((found.window.missed, found.held()), (0, true));
    assert!(!found.asked.promises.unwrap().held, "an event of 97 minutes is missing");
}
