//! Releases.

use serde::{Serialize, Serializer};

use crate::key::Key;
use crate::privacy::{Cost, Delta, Epsilon};
use crate::release::continual::ContinualInfo;
use crate::release::guarantee::Promises;
use crate::release::note::Note;
use crate::spec::{Bounds, Edge, Norm, Policy, Unit};

/// A private list of heavy hitters, with statements about its accuracy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Release<K: Key> {
    /// Version of the library that made it.
    pub version: &'static str,
    /// The norm that frequency is relative to.
    pub norm: Norm,
    /// A key with at least this share of the norm is heavy, if heavy keys are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The most keys that are listed, those with the highest counts, if that was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<u64>,
    /// The privacy loss of this release.
    pub epsilon: f64,
    /// The probability that the loss exceeds epsilon; 0 for declared keys.
    pub delta: f64,
    /// The part of epsilon that went to private boundaries.
    pub boundaries_epsilon: f64,
    /// The unit of privacy.
    #[serde(flatten, serialize_with = "with_bounds")]
    pub unit: Unit,
    /// The policy of the panes.
    pub policy: Policy,
    /// The source of the counts.
    pub estimator: Estimator,
    /// The events that are covered.
    pub window: Coverage,
    /// The least count that is listed.
    pub threshold: u64,
    /// The norm: exact and public for L1, noisy for L2.
    pub norm_estimate: u64,
    /// The most that each count may be short because memory is bounded.
    pub cut: u64,
    /// A bound on the noise of the listed keys; each has its own `low` and `high`.
    pub noise: u64,
    /// The standard deviation of the noise of a count; none where counts are read from a sketch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// The probability with which all statements of this release hold together.
    pub confidence: f64,
    /// Every key with at least this count is listed.
    pub complete_above: u64,
    /// No key with a count below this is listed.
    pub nothing_below: u64,
    /// The three promises for the window covered, if heavy keys are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<Promises>,
    /// The window that was asked for, if it begins before the one covered.
    pub asked: RequestedWindow,
    /// Continual release: how the counts are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continual: Option<ContinualInfo>,
    /// The heavy hitters, by falling count, then by key.
    pub heavy: Vec<Heavy<K>>,
    /// The reason for an empty list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

impl<K: Key> Release<K> {
    /// Returns true if the three promises are made, and hold for the window covered.
    pub fn held(&self) -> bool {
        self.promises.as_ref().is_some_and(|promises| promises.held)
    }
}

/// The events of a release: those between its ends that arrived in time to be counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Their number. With user-level privacy: the number counted within the bounds, with noise.
    pub events: u64,
    /// Bounds on that number if it has noise, at the confidence of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[u64; 2]>,
    /// The first position, or instant.
    pub from: Option<Edge>,
    /// The first position, or instant, after the window.
    pub to: Option<Edge>,
    /// The number of events between its ends that came too late to be counted. All statements exclude them.
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
    /// The estimate: the noisy count, plus what may have been cut off.
    pub count: u64,
    /// The least possible count.
    pub low: u64,
    /// The greatest possible count.
    pub high: u64,
}

fn show<K: Key, S: serde::Serializer>(key: &K, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    key.shown().serialize(serializer)
}

/// Statements about the window that was asked for, which may begin before the one that is covered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestedWindow {
    /// The first position, or instant, that was asked for.
    pub from: Option<Edge>,
    /// A bound on the count of every key in the part that is not covered; none if it was not measured,
    /// because its events have been in as many releases as they may.
    pub slack: Option<u64>,
    /// The three promises for the window asked for.
    pub promises: Option<Promises>,
}

/// The source of the counts of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// The counts that panes keep.
    Counts,
    /// The sketch of the window.
    Sketch,
}

/// The unit as text and, for user-level privacy, the bounds of a user's contribution as numbers.
fn with_bounds<S: Serializer>(unit: &Unit, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Protected {
        unit: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        bounds: Option<Bounds>,
    }
    Protected { unit: unit.to_string(), bounds: unit.bounds() }.serialize(serializer)
}

impl Cost {
    /// The cost of releases of one stream to an event in all of them. Continual releases, however many,
    /// cost together what each of them states.
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
