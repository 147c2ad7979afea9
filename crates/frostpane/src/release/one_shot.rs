#![doc = include_str!("one_shot.md")]

use std::borrow::Cow;
use std::cmp::Reverse;

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::key::Key;
use crate::noise::{Entropy, Threshold};
use crate::pane::Pane;
use crate::release::guarantee::Promises;
use crate::release::norm::{Norm, NormEstimate};
use crate::release::sums::Sums;
use crate::release::terms::Terms;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::sum_of_squares;
use crate::timeline::uniform::Covered;
use crate::universe::Keys;

/// What the privacy of a release protects.
pub const UNIT: &str = "the key of one event";

/// A private list of heavy hitters and how far it can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
pub struct Release<K: Key> {
    /// Version of the program that made it.
    pub version: &'static str,
    /// What heavy is relative to.
    pub norm: Norm,
    /// A key is heavy from this share of the norm on.
    pub alpha: f64,
    /// The privacy loss of this release.
    pub epsilon: f64,
    /// The chance with which it may be larger; 0 for declared keys.
    pub delta: f64,
    /// What is protected.
    pub unit: &'static str,
    /// Which events were covered.
    pub window: Coverage,
    /// The least noisy count that is listed.
    pub threshold: u64,
    /// The norm: exact and public for L1, noisy for L2.
    pub norm_estimate: u64,
    /// How much of each count may be missing because memory is bounded.
    pub cut: u64,
    /// How far the noise of any key may reach.
    pub noise: u64,
    /// With at least this probability everything stated here holds together.
    pub confidence: f64,
    /// Every key with at least this count is listed.
    pub complete_above: u64,
    /// No key with a count below this is listed.
    pub nothing_below: u64,
    /// Whether the three promises hold.
    pub promises: Promises,
    /// The heavy hitters, by falling count, then by key.
    pub heavy: Vec<Heavy<K>>,
    /// Why the list is empty, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The events that a release is about: those between its ends that had arrived, in time to be counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// How many.
    pub events: u64,
    /// The first position, or instant.
    pub from: Option<Edge>,
    /// The first that is not covered any more.
    pub to: Option<Edge>,
}

/// An end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Edge {
    /// The number of an event, from 0.
    Event(u64),
    /// A moment, shown as RFC 3339.
    Instant(Timestamp),
}

/// A listed key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
pub struct Heavy<K: Key> {
    /// The key.
    #[serde(serialize_with = "show")]
    pub key: K,
    /// The estimate: the middle of the interval, before its lower end is brought up to 0.
    pub count: u64,
    /// The count is at least this.
    pub low: u64,
    /// And at most this.
    pub high: u64,
}

fn show<K: Key, S: serde::Serializer>(key: &K, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    key.shown().serialize(serializer)
}

/// Releases the heavy hitters of the covered panes.
pub(crate) fn release<K: Key>(
    terms: &Terms<K>,
    covered: Option<&Covered<'_, K>>,
    coverage: Coverage,
    entropy: &mut impl Entropy,
) -> Result<Release<K>> {
    let panes = covered.map_or(&[][..], |covered| &covered.panes);
    let cut = panes.iter().map(|pane| pane.cut()).sum();
    let norm = measure_norm(terms, panes, cut, coverage.events, entropy)?;
    let threshold = terms.threshold(&norm);
    let mut noisy = select(terms, panes, &threshold, entropy)?;
    noisy.sort_unstable_by(|(a, more), (b, less)| (Reverse(more), a).cmp(&(Reverse(less), b)));

    let keys_with_noise = terms.keys_with_noise(panes.iter().map(|pane| (1, pane.events())));
    let guarantee = terms
        .guarantee(coverage.events, cut, norm, keys_with_noise)
        .state();
    Ok(Release {
        version: env!("CARGO_PKG_VERSION"),
        norm: terms.norm,
        alpha: terms.alpha,
        epsilon: terms.epsilon.as_f64(),
        delta: terms.delta,
        unit: UNIT,
        threshold: threshold.value(),
        norm_estimate: norm.value.clamp(0, coverage.events as i64) as u64,
        cut,
        noise: guarantee.noise,
        confidence: terms.confidence,
        complete_above: guarantee.complete_above,
        nothing_below: guarantee.nothing_below,
        note: noisy.is_empty().then(|| guarantee.why_empty(coverage.events)),
        promises: guarantee.promises,
        heavy: noisy
            .into_iter()
            .map(|(key, noisy)| Heavy {
                key,
                count: noisy + cut / 2,
                low: noisy.saturating_sub(guarantee.noise),
                high: noisy + guarantee.noise + cut,
            })
            .collect(),
        window: coverage,
    })
}

/// The norm of the window: of its events, of its counts where they are exact, or of its sketch.
fn measure_norm<K: Key>(
    terms: &Terms<K>,
    panes: &[Cow<'_, Pane<K>>],
    cut: u64,
    events: u64,
    entropy: &mut impl Entropy,
) -> Result<NormEstimate> {
    if terms.norm == Norm::L1 {
        return Ok(NormEstimate::of_events(events));
    }
    let (epsilon, failure) = (terms.norm_epsilon(), terms.norm_failure());
    if let (Some(dimensions), true) = (terms.shape.sketch(), cut > 0) {
        let mut sketch = CountSketch::new(dimensions, terms.shape.seed());
        panes
            .iter()
            .for_each(|pane| pane.add_to(&mut sketch, &terms.shape));
        return NormEstimate::of_sketch(&sketch, dimensions, epsilon, failure, entropy);
    }
    let mut squares = 0;
    Sums::new(panes, terms.shape.seed()).for_each_part(|part| {
        squares += sum_of_squares(part.iter().map(|(_, sum)| *sum));
        Ok(())
    })?;
    NormEstimate::of_exact_counts(squares, epsilon, failure, entropy)
}

/// The keys that pass the threshold, with their noisy counts, in no order.
fn select<K: Key>(
    terms: &Terms<K>,
    panes: &[Cow<'_, Pane<K>>],
    threshold: &Threshold,
    entropy: &mut impl Entropy,
) -> Result<Vec<(K, u64)>> {
    let mut passed = Vec::new();
    let mut present = Vec::new();
    Sums::new(panes, terms.shape.seed()).for_each_part(|part| {
        let selected = threshold.select(part.iter().copied(), entropy)?;
        passed.extend(selected.into_iter().map(|(key, noisy)| (K::owned(key), noisy)));
        if let Keys::Declared(universe) = &terms.keys {
            present.extend(part.iter().filter_map(|(key, _)| universe.rank(*key)));
        }
        Ok(())
    })?;
    if let Keys::Declared(universe) = &terms.keys {
        present.sort_unstable();
        let absent = universe.size() - present.len() as u64;
        for (number, noisy) in threshold.select_absent(absent, entropy)? {
            passed.push((universe.key(nth_absent(&present, number)), noisy));
        }
    }
    Ok(passed)
}

/// The `number`-th integer, from 0, that is not in a sorted list.
fn nth_absent(taken: &[u64], number: u64) -> u64 {
    let (mut low, mut high) = (0, taken.len());
    while low < high {
        let middle = (low + high) / 2;
        if taken[middle] - middle as u64 <= number {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    number + low as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_keys_are_numbered_past_the_present_ones() {
        let taken = [0, 1, 4, 9];
        let absent: Vec<u64> = (0..6).map(|number| nth_absent(&taken, number)).collect();
        assert_eq!(absent, [2, 3, 5, 6, 7, 8]);
        assert_eq!(nth_absent(&[], 7), 7);
    }
}
