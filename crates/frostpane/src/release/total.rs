//! The number of events of a window: public, or measured privately.

use crate::error::Result;
use crate::noise::{DiscreteLaplace, Entropy};
use crate::privacy::Epsilon;
use crate::release::norm::NormEstimate;
use crate::spec::Unit;

/// The number of counted events of a window, with bounds that hold at the confidence it was measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Total {
    /// The stated number.
    pub value: u64,
    pub low: u64,
    pub high: u64,
    /// True if the number is public.
    pub is_public: bool,
}

impl Total {
    /// For a unit of privacy that does not hide it.
    pub fn public(events: u64) -> Self {
        Self { value: events, low: events, high: events, is_public: true }
    }

    /// With noise that hides the contribution of one user.
    pub fn measure(
        events: u64,
        unit: Unit,
        epsilon: Epsilon,
        failure: f64,
        entropy: &mut impl Entropy,
    ) -> Result<Self> {
        let noise = DiscreteLaplace::new(unit.total(), epsilon);
        let noisy = events as i64 + noise.sample(entropy)?;
        Ok(Self::around(noisy, noise.quantile(1, failure)))
    }

    /// The bounds that follow from a noisy number whose noise is at most `spread`.
    pub fn around(noisy: i64, spread: u64) -> Self {
        let at_least = |number: i64| number.max(0) as u64;
        Self {
            value: at_least(noisy),
            low: at_least(noisy.saturating_sub_unsigned(spread)),
            high: at_least(noisy.saturating_add_unsigned(spread)),
            is_public: false,
        }
    }

    /// The L1 norm.
    pub fn norm(&self) -> NormEstimate {
        NormEstimate {
            value: self.value as i64,
            low: self.low as f64,
            high: self.high as f64,
            by_sketch: false,
        }
    }

    /// The bounds, unless the number is public.
    pub fn between(&self) -> Option<[u64; 2]> {
        (!self.is_public).then_some([self.low, self.high])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::InsecureSeededEntropy;
    use crate::spec::Bounds;

    /// 20,000 measurements, of which 5 % may lie outside; 7 % or more do by chance once in 10^30 runs. Half
    /// the noise, or a bound that ignores a sign, would have twice as many or half.
    #[test]
    fn a_number_that_is_hidden_lies_between_its_bounds_as_often_as_said() {
        let (unit, epsilon) = (Unit::User(Bounds::new(3).per_key(2)), Epsilon::new(0.1).unwrap());
        let entropy = &mut InsecureSeededEntropy::new(5);
        let mut outside = 0;
        for _ in 0..20_000 {
            let total = Total::measure(1_000, unit, epsilon, 0.05, entropy).unwrap();
            outside += u32::from(!(total.low..=total.high).contains(&1_000));
            assert!(!total.is_public && total.between().is_some());
        }
        assert!((700..1_400).contains(&outside), "{outside}");
        assert_eq!(Total::around(-50, 10), Total { value: 0, low: 0, high: 0, is_public: false });
        assert_eq!(Total::public(7).between(), None);
    }
}
