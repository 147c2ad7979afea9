#![doc = include_str!("continual.md")]

use std::borrow::Cow;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::key::Key;
use crate::noise::node_key::{KeyedEntropy, Purpose};
use crate::noise::threshold::MOST_EXPECTED_FROM_NOISE;
use crate::noise::{DiscreteLaplace, Epsilon, Inversion, NodeKey, Nodes, NoiseSum, Tree, WindowNodes};
use crate::pane::Pane;
use crate::release::alternatives::Alternatives;
use crate::release::guarantee::{Guarantee, Reach};
use crate::release::norm::{Norm, NormEstimate, three_quarters};
use crate::release::one_shot::{Asked, Coverage, Edge, Estimator, Findings, Release, measure_norm};
use crate::release::sums::Sums;
use crate::release::terms::Terms;
use crate::universe::{Keys, Universe};

/// Every key of the universe is evaluated at every slide, so it must not be larger than this.
pub const LARGEST_UNIVERSE: u64 = 1 << 24;
/// For L2, one part in four of epsilon is for the norms, the rest for the counts.
const NORM_PARTS: u64 = 1;
const PARTS: u64 = 4;

/// How a list that is released at every slide is made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Continuity {
    /// How many panes the window has.
    pub panes: u64,
    /// In how many nodes, each with noise of its own, a pane is: itself, the group that it is in, and so on.
    pub levels: u32,
    /// The most noise values that a count of a window has in it.
    pub nodes: u64,
    /// The scale of each of them.
    pub scale: f64,
    /// The standard deviation of their sum.
    pub deviation: f64,
    /// Over how many releases the statements hold together.
    pub horizon: u64,
    /// The most memory that it takes, in bytes.
    pub memory: u64,
    /// What the other ways to do it would have come to.
    pub reason: String,
}

/// What all releases of a sequence have in common.
pub(crate) struct Sequence<K: Key> {
    /// With the confidence of a single release.
    terms: Terms<K>,
    /// That of the whole sequence.
    confidence: f64,
    panes: u64,
    tree: Tree,
    continuity: Continuity,
    sampler: Inversion,
    sum: NoiseSum,
    floor: u64,
    /// For open keys: noise never lifts a count by this much, but for a part of delta.
    lift: Option<u64>,
}

impl<K: Key> Sequence<K> {
    /// A sequence of windows of so many panes, each of at most so many events if that is known, in so much
    /// memory.
    pub fn new(
        terms: Terms<K>,
        panes: u64,
        longest_pane: Option<u64>,
        horizon: u64,
        memory: u64,
    ) -> Result<Self> {
        let confidence = terms.confidence;
        // Each release has its share of the chance of an untrue statement.
        let terms = Terms {
            confidence: 1.0 - (1.0 - confidence) / horizon as f64,
            ..terms
        };
        let tree = Tree::for_window(panes);
        let nodes = tree.most_nodes(panes);
        let law = DiscreteLaplace::new(2 * tree.levels(), counts_epsilon(&terms));
        let sum = NoiseSum::new(law, nodes);
        let (floor, lift) = match &terms.keys {
            Keys::Open => {
                let entries = terms.shape.most_entries(longest_pane.unwrap_or(u64::MAX));
                let live = (2 * panes - 1).saturating_mul(entries);
                let windows = panes.max(horizon);
                let lift = sum.reach(terms.delta / 2.0 / ((live as f64 + 1.0) * windows as f64));
                (1 + lift, Some(lift))
            }
            Keys::Declared(universe) if universe.size() > LARGEST_UNIVERSE => {
                return Err(Error::parameter(format!(
                    "{} keys are declared, but a list that is released at every slide evaluates each of them and can have at most \
                     {LARGEST_UNIVERSE}: declare fewer, or leave the keys open",
                    universe.size()
                )));
            }
            Keys::Declared(universe) => {
                let chance = MOST_EXPECTED_FROM_NOISE as f64 / universe.size() as f64;
                (sum.reach(chance).max(1), None)
            }
        };
        let deviation = sum.variance().sqrt();
        Ok(Self {
            sampler: Inversion::new(law),
            continuity: Continuity {
                panes,
                levels: tree.levels(),
                nodes,
                scale: law.scale(),
                deviation,
                horizon,
                memory,
                reason: Alternatives::new(panes, counts_epsilon(&terms), terms.delta)
                    .compare(tree, deviation),
            },
            terms,
            confidence,
            panes,
            tree,
            sum,
            floor,
            lift,
        })
    }

    pub fn terms(&self) -> &Terms<K> {
        &self.terms
    }

    /// Of each noise value.
    #[cfg(test)]
    pub fn scale(&self) -> f64 {
        self.continuity.scale
    }

    /// For the secrets of the nodes.
    pub fn nodes(&self) -> Nodes {
        Nodes::new(self.tree, self.panes)
    }

    /// The release of a window, given its panes and its nodes: the same whenever it is asked for.
    pub fn release(
        &self,
        panes: &[Cow<'_, Pane<K>>],
        nodes: &WindowNodes<'_>,
        coverage: Coverage,
        asked_from: Option<Edge>,
    ) -> Result<Release<K>> {
        let events = coverage.events;
        let norm = measure_norm(
            &self.terms,
            panes,
            events,
            self.norm_epsilon(),
            &mut nodes.latest.entropy(Purpose::Norm),
        )?;
        let guarantee = self.guarantee(panes, norm, events);
        let noisy = match &self.terms.keys {
            Keys::Open => self.select_open(panes, &nodes.cover, guarantee.threshold)?,
            Keys::Declared(universe) => {
                self.select_declared(universe.as_ref(), panes, &nodes.cover, guarantee.threshold)?
            }
        };
        let findings = Findings {
            coverage,
            norm,
            guarantee,
            estimator: Estimator::Counts,
            asked_events: events,
            asked: Asked {
                from: asked_from,
                slack: Some(0),
                promises: Some(guarantee.state().promises),
            },
        };
        Ok(Release {
            confidence: self.confidence,
            continual: Some(self.continuity.clone()),
            ..findings.publish(&self.terms, noisy)
        })
    }

    /// What each norm may spend: an event is in as many windows as a window has panes.
    fn norm_epsilon(&self) -> Epsilon {
        self.terms.epsilon.share(NORM_PARTS, PARTS * self.panes)
    }

    fn guarantee(&self, panes: &[Cow<'_, Pane<K>>], norm: NormEstimate, events: u64) -> Guarantee {
        let cut: u64 = panes.iter().map(|pane| pane.cut()).sum();
        let threshold = self.floor.max(three_quarters(self.terms.alpha, norm.value));
        let keys = self
            .terms
            .keys_with_noise(panes.iter().map(|pane| (1, pane.events())));
        let half = self.terms.counts_failure() / 2.0;
        let noise = self.sum.quantile(keys, half);
        let frequent = (events / (threshold + cut)).min(keys).max(1);
        let shortfall = self.sum.reach(half / frequent as f64).saturating_sub(1);
        Guarantee {
            alpha: self.terms.alpha,
            cut,
            slack: 0,
            norm,
            threshold,
            floor: self.floor,
            reach: Reach {
                noise,
                shortfall: shortfall.min(noise),
            },
        }
    }

    /// The keys that occur and pass, with their noisy counts.
    fn select_open(
        &self,
        panes: &[Cow<'_, Pane<K>>],
        nodes: &[&NodeKey],
        threshold: u64,
    ) -> Result<Vec<(K, u64)>> {
        let mut passed = Vec::new();
        let mut encoding = Vec::new();
        let least = threshold.saturating_sub(self.lift.unwrap_or(threshold));
        Sums::new(panes, self.terms.shape.seed()).for_each_part(|part| {
            for (key, count) in part.iter().filter(|(_, count)| *count >= least) {
                encoding.clear();
                K::pack(*key, &mut encoding);
                let mut noisy = *count as i64;
                for node in nodes {
                    noisy += node.noise(&encoding, &self.sampler)?;
                }
                if noisy >= threshold as i64 {
                    passed.push((K::owned(*key), noisy as u64));
                }
            }
            Ok(())
        })?;
        Ok(passed)
    }

    /// All keys of the universe that pass, with their noisy counts.
    fn select_declared(
        &self,
        universe: &dyn Universe<K>,
        panes: &[Cow<'_, Pane<K>>],
        nodes: &[&NodeKey],
        threshold: u64,
    ) -> Result<Vec<(K, u64)>> {
        let mut present = Vec::new();
        Sums::new(panes, self.terms.shape.seed()).for_each_part(|part| {
            present.extend(
                part.iter()
                    .filter_map(|(key, count)| Some((universe.rank(*key)?, *count))),
            );
            Ok(())
        })?;
        present.sort_unstable();
        let mut present = present.into_iter().peekable();
        let mut streams: Vec<KeyedEntropy> = nodes.iter().map(|node| node.entropy(Purpose::Counts)).collect();
        let mut passed = Vec::new();
        for rank in 0..universe.size() {
            let count = present
                .next_if(|(at, _)| *at == rank)
                .map_or(0, |(_, count)| count);
            let mut noisy = count as i64;
            for stream in &mut streams {
                noisy += self.sampler.sample(stream)?;
            }
            if noisy >= threshold as i64 {
                passed.push((universe.key(rank), noisy as u64));
            }
        }
        Ok(passed)
    }
}

fn counts_epsilon<K: Key>(terms: &Terms<K>) -> Epsilon {
    match terms.norm {
        Norm::L1 => terms.epsilon,
        Norm::L2 => terms.epsilon.share(PARTS - NORM_PARTS, PARTS),
    }
}
