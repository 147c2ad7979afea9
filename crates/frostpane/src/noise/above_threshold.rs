#![doc = include_str!("above_threshold.md")]

use crate::error::{Error, Result};
use crate::noise::discrete_laplace::DiscreteLaplace;
use crate::noise::draws::Draws;
use crate::noise::epsilon::Epsilon;
use crate::noise::secret::Secret;

/// A question that is asked again and again until the answer is yes, at the price of one epsilon.
#[derive(Debug)]
pub struct AboveThreshold {
    noisy_threshold: i64,
    law: DiscreteLaplace,
}

/// What the mechanism says.
#[derive(Debug)]
pub enum Answer {
    /// No: the mechanism may be asked again.
    Below(AboveThreshold),
    /// Yes: the mechanism is used up.
    Above,
    /// Nothing: there was no entropy, whatever the value. The mechanism may be asked again.
    Unanswered(AboveThreshold, Error),
}

impl AboveThreshold {
    /// A mechanism that is `epsilon`-private for values that move by at most `sensitivity` between
    /// neighbours. Draws the noise of the threshold.
    pub fn new(
        threshold: u64,
        sensitivity: u32,
        epsilon: Epsilon,
        draws: &mut (impl Draws + ?Sized),
    ) -> Result<Self> {
        let law = DiscreteLaplace::new(2 * sensitivity, epsilon);
        Ok(Self {
            noisy_threshold: threshold as i64 + draws.noise(&law)?,
            law: DiscreteLaplace::new(4 * sensitivity, epsilon),
        })
    }

    /// Whether the value, with fresh noise, has reached the threshold.
    pub fn ask(self, value: Secret<u64>, draws: &mut (impl Draws + ?Sized)) -> Answer {
        let least = self.noisy_threshold - value.open() as i64;
        match draws.reaches(&self.law, least) {
            Ok(true) => Answer::Above,
            Ok(false) => Answer::Below(self),
            Err(cause) => Answer::Unanswered(self, cause),
        }
    }
}
