//! Releases of the top keys and of all keys: their statements against exact counts.

use crate::common::{NO_NOISE, Zipf, count, most_failures, real_stream, releases, statements_true};
use frostpane::{Builder, Bytes, Edge, HeavyHitters, Key, Keys, Norm, Release, Window};

const EVENTS: usize = 100_000;
/// With eight cases of one check each below, a false alarm in fewer than one in 10,000 runs.
const FALSE_ALARM: f64 = 1e-5;

fn builder<K: Key>(keys: Keys<K>, events: u64) -> Builder<K> {
    HeavyHitters::builder(keys)
        .window(Window::events(events))
        .until(Edge::Event(events))
        .releases(releases(100, 1_000) as u32)
}

fn check(name: &str, events: &[(i64, Bytes)], top: Option<u64>) {
    let releases = releases(100, 1_000);
    let keys = Keys::<Bytes>::open();
    let builder = builder(keys, EVENTS as u64);
    let builder = match top {
        Some(top) => builder.top(top),
        None => builder.all(),
    };
    let mut hitters = builder.build().unwrap();
    hitters.update_batch(events.iter().map(|(_, key)| &key[..])).unwrap();
    let counts = count(events.iter().map(|(_, key)| key.clone()));
    let mut untrue = 0;
    for _ in 0..releases {
        let release = hitters.release().unwrap();
        assert_eq!((release.promises.is_none(), release.top), (true, top));
        assert!(release.heavy.len() as u64 <= top.unwrap_or(u64::MAX));
        untrue += u64::from(!statements_true(&release, &counts));
    }
    println!("{name} {top:?}: untrue {untrue} of {releases}");
    assert!(untrue <= most_failures(releases, 0.05, FALSE_ALARM));
}

#[test]
fn what_a_list_of_the_top_or_of_all_says_is_true_of_real_streams() {
    for name in ["nycflights_dest", "flights_route", "homebrew_formula", "baseball_batter"] {
        let Some(stream) = real_stream(name) else { return };
        let events = &stream.events[stream.events.len() - EVENTS..];
        check(name, events, Some(20));
        check(name, events, None);
    }
}

/// A release of a Zipf stream.
fn zipf(epsilon: f64, change: impl FnOnce(Builder<u64>) -> Builder<u64>) -> Release<u64> {
    let mut zipf = Zipf::new(1.0, 2_000, 7);
    let keys: Vec<u64> = (0..50_000).map(|_| zipf.key()).collect();
    let mut hitters = change(builder(Keys::open(), 50_000)).epsilon(epsilon).build().unwrap();
    hitters.update_batch(keys.iter().copied()).unwrap();
    hitters.release().unwrap()
}

#[test]
fn the_top_are_the_first_of_all_and_all_are_more_than_the_heavy() {
    let all = zipf(NO_NOISE, |builder| builder.all());
    assert!(all.heavy.len() > 100, "{}", all.heavy.len());
    for top in [1, 7, 50] {
        let listed = zipf(NO_NOISE, |builder| builder.top(top));
        assert_eq!(listed.heavy, all.heavy[..top as usize]);
        let last = listed.heavy[top as usize - 1].count;
        // Without noise, the first key that is missing may have an equal count.
        assert_eq!((listed.complete_above, listed.nothing_below), (last + 1, last));
    }
    let everything = zipf(NO_NOISE, |builder| builder.top(1_000_000));
    assert_eq!(
        (everything.heavy, everything.complete_above, everything.nothing_below),
        (all.heavy.clone(), all.complete_above, all.nothing_below)
    );
    let heavy = zipf(NO_NOISE, |builder| builder.norm(Norm::L1));
    assert!(heavy.heavy.len() < 10 && heavy.promises.is_some());
}

/// Without alpha no norm is measured, so L2 has the noise of L1.
#[test]
fn all_of_epsilon_is_for_the_counts() {
    let noise = |change: fn(Builder<u64>) -> Builder<u64>| zipf(1.0, change).threshold;
    let heavy_l1 = noise(|builder| builder.norm(Norm::L1).alpha(1e-6));
    assert!(noise(|builder| builder.norm(Norm::L2).alpha(1e-6)) > heavy_l1);
    assert_eq!(noise(|builder| builder.norm(Norm::L2).all()), heavy_l1);
    assert_eq!(noise(|builder| builder.norm(Norm::L2).top(3)), heavy_l1);
}

#[test]
fn the_top_of_a_list_at_every_slide_are_the_first_of_all() {
    let lists = |change: fn(Builder<u64>) -> Builder<u64>| {
        let builder = HeavyHitters::<u64>::builder(Keys::open()).window(Window::events(8_000).slide(1_000));
        let mut continual = change(builder).epsilon(NO_NOISE).continual().unwrap();
        let mut zipf = Zipf::new(1.0, 300, 3);
        let mut lists = Vec::new();
        for _ in 0..20_000 {
            lists.extend(continual.update(zipf.key()).unwrap());
        }
        lists
    };
    let (all, top) = (lists(|builder| builder.all()), lists(|builder| builder.top(5)));
    assert_eq!((all.len(), top.len()), (20, 20));
    for (all, top) in all.iter().zip(&top) {
        assert_eq!(top.heavy, all.heavy[..5]);
        assert_eq!(top.complete_above, top.heavy[4].count + 1);
    }
}

#[test]
fn what_cannot_be_listed_is_refused() {
    let refusal = |change: fn(Builder<u64>) -> Builder<u64>| {
        let builder = change(HeavyHitters::builder(Keys::open()));
        builder.build().err().map(|error| error.to_string())
    };
    assert_eq!(
        refusal(|builder| builder.top(0)).unwrap(),
        "top is 0, but a list must have room for at least 1 key"
    );
    assert!(refusal(|builder| builder.top(5).all()).unwrap().contains("one or the other"));
    assert_eq!(refusal(|builder| builder.top(5)), None);
}
