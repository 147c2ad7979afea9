#![doc = include_str!("slack.md")]

use crate::error::Result;
use crate::key::Key;
use crate::noise::{DiscreteLaplace, Entropy};
use crate::pane::Pane;
use crate::release::norm::{Norm, NormEstimate};
use crate::release::terms::Terms;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::sum_of_squares;

/// What the pane that a window begins within may hold of the events asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slack {
    /// No key has more of them.
    pub count: u64,
    /// Their norm is at most this.
    pub norm: f64,
    /// How many events the pane has.
    pub events: u64,
}

impl Slack {
    /// A window that begins where a pane does.
    pub const NONE: Self = Self {
        count: 0,
        norm: 0.0,
        events: 0,
    };

    /// Measures a pane, at the price of a release.
    pub fn measure<K: Key>(terms: &Terms<K>, pane: &Pane<K>, entropy: &mut impl Entropy) -> Result<Self> {
        let events = pane.events();
        let (epsilon, failure) = (terms.slack_epsilon(), terms.slack_failure() / 2.0);
        let law = DiscreteLaplace::new(1, epsilon);
        let largest = pane.counts().iter().map(|(_, count)| count).max().unwrap_or(0);
        let noisy = largest as i64 + law.sample(entropy)? + law.quantile(1, failure) as i64;
        let count = (noisy.max(0) as u64).saturating_add(pane.cut()).min(events);
        let norm = match terms.norm {
            Norm::L1 => events as f64,
            Norm::L2 => measure_norm(terms, pane, entropy)?.high.min(events as f64),
        };
        Ok(Self {
            count: count.min(norm.ceil() as u64),
            norm,
            events,
        })
    }
}

fn measure_norm<K: Key>(
    terms: &Terms<K>,
    pane: &Pane<K>,
    entropy: &mut impl Entropy,
) -> Result<NormEstimate> {
    let (epsilon, failure) = (terms.slack_epsilon(), terms.slack_failure() / 2.0);
    if let (Some(dimensions), true) = (terms.shape.sketch(), pane.cut() > 0) {
        let mut sketch = CountSketch::new(dimensions, terms.shape.seed());
        pane.add_to(&mut sketch, &terms.shape);
        return NormEstimate::of_sketch(&sketch, dimensions, epsilon, failure, entropy);
    }
    let squares = sum_of_squares(pane.counts().iter().map(|(_, count)| count));
    NormEstimate::of_exact_counts(squares, epsilon, failure, entropy)
}
