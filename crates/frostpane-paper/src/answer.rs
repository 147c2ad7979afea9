//! The answer of a private algorithm, the scale of its noise, and the form of its lines.

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
    /// The answer with these keys in any order; equal counts are listed by key.
    pub(crate) fn new(mut listed: Vec<(u64, f64)>, noise: f64, needed_noise: f64, norm: f64) -> Self {
        listed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Self { listed, noise, needed_noise, norm }
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

/// The form of a line of the paper that runs: as printed, or as its proof reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgorithmForm {
    /// Word for word. Algorithm 3 then deletes nothing, and its query takes the *smallest* index with
    /// `t_s <= m-W+1`: the whole stream. Algorithm 4 answers 1 or 0, whatever the count (`docs/paper.md`).
    Printed,
    /// The form that the proofs use. Algorithm 3 deletes `t_s` if `x_{s+1} >= (1 - beta/2) x_{s-1}`, and its
    /// query takes the *largest* index with `t_s <= m-W+1`. Algorithm 4's query takes the *smallest* index with
    /// `t_s >= m-W+1`.
    Intended,
}
