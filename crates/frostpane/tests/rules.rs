//! The eight rules of the private path. Each prevents an attack that works without it.

use std::time::Duration;

use crate::common::{SECOND, without_key};
use frostpane::testing::{
    CountSketch, Dimensions, Footprint, InsecureSeededEntropy, LONGEST_KEY, OpenPane, Pane, PaneShape, Sealed,
};
use frostpane::{Bytes, ErrorKind, HeavyHitters, Key, Keys, Norm, Release, Window};

const SEED: u64 = 3;

fn shape(entries: u32, sketch: Option<Dimensions>) -> PaneShape {
    PaneShape::new(entries, 0, sketch, SEED).unwrap()
}

fn pane_of(keys: impl IntoIterator<Item = u64>, shape: PaneShape) -> Pane<u64> {
    let mut open = OpenPane::new(shape);
    keys.into_iter().for_each(|key| open.update(Some(key)));
    open.close()
}

fn builder<K: Key>(keys: Keys<K>) -> frostpane::Builder<K> {
    HeavyHitters::builder(keys)
        .norm(Norm::L1)
        .alpha(0.01)
        .window(Window::events(5_000).slide(500))
        .entries(50)
}

/// A release without its keys and without numbers that have noise.
fn public_part<K: Key>(release: &Release<K>) -> String {
    let mut public = release.clone();
    public.heavy.clear();
    public.note = None;
    public.asked.slack = None;
    public.asked.promises = None;
    format!("{public:?}")
}

#[test]
fn rule_1_nothing_but_public_numbers_decides_a_cut_a_boundary_or_a_size() {
    let one_key = |_: u64| 1_u64;
    let all_distinct = |i: u64| i;
    let skewed = |i: u64| i.trailing_zeros().into();
    let by_count = |key: &dyn Fn(u64) -> u64| {
        let mut hitters = builder(Keys::<u64>::open()).build().unwrap();
        (0..7_301).for_each(|i| hitters.update(key(i)).unwrap());
        public_part(&hitters.release().unwrap())
    };
    let by_clock = |key: &dyn Fn(u64) -> u64| {
        let window = Window::clock(Duration::from_secs(60)).slide(Duration::from_secs(7));
        let mut hitters = builder(Keys::<u64>::open()).window(window).build().unwrap();
        (0..9_000).for_each(|i| hitters.update_at(i as i64 * i as i64 * 3, key(i)).unwrap());
        public_part(&hitters.release().unwrap())
    };
    for keys in [&all_distinct as &dyn Fn(u64) -> u64, &skewed] {
        assert_eq!(by_count(&one_key), by_count(keys));
        assert_eq!(by_clock(&one_key), by_clock(keys));
    }
}

#[test]
fn rule_2_an_event_without_a_countable_key_is_still_an_event() {
    let declared = || Keys::list(["a", "b"].map(|key| Bytes::from(key.as_bytes()))).unwrap();
    let long = vec![b'x'; LONGEST_KEY + 1];
    let release = |keys: Keys<Bytes>, odd: &dyn Fn(&mut HeavyHitters<Bytes>)| {
        let mut hitters = builder(keys).build().unwrap();
        for i in 0..6_000 {
            if i % 3 == 0 { odd(&mut hitters) } else { hitters.update(b"a").unwrap() }
        }
        hitters.release_with_entropy(5_000, &mut InsecureSeededEntropy::new(1)).unwrap()
    };
    let missing = |hitters: &mut HeavyHitters<Bytes>| hitters.push(without_key(None)).unwrap();
    let undeclared = |hitters: &mut HeavyHitters<Bytes>| hitters.update(b"c").unwrap();
    let too_long = |hitters: &mut HeavyHitters<Bytes>| hitters.update(&long).unwrap();

    let expected = release(declared(), &missing);
    assert_eq!(expected.window.events, 5_000);
    assert_eq!(release(declared(), &undeclared), expected);
    assert_eq!(release(declared(), &too_long), expected);
    assert_eq!(release(Keys::open(), &too_long), release(Keys::open(), &missing));
    let shown = serde_json::to_string(&expected).unwrap();
    assert!(
        !shown.contains("1666") && !shown.contains("1667"),
        "the number of events without a key: {shown}"
    );
}

#[test]
fn rule_3_only_keys_with_a_positive_count_receive_noise() {
    // Each of ten panes has 40 keys that its 50 entries can keep, and 60 keys that occur once and are cut.
    // Noise of scale 2,000 would lift hundreds of those over the threshold.
    let key = |event: u64| match event % 500 {
        0..440 => event % 40,
        _ => 1_000 + event,
    };
    for _ in 0..20 {
        let mut hitters =
            builder(Keys::<u64>::open()).epsilon(0.001).delta(0.49).alpha(1e-9).build().unwrap();
        hitters.update_batch((0..5_000).map(key)).unwrap();
        let release = hitters.release().unwrap();
        assert!(!release.heavy.is_empty());
        assert!(release.heavy.iter().all(|heavy| heavy.key < 40), "a key without a count was named");
    }
    let pane = pane_of((0..400).map(|i| i % 90), shape(50, None));
    assert!(pane.counts().iter().all(|(_, count)| count >= 1));
}

#[test]
fn rule_4_the_sketch_is_fed_by_events_and_not_from_counters() {
    let dimensions = Dimensions { rows: 3, width: 16 };
    let tight = shape(4, Some(dimensions));
    let keys: Vec<u64> = (0..300).map(|i| i * i % 23).collect();
    for length in 0..keys.len() {
        let mut expected = CountSketch::new(dimensions, SEED);
        keys[..length].iter().for_each(|key| expected.add(u64::hash(*key, SEED), 1));
        let mut sketch = CountSketch::new(dimensions, SEED);
        pane_of(keys[..length].iter().copied(), tight).add_to(&mut sketch).unwrap();
        assert_eq!(sketch, expected, "after {length} events");
    }
}

#[test]
fn rule_5_a_merge_cuts_every_key_by_the_same_amount_and_drops_no_other() {
    let shape = shape(9, None);
    let (a, b) = (pane_of((0..200).map(|i| i % 3), shape), pane_of((0..170).map(|i| i % 3 + 1), shape));
    let (mass, mut sums) = (200 - 20 + 170 - 17, [0_u64; 8]);
    a.counts().iter().chain(b.counts().iter()).for_each(|(key, count)| sums[key as usize] += count);
    let cut = mass / 10;
    let merged = Pane::merge([a, b], shape.parameters()).unwrap();
    assert_eq!(merged.cut(), 20 + 17 + cut);
    let mut counts = [0_u64; 8];
    merged.counts().iter().for_each(|(key, count)| counts[key as usize] = count);
    assert_eq!(counts, sums.map(|sum| sum.saturating_sub(cut)));
    assert!(counts.iter().filter(|count| **count > 0).count() > 3, "the case is too small to show anything");
}

/// Nothing is proved about sums of panes with different cuts or seeds.
#[test]
fn rule_5_panes_that_were_made_with_other_numbers_are_not_added_up() {
    let small = Dimensions { rows: 3, width: 16 };
    let made_with = |entries, sketch, seed| PaneShape::new(entries, 0, sketch, seed).unwrap();
    let usual = made_with(9, Some(small), SEED);
    let pane = |shape| pane_of((0..200).map(|i| i % 30), shape);
    for other in [
        made_with(8, Some(small), SEED),
        made_with(9, Some(small), SEED + 1),
        made_with(9, Some(Dimensions { rows: 5, ..small }), SEED),
        made_with(9, Some(Dimensions { width: 32, ..small }), SEED),
        made_with(9, None, SEED),
    ] {
        for (panes, shape) in [
            ([pane(usual), pane(other)], usual),
            ([pane(other), pane(usual)], usual),
            ([pane(usual), pane(usual)], other),
        ] {
            let error = Pane::merge(panes, shape.parameters()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Pane);
            assert!(error.to_string().contains("the same specification and seed"), "{error}");
        }
        assert!(Pane::merge([pane(other), pane(other)], other.parameters()).is_ok());
    }
    // The memory of an open pane is not a parameter of the closed one.
    let roomy = PaneShape::new(9, 1_000, Some(small), SEED).unwrap();
    assert!(Pane::merge([pane(usual), pane(roomy)], usual.parameters()).is_ok());
}

#[test]
fn rule_5_sketches_of_other_dimensions_or_another_seed_are_not_added_up() {
    let mut sum = CountSketch::new(Dimensions { rows: 3, width: 16 }, SEED);
    sum.add(u64::hash(7, SEED), 5);
    let before = sum.clone();
    for (rows, width, seed) in [(3, 16, SEED + 1), (5, 16, SEED), (3, 32, SEED)] {
        let other = CountSketch::new(Dimensions { rows, width }, seed);
        assert_eq!(sum.merge(&other).unwrap_err().kind(), ErrorKind::Pane);
        assert_eq!(sum, before, "a refusal adds nothing");
    }
    sum.merge(&before).unwrap();
    assert_ne!(sum, before);

    // An exact pane has no sketch, and hashes its keys by its seed.
    let exact = PaneShape::new(50, 0, None, SEED + 1).unwrap();
    assert_eq!(pane_of([1, 2, 3], exact).add_to(&mut sum).unwrap_err().kind(), ErrorKind::Pane);
}

/// Keys that all have the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Colliding(u64);

impl Sealed for Colliding {}

impl Key for Colliding {
    type Ref<'a> = Colliding;
    type Shown = u64;

    fn borrowed(&self) -> Colliding {
        *self
    }

    fn owned(key: Colliding) -> Self {
        key
    }

    fn is(&self, key: Colliding) -> bool {
        *self == key
    }

    fn hash(_: Colliding, _: u64) -> u64 {
        42
    }

    fn fits(_: Colliding) -> bool {
        true
    }

    fn pack(key: Colliding, bytes: &mut Vec<u8>) {
        u64::pack(key.0, bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Colliding> {
        u64::unpack(bytes).map(Colliding)
    }

    fn shown(&self) -> u64 {
        self.0
    }

    fn footprint(bytes: u64) -> Footprint {
        u64::footprint(bytes)
    }
}

#[test]
fn rule_6_keys_are_compared_whole_and_not_by_hash() {
    let release = |keys| {
        let mut hitters = builder::<Colliding>(keys).epsilon(1_000.0).build().unwrap();
        (0..3_000).for_each(|i| hitters.update(Colliding(i % 3)).unwrap());
        let release = hitters.release().unwrap();
        release.heavy.into_iter().map(|heavy| (heavy.key.0, heavy.low)).collect::<Vec<_>>()
    };
    let shares = [(0, 946), (1, 946), (2, 946)];
    assert_eq!(release(Keys::open()), shares);
    assert_eq!(release(Keys::list((0..9).map(Colliding)).unwrap()), shares);
}

#[test]
fn rule_7_lists_are_ordered_by_noisy_count_then_key_whatever_the_arrival() {
    let release = |order: &dyn Fn(u64) -> u64| {
        let mut hitters = builder(Keys::<u64>::open()).epsilon(1_000.0).entries(5_000).build().unwrap();
        (0..5_000).for_each(|i| hitters.update(order(i) % 40 / 2).unwrap());
        hitters.release().unwrap()
    };
    let forward = release(&|i| i);
    let keys: Vec<u64> = forward.heavy.iter().map(|heavy| heavy.key).collect();
    assert_eq!(keys, (0..20).collect::<Vec<_>>(), "equal counts are ordered by key");
    assert_eq!(release(&|i| 4_999 - i), forward);
    assert_eq!(release(&|i| i * 7 % 5_000), forward);

    let mut hitters = HeavyHitters::builder(Keys::range(0..100_000).unwrap()).norm(Norm::L1).build().unwrap();
    let noisy = hitters.release().unwrap();
    assert!(noisy.heavy.len() > 10_000);
    assert!(noisy.heavy.is_sorted_by_key(|heavy| (std::cmp::Reverse(heavy.count), heavy.key)));
}

#[test]
fn rule_7_an_empty_list_explains_itself_from_public_numbers() {
    let empty = |key: &dyn Fn(u64) -> u64| {
        let mut hitters =
            builder(Keys::<u64>::open()).epsilon(1.0).alpha(0.9).entries(5_000).build().unwrap();
        (0..5_000).for_each(|i| hitters.update(key(i)).unwrap());
        let release = hitters.release().unwrap();
        assert!(release.heavy.is_empty());
        release.note.unwrap().to_string()
    };
    assert_eq!(empty(&|i| i), empty(&|i| i % 2));
    assert!(empty(&|i| i).contains("ask for a smaller alpha"));
}

#[test]
fn rule_8_lateness_is_decided_by_times_and_arrival_alone() {
    let times = [0, 30, 95, 12, 61, 70, 130, 64, 69, 71, 200, 139, 131, 260, 199];
    let dropped = |key: &dyn Fn(usize) -> u64| {
        let window = Window::clock(Duration::from_secs(200))
            .slide(Duration::from_secs(10))
            .lateness(Duration::from_secs(60));
        let mut hitters = builder(Keys::range(0..10).unwrap()).window(window).build().unwrap();
        let mut late = Vec::new();
        for (i, time) in times.iter().enumerate() {
            let before = hitters.tally().late;
            hitters.update_at(time * SECOND, key(i)).unwrap();
            if hitters.tally().late > before {
                late.push(*time);
            }
        }
        (late, hitters.release().unwrap().window)
    };
    let expected = dropped(&|_| 1);
    // The pane of 12 ended at 20 and waited until 80, before 95 arrived; that of 69 and 64 until 130; that of
    // 139 until 200.
    assert_eq!(expected.0, [12, 64, 69, 139, 131, 199]);
    assert_eq!(dropped(&|i| i as u64), expected);
    assert_eq!(dropped(&|i| 100 + i as u64), expected);
}
