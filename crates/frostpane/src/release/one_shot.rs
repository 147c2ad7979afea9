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
    use std::collections::{BTreeMap, BTreeSet, HashMap};

    use super::*;
    use crate::noise::InsecureSeededEntropy;
    use crate::pane::PaneShape;
    use crate::release::by_hand::{
        CONFIDENCE, SEED, law, pane, quantile, reach, shape, sketch, terms, times,
    };
    use crate::sketch::count_sketch::Dimensions;

    const EPSILON: f64 = 0.5;
    const FAILURE: f64 = 1.0 - CONFIDENCE;

    type Event = Option<u64>;

    /// A window of these panes, which begins at position 3 of another one, if there is one.
    fn view<'a>(
        panes: Vec<Cow<'a, Pane<u64>>>,
        straddling: Option<Cow<'a, Pane<u64>>>,
        may_measure: bool,
    ) -> View<'a, u64> {
        let events = panes.iter().map(|pane| pane.events()).sum();
        let before = straddling.as_ref().map_or(0, |pane| pane.events());
        let [asked, from, to] = [before.min(3), before, before + events];
        View {
            covered: Some(Covered {
                since: asked as i64,
                from: from as i64,
                latest: to as i64 - 1,
                panes,
                straddling,
            }),
            coverage: Coverage {
                events,
                from: Some(Edge::Event(from)),
                to: Some(Edge::Event(to)),
            },
            asked_from: Some(Edge::Event(asked)),
            asked_events: [to - asked; 2],
            may_measure,
        }
    }

    /// Whether the promises hold, and at which of `0.1, 0.101, ..., 0.999`, from the numbers that they follow from.
    fn promised(
        release: &Release<u64>,
        norm: (i64, [f64; 2]),
        shortfall: u64,
        slack: u64,
    ) -> [Option<f64>; 2] {
        let (value, [low, high]) = norm;
        let holds = |thousandths: &u64| {
            let alpha = *thousandths as f64 / 1e3;
            let raised = (3 * u128::from(*thousandths) * value.max(0) as u128).div_ceil(4_000) as u64;
            let threshold = release.threshold.max(raised);
            (threshold + release.cut + slack + shortfall) as f64 <= alpha * low
                && threshold as f64 - release.noise as f64 > alpha / 2.0 * high
                && (release.noise + release.cut.div_ceil(2) + slack) as f64 <= alpha / 4.0 * low
        };
        let alpha = (100..1_000)
            .find(holds)
            .map(|thousandths| thousandths as f64 / 1e3);
        [alpha.filter(|alpha| *alpha == 0.1), alpha]
    }

    fn assert_promises(found: &Promises, [held, alpha]: [Option<f64>; 2]) {
        assert_eq!((found.held, found.alpha), (held.is_some(), alpha), "{found:?}");
        assert_eq!(found.reason.is_some(), !found.held);
    }

    /// Key 7 comes 11,000 times in two panes, and before them, in a pane that the window begins within, key 3 comes 400
    /// times and key 4 300 times. With an equal source of noise every number of the release is known: what is drawn, in
    /// which order and of which scale, and what follows.
    #[test]
    fn every_number_is_its_truth_with_its_own_noise() {
        let one_key = || Keys::list([7]).unwrap();
        let mut seen = BTreeSet::new();
        for (norm, entries, keys) in [
            (Norm::L1, 20_000, Keys::Open),
            (Norm::L1, 20_000, one_key()),
            (Norm::L1, 9, Keys::Open),
            (Norm::L1, 9, one_key()),
            (Norm::L2, 20_000, Keys::Open),
            (Norm::L2, 20_000, one_key()),
            (Norm::L2, 9, Keys::Open),
        ] {
            let shape = shape(entries, 1 << 12);
            let terms = terms(norm, EPSILON, keys.clone(), shape);
            let left_out: Vec<Event> = times(3, 400).chain(times(4, 300)).collect();
            let panes = || vec![pane(times(7, 6_000), shape), pane(times(7, 5_000), shape)];
            for seed in 0..15 {
                let mut entropy = InsecureSeededEntropy::new(seed);
                let view = view(panes(), Some(pane(left_out.clone(), shape)), true);
                let found = release(&terms, view, &mut entropy).unwrap();

                let mut again = InsecureSeededEntropy::new(seed);
                let mut draw =
                    |sensitivity, share: f64| law(sensitivity, share * EPSILON).sample(&mut again).unwrap();
                let [cut, cut_before]: [u64; 2] = match entries {
                    9 => [600 + 500, 70],
                    _ => [0, 0],
                };
                let error = |failure: f64| {
                    let dimensions = shape.sketch().unwrap();
                    dimensions.squared_error(failure * 2.0 / 3.0)
                };
                // The norm, and what it lies between.
                let (counts_share, counts_failure) = match norm {
                    Norm::L1 => (1.0, 0.9 * FAILURE),
                    Norm::L2 => (0.9, 0.6 * FAILURE),
                };
                let (value, bounds) = match (norm, cut) {
                    (Norm::L1, _) => (11_000, [11_000.0; 2]),
                    (Norm::L2, 0) => {
                        let value = 11_000 + draw(1, 0.1);
                        let spread = quantile(1.0, 0.1 * EPSILON, 1, 0.3 * FAILURE) as i64;
                        (value, [(value - spread) as f64, (value + spread + 1) as f64])
                    }
                    (Norm::L2, _) => {
                        let value = 11_000 + draw(2, 0.1);
                        let spread = quantile(2.0, 0.1 * EPSILON, 1, 0.1 * FAILURE) as i64;
                        let error = error(0.3 * FAILURE);
                        let low = (value - spread) as f64 / (1.0 + error).sqrt();
                        (value, [low, (value + spread + 1) as f64 / (1.0 - error).sqrt()])
                    }
                };
                // Three quarters of a tenth of it, rounded up.
                let threshold = (3 * value as u64).div_ceil(40);
                let (with_noise, frequent) = match keys {
                    Keys::Open if cut > 0 => (9 + 9, 11_000 / (threshold + cut)),
                    Keys::Open => (11_000, 11_000 / threshold),
                    Keys::Declared(_) => (1, 1),
                };
                let noise = quantile(2.0, counts_share * EPSILON, with_noise, counts_failure / 2.0);
                let shortfall = reach(
                    2.0,
                    counts_share * EPSILON,
                    counts_failure / 2.0 / frequent as f64,
                ) - 1;
                let noisy = (11_000 - cut as i64 + draw(2, counts_share)) as u64;
                // What is left out: the largest count, and the norm.
                let share = if norm == Norm::L1 { 1.0 } else { 0.5 };
                let failure = 0.05 * FAILURE;
                let largest = 400 - cut_before as i64 + draw(1, share);
                let slack = largest + quantile(1.0, share * EPSILON, 1, failure) as i64 + cut_before as i64;
                let norm_before = match (norm, cut_before) {
                    (Norm::L1, _) => 0.0,
                    (Norm::L2, 0) => {
                        (501 + draw(1, 0.5)) as f64 + quantile(1.0, 0.5 * EPSILON, 1, failure) as f64
                    }
                    (Norm::L2, _) => {
                        let spread = quantile(2.0, 0.5 * EPSILON, 1, failure / 3.0) as f64;
                        ((501 + draw(2, 0.5)) as f64 + spread) / (1.0 - error(failure)).sqrt()
                    }
                };
                assert_eq!(
                    entropy.word().unwrap(),
                    again.word().unwrap(),
                    "more or less was drawn"
                );

                assert_eq!(found.estimator, Estimator::Counts);
                assert_eq!((found.threshold, found.cut, found.noise), (threshold, cut, noise));
                assert_eq!(found.norm_estimate, (value as u64).min(11_000));
                assert_eq!(found.complete_above, threshold + cut + shortfall);
                assert_eq!(found.nothing_below, threshold - noise);
                let heavy = Heavy {
                    key: 7,
                    count: noisy + cut / 2,
                    low: noisy - noise,
                    high: noisy + cut + noise,
                };
                assert_eq!(found.heavy, [heavy]);
                assert_eq!(found.note, None);
                assert_eq!(found.asked.slack, Some(slack as u64));
                assert_promises(&found.promises, promised(&found, (value, bounds), shortfall, 0));
                let asked_bounds = match norm {
                    Norm::L1 => [11_697.0; 2],
                    Norm::L2 => [bounds[0], bounds[1] + norm_before],
                };
                let asked = promised(&found, (value, asked_bounds), shortfall, slack as u64);
                assert_promises(found.asked.promises.as_ref().unwrap(), asked);
                seen.insert((
                    found.promises.held,
                    found.promises.alpha.is_some(),
                    asked[1].is_some(),
                ));

                let declared = matches!(keys, Keys::Declared(_));
                assert_eq!(found.delta, if declared { 0.0 } else { 1e-6 });
                assert_eq!((found.norm, found.alpha, found.epsilon), (norm, 0.1, EPSILON));
                assert_eq!((found.confidence, found.boundaries_epsilon), (0.95, 0.0));
                assert_eq!(
                    (found.policy, found.unit),
                    (Policy::Uniform, "the key of one event")
                );
                assert_eq!(found.window.events, 11_000);
                assert_eq!(found.window.from, Some(Edge::Event(700)));
                assert_eq!(found.window.to, Some(Edge::Event(11_700)));
                assert_eq!(found.asked.from, Some(Edge::Event(3)));
                assert!(found.continual.is_none());
            }
        }
        assert!(seen.len() > 1, "promises were kept, and not: {seen:?}");
    }

    /// Not measured, no word about the window that was asked for and no noise drawn for it; nor where it is the one
    /// covered, of which all is said.
    #[test]
    fn a_pane_that_cannot_pay_is_not_measured() {
        for norm in [Norm::L1, Norm::L2] {
            let shape = shape(2_000, 64);
            let terms = terms(norm, EPSILON, Keys::Open, shape);
            let released = |straddling: Option<Cow<'static, Pane<u64>>>, may_measure| {
                let mut entropy = InsecureSeededEntropy::new(5);
                let view = view(vec![pane(times(7, 1_000), shape)], straddling, may_measure);
                let release = release(&terms, view, &mut entropy).unwrap();
                (release, entropy.word().unwrap())
            };
            let before = || Some(pane(times(3, 400), shape));
            let (plain, after) = released(None, false);
            assert_eq!(plain.asked.slack, Some(0));
            assert_eq!(plain.asked.promises.as_ref(), Some(&plain.promises));
            let (unmeasured, after_unmeasured) = released(before(), false);
            assert_eq!((unmeasured.asked.slack, unmeasured.asked.promises), (None, None));
            assert_eq!(after_unmeasured, after);
            let (measured, after_measured) = released(before(), true);
            assert!(measured.asked.slack.is_some() && measured.asked.promises.is_some());
            assert_ne!(after_measured, after);
            assert_eq!(unmeasured.heavy, measured.heavy);
        }
    }

    /// What noise is added to, of a window of three panes that begins within the first: the norm, the counts, and of
    /// what is left out the largest count and the norm.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Inside {
        norm: u64,
        counts: BTreeMap<u64, u64>,
        largest: u64,
        norm_before: u64,
    }

    fn inside(stream: &[Event], shape: PaneShape) -> Inside {
        let norm_of = |events: &[Event], exact: bool| match exact {
            true => {
                let counts =
                    (0..2).map(|key| events.iter().filter(|event| **event == Some(key)).count() as u64);
                sum_of_squares(counts).isqrt() as u64
            }
            false => sketch(events.iter().copied(), shape.sketch().unwrap()).norm(),
        };
        let parts = [&stream[..2], &stream[2..4], &stream[4..]];
        let [before, panes @ ..] = parts.map(|events| pane(events.iter().copied(), shape));
        let mut counts = BTreeMap::new();
        for (key, count) in panes.iter().flat_map(|pane| pane.counts().iter()) {
            *counts.entry(key).or_insert(0) += count;
        }
        Inside {
            norm: norm_of(&stream[2..], panes.iter().all(|pane| pane.cut() == 0)),
            counts,
            largest: before.counts().iter().map(|(_, count)| count).max().unwrap_or(0),
            norm_before: norm_of(parts[0], before.cut() == 0),
        }
    }

    /// Without noise, of all streams of five events over two keys or none. Neighbours differ in what noise is added to by
    /// no more than the noise is made for. And a release is a function of that: streams that agree in it, of which the
    /// first few and the last are compared, give the same release in every number and word.
    #[test]
    fn a_release_says_nothing_but_what_noise_was_added_to() {
        const SIZE: usize = 3;
        let alphabet: [Event; SIZE] = [None, Some(0), Some(1)];
        let streams: Vec<Vec<Event>> = (0..SIZE.pow(5))
            .map(|number| {
                (0..5)
                    .map(|digit| alphabet[number / SIZE.pow(digit) % SIZE])
                    .collect()
            })
            .collect();
        let declared = || Keys::range(0..2).unwrap();
        for (norm, entries, keys) in [
            (Norm::L1, 1, Keys::Open),
            (Norm::L1, 9, declared()),
            (Norm::L2, 1, Keys::Open),
            (Norm::L2, 1, declared()),
            (Norm::L2, 9, declared()),
        ] {
            let shape = shape(entries, 4);
            let insides: Vec<Inside> = streams.iter().map(|stream| inside(stream, shape)).collect();
            let steps = (0..5).flat_map(|digit| (0..SIZE).map(move |other| (SIZE.pow(digit), other)));
            for (number, (place, other)) in
                (0..streams.len()).flat_map(|n| steps.clone().map(move |s| (n, s)))
            {
                let neighbour = number - number / place % SIZE * place + other * place;
                let in_window = u64::from(place >= SIZE.pow(2));
                assert_neighbours(&insides[number], &insides[neighbour], in_window, entries == 9);
            }
            let terms = Terms {
                alpha: 0.7,
                ..terms(norm, 1_000.0, keys, shape)
            };
            let mut alike: HashMap<Inside, Vec<&Vec<Event>>> = HashMap::new();
            for (stream, inside) in streams.iter().zip(insides) {
                let inside = match norm {
                    Norm::L1 => Inside {
                        norm: 0,
                        norm_before: 0,
                        ..inside
                    },
                    Norm::L2 => inside,
                };
                alike.entry(inside).or_default().push(stream);
            }
            for (inside, streams) in alike {
                let said = |stream: &[Event]| {
                    let panes =
                        [&stream[2..4], &stream[4..]].map(|events| pane(events.iter().copied(), shape));
                    let before = pane(stream[..2].iter().copied(), shape);
                    let view = view(panes.to_vec(), Some(before), true);
                    release(&terms, view, &mut InsecureSeededEntropy::new(1)).unwrap()
                };
                let expected = said(streams[0]);
                let last = streams.len() - 1;
                for other in [1, 2, last] {
                    let other = streams[other.min(last)];
                    assert_eq!(said(other), expected, "{inside:?}: {other:?}");
                }
            }
        }
    }

    /// At most one count is higher by 1 and at most one lower, a norm moves by 1 or, by a sketch, by 2, and only where
    /// the event is.
    fn assert_neighbours(one: &Inside, two: &Inside, in_window: u64, exact: bool) {
        let most = if exact { 1 } else { 2 };
        assert!(one.norm.abs_diff(two.norm) <= most * in_window, "{one:?} {two:?}");
        assert!(one.norm_before.abs_diff(two.norm_before) <= most * (1 - in_window));
        assert!(one.largest.abs_diff(two.largest) <= 1 - in_window);
        let [first, second] = [0, 1].map(|key| {
            let [a, b] = [one, two].map(|inside| inside.counts.get(&key).copied().unwrap_or(0) as i64);
            a - b
        });
        let most = in_window as i64;
        assert!(first.abs() <= most && second.abs() <= most && (first + second).abs() <= most);
    }

    /// Two streams of a thousand events whose norms are alike: of one all counts are cut, of the other one is left. Which
    /// estimator is taken, and everything that is said about it, follows from the noisy norm and public numbers.
    #[test]
    fn the_estimator_follows_from_the_noisy_norm_and_not_from_what_panes_keep() {
        // A cut of 90 leaves nothing of 100 keys, and one of 4 nothing of 250.
        for (entries, often, peak, expected) in
            [(10, 10, 95, Estimator::Sketch), (200, 4, 55, Estimator::Counts)]
        {
            let flat = (0..1_000)
                .map(|event| Some(event / often))
                .collect::<Vec<Event>>();
            let peaked = times(0, peak)
                .chain((peak as u64..1_000).map(Some))
                .collect::<Vec<Event>>();
            let dimensions = Dimensions {
                rows: 3,
                width: 1 << 14,
            };
            let shape = PaneShape::new(entries, 1_000, Some(dimensions), SEED).unwrap();
            let terms = Terms {
                alpha: 0.5,
                ..terms(Norm::L2, 20.0, Keys::range(0..1_000).unwrap(), shape)
            };
            let streams = [flat, peaked].map(|stream| pane(stream, shape));
            assert_eq!([0, 1].map(|number| streams[number].counts().len()), [0, 1]);
            let mut said: HashMap<u64, [Vec<String>; 2]> = HashMap::new();
            for (seed, number) in (0..6).flat_map(|seed| [(seed, 0), (seed, 1)]) {
                let view = view(vec![streams[number].clone()], None, true);
                let mut found = release(&terms, view, &mut InsecureSeededEntropy::new(seed)).unwrap();
                assert_eq!(found.estimator, expected);
                found.heavy.clear();
                found.note = None;
                said.entry(found.norm_estimate).or_default()[number].push(format!("{found:?}"));
            }
            assert!(
                said.values()
                    .any(|[flat, peaked]| !flat.is_empty() && !peaked.is_empty())
            );
            for same_norm in said.values() {
                let mut all = same_norm.iter().flatten();
                let first = all.next();
                assert!(all.all(|other| Some(other) == first), "{same_norm:?}");
            }
        }
    }

    /// 30,000 of 40,000 declared keys are present, too many for one table, and noise alone passes the threshold: each
    /// key is listed once at the most, those that are present as often as noise lets them, and so are those that are not.
    #[test]
    fn declared_keys_have_one_noise_each_however_many_parts_there_are() {
        let shape = PaneShape::new(1 << 20, 0, None, 5).unwrap();
        let terms = Terms {
            alpha: 1e-9,
            ..terms(Norm::L1, 1.0, Keys::range(0..40_000).unwrap(), shape)
        };
        let panes = vec![pane((0..30_000).map(Some), shape)];
        let entropy = &mut InsecureSeededEntropy::new(8);
        let mut parts = 0;
        Sums::new(&panes, &terms)
            .for_each_part(|_| {
                parts += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(parts, 2);
        let listed = select(&terms, &panes, &terms.floor(), entropy).unwrap();
        let mut keys: Vec<u64> = listed.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        assert!(keys.is_sorted_by(|a, b| a < b), "a key is listed twice");
        let present = keys.partition_point(|key| *key < 30_000);
        // Pr[noise >= 0] = 1/(1+p) and Pr[noise >= 1] = p/(1+p), with p = exp(-1/2): within 6 standard deviations.
        let p = (-0.5_f64).exp();
        for (found, keys, chance) in [
            (present, 30_000.0, 1.0 / (1.0 + p)),
            (keys.len() - present, 10_000.0, p / (1.0 + p)),
        ] {
            let spread = 6.0 * (keys * chance * (1.0 - chance)).sqrt();
            assert!((found as f64 - keys * chance).abs() < spread, "{found} of {keys}");
        }
    }

    #[test]
    fn absent_keys_are_numbered_past_the_present_ones() {
        let taken = [0, 1, 4, 9];
        let absent: Vec<u64> = (0..6).map(|number| nth_absent(&taken, number)).collect();
        assert_eq!(absent, [2, 3, 5, 6, 7, 8]);
        assert_eq!(nth_absent(&[], 7), 7);
    }
}
