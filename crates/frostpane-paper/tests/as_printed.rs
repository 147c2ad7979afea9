//! Failures of the algorithms as printed.

mod common;

use common::{ExactL2, adversarial, sketch, suffix_l2};
use frostpane_paper::{
    AlgorithmForm, Ams, CountSketchEstimator, CountSketchShape, Hashes, PublishedCounter,
    PublishedMisraGries, SmoothHistogram,
};

fn histogram(stream: &[u64], deletion: AlgorithmForm) -> SmoothHistogram<ExactL2> {
    let mut histogram = SmoothHistogram::new(0.5, deletion);
    for (t, &key) in (1..).zip(stream) {
        histogram.update(t, ExactL2::default, |instance| instance.add(key));
    }
    histogram
}

#[test]
fn the_histogram_as_printed_deletes_nothing() {
    for (name, stream) in adversarial(400) {
        assert!(histogram(&stream, AlgorithmForm::Printed).timestamps().eq(1..=400), "{name}");
        assert!(histogram(&stream, AlgorithmForm::Intended).timestamps().len() < 60, "{name}");
    }
}

/// 900 events of one key, then 100 keys once each: the last 100 events have `L_2 = 10`.
#[test]
fn the_histogram_as_printed_answers_for_the_whole_stream() {
    let stream: Vec<u64> = (1..=1000).map(|t| if t <= 900 { 0 } else { t }).collect();
    let norms = suffix_l2(&stream);
    for deletion in [AlgorithmForm::Printed, AlgorithmForm::Intended] {
        let histogram = histogram(&stream, deletion);
        for start in 1..=1000 {
            let printed = histogram.query(start, AlgorithmForm::Printed).unwrap();
            assert_eq!((printed.time, printed.value), (1, norms[1]));
        }
        let intended = histogram.query(901, AlgorithmForm::Intended).unwrap().value;
        assert_eq!(norms[901], 10.0);
        assert!(norms[1] > 900.0 && (10.0..20.0).contains(&intended), "{intended}");
    }
}

#[test]
fn counter_as_printed_answers_with_its_last_timestamp() {
    for error in [1.0, 10.0, 500.0] {
        let mut counter = PublishedCounter::new(error);
        (1..=1000).for_each(|t| counter.update(t));
        for start in 1..1000 {
            assert_eq!(counter.estimate(start, AlgorithmForm::Printed), 1, "M {error}, start {start}");
        }
        assert_eq!(counter.estimate(1000, AlgorithmForm::Printed), 0, "the last event is in the window");
        assert_eq!(counter.estimate(1, AlgorithmForm::Intended), 1000);
        assert_eq!(counter.estimate(1000, AlgorithmForm::Intended), 1);
    }
}

/// `E|S_{j,h^(j)(i)}|` over the choice of `h` and `s`: the mean answer of Algorithm 2 as printed for a key
/// with the count `own`, where the other keys of the stream have the counts `others`.
///
/// Each other key is in the bucket with probability `1/b`, and then adds its count with either sign. The
/// distribution of the sum is worked out key by key; nothing is sampled. For `d` keys of one count `c` and an
/// absent key it is `c sum_k Binomial(d, 1/b)(k) E|sum of k signs|`.
fn expected_magnitude(own: u64, others: &[u64], width: usize) -> f64 {
    let reach = (own + others.iter().sum::<u64>()) as usize;
    let mut probability = vec![0.0; 2 * reach + 1];
    probability[reach + own as usize] = 1.0;
    let hit = 1.0 / width as f64;
    for &count in others {
        let before = probability.clone();
        let at = |index: Option<usize>| index.and_then(|index| before.get(index)).copied().unwrap_or(0.0);
        for (index, value) in probability.iter_mut().enumerate() {
            let (below, above) = (index.checked_sub(count as usize), index.checked_add(count as usize));
            *value = (1.0 - hit) * before[index] + hit / 2.0 * (at(below) + at(above));
        }
    }
    probability.iter().enumerate().map(|(index, p)| p * reach.abs_diff(index) as f64).sum()
}

/// 400 keys of 5 events each, so `L_2 = 100`. The rows of all seeds are independent draws of `|S|`, whose
/// mean and variance are known; five standard errors, exceeded once in a million.
#[test]
fn the_mean_of_magnitudes_is_biased_on_absent_keys_by_the_calculated_amount() {
    let (keys, count, absent, seeds) = (400_u64, 5_u64, 1_000_000, 2000);
    let shape = CountSketchShape { rows: 5, width: 50 };
    let expected = expected_magnitude(0, &vec![count; keys as usize], shape.width);
    let second = (keys * count * count) as f64 / shape.width as f64;
    let samples = (seeds as usize * shape.rows) as f64;
    let stream: Vec<u64> = (0..keys * count).map(|t| t % keys).collect();
    let (mut magnitudes, mut medians) = (0.0, 0.0);
    for seed in 0..seeds {
        let estimate = sketch(shape, seed, &stream);
        magnitudes += estimate(absent, CountSketchEstimator::MeanOfMagnitudes) / seeds as f64;
        medians += estimate(absent, CountSketchEstimator::MedianOfSigned) / seeds as f64;
    }
    let error = ((second - expected * expected) / samples).sqrt();
    assert!((magnitudes - expected).abs() <= 5.0 * error, "{magnitudes}, calculated {expected} +- {error}");
    assert!(magnitudes > 10.0, "far from the true count, which is zero: {magnitudes}");
    let error = (second / seeds as f64).sqrt();
    assert!(medians.abs() <= 5.0 * error, "{medians} +- {error}");
}

/// The same for a key that is present: the bias falls as the count rises above the noise.
#[test]
fn the_bias_is_that_of_rare_keys() {
    let others = vec![5; 400];
    let bias = |own| expected_magnitude(own, &others, 50) - own as f64;
    assert!(bias(0) > 10.0 && bias(10) > 3.5 && bias(100) < 0.01);
    assert!(bias(0) > bias(5) && bias(5) > bias(10) && bias(10) > bias(20));
}

/// With `b = 1/alpha^2` the estimate of an absent key is `sqrt(2/pi) alpha L_2` in the mean where no key is
/// heavy: above the `(3/4) alpha L_2` at which a key is listed.
#[test]
fn with_the_bare_width_absent_keys_pass_for_heavy_ones() {
    let (alpha, keys) = (0.125, 1500);
    let width = CountSketchShape::for_threshold(alpha, 1, 1.0).width;
    let l2 = f64::from(keys).sqrt();
    let share = expected_magnitude(0, &vec![1; keys as usize], width) / (alpha * l2);
    assert!(share > 0.75 && (share - (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.01, "{share}");
}

/// One key of 10^4 events and nothing else. A row is bad for an absent key with probability `1/b`; of the
/// printed mean the key's estimate is then at least `10^4/r`. The more rows, the more keys have a bad one.
#[test]
fn one_bad_row_spoils_the_mean_of_magnitudes_and_more_rows_make_one_likelier() {
    let (width, keys) = (40, 20_000_u64);
    for rows in [5, 11, 31] {
        let estimate = sketch(CountSketchShape { rows, width }, rows as u64, &[0; 10_000]);
        let wrong = |estimator| (1..=keys).filter(|&key| estimate(key, estimator).abs() > 0.5).count() as f64;
        let share = wrong(CountSketchEstimator::MeanOfMagnitudes) / keys as f64;
        let expected = 1.0 - (1.0 - 1.0 / width as f64).powi(rows as i32);
        let deviation = (expected * (1.0 - expected) / keys as f64).sqrt();
        assert!((share - expected).abs() <= 5.0 * deviation, "{rows} rows: {share}, calculated {expected}");
        let median = wrong(CountSketchEstimator::MedianOfSigned) / keys as f64;
        assert!(median < 0.001, "{rows} rows: {median}");
    }
}

/// 1000 keys once each: `S_j` is a sum of 1000 signs. Five standard errors of the mean of 8192 magnitudes.
#[test]
fn the_mean_of_magnitudes_of_ams_is_not_the_norm() {
    let (d, r) = (1000, 8192);
    let (hashes, mut ams) = (Hashes::new(21), Ams::new(r));
    (0..d).for_each(|key| ams.update(&hashes, key));
    let (l2, expected) = ((d as f64).sqrt(), expected_magnitude(0, &vec![1; d as usize], 1));
    let error = ((l2 * l2 - expected * expected) / r as f64).sqrt();
    assert!((ams.mean_of_magnitudes() - expected).abs() <= 5.0 * error, "{}", ams.mean_of_magnitudes());
    assert!((expected / l2 - (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.001, "20 % below the norm");
    assert!((ams.l2() / l2 - 1.0).abs() < 0.05, "{}", ams.l2());

    let mut one_key = Ams::new(r);
    (0..d).for_each(|_| one_key.update(&hashes, 5));
    assert_eq!(one_key.mean_of_magnitudes(), d as f64, "with one key there is nothing to cancel");
}

/// `M = 100`. The stream `i, i, ..., i` of 300 events and its neighbour `j, i, ..., i`, and the window that
/// starts at 101: the event that differs is not in it, and the count is 200 in both. The timestamps are those
/// of every 99th occurrence, which the missing one shifts by one.
#[test]
fn one_event_moves_counters_estimate_by_almost_m() {
    let (mut counter, mut neighbour) = (PublishedCounter::new(100.0), PublishedCounter::new(100.0));
    (1..=300).for_each(|t| counter.update(t));
    (2..=300).for_each(|t| neighbour.update(t));
    assert_eq!(counter.timestamps().collect::<Vec<_>>(), [1, 100, 199, 298, 300]);
    assert_eq!(neighbour.timestamps().collect::<Vec<_>>(), [2, 101, 200, 299, 300]);
    assert_eq!(counter.estimate(101, AlgorithmForm::Intended), 102);
    assert_eq!(neighbour.estimate(101, AlgorithmForm::Intended), 200, "moved by 98 where the proof says 2");
}

/// All pairs of neighbours of 12 events, all windows: one event moves the estimate by up to `M - 2`.
#[test]
fn by_m_less_two_at_most() {
    const LENGTH: u64 = 12;
    for (error, expected) in [(3_u64, 1), (4, 2), (5, 3), (6, 4), (7, 5)] {
        let counters: Vec<PublishedCounter> = (0_u64..1 << LENGTH)
            .map(|occurs| {
                let mut counter = PublishedCounter::new(error as f64);
                (1..=LENGTH).filter(|t| occurs >> (t - 1) & 1 == 1).for_each(|t| counter.update(t));
                counter
            })
            .collect();
        let moved = |one: usize, other: usize| {
            let estimate = |index: usize, start| counters[index].estimate(start, AlgorithmForm::Intended);
            (1..=LENGTH).map(|start| estimate(one, start).abs_diff(estimate(other, start))).max().unwrap()
        };
        let most = (0..counters.len())
            .flat_map(|one| (0..LENGTH).map(move |t| (one, one ^ 1 << t)))
            .map(|(one, other)| moved(one, other))
            .max();
        assert_eq!(most, Some(expected), "M {error}");
    }
}

fn misra_gries(counters: usize, stream: impl IntoIterator<Item = u64>) -> PublishedMisraGries {
    let mut sketch = PublishedMisraGries::new(counters);
    stream.into_iter().for_each(|key| sketch.update(key));
    sketch
}

/// The `L_1` distance of two tables, over the keys below `keys`.
fn distance(one: &PublishedMisraGries, other: &PublishedMisraGries, keys: u64) -> u64 {
    (0..keys).map(|key| one.estimate(key).abs_diff(other.estimate(key))).sum()
}

/// Ten counters, `alpha = 0.1`. Key 1 so often, keys 2 to 10 once, and at the end key 1 again or key 11: in
/// the first stream key 1 gains one, in the second all ten lose one.
#[test]
fn misra_gries_sensitivity_exceeds_alpha_m() {
    for first in [1, 50, 99] {
        let stream = |end: u64| std::iter::repeat_n(1, first).chain(2..=10).chain([end]);
        let (one, other) = (misra_gries(10, stream(1)), misra_gries(10, stream(11)));
        let alpha_m = 0.1 * one.events() as f64;
        assert_eq!(distance(&one, &other, 12), 11);
        assert!(alpha_m < 11.0, "{alpha_m}");
    }
}

/// All pairs of neighbours over `c + 2` keys: the distance is `c + 1` at most, and is it from `c + 1` events
/// on. So `alpha m` is too little for streams shorter than `c (c+1)` and enough for longer ones.
#[test]
fn misra_gries_sensitivity_is_one_more_than_its_counters() {
    for (c, lengths) in [(2, 3..=7), (3, 4..=6)] {
        for length in lengths {
            assert_eq!(most_distance(c, length), c as u64 + 1, "{c} counters, {length} events");
        }
    }
}

fn most_distance(counters: usize, length: u32) -> u64 {
    let keys = counters as u64 + 2;
    let digit = |code: u64, place: u32| code / keys.pow(place) % keys;
    let sketches: Vec<PublishedMisraGries> = (0..keys.pow(length))
        .map(|code| misra_gries(counters, (0..length).map(|place| digit(code, place))))
        .collect();
    let mut most = 0;
    for code in 0..keys.pow(length) {
        for place in 0..length {
            for key in digit(code, place) + 1..keys {
                let other = code + (key - digit(code, place)) * keys.pow(place);
                most = most.max(distance(&sketches[code as usize], &sketches[other as usize], keys));
            }
        }
    }
    most
}
