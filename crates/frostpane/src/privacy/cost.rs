//! The total privacy cost of releases.

use super::delta::Delta;
use super::epsilon::Epsilon;
use super::split::Split;

/// The privacy cost of one or several releases to an event in their windows: basic composition, in
/// whole numbers.
///
/// ```
/// use frostpane::{Cost, HeavyHitters, Keys, Window};
///
/// # fn main() -> frostpane::Result<()> {
/// let mut ports = HeavyHitters::<u64>::builder(Keys::open())
///     .epsilon(0.1)
///     .window(Window::events(1_000).slide(100))
///     .releases(3)
///     .build()?;
/// let releases = [ports.release_over(100)?, ports.release_over(500)?, ports.release_over(1_000)?];
/// let cost = Cost::of(&releases);
/// assert_eq!((cost.epsilon(), cost.delta()), (0.3, 3e-9), "and not 0.30000000000000004");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    epsilon: Epsilon,
    delta: Delta,
}

impl Cost {
    /// The cost of releases of one stream. Private boundaries are drawn once, so their epsilon counts once.
    pub(crate) fn of_releases(releases: &[(Epsilon, Delta)], private_boundaries: bool) -> Self {
        let split = |epsilon| Split::one_shot(epsilon, false, private_boundaries);
        let boundaries = releases.first().and_then(|(epsilon, _)| split(*epsilon).boundaries);
        let own = releases.iter().map(|(epsilon, _)| split(*epsilon).counts);
        Self {
            epsilon: own.chain(boundaries).fold(Epsilon::NONE, Epsilon::plus),
            delta: Delta::sum(releases.iter().map(|(_, delta)| *delta)),
        }
    }

    /// The total epsilon.
    pub fn epsilon(&self) -> f64 {
        self.epsilon.as_f64()
    }

    /// The total delta.
    pub fn delta(&self) -> f64 {
        self.delta.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_add_up_and_boundaries_are_paid_for_once() {
        let cost = |releases, epsilon, private| {
            let one = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-9));
            Cost::of_releases(&vec![one; releases], private)
        };
        assert_eq!(cost(1, 0.1, false).epsilon(), 0.1);
        assert_eq!(cost(3, 0.1, false).epsilon(), 0.3, "not 0.30000000000000004");
        assert_eq!(cost(3, 0.1, false).delta(), 3e-9);
        for releases in [1, 2, 5] {
            assert_eq!(cost(releases, 1.0, true).epsilon(), 0.25 + releases as f64 * 0.75);
        }
        assert_eq!(cost(3, 0.000_001, true).epsilon(), 2.5e-6);
        assert_eq!((cost(0, 1.0, true).epsilon(), cost(0, 1.0, true).delta()), (0.0, 0.0));
        let two = [(Epsilon::new(0.5).unwrap(), Delta::ZERO), (Epsilon::new(0.25).unwrap(), Delta::ZERO)];
        assert_eq!(Cost::of_releases(&two, false).epsilon(), 0.75);
    }
}
