//! The private algorithms, with and without noise.

use frostpane::Result;
use frostpane::testing::{Entropy, InsecureSeededEntropy};
use frostpane_paper::continual::{ContinualConstants, Draw};
use frostpane_paper::l1::L1Constants;
use frostpane_paper::l2::L2Constants;
use frostpane_paper::laplace::laplace;
use frostpane_paper::{L1, L2, NoiseScale, PresetRefusal, PublishedContinual};
use std::collections::HashMap;

/// These words, then always the median of the distribution, which is no noise.
struct Script(Vec<u64>);

impl Entropy for Script {
    fn word(&mut self) -> Result<u64> {
        Ok(if self.0.is_empty() { 1 << 63 } else { self.0.remove(0) })
    }
}

fn no_noise() -> Script {
    Script(Vec::new())
}

/// Keys with shares in per mille, and the rest spread over 3,000 keys from 10,000 on.
fn planted(events: usize, shares: &[(u64, u64)], seed: u64) -> Vec<u64> {
    let mut entropy = InsecureSeededEntropy::new(seed);
    let mut draw = |bound| entropy.below(bound).unwrap();
    let mut event = || {
        let mut mille = draw(1_000);
        for &(key, share) in shares {
            if mille < share {
                return key;
            }
            mille -= share;
        }
        10_000 + draw(3_000)
    };
    (0..events).map(|_| event()).collect()
}

fn counts(events: &[u64]) -> HashMap<u64, u64> {
    let mut counts = HashMap::new();
    for &key in events {
        *counts.entry(key).or_insert(0) += 1;
    }
    counts
}

fn l2_norm(counts: &HashMap<u64, u64>) -> f64 {
    counts.values().map(|&count| (count as f64).powi(2)).sum::<f64>().sqrt()
}

fn keys(listed: &[(u64, f64)]) -> Vec<u64> {
    let mut keys: Vec<u64> = listed.iter().map(|&(key, _)| key).collect();
    keys.sort_unstable();
    keys
}

/// Keys that left the window, heavy ones, and keys below the threshold: 6 has 0.6 `alpha L_2` at 0.2.
fn stream(window: usize, seed: u64) -> Vec<u64> {
    let mut stream = planted(window, &[(1, 300), (2, 200), (3, 100)], seed);
    stream.extend(planted(window, &[(3, 200), (4, 120), (5, 80), (6, 30), (7, 8)], seed + 1));
    stream
}

fn small_l2(seed: u64) -> L2 {
    L2::new(L2Constants::scaled(0.2, 1.0, 100_000, 16_000_000).unwrap(), seed)
}

#[test]
fn l2_lists_what_is_heavy_in_the_window_and_nothing_that_left_it() {
    const WINDOW: usize = 8_000;
    for seed in 0..3 {
        let stream = stream(WINDOW, 10 * seed);
        let mut l2 = small_l2(seed);
        stream.iter().for_each(|&key| l2.update(key));
        let answer = l2.query(WINDOW as u64, &mut no_noise()).unwrap();
        let truth = counts(&stream[WINDOW..]);
        let norm = l2_norm(&truth);
        assert!((answer.norm / norm - 1.0).abs() < 0.25, "{} for {norm}", answer.norm);
        assert_eq!(keys(&answer.listed), [3, 4, 5], "seed {seed}, norm {norm}, {truth:?}");
        for (key, count) in answer.listed {
            let error = (truth[&key] as f64 - count).abs();
            let bound = (l2.constants().counter + l2.constants().threshold) * answer.norm;
            assert!(error <= bound, "key {key}: {count} for {}, off by more than {bound}", truth[&key]);
        }
    }
}

/// Every window of a stream whose heavy key changes halfway: a Counter answers for the window, where
/// CountSketch from `t_a` on would not.
#[test]
fn l2_answers_for_any_window_at_the_end() {
    let stream = stream(6_000, 77);
    let mut l2 = small_l2(5);
    stream.iter().for_each(|&key| l2.update(key));
    for window in [500, 2_000, 5_000, 6_000, 9_000, 12_000, 50_000] {
        let answer = l2.query(window as u64, &mut no_noise()).unwrap();
        let truth = counts(&stream[stream.len().saturating_sub(window)..]);
        let norm = l2_norm(&truth);
        for (&key, &count) in &truth {
            let listed = answer.listed.iter().any(|listed| listed.0 == key);
            let share = count as f64 / norm;
            assert!(listed || share < 1.3 * 0.2, "window {window}: {key} has {share} of the norm");
            assert!(!listed || share > 0.1, "window {window}: {key} has {share} of the norm");
        }
        assert!(answer.listed.iter().all(|(key, _)| truth.contains_key(key)));
    }
}

/// 400 times key 8 just before the window, which adds little to the norm, so that the timestamp before the
/// window is before these too. CountSketch reports 8; its Counter says that none of it is in the window.
#[test]
fn l2_counts_nothing_from_before_the_window() {
    let mut l2 = small_l2(1);
    let before = planted(2_000, &[(9, 500)], 1).into_iter().chain((0..400).map(|_| 8));
    before.chain(planted(2_000, &[(9, 500)], 2)).for_each(|key| l2.update(key));
    assert!(l2.estimates(2_401).contains(&(8, 0)), "{:?}", l2.estimates(2_401));
    assert_eq!(keys(&l2.query(2_000, &mut no_noise()).unwrap().listed), [9]);
}

/// Key 2 is brought to the threshold exactly, and then `X`, `Y_2` and `Z_2` are drawn from the far end, one
/// at a time: each decides by itself, on its own side of line 9.
#[test]
fn line_9_has_the_norm_the_bar_and_the_count_noisy() {
    const MIDDLE: u64 = 1 << 63;
    let mut l2 = small_l2(3);
    (0..4_000).for_each(|_| l2.update(1));
    while keys(&l2.query(9_999, &mut no_noise()).unwrap().listed) != [1, 2] {
        l2.update(2);
    }
    let lists = |x: u64, y: u64, z: u64| {
        let mut script = Script(vec![x, MIDDLE, MIDDLE, y, z]);
        keys(&l2.query(9_999, &mut script).unwrap().listed) == [1, 2]
    };
    assert!(lists(MIDDLE, MIDDLE, MIDDLE));
    assert!(!lists(u64::MAX, MIDDLE, MIDDLE) && lists(0, MIDDLE, MIDDLE));
    assert!(!lists(MIDDLE, u64::MAX, MIDDLE) && lists(MIDDLE, 0, MIDDLE));
    assert!(lists(MIDDLE, MIDDLE, u64::MAX) && !lists(MIDDLE, MIDDLE, 0));

    let listed = |z| l2.query(9_999, &mut Script(vec![0, MIDDLE, MIDDLE, 0, z])).unwrap();
    let [plain, noisy] = [MIDDLE, u64::MAX].map(|z| listed(z).listed[1].1);
    let scale = listed(MIDDLE).noise;
    let draw = laplace(scale, &mut Script(vec![u64::MAX])).unwrap();
    assert!((noisy - plain - draw).abs() < 1e-6);
}

#[test]
fn answers_say_which_noise_they_have_and_need() {
    let mut l2 = small_l2(3);
    (0..500).for_each(|t| l2.update(t % 3));
    let printed = l2.query(500, &mut no_noise()).unwrap();
    let [_, scale] = l2.constants().printed_noise(printed.norm);
    let [_, needed] = l2.constants().proof_noise(printed.norm);
    assert_eq!((printed.noise, printed.needed_noise), (scale, needed));
    let proof = l2.with_noise(NoiseScale::Proof).query(500, &mut no_noise()).unwrap();
    assert_eq!((proof.noise, proof.needed_noise), (needed, needed));

    let l1 = L1::new(L1Constants::scaled(0.1, 0.5, 1_000_000, 64_000_000).unwrap());
    let printed = l1.query(1, &mut no_noise()).unwrap();
    assert_eq!((printed.noise, printed.needed_noise), (1.0 / (0.5 * 0.1 * 1e6_f64.ln()), 4.0));
    let proof = l1.with_noise(NoiseScale::Proof).query(1, &mut no_noise()).unwrap();
    assert_eq!((proof.noise, proof.needed_noise), (4.0, 4.0));
}

#[test]
fn scaled_l2_has_one_grain() {
    for memory in [16_000_000, 64_000_000, 10_000_000_000] {
        let l2 = L2Constants::scaled(0.05, 1.0, 10_000_000, memory).unwrap();
        let grain = l2.rho;
        assert_eq!((l2.ams, l2.threshold, l2.counter), (grain.min(0.25), 0.05 * grain, 0.05 * grain / 2.0));
        assert_eq!(l2.beta(), grain * grain / 2.0);
        assert_eq!(l2.changes().len(), 7);
        assert!(l2.bytes() <= memory as f64 && l2.bytes() > 0.99 * memory as f64);
    }
}

#[test]
fn l1_lists_what_is_heavy_in_the_window_and_nothing_that_left_it() {
    const WINDOW: usize = 20_000;
    let published = L1::published(0.1, 1.0, 100_000, 1 << 30).unwrap();
    let scaled = L1::new(L1Constants::scaled(0.1, 1.0, 100_000, 6_000_000).unwrap());
    assert!(published.constants().changes().is_empty());
    assert!(!scaled.constants().changes().is_empty());
    for (mut l1, seed) in [(published, 1), (scaled.clone(), 2), (scaled, 3)] {
        let stream = stream(WINDOW, 100 * seed);
        stream.iter().for_each(|&key| l1.update(key));
        let answer = l1.query(WINDOW as u64, &mut no_noise()).unwrap();
        let truth = counts(&stream[WINDOW..]);
        assert_eq!(keys(&answer.listed), [3, 4, 5], "5 has 0.8 alpha W, above 3/4");
        let constants = l1.constants();
        let length = (1.0 + constants.ratio) * WINDOW as f64;
        for (key, count) in answer.listed {
            let error = truth[&key] as f64 - count;
            let bound = (constants.counter + constants.misra_gries) * length;
            assert!((-1e-6..=bound).contains(&error), "key {key}: {count} for {}", truth[&key]);
        }
    }
}

#[test]
fn l1_finds_the_timestamp_before_the_window() {
    let mut l1 = L1::published(0.5, 1.0, 10_000, 1 << 30).unwrap();
    for t in 1..=3_000_u64 {
        l1.update(t % 2);
    }
    for window in 1..=3_000_u64 {
        let all: u64 = l1.estimates(3_000 - window + 1).iter().map(|estimate| estimate.1).sum();
        let slack = 2.0 * (0.5 / 32.0) * 1.01 * (window + 1) as f64;
        assert!(all <= window && (window - all) as f64 <= slack, "window {window}: {all}");
    }
    let bound = 2.0 + 2.0 * 3_000_f64.ln() / 0.01_f64.ln_1p();
    assert!((300.0..=bound).contains(&(l1.timestamps() as f64)), "{}", l1.timestamps());
}

#[test]
fn a_stream_of_nothing_lists_nothing() {
    assert!(small_l2(0).query(10, &mut no_noise()).unwrap().listed.is_empty());
    let l1 = L1::published(0.5, 1.0, 100, 1 << 30).unwrap();
    assert!(l1.query(10, &mut no_noise()).unwrap().listed.is_empty());
    assert!(l1.query(0, &mut no_noise()).unwrap().listed.is_empty());
}

#[test]
fn published_l2_refuses_and_says_how_much_it_needs() {
    assert_eq!(
        L2::published(0.1, 1.0, 1_000_000_000, 64_000_000).unwrap_err().to_string(),
        "these constants need 59.7 YB, and 64.0 MB were given: give more memory or take scaled constants"
    );
    assert!(matches!(L2::published(0.9, 10.0, 100, u64::MAX), Ok(_) | Err(PresetRefusal::Memory { .. })));
}

#[test]
fn published_l1_refuses_and_says_how_much_it_needs() {
    assert_eq!(
        L1::published(0.1, 1.0, 1_000_000_000, 64_000_000).unwrap_err().to_string(),
        "these constants need 155 MB, and 64.0 MB were given: give more memory or take scaled constants"
    );
}

#[test]
fn published_continual_refuses_blocks_shorter_than_an_event() {
    let refusal = PublishedContinual::published(0.1, 1.0, 1_000_000, u64::MAX).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "a window of 1000000 events has blocks shorter than one event: the least window is 4.077e9"
    );
    let refusal = PublishedContinual::published(0.1, 1.0, 10_000_000_000, 64_000_000).unwrap_err();
    assert!(matches!(refusal, PresetRefusal::Memory { needed, .. } if needed > 1e12), "{refusal}");
}

#[test]
fn parameters_outside_the_page_are_refused() {
    for (alpha, epsilon, m) in
        [(0.0, 1.0, 100), (1.0, 1.0, 100), (0.1, 0.0, 100), (0.1, f64::NAN, 100), (0.1, 1.0, 2)]
    {
        assert!(matches!(L1Constants::published(alpha, epsilon, m), Err(PresetRefusal::Parameter(_))));
        assert!(matches!(L2Constants::scaled(alpha, epsilon, m, 1 << 30), Err(PresetRefusal::Parameter(_))));
    }
}

/// Streams of one key, of few, of many and of ever new keys: never more than the plan, and the plan never
/// more than was given.
#[test]
fn memory_stays_within_what_was_given() {
    const MEMORY: u64 = 4_000_000;
    let streams: [fn(u64) -> u64; 4] = [|_| 1, |t| t % 7, |t| t * t % 10_007, |t| t];
    for (number, key) in streams.into_iter().enumerate() {
        let mut l1 = L1::new(L1Constants::scaled(0.1, 1.0, 30_000, MEMORY).unwrap());
        let constants = L2Constants::scaled(0.3, 1.0, 6_000, MEMORY).unwrap();
        let mut l2 = L2::new(constants, 0);
        assert!(l1.constants().bytes() <= MEMORY as f64 && l2.constants().bytes() <= MEMORY as f64);
        for t in 1..=30_000_u64 {
            l1.update(key(t));
            if t <= 6_000 {
                l2.update(key(t));
            }
            if t % 1_500 == 0 {
                for (name, bytes) in [("L1", l1.bytes()), ("L2", l2.bytes())] {
                    assert!(bytes <= MEMORY, "stream {number}, time {t}: {name} holds {bytes}");
                }
            }
        }
        assert!(l1.timestamps() as f64 <= l1.constants().timestamps());
        assert!(l2.timestamps() as f64 <= l2.constants().timestamps());
    }
}

/// Two streams of 33 events that differ in the last: key 7 for key 8. Key 7 is listed in the first with the
/// probability that the noise carries one event over the bar, and in the second it cannot be. No noise helps:
/// the proof's does not either.
#[test]
fn l1_lists_a_key_in_one_of_two_neighbours_only() {
    let run = |last: u64, noise| {
        let mut l1 = L1::published(0.5, 0.05, 40, 1 << 30).unwrap().with_noise(noise);
        (0..32).map(|_| 1).chain([last]).for_each(|key| l1.update(key));
        l1
    };
    for noise in [NoiseScale::Printed, NoiseScale::Proof] {
        let (with, without) = (run(7, noise), run(8, noise));
        let scale = with.query(33, &mut no_noise()).unwrap().noise;
        let chance = (-(0.75 * 0.5 * 33.0 - 1.0) / scale).exp() / 2.0;
        assert!(chance > 0.1);
        let mut entropy = InsecureSeededEntropy::new(3);
        let mut times = |l1: &L1| {
            let lists = |_: &u32| keys(&l1.query(33, &mut entropy).unwrap().listed).contains(&7);
            (0..10_000).filter(lists).count() as f64
        };
        // 6 standard deviations of at most 50.
        assert!((times(&with) - 10_000.0 * chance).abs() < 300.0);
        assert_eq!(times(&without), 0.0);
    }
}

/// 20,000 times the same key, and the same stream with another key first. In a window of 19,999 events the
/// two streams are equal: what differs has left. One Counter has a timestamp at the window's start and the
/// other has its next one 280 events later, near `alpha W/32 = 312`; the proof says that nothing moves by
/// more than 2.
#[test]
fn one_event_moves_what_l1_releases_by_almost_its_whole_error() {
    const WINDOW: u64 = 19_999;
    let estimate = |first: u64| {
        let mut l1 = L1::published(0.5, 1.0, 20_000, 1 << 30).unwrap();
        l1.update(first);
        (0..WINDOW).for_each(|_| l1.update(1));
        l1.query(WINDOW, &mut no_noise()).unwrap().listed[0].1
    };
    let (with, without) = (estimate(1), estimate(2));
    let error = 0.5 * WINDOW as f64 / 32.0;
    assert_eq!(without.round(), WINDOW as f64);
    assert!(without - with > 0.85 * error, "{with} and {without}, {error}");
}

fn exact_blocks(window: u64, shortest: u64, epsilon: f64) -> ContinualConstants {
    let levels = (window / shortest).ilog2() + 1;
    ContinualConstants { alpha: 0.5, epsilon, window, shortest, levels, loss: 1.0 }
}

/// Misra-Gries with a counter for each event of a block is exact, so without noise the sum over the blocks is
/// the count from the first block that starts in the window on, at every time; as intended, up to the last
/// complete block.
#[test]
fn continual_blocks_cover_the_window_once() {
    const WINDOW: usize = 96;
    const SHORTEST: usize = 3;
    let stream = planted(1_000, &[(1, 400), (2, 100)], 9);
    for draw in [Draw::EveryOutput, Draw::OncePerBlock] {
        let constants = exact_blocks(WINDOW as u64, SHORTEST as u64, 1.0);
        let mut run = PublishedContinual::new(constants, NoiseScale::Printed, draw);
        for t in 1..=stream.len() {
            run.update(stream[t - 1]);
            let start = t.saturating_sub(WINDOW).next_multiple_of(SHORTEST);
            let end = if draw == Draw::EveryOutput { t } else { t / SHORTEST * SHORTEST };
            for key in [1, 2] {
                let expected = stream[start..end].iter().filter(|&&event| event == key).count();
                let estimate = run.estimate(key, &mut no_noise()).unwrap();
                assert_eq!(estimate.round() as usize, expected, "time {t}, key {key}, {draw:?}");
            }
            assert!(run.active_blocks() <= 2 * 6);
        }
    }
}

/// One key has 9,000 of 10,000 events and ten have a hundred each. Their share of `L_2` is 1/90, far below `alpha/2`,
/// and they have more than `alpha sqrt(W)`. So they are listed.
#[test]
fn continual_l2_lists_keys_far_below_half_of_heavy() {
    const WINDOW: u64 = 10_000;
    let constants = exact_blocks(WINDOW, 10, 1.0);
    let bar = constants.bar();
    assert_eq!(bar, 25.0);
    let mut run = PublishedContinual::new(constants, NoiseScale::Printed, Draw::EveryOutput);
    (0..WINDOW).for_each(|t| run.update(if t % 10 < 9 { 0 } else { 1 + t / 10 % 10 }));
    let answer = run.query(bar, &mut no_noise()).unwrap();
    assert_eq!(keys(&answer.listed), (0..=10).collect::<Vec<_>>());
    let norm = (9_000_f64.powi(2) + 10.0 * 100_f64.powi(2)).sqrt();
    assert!(answer.listed[1..].iter().all(|(_, count)| *count < 0.05 * 0.5 / 2.0 * norm));
}

/// Every key that the theorem promises is listed by the scaled constants too, and memory is as planned.
#[test]
fn scaled_continual_fits_and_lists_what_is_promised() {
    const WINDOW: usize = 20_000;
    let mut losses = Vec::new();
    for memory in [1_000_000, 4_000_000, 64_000_000] {
        let constants = ContinualConstants::scaled(0.2, 1.0, WINDOW as u64, memory).unwrap();
        assert!(constants.bytes() <= memory as f64, "{constants:?}");
        assert_eq!(constants.changes().len(), 3);
        assert!(constants.length(constants.levels) <= WINDOW as u64);
        losses.push(constants.loss);
        let stream = stream(WINDOW, 5);
        let mut run = PublishedContinual::new(constants.clone(), NoiseScale::Proof, Draw::EveryOutput);
        stream.iter().for_each(|&key| run.update(key));
        assert!(run.bytes() as f64 <= constants.bytes());
        let lost = constants.shortest as f64 + constants.loss.max(1.0) * run.active_blocks() as f64;
        let answer = run.query(constants.bar(), &mut no_noise()).unwrap();
        let truth = counts(&stream[WINDOW..]);
        for (key, count) in &truth {
            let listed = answer.listed.iter().find(|listed| listed.0 == *key);
            assert!(listed.is_some() || (*count as f64) < constants.bar() + lost, "{key}: {count}");
            assert!(listed.is_none_or(|listed| (0.0..=lost).contains(&(*count as f64 - listed.1).round())));
        }
        let root = (run.active_blocks() as f64).sqrt();
        assert_eq!(answer.noise, root * constants.proof_noise());
        let printed = run.with_noise(NoiseScale::Printed).query(1e9, &mut no_noise()).unwrap();
        assert_eq!((printed.noise, printed.needed_noise), (root * constants.printed_noise(), answer.noise));
    }
    assert!(losses.is_sorted_by(|more, less| more > less), "{losses:?}");
}

/// A key has 300 events, then 2,000 other events follow, with an output after each. The key's count stays 300
/// all the while. As printed, the mean of the outputs is 300 to the event; with noise drawn once it is off by
/// about what one output is off by.
#[test]
fn the_mean_of_printed_outputs_is_the_count_and_of_intended_ones_is_not() {
    let mean_error = |draw: Draw, seed: u64| {
        let mut run = PublishedContinual::new(exact_blocks(4_096, 16, 2.0), NoiseScale::Proof, draw);
        let mut entropy = InsecureSeededEntropy::new(seed);
        (0..1_008).for_each(|t: u64| run.update(if t < 300 { 1 } else { 2 + t % 5 }));
        let mut sum = 0.0;
        for t in 0..2_000 {
            run.update(2 + t % 5);
            sum += run.estimate(1, &mut entropy).unwrap();
        }
        sum / 2_000.0 - 300.0
    };
    let root_mean_square = |draw| {
        let squares = (0..20).map(|seed| mean_error(draw, seed).powi(2));
        (squares.sum::<f64>() / 20.0).sqrt()
    };
    let (printed, intended) = (root_mean_square(Draw::EveryOutput), root_mean_square(Draw::OncePerBlock));
    assert!(printed < 1.5, "{printed}");
    assert!(intended > 10.0, "{intended}");
}
