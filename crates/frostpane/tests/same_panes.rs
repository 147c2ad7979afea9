//! A release does not depend on batches of events or on the number of threads.

use frostpane::testing::InsecureSeededEntropy;
use frostpane::{Builder, Bytes, HeavyHitters, Key, Keys, Norm, Policy, Release, Window};

const EVENTS: u64 = 60_000;

/// Keys of decreasing frequency, many of which occur once.
fn key(event: u64) -> u64 {
    let mixed = (event + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    match event % 3 {
        0 => mixed,
        _ => mixed % (1 + mixed / 7 % 40),
    }
}

fn builder<K: Key>(policy: Policy, entries: u32) -> Builder<K> {
    HeavyHitters::builder(Keys::open())
        .norm(Norm::L1)
        .policy(policy)
        .alpha(1e-6)
        .delta(0.4)
        .window(Window::events(20_000).slide(777))
        .entries(entries)
}

fn release<K: Key>(builder: Builder<K>, feed: impl Fn(&mut HeavyHitters<K>)) -> Release<K> {
    let mut hitters = builder.epsilon(1_000.0).build().unwrap();
    feed(&mut hitters);
    hitters.release_with_entropy(20_000, &mut InsecureSeededEntropy::new(1)).unwrap()
}

#[test]
fn a_batch_is_its_events_one_by_one() {
    for policy in [Policy::Uniform, Policy::Exponential] {
        for entries in [20, 300, 5_000] {
            let single = release::<u64>(builder(policy, entries), |hitters| {
                (0..EVENTS).for_each(|event| hitters.update(key(event)).unwrap());
            });
            assert!(!single.heavy.is_empty());
            for length in [1, 776, 778, 5_000, EVENTS] {
                let batched = release(builder(policy, entries), |hitters| {
                    for start in (0..EVENTS).step_by(length as usize) {
                        hitters.update_batch((start..EVENTS.min(start + length)).map(key)).unwrap();
                    }
                });
                assert_eq!(batched, single, "batches of {length}");
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    for policy in [Policy::Uniform, Policy::Exponential, Policy::Smooth] {
        for entries in [20, 5_000] {
            let feed = |hitters: &mut HeavyHitters<u64>| hitters.update_batch((0..EVENTS).map(key)).unwrap();
            let one = release(builder(policy, entries), feed);
            for threads in [2, 5] {
                let several = release(builder(policy, entries).threads(threads), feed);
                // Boundaries of the smooth policy have noise of their own.
                if policy != Policy::Smooth {
                    assert_eq!(several, one, "{threads} threads");
                }
            }
        }
    }
    let feed = |hitters: &mut HeavyHitters<Bytes>| {
        for event in 0..EVENTS {
            hitters.update(key(event).to_string().as_bytes()).unwrap();
        }
    };
    let one = release(builder(Policy::Uniform, 100), feed);
    assert_eq!(release(builder(Policy::Uniform, 100).threads(2), feed), one);
}
