//! What is published.

use serde::{Serialize, Serializer};

use crate::budget::{Cost, Delta, Epsilon};
use crate::key::Key;
use crate::release::guarantee::Promises;
use crate::release::note::Note;
use crate::release::sequence::Continuity;
use crate::spec::{Bounds, Edge, Norm, Policy, Unit};

/// A private list of heavy hitters and how far it can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Release<K: Key> {
    /// Version of the program that made it.
    pub version: &'static str,
    /// What heavy is relative to.
    pub norm: Norm,
    /// A key is heavy from this share of the norm on, if heavy keys are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// At most so many keys are listed, those with the highest counts, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<u64>,
    /// The privacy loss of this release.
    pub epsilon: f64,
    /// The chance with which it may be larger; 0 for declared keys.
    pub delta: f64,
    /// How much of it went into where panes end.
    pub boundaries_epsilon: f64,
    /// What is protected.
    #[serde(flatten, serialize_with = "with_bounds")]
    pub unit: Unit,
    /// How panes were kept.
    pub policy: Policy,
    /// What the counts were read from.
    pub estimator: Estimator,
    /// Which events were covered.
    pub window: Coverage,
    /// The least count that is listed.
    pub threshold: u64,
    /// The norm: exact and public for L1, noisy for L2.
    pub norm_estimate: u64,
    /// How much of each count may be missing because memory is bounded.
    pub cut: u64,
    /// How far the noise of a listed key may reach, at the most: each has its own `low` and `high`.
    pub noise: u64,
    /// The standard deviation of the noise of a count; none where counts are read from a sketch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// With at least this probability everything stated here holds together.
    pub confidence: f64,
    /// Every key with at least this count is listed.
    pub complete_above: u64,
    /// No key with a count below this is listed.
    pub nothing_below: u64,
    /// Whether the three promises hold for the window covered, if heavy keys are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<Promises>,
    /// The window that was asked for, if it begins before.
    pub asked: Asked,
    /// How a list that is released at every slide is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continual: Option<Continuity>,
    /// The heavy hitters, by falling count, then by key.
    pub heavy: Vec<Heavy<K>>,
    /// Why the list is empty, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

impl<K: Key> Release<K> {
    /// Whether the three promises are made, and hold for the window covered.
    pub fn held(&self) -> bool {
        self.promises.as_ref().is_some_and(|promises| promises.held)
    }
}

/// The events that a release is about: those between its ends that had arrived, in time to be counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// How many. Where people are protected: how many were counted of those that their bounds allow, with noise.
    pub events: u64,
    /// Where that has noise: at least and at most so many, with the confidence of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[u64; 2]>,
    /// The first position, or instant.
    pub from: Option<Edge>,
    /// The first that is not covered any more.
    pub to: Option<Edge>,
    /// How many more lie between its ends, but came too late to be counted: what is said holds without them.
    #[serde(skip_serializing_if = "is_none")]
    pub missed: u64,
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

/// A listed key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
pub struct Heavy<K: Key> {
    /// The key.
    #[serde(serialize_with = "show")]
    pub key: K,
    /// The estimate: the noisy count, and what may have been cut off.
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

/// The unit in words and, where people are protected, what each of them may contribute, as numbers.
fn with_bounds<S: Serializer>(unit: &Unit, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Protected {
        unit: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        bounds: Option<Bounds>,
    }
    let protected = Protected {
        unit: unit.to_string(),
        bounds: unit.bounds(),
    };
    protected.serialize(serializer)
}

impl Cost {
    /// Of releases of one stream, for an event that is in all of them. Those of a list at every slide, however many, cost what one
    /// of them says.
    pub fn of<'a, K: Key>(releases: impl IntoIterator<Item = &'a Release<K>>) -> Self {
        let (mut each, mut sequence, mut private_boundaries) = (Vec::new(), None, false);
        for release in releases {
            private_boundaries |= release.policy == Policy::Smooth;
            let cost = Epsilon::new(release.epsilon).map(|epsilon| (epsilon, Delta::new(release.delta)));
            match release.continual {
                None => each.extend(cost),
                Some(_) => sequence = cost.ok(),
            }
        }
        each.extend(sequence);
        Self::of_releases(&each, private_boundaries)
    }
}
