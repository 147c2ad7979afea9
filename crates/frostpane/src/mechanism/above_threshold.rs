#![doc = include_str!("above_threshold.md")]

use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::noise::{DiscreteLaplace, Entropy};
use crate::privacy::Epsilon;

/// A number that depends on the events. It can be passed to this mechanism and nothing else: the output is
/// private, and the input cannot be read.
#[derive(Clone, Copy)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }
}

/// A secret number with a bound that is cheaper to compute.
pub trait Bounded {
    /// An upper bound on the number.
    fn at_most(&mut self) -> Secret<u64>;

    /// The number.
    fn exactly(&mut self) -> Secret<u64>;
}

impl Bounded for Secret<u64> {
    fn at_most(&mut self) -> Secret<u64> {
        *self
    }

    fn exactly(&mut self) -> Secret<u64> {
        *self
    }
}

/// The random choices of a mechanism. Every entropy source implements it; a test may instead enumerate
/// all choices, and so compute the exact probability of every output.
pub trait Draws {
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64>;

    /// Returns true if a fresh value of this distribution is at least `least`, which is computed only
    /// if the value is at least `bound <= least`.
    fn reaches(
        &mut self,
        laplace: &DiscreteLaplace,
        bound: i64,
        least: &mut dyn FnMut() -> i64,
    ) -> Result<bool> {
        let value = self.noise(laplace)?;
        Ok(value >= bound && value >= least())
    }
}

impl<E: Entropy> Draws for E {
    fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
        laplace.sample(self)
    }
}

/// A question that is asked repeatedly until the answer is yes, at the price of one epsilon.
#[derive(Debug)]
pub struct AboveThreshold {
    noisy_threshold: i64,
    laplace: DiscreteLaplace,
}

#[derive(Debug)]
pub enum Answer {
    /// Below: the mechanism may be asked again.
    Below(AboveThreshold),
    /// Above: the mechanism is used up.
    Above,
    /// The entropy source failed, which does not depend on the value. The mechanism may be asked again.
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
        let laplace = DiscreteLaplace::new(2 * sensitivity, epsilon);
        Ok(Self {
            noisy_threshold: threshold as i64 + draws.noise(&laplace)?,
            laplace: DiscreteLaplace::new(4 * sensitivity, epsilon),
        })
    }

    /// Writes the noisy threshold, which is as secret as its noise.
    pub(crate) fn save(&self, to: &mut Writer) {
        to.signed(self.noisy_threshold);
    }

    /// Restores a mechanism with the threshold that was drawn before.
    pub(crate) fn load(from: &mut Reader<'_>, sensitivity: u32, epsilon: Epsilon) -> Result<Self> {
        Ok(Self {
            noisy_threshold: from.position()?,
            laplace: DiscreteLaplace::new(4 * sensitivity, epsilon),
        })
    }

    /// Compares the value, plus fresh noise, with the noisy threshold.
    pub fn ask(self, mut value: impl Bounded, draws: &mut (impl Draws + ?Sized)) -> Answer {
        let least = |value: Secret<u64>| self.noisy_threshold - value.0 as i64;
        let bound = least(value.at_most());
        match draws.reaches(&self.laplace, bound, &mut || least(value.exactly())) {
            Ok(true) => Answer::Above,
            Ok(false) => Answer::Below(self),
            Err(cause) => Answer::Unanswered(self, cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns given noise values and records the distributions requested.
    struct ScriptedDraws {
        noise: Vec<i64>,
        laws: Vec<DiscreteLaplace>,
    }

    impl Draws for ScriptedDraws {
        fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
            self.laws.push(*laplace);
            Ok(self.noise.remove(0))
        }
    }

    /// A number that may be computed only where its bound, which is 10 more, does not decide.
    struct BoundedNumber(u64, bool);

    impl Bounded for BoundedNumber {
        fn at_most(&mut self) -> Secret<u64> {
            Secret::new(self.0 + 10)
        }

        fn exactly(&mut self) -> Secret<u64> {
            assert!(self.1, "{}", self.0);
            Secret::new(self.0)
        }
    }

    /// With a noise of 3, a value needs 97 to reach 100.
    #[test]
    fn a_bound_answers_no_alone_and_never_yes() {
        for (value, open, above) in
            [(86, false, false), (87, true, false), (96, true, false), (97, true, true)]
        {
            let mut draws = ScriptedDraws { noise: vec![0, 3], laws: Vec::new() };
            let question = AboveThreshold::new(100, 1, Epsilon::new(1.0).unwrap(), &mut draws).unwrap();
            let answer = question.ask(BoundedNumber(value, open), &mut draws);
            assert_eq!(matches!(answer, Answer::Above), above, "{value}");
        }
    }

    /// `R` of scale `2D/epsilon` once, `V` of scale `4D/epsilon` for each question, and "above" exactly
    /// if `q + V >= T + R`.
    #[test]
    fn the_threshold_has_one_noise_and_every_question_a_fresh_one_of_twice_the_scale() {
        let epsilon = Epsilon::new(0.5).unwrap();
        for noise in [-7, 0, 5] {
            let mut draws = ScriptedDraws { noise: vec![noise, 1, -9, 3], laws: Vec::new() };
            let question = AboveThreshold::new(100, 3, epsilon, &mut draws).unwrap();
            let reached = (100 + noise) as u64;
            let Answer::Below(question) = question.ask(Secret::new(reached - 2), &mut draws) else {
                panic!("one too few");
            };
            let Answer::Below(question) = question.ask(Secret::new(reached + 8), &mut draws) else {
                panic!("one too few");
            };
            assert!(matches!(question.ask(Secret::new(reached - 3), &mut draws), Answer::Above));
            assert_eq!(
                draws.laws.iter().map(DiscreteLaplace::scale).collect::<Vec<_>>(),
                [12.0, 24.0, 24.0, 24.0]
            );
        }
    }
}
