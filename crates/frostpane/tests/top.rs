//! Releases of the top keys and of all keys.

use crate::common::{NO_NOISE, Zipf};
use frostpane::{Builder, Edge, HeavyHitters, Keys, Norm, Release, Window};

fn zipf(epsilon: f64, change: impl FnOnce(Builder<u64>) -> Builder<u64>) -> Release<u64> {
    const EVENTS: u64 = 50_000;
    let builder = HeavyHitters::builder(Keys::open()).window(Window::events(EVENTS));
    let mut hitters = change(builder.until(Edge::Event(EVENTS))).epsilon(epsilon).build().unwrap();
    let mut zipf = Zipf::new(1.0, 2_000, 7);
    hitters.update_batch((0..EVENTS).map(|_| zipf.key())).unwrap();
    hitters.release().unwrap()
}

#[test]
fn the_top_are_the_first_of_all_and_all_are_more_than_the_heavy() {
    let all = zipf(NO_NOISE, |builder| builder.all());
    assert!(all.heavy.len() > 100, "{}", all.heavy.len());
    assert_eq!((all.top, &all.promises), (None, &None));
    for top in [1, 7, 50] {
        let listed = zipf(NO_NOISE, |builder| builder.top(top));
        assert_eq!(listed.heavy, all.heavy[..top as usize]);
        assert_eq!((listed.top, listed.promises), (Some(top), None));
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
