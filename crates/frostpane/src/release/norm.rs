//! The norm of a window, measured privately.

use serde::Serialize;

use crate::error::Result;
use crate::noise::{DiscreteLaplace, Entropy, Epsilon};
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::{Dimensions, euclidean_length};

/// What "frequent" is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// The number of events.
    L1,
    /// The Euclidean length of the vector of counts.
    L2,
}

/// A norm and what it surely lies between, at the confidence it was made for.
#[derive(Clone, Copy, Debug)]
pub struct NormEstimate {
    /// The estimate: public, or with its noise.
    pub value: i64,
    /// At least this.
    pub low: f64,
    /// At most this.
    pub high: f64,
}

impl NormEstimate {
    /// The number of events: public, and exact.
    pub fn of_events(events: u64) -> Self {
        Self {
            value: events as i64,
            low: events as f64,
            high: events as f64,
        }
    }

    /// The L2 norm of counts that are exact; it moves by at most 1 between neighbours
    /// ([the proof](crate::sketch::count_sketch)).
    pub fn of_exact_counts(
        counts: impl Iterator<Item = u64>,
        epsilon: Epsilon,
        failure: f64,
        entropy: &mut impl Entropy,
    ) -> Result<Self> {
        let noise = DiscreteLaplace::new(1, epsilon);
        let value = euclidean_length(counts) as i64 + noise.sample(entropy)?;
        let spread = noise.quantile(1, failure) as i64;
        Ok(Self {
            value,
            low: (value - spread).max(0) as f64,
            high: (value + spread + 1).max(0) as f64,
        })
    }

    /// The L2 norm by the sketch; it moves by at most 2 between neighbours (Lemma 4).
    pub fn of_sketch(
        sketch: &CountSketch,
        dimensions: Dimensions,
        epsilon: Epsilon,
        failure: f64,
        entropy: &mut impl Entropy,
    ) -> Result<Self> {
        let noise = DiscreteLaplace::new(2, epsilon);
        let value = sketch.norm() as i64 + noise.sample(entropy)?;
        let spread = noise.quantile(1, failure / 3.0) as i64;
        let error = dimensions.squared_error(failure * 2.0 / 3.0);
        let shrink = (1.0 - error).max(0.0).sqrt();
        Ok(Self {
            value,
            low: (value - spread).max(0) as f64 / (1.0 + error).sqrt(),
            high: (value + spread + 1).max(0) as f64 / shrink,
        })
    }
}
