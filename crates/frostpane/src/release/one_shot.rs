#![doc = include_str!("one_shot.md")]

use std::borrow::Cow;
use std::cmp::Reverse;

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::fault::Mutant;
use crate::key::Key;
use crate::noise::{Entropy, Epsilon, Threshold};
use crate::pane::Pane;
use crate::release::by_sketch::BySketch;
use crate::release::continual::Continuity;
use crate::release::guarantee::{Guarantee, Promises};
use crate::release::norm::{Norm, NormEstimate};
use crate::release::slack::Slack;
use crate::release::sums::Sums;
use crate::release::terms::Terms;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::sum_of_squares;
use crate::timeline::{Covered, Policy};
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
    /// How much of it went into where panes end.
    pub boundaries_epsilon: f64,
    /// What is protected.
    pub unit: &'static str,
    /// How panes were kept.
    pub policy: Policy,
    /// What the counts were read from.
    pub estimator: Estimator,
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
    /// Whether the three promises hold for the window covered.
    pub promises: Promises,
    /// The window that was asked for, if it begins before.
    pub asked: Asked,
    /// How a list that is released at every slide is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continual: Option<Continuity>,
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

/// What a release says about the window that was asked for, which may begin before the one that it covers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asked {
    /// The first position, or instant, that was asked for.
    pub from: Option<Edge>,
    /// No key occurred more often in the part that is not covered; none if that was not measured, because
    /// its events have been in as many releases as they may.
    pub slack: Option<u64>,
    /// Whether the three promises hold for the window asked for.
    pub promises: Option<Promises>,
}

/// What counts are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// The counts that panes keep.
    Counts,
    /// The sketch of the window.
    Sketch,
}

/// A window in panes, and in the words of its release.
pub(crate) struct View<'a, K: Key> {
    pub covered: Option<Covered<'a, K>>,
    pub coverage: Coverage,
    /// The first position that was asked for.
    pub asked_from: Option<Edge>,
    /// How many events the window asked for has: at least, and at most.
    pub asked_events: [u64; 2],
    /// Whether the pane that the window begins within can pay for being measured.
    pub may_measure: bool,
}

/// Releases the heavy hitters of the covered panes.
pub(crate) fn release<K: Key>(
    terms: &Terms<K>,
    view: View<'_, K>,
    entropy: &mut impl Entropy,
) -> Result<Release<K>> {
    let panes = view.covered.as_ref().map_or(&[][..], |covered| &covered.panes);
    let events = view.coverage.events;
    let cut = panes.iter().map(|pane| pane.cut()).sum();
    let norm = measure_norm(terms, panes, events, terms.norm_epsilon(), entropy)?;
    let keys_with_noise = terms.keys_with_noise(panes.iter().map(|pane| (1, pane.events())));
    let by_counts = terms.by_counts(events, cut, norm, keys_with_noise);
    let by_sketch = BySketch::new(terms, norm).filter(|sketch| sketch.is_better_than(&by_counts));
    let (noisy, guarantee, estimator) = match by_sketch {
        Some(sketch) => (
            sketch.select(terms, panes, entropy)?,
            sketch.guarantee,
            Estimator::Sketch,
        ),
        None => {
            let listed = select(terms, panes, &terms.threshold(&norm), entropy)?;
            (listed, by_counts, Estimator::Counts)
        }
    };
    let asked = ask(terms, &view, guarantee, entropy)?;
    Ok(Findings {
        coverage: view.coverage,
        norm,
        guarantee,
        estimator,
        asked,
        asked_events: view.asked_events[1],
    }
    .publish(terms, noisy))
}

/// Everything that a release says but its list.
pub(crate) struct Findings {
    pub coverage: Coverage,
    pub norm: NormEstimate,
    pub guarantee: Guarantee,
    pub estimator: Estimator,
    pub asked: Asked,
    /// The most events that the window asked for can have.
    pub asked_events: u64,
}

impl Findings {
    /// The release, given the noisy counts that passed.
    pub fn publish<K: Key>(self, terms: &Terms<K>, mut noisy: Vec<(K, u64)>) -> Release<K> {
        if !terms.fault.is(Mutant::TableOrder) {
            noisy.sort_unstable_by(|(a, more), (b, less)| (Reverse(more), a).cmp(&(Reverse(less), b)));
        }
        let Guarantee { cut, threshold, .. } = self.guarantee;
        let statement = self.guarantee.state();
        let events = self.coverage.events;
        Release {
            version: env!("CARGO_PKG_VERSION"),
            norm: terms.norm,
            alpha: terms.alpha,
            epsilon: terms.epsilon.as_f64(),
            delta: terms.delta,
            boundaries_epsilon: terms.boundaries_epsilon().map_or(0.0, Epsilon::as_f64),
            unit: UNIT,
            policy: terms.policy,
            estimator: self.estimator,
            threshold,
            norm_estimate: self.norm.value.clamp(0, events as i64) as u64,
            cut,
            noise: statement.noise,
            confidence: terms.confidence,
            complete_above: statement.complete_above,
            nothing_below: statement.nothing_below,
            note: noisy
                .is_empty()
                .then(|| statement.why_empty(events, self.asked_events)),
            promises: statement.promises,
            asked: self.asked,
            heavy: noisy
                .into_iter()
                .map(|(key, noisy)| Heavy {
                    key,
                    count: noisy + cut / 2,
                    low: noisy.saturating_sub(statement.noise),
                    high: (noisy + cut).saturating_add(statement.noise),
                })
                .collect(),
            window: self.coverage,
            continual: None,
        }
    }
}

/// What can be said about the window that was asked for, given the guarantee of the one that is covered.
fn ask<K: Key>(
    terms: &Terms<K>,
    view: &View<'_, K>,
    guarantee: Guarantee,
    entropy: &mut impl Entropy,
) -> Result<Asked> {
    let straddling = view
        .covered
        .as_ref()
        .and_then(|covered| covered.straddling.as_deref());
    let slack = match straddling {
        None => Some(Slack::NONE),
        Some(pane) if view.may_measure => Some(Slack::measure(terms, pane, entropy)?),
        Some(_) => None,
    };
    let norm = guarantee.norm;
    let widened = |slack: Slack| match terms.norm {
        Norm::L1 => NormEstimate {
            low: view.asked_events[0] as f64,
            high: view.asked_events[1] as f64,
            ..norm
        },
        Norm::L2 => NormEstimate {
            high: norm.high + slack.norm,
            ..norm
        },
    };
    Ok(Asked {
        from: view.asked_from,
        slack: slack.map(|slack| slack.count),
        promises: slack.map(|slack| {
            let guarantee = Guarantee {
                slack: slack.count,
                norm: widened(slack),
                ..guarantee
            };
            guarantee.state().promises
        }),
    })
}

/// The norm of the window: of its events, of its counts where they are exact, or of its sketch.
pub(crate) fn measure_norm<K: Key>(
    terms: &Terms<K>,
    panes: &[Cow<'_, Pane<K>>],
    events: u64,
    epsilon: Epsilon,
    entropy: &mut impl Entropy,
) -> Result<NormEstimate> {
    if terms.norm == Norm::L1 {
        return Ok(NormEstimate::of_events(events));
    }
    let failure = terms.norm_failure();
    let cut: u64 = panes.iter().map(|pane| pane.cut()).sum();
    if let (Some(dimensions), true) = (terms.shape.sketch(), cut > 0) {
        let mut sketch = CountSketch::new(dimensions, terms.shape.seed());
        panes
            .iter()
            .for_each(|pane| pane.add_to(&mut sketch, &terms.shape));
        return NormEstimate::of_sketch(&sketch, dimensions, epsilon, failure, entropy);
    }
    let mut squares = 0;
    Sums::new(panes, terms).for_each_part(|part| {
        squares += sum_of_squares(part.iter().map(|(_, sum)| *sum));
        Ok(())
    })?;
    NormEstimate::of_exact_counts(squares, epsilon, failure, entropy)
}

/// What a release adds noise to: the same sums and the same norm, at an epsilon so large that its noise is
/// nothing.
#[cfg(feature = "audit")]
pub(crate) fn inside<K: Key>(terms: &Terms<K>, view: &View<'_, K>) -> Result<crate::audit::Inside<K>> {
    let panes = view.covered.as_ref().map_or(&[][..], |covered| &covered.panes);
    let mut counts = Vec::new();
    Sums::new(panes, terms).for_each_part(|part| {
        counts.extend(part.iter().map(|(key, sum)| (K::owned(*key), *sum)));
        Ok(())
    })?;
    let nothing = Epsilon::new(200.0)?;
    let entropy = &mut crate::noise::OsEntropy::new();
    let norm = measure_norm(terms, panes, view.coverage.events, nothing, entropy)?;
    let law = norm.noise(terms.norm_epsilon());
    Ok(crate::audit::Inside {
        counts,
        threshold: terms.floor(),
        norm: (terms.norm == Norm::L2).then_some((norm.value as u64, law)),
    })
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
    Sums::new(panes, terms).for_each_part(|part| {
        let selected = threshold.select(part.iter().copied(), entropy)?;
        passed.extend(selected.into_iter().map(|(key, noisy)| (K::owned(key), noisy)));
        if let Keys::Declared(universe) = &terms.keys {
            present.extend(part.iter().filter_map(|(key, _)| universe.rank(*key)));
        }
        Ok(())
    })?;
    if let Keys::Declared(universe) = &terms.keys
        && !terms.fault.is(Mutant::SilentAbsentKeys)
    {
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
