#![doc = include_str!("above_threshold.md")]

use crate::budget::Epsilon;
use crate::error::{Error, Result};
use crate::mechanism::Draws;
use crate::mechanism::Secret;
use crate::noise::DiscreteLaplace;

/// A question that is asked again and again until the answer is yes, at the price of one epsilon.
#[derive(Debug)]
pub struct AboveThreshold {
    noisy_threshold: i64,
    laplace: DiscreteLaplace,
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
        let laplace = DiscreteLaplace::new(2 * sensitivity, epsilon);
        Ok(Self {
            noisy_threshold: threshold as i64 + draws.noise(&laplace)?,
            laplace: DiscreteLaplace::new(4 * sensitivity, epsilon),
        })
    }

    /// Whether the value, with fresh noise, has reached the threshold.
    pub fn ask(self, value: Secret<u64>, draws: &mut (impl Draws + ?Sized)) -> Answer {
        let least = self.noisy_threshold - value.open() as i64;
        match draws.reaches(&self.laplace, least) {
            Ok(true) => Answer::Above,
            Ok(false) => Answer::Below(self),
            Err(cause) => Answer::Unanswered(self, cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise that is told, and the laws it was asked for.
    struct Told {
        noise: Vec<i64>,
        laws: Vec<DiscreteLaplace>,
    }

    impl Draws for Told {
        fn noise(&mut self, laplace: &DiscreteLaplace) -> Result<i64> {
            self.laws.push(*laplace);
            Ok(self.noise.remove(0))
        }
    }

    /// `R` of scale `2D/epsilon` once, `V` of scale `4D/epsilon` for each question, and "above" exactly if `q + V >= T + R`.
    #[test]
    fn the_threshold_has_one_noise_and_every_question_a_fresh_one_of_twice_the_scale() {
        let epsilon = Epsilon::new(0.5).unwrap();
        for noise in [-7, 0, 5] {
            let mut draws = Told {
                noise: vec![noise, 1, -9, 3],
                laws: Vec::new(),
            };
            let question = AboveThreshold::new(100, 3, epsilon, &mut draws).unwrap();
            let reached = (100 + noise) as u64;
            let Answer::Below(question) = question.ask(Secret::new(reached - 2), &mut draws) else {
                panic!("one too few");
            };
            let Answer::Below(question) = question.ask(Secret::new(reached + 8), &mut draws) else {
                panic!("one too few");
            };
            let answer = question.ask(Secret::new(reached - 3), &mut draws);
            assert!(matches!(answer, Answer::Above));
            assert_eq!(
                draws.laws.iter().map(DiscreteLaplace::scale).collect::<Vec<_>>(),
                [12.0, 24.0, 24.0, 24.0]
            );
        }
    }
}
