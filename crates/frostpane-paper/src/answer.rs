//! What a private algorithm returns, and which noise it draws.

/// A list of heavy hitters, with what its noise was and should have been.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The paper's list: each key with its noisy count, greatest first.
    pub listed: Vec<(u64, f64)>,
    /// The scale of the noise `Z_k` in each count.
    pub noise: f64,
    /// The scale that the algorithm's own proof asks for.
    pub needed_noise: f64,
    /// The norm that the list was measured against, before noise: an estimate of `L_2`, or `W` for `L_1`.
    pub norm: f64,
}

impl Answer {
    /// Puts the greatest counts first, equal ones by key.
    pub(crate) fn sorted(mut self) -> Self {
        self.listed
            .sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self
    }
}

/// Which scales the noise has: the algorithms and their proofs do not agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The scales that the algorithm prints.
    Printed,
    /// The scales that its lemmas and the theorem on smooth sensitivity ask for.
    Proof,
}
