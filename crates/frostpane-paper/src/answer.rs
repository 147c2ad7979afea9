//! The answer of a private algorithm, and the scale of its noise.

/// A list of heavy hitters, with the scale of its noise and the scale that its proof needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedAnswer {
    /// The paper's list: each key with its noisy count, greatest first.
    pub listed: Vec<(u64, f64)>,
    /// The scale of the noise `Z_k` in each count.
    pub noise: f64,
    /// The scale that the algorithm's own proof requires.
    pub needed_noise: f64,
    /// The norm that the list was measured against, before noise: an estimate of `L_2`, or `W` for `L_1`.
    pub norm: f64,
}

impl PublishedAnswer {
    /// Sorts by decreasing count, then by key.
    pub(crate) fn sorted(mut self) -> Self {
        self.listed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self
    }
}

/// The source of the noise scales: the algorithms and their proofs do not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseScale {
    /// The scales printed in the algorithm.
    Printed,
    /// The scales that its lemmas and the theorem on smooth sensitivity require.
    Proof,
}

impl NoiseScale {
    /// The one of two scales that it stands for.
    pub(crate) fn choose<T>(self, printed: T, proof: T) -> T {
        match self {
            Self::Printed => printed,
            Self::Proof => proof,
        }
    }
}
