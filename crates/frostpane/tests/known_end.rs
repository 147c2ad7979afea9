//! Windows with a known end: they begin exactly where requested, and their events come in any order.

use std::time::Duration;

use crate::common::NO_NOISE;
use frostpane::testing::InsecureSeededEntropy;
use frostpane::{
    Builder, Bytes, Edge, ErrorKind, Event, HeavyHitters, Keys, Norm, Policy, Release, Span, Spec, Window,
};

const MINUTE: i64 = 60_000_000;
const HOUR: Duration = Duration::from_secs(3_600);

fn at(minute: i64) -> Edge {
    Edge::Instant(jiff::Timestamp::from_microsecond(minute * MINUTE).unwrap())
}

/// An hour without noise that ends at this minute.
fn hour(end: i64) -> Builder<u64> {
    HeavyHitters::builder(Keys::open()).all().epsilon(NO_NOISE).window(Window::clock(HOUR)).until(at(end))
}

/// Keys of decreasing frequency over three hours, some at equal times.
fn stream() -> Vec<(i64, u64)> {
    (0..9_000_i64).map(|i| (i * 180 * MINUTE / 9_000, (i * i % 97) as u64 / 3)).collect()
}

fn shuffled(mut events: Vec<(i64, u64)>, seed: u64) -> Vec<(i64, u64)> {
    use frostpane::testing::Entropy;
    let mut entropy = InsecureSeededEntropy::new(seed);
    for i in (1..events.len()).rev() {
        events.swap(i, entropy.word().unwrap() as usize % (i + 1));
    }
    events
}

fn release(builder: Builder<u64>, events: &[(i64, u64)]) -> Release<u64> {
    let mut hitters = builder.build().unwrap();
    hitters.extend(events.iter().map(|(time, key)| Event::at(*time, *key))).unwrap();
    hitters.release().unwrap()
}

#[test]
fn a_window_begins_and_ends_exactly_where_it_was_asked_to() {
    let events = stream();
    for end in [1, 59, 60, 61, 100, 179, 180, 500] {
        let found = release(hour(end), &events);
        assert_eq!((found.window.from, found.window.to), (Some(at(end - 60)), Some(at(end))));
        assert_eq!(found.asked.from, found.window.from);
        let inside = |time: &i64| ((end - 60) * MINUTE..end * MINUTE).contains(time);
        let expected = events.iter().filter(|(time, _)| inside(time)).count() as u64;
        assert_eq!((found.window.events, found.asked.slack), (expected, Some(0)), "{end}");
    }
}

#[test]
fn events_outside_are_told_and_none_is_late() {
    let mut hitters = hour(130).build().unwrap();
    for (time, key) in shuffled(stream(), 9) {
        hitters.update_at(time, key).unwrap();
    }
    // An event of the year 2100 does not move the window.
    hitters.update_at(4_102_444_800_000_000, 5).unwrap();
    assert_eq!((hitters.tally().outside, hitters.tally().late), (9_001 - 3_000, 0));
    assert_eq!(hitters.release().unwrap().window.events, 3_000);
}

#[test]
fn each_of_several_windows_begins_where_it_was_asked_to() {
    let windows = ["10m", "1h", "2h"].map(|window| window.parse::<Span>().unwrap());
    let spec: Spec = serde_json::from_str(
        r#"{ "window": ["10m", "1h", "2h"], "until": "1970-01-01T02:30:00Z", "all": true, "epsilon": 100000 }"#,
    )
    .unwrap();
    let builder = Builder::from_spec(spec, Keys::<u64>::open());
    for events in [stream(), shuffled(stream(), 4)] {
        let mut hitters = builder.clone().build().unwrap();
        hitters.extend(events.iter().map(|(time, key)| Event::at(*time, *key))).unwrap();
        for (window, minutes) in windows.into_iter().zip([10, 60, 120]) {
            let found = hitters.release_over(window).unwrap();
            assert_eq!(found.window.from, Some(at(150 - minutes)));
            assert_eq!(found.window.events, minutes as u64 * 50);
        }
        // Every event was allowed in three releases: the last ten minutes have been in as many.
        assert_eq!(hitters.release_over(windows[0]).unwrap_err().kind(), ErrorKind::Budget);
    }
}

#[test]
fn by_count_the_last_events_are_covered_to_the_event() {
    for (events, window) in [(10_000, 1_234), (1_000, 1_000), (500, 1_000)] {
        let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
            .all()
            .epsilon(NO_NOISE)
            .window(Window::events(window))
            .until(Edge::Event(events))
            .build()
            .unwrap();
        hitters.update_batch((0..events).map(|i| i % 7 + 100 * u64::from(i + window < events))).unwrap();
        let found = hitters.release().unwrap();
        let covered = window.min(events);
        assert_eq!(found.window.events, covered);
        assert_eq!(found.window.from, Some(Edge::Event(events - covered)));
        assert_eq!(found.window.to, Some(Edge::Event(events)));
        assert!(found.heavy.iter().all(|heavy| heavy.key < 7), "nothing from before");
        assert_eq!(found.heavy.iter().map(|heavy| heavy.count).sum::<u64>(), covered);
    }
}

/// Distinct keys, far more than fit, from the whole window in turn.
#[test]
fn memory_stays_within_the_plan_whatever_the_order() {
    let builder = HeavyHitters::<Bytes>::builder(Keys::open())
        .norm(Norm::L2)
        .memory(2_500_000)
        .window(Window::clock(HOUR))
        .until(at(60));
    let plan = builder.plan().unwrap();
    let mut hitters = builder.build().unwrap();
    for i in 0..200_000_i64 {
        hitters.update_at(i * 7_919 % 60 * MINUTE, format!("key {i:010}").as_bytes()).unwrap();
    }
    let taken = hitters.bytes();
    assert!(taken <= plan.memory.total(), "{taken} of {}", plan.memory.total());
    assert_eq!(hitters.release().unwrap().window.events, 200_000);
}

/// As many keys in every minute as a pane keeps: sixty open panes would need far more memory than planned, so
/// most of them are packed at a time.
#[test]
fn panes_that_are_packed_and_opened_again_lose_nothing() {
    let builder = || hour(60).entries(2_000).norm(Norm::L2);
    let event = |i: i64| (i / 50 % 60 * MINUTE, ((i * i + i / 7) % 4_001) as u64);
    let by_turns: Vec<(i64, u64)> = (0..60 * 2_000).map(event).collect();
    let mut sorted = by_turns.clone();
    sorted.sort();
    let plan = builder().plan().unwrap();
    let count = |events: &[(i64, u64)]| {
        let mut hitters = builder().build().unwrap();
        let mut most = 0;
        for some in events.chunks(5_000) {
            hitters.extend(some.iter().map(|(time, key)| Event::at(*time, *key))).unwrap();
            most = most.max(hitters.bytes());
        }
        assert!(most <= plan.memory.total(), "{most} of {}", plan.memory.total());
        hitters.release().unwrap()
    };
    let found = count(&sorted);
    assert_eq!((found.cut, found.window.events), (0, 120_000));
    assert!(found.heavy.len() > 1_000);
    assert_eq!(count(&by_turns), found);
}

#[test]
fn a_window_that_was_released_takes_no_more_events() {
    let mut hitters = hour(60).releases(2).build().unwrap();
    hitters.update_at(5 * MINUTE, 1).unwrap();
    let first = hitters.release().unwrap();
    assert_eq!(hitters.update_at(6 * MINUTE, 1).unwrap_err().kind(), ErrorKind::Window);
    assert_eq!(hitters.release().unwrap().window, first.window);
}

/// Many short panes store a key several times, one long pane stores it once.
#[test]
fn a_long_window_in_one_pane_is_cut_less_than_one_in_many() {
    let builder = |slide| {
        let window = Window::clock(HOUR).slide(slide);
        HeavyHitters::<Bytes>::builder(Keys::open()).window(window).until(at(60))
    };
    let cut = |slide, events| builder(slide).forecast(events, Some(100_000)).unwrap().cut;
    assert_eq!(cut(HOUR / 60, 1_000_000), 0);
    assert!(cut(HOUR, 1_000_000) > 0);
    assert!(5 * cut(HOUR, 10_000_000) < cut(HOUR / 60, 10_000_000));
}

#[test]
fn an_end_that_cannot_be_is_refused() {
    let refusal = |builder: Builder<u64>| builder.build().err().unwrap().to_string();
    let events = || HeavyHitters::<u64>::builder(Keys::open());
    assert!(refusal(events().until(at(60))).contains("both must go by the number of events or both by time"));
    assert!(refusal(hour(60).policy(Policy::Uniform)).contains("leave the policy out"));
    assert!(refusal(events().policy(Policy::Fixed)).contains("say where they end, with until"));
    let continual = hour(60).continual().err().unwrap().to_string();
    assert!(continual.contains("has no end"), "{continual}");
}

/// With more keys than counters, counts depend on the order of arrival in a pane, which batches must keep.
#[test]
fn many_events_at_once_are_the_same_as_one_by_one() {
    let builder = || hour(60).entries(8);
    let events = shuffled(stream(), 3);
    let mut one_by_one = builder().build().unwrap();
    for (time, key) in &events {
        one_by_one.update_at(*time, *key).unwrap();
    }
    let expected = one_by_one.release().unwrap();
    assert!(expected.cut > 0 && expected.heavy.len() > 8);
    for together in [1_000, 4_097, 9_000] {
        let mut hitters = builder().build().unwrap();
        for some in events.chunks(together) {
            hitters.extend(some.iter().map(|(time, key)| Event::at(*time, *key))).unwrap();
        }
        assert_eq!(hitters.release().unwrap(), expected, "{together} at a time");
    }
}

#[test]
fn events_before_one_that_cannot_be_are_counted_and_no_others() {
    let mut hitters = hour(60).build().unwrap();
    let wrong = Event { time: None, key: Some(1), user: None };
    let [first, second] = [50, 10].map(|minute| Event::at(minute * MINUTE, 1));
    assert!(hitters.extend([first, second, wrong, first]).is_err());
    assert_eq!(hitters.release().unwrap().window.events, 2);
}

/// Sixty panes that a shuffled file keeps open at once need not be packed if they have few keys.
#[test]
fn open_panes_take_what_their_keys_take() {
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .window(Window::clock(HOUR))
        .until(at(60))
        .build()
        .unwrap();
    for i in 0..6_000_i64 {
        hitters.update_at(i % 60 * MINUTE, b"the only key").unwrap();
    }
    assert!(hitters.bytes() < 1_000_000, "{}", hitters.bytes());
}

/// By count, with fewer events than announced, the norm is that of the events that came.
#[test]
fn promises_are_made_of_the_events_that_came() {
    let mut hitters = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .alpha(0.2)
        .window(Window::events(10_000))
        .until(Edge::Event(10_000))
        .build()
        .unwrap();
    hitters.update_batch((0..100).map(|_| 1)).unwrap();
    let found = hitters.release().unwrap();
    assert_eq!((found.window.events, found.held()), (100, false));
    assert_eq!(found.asked.promises, found.promises);
}
