#![doc = include_str!("exact.md")]

use std::collections::HashMap;

use frostpane::testing::audit::{Audit, Mutant, Unnoised};
use frostpane::testing::{Noise, Threshold};
use frostpane::{Norm, Window};

use crate::bound::bisect;
use crate::check::Result;
use crate::setting::{KeyDomain, Setting};

const KEYS: u64 = 3;
const EVENTS: u32 = 6;
/// Keys, and no key.
const SYMBOLS: usize = KEYS as usize + 1;
/// Bits of precision of a tail probability.
const BITS: usize = 128;
/// Values of Gaussian noise that are further out count as one outcome.
const DEVIATIONS: f64 = 6.0;
/// Halvings of the interval in which an epsilon lies.
const HALVINGS: u32 = 50;

/// Window, slide and entries: exact panes, and panes that are cut.
const SHAPES: [(u64, u64, u32); 5] = [(6, 6, 6), (6, 6, 1), (6, 6, 2), (6, 3, 2), (4, 2, 1)];

/// The largest loss of any pair of neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// The least epsilon at the claimed delta; infinite if there is none.
    pub epsilon: f64,
    /// The pair.
    pub streams: String,
}

/// The largest loss over all short streams and all their neighbours.
pub fn over_all_streams(setting: &Setting, mutant: Option<Mutant>) -> Result<Loss> {
    let mut worst = Loss::default();
    let prefix = prefix(setting, mutant)?;
    let length = prefix.len() as u64 + u64::from(EVENTS);
    let alone = SHAPES.map(|shape| (shape, &[][..]));
    for ((window, slide, entries), prefix) in
        alone.into_iter().chain([((length, length, length as u32), &prefix[..])])
    {
        // The norm by a sketch depends on a seed that is drawn anew for every stream.
        if setting.norm == Norm::L2 && u64::from(entries) < slide {
            continue;
        }
        let window = Window::events(window).slide(slide);
        let audit = Audit::of(setting.builder(KEYS)?.window(window).entries(entries), mutant);
        let insides = (0..SYMBOLS.pow(EVENTS))
            .map(|stream| inside(&audit, prefix, stream))
            .collect::<Result<Vec<_>>>()?;
        let mut known = HashMap::new();
        for (one, other) in neighbours() {
            let (a, b) = (&insides[one], &insides[other]);
            let moves = Moves::between(a, b);
            let epsilon = *known.entry(moves).or_insert_with_key(|moves| moves.loss(setting, a));
            if epsilon > worst.epsilon {
                worst = Loss { epsilon, streams: format!("{} and {}", spelled(one), spelled(other)) };
            }
        }
    }
    Ok(worst)
}

/// Events that bring two of the keys near the threshold.
fn prefix(setting: &Setting, mutant: Option<Mutant>) -> Result<Vec<u64>> {
    let near = setting.threshold(KEYS, mutant)?.saturating_sub(2);
    Ok((0..2 * near).map(|event| event % 2).collect())
}

/// The input of the noise of a release. The digits of a number are the events of a stream.
fn inside(audit: &Audit<u64>, prefix: &[u64], stream: usize) -> Result<Unnoised<u64>> {
    let mut audited = audit.clone().build()?;
    prefix.iter().try_for_each(|key| audited.update(Some(*key)))?;
    for event in 0..EVENTS {
        let symbol = digit(stream, event) as u64;
        audited.update((symbol < KEYS).then_some(symbol))?;
    }
    Ok(audited.inside()?)
}

fn digit(stream: usize, event: u32) -> usize {
    stream / SYMBOLS.pow(event) % SYMBOLS
}

fn spelled(stream: usize) -> String {
    (0..EVENTS).map(|event| ["a", "b", "c", "-"][digit(stream, event)]).collect()
}

/// All ordered pairs of streams that differ in one event.
fn neighbours() -> impl Iterator<Item = (usize, usize)> {
    (0..SYMBOLS.pow(EVENTS)).flat_map(|stream| {
        (0..EVENTS).flat_map(move |event| {
            let old = digit(stream, event);
            (0..SYMBOLS)
                .filter(move |new| *new != old)
                .map(move |new| (stream, stream + SYMBOLS.pow(event) * new - SYMBOLS.pow(event) * old))
        })
    })
}

/// The count of a key before noise.
pub(crate) fn count(inside: &Unnoised<u64>, key: u64) -> u64 {
    inside.counts.iter().find(|(held, _)| *held == key).map_or(0, |(_, count)| *count)
}

/// The differences of two neighbours. Pairs that differ alike lose as much.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Moves {
    /// The counts of each key that differs, sorted.
    counts: Vec<(u64, u64)>,
    norm: u64,
    /// The numbers of events, if they are private.
    total: (u64, u64),
}

impl Moves {
    pub fn between(one: &Unnoised<u64>, other: &Unnoised<u64>) -> Self {
        let norm = |inside: &Unnoised<u64>| inside.norm.map_or(0, |(norm, _)| norm);
        let total = |inside: &Unnoised<u64>| inside.total.map_or(0, |(total, _)| total);
        let mut counts: Vec<_> =
            (0..KEYS).map(|key| (count(one, key), count(other, key))).filter(|(a, b)| a != b).collect();
        counts.sort_unstable();
        Self { counts, norm: norm(one).abs_diff(norm(other)), total: (total(one), total(other)) }
    }

    pub fn loss(&self, setting: &Setting, inside: &Unnoised<u64>) -> f64 {
        match setting.keys {
            KeyDomain::Declared => self.pure_loss(inside),
            KeyDomain::Open => self.loss_beyond(setting.delta, inside),
        }
    }

    fn pure_loss(&self, inside: &Unnoised<u64>) -> f64 {
        let counts: u64 = self.counts.iter().map(|(a, b)| a.abs_diff(*b)).sum();
        let norm = inside.norm.map_or(0.0, |(_, noise)| self.norm as f64 / noise.scale());
        let total =
            inside.total.map_or(0.0, |(_, noise)| self.total.0.abs_diff(self.total.1) as f64 / noise.scale());
        counts as f64 / inside.threshold.noise().scale() + norm + total
    }

    /// The least epsilon at this delta.
    fn loss_beyond(&self, delta: f64, inside: &Unnoised<u64>) -> f64 {
        let of_counts = |(a, b): &(u64, u64)| shown(*a, *b, &inside.threshold);
        let of_total = inside.total.map(|(_, noise)| said(self.total, &noise.into()));
        let mut joint = vec![(1.0, 1.0)];
        for shown in self.counts.iter().map(of_counts).chain(of_total) {
            joint = joint.iter().flat_map(|(p, q)| shown.iter().map(move |(a, b)| (p * a, q * b))).collect();
        }
        let beyond = |epsilon: f64| -> f64 {
            let excess = joint.iter().map(|(p, q)| p - epsilon.exp() * q);
            excess.map(|excess| excess.max(0.0)).sum()
        };
        let never: f64 = joint.iter().filter(|(_, q)| *q == 0.0).map(|(p, _)| p).sum();
        if never > delta {
            return f64::INFINITY;
        }
        bisect((0.0, 100.0), HALVINGS, |epsilon| beyond(epsilon) > delta)
    }
}

/// The probabilities of all outcomes for a key with these counts in the two streams.
fn shown(one: u64, other: u64, threshold: &Threshold) -> Vec<(f64, f64)> {
    let noise = threshold.noise();
    let least = threshold.value();
    // The distance beyond both counts up to which single values are outcomes.
    let beyond = match noise {
        Noise::Laplace(_) => 0,
        Noise::Gaussian(gaussian) => (DEVIATIONS * gaussian.sigma()).ceil() as u64,
    };
    let most = one.max(other).max(least) + beyond;
    let reaches = |count: u64, value: u64| match count {
        0 => 0.0,
        count => tail(noise, value as i64 - count as i64),
    };
    outcomes(least, most, |value| (reaches(one, value), reaches(other, value)))
}

/// The probabilities of all values from `least` to `most`, all below as one outcome and all from `most` on as another.
fn outcomes(least: u64, most: u64, at_least: impl Fn(u64) -> (f64, f64)) -> Vec<(f64, f64)> {
    let hidden = at_least(least);
    let mut outcomes = vec![(1.0 - hidden.0, 1.0 - hidden.1), at_least(most)];
    for value in least..most {
        let (here, next) = (at_least(value), at_least(value + 1));
        outcomes.push((here.0 - next.0, here.1 - next.1));
    }
    outcomes
}

/// The probabilities of all outcomes of a number that is always released, with Laplace noise.
fn said((one, other): (u64, u64), noise: &Noise) -> Vec<(f64, f64)> {
    let reaches = |number: u64, value: u64| tail(noise, value as i64 - number as i64);
    let least = one.min(other) + 1;
    outcomes(least, one.max(other).max(least), |value| (reaches(one, value), reaches(other, value)))
}

/// `Pr[X >= m]`.
fn tail(noise: &Noise, m: i64) -> f64 {
    match u64::try_from(m) {
        Ok(m) => noise.tail(m, BITS).approximate(),
        Err(_) => 1.0 - noise.tail(m.unsigned_abs() + 1, BITS).approximate(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frostpane::testing::{DiscreteLaplace, Epsilon};

    #[test]
    fn what_is_said_adds_up_to_one_and_loses_what_its_noise_allows() {
        let noise = DiscreteLaplace::new(3, Epsilon::new(1.0).unwrap()).into();
        for (one, other) in [(0, 0), (0, 1), (5, 2), (9, 20)] {
            let said = said((one, other), &noise);
            for sum in [said.iter().map(|said| said.0).sum::<f64>(), said.iter().map(|said| said.1).sum()] {
                assert!((sum - 1.0).abs() < 1e-12, "{one} {other}");
            }
            let loss = said.iter().map(|(p, q)| (p / q).ln().abs()).fold(0.0, f64::max);
            let most = one.abs_diff(other) as f64 / noise.scale();
            assert!((loss - most).abs() < 1e-9, "{one} {other}: {loss} {most}");
        }
    }

    #[test]
    fn neighbours_differ_in_one_event() {
        let mut pairs = 0;
        for (one, other) in neighbours() {
            let differ = (0..EVENTS).filter(|event| digit(one, *event) != digit(other, *event));
            assert_eq!(differ.count(), 1);
            pairs += 1;
        }
        assert_eq!(pairs, SYMBOLS.pow(EVENTS) * EVENTS as usize * (SYMBOLS - 1));
    }
}
