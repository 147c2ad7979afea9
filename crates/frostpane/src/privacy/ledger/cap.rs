//! Caps on the total privacy loss.

use super::account::Account;
use super::amount::{Amount, OF_EPSILON};
use super::charge::Charge;
use super::conversion::most_rho;
use crate::error::{Error, Result};
use crate::privacy::{Delta, Epsilon};

/// The composition theorem by which a charge was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Accountant {
    /// Basic composition: epsilons add up.
    Basic,
    /// Zero-concentrated: rhos add up, and give an epsilon at the cost of a part of delta.
    ZeroConcentrated,
}

/// The largest total `(epsilon, delta)` of a pane or an epoch over all releases. Where a part of delta,
/// the `slack`, is set aside, charges that exceed epsilon by basic composition may still be accepted by
/// their rho ([why that is allowed](crate::proofs::ledger)).
///
/// ```
/// use frostpane::{Account, Accountant, Cap, Charge, Delta, Epsilon};
///
/// # fn main() -> frostpane::Result<()> {
/// let charge = Charge::laplace(Epsilon::new(0.1)?, Delta::new(1e-9));
/// let spent = |releases| (0..releases).fold(Account::default(), |account, _| account.plus(&charge));
/// let cap = Cap::new(Epsilon::new(8.0)?, Delta::new(1e-6), Delta::new(5e-7))?;
/// assert_eq!(cap.accepts(&spent(80)), Some(Accountant::Basic));
/// assert_eq!(cap.accepts(&spent(174)), Some(Accountant::ZeroConcentrated));
/// assert_eq!(cap.accepts(&spent(175)), None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cap {
    /// Delta without the slack, and the rho that gives this epsilon: 0 without slack.
    most: Amount,
    slack: u128,
}

impl Cap {
    /// At most `epsilon` and `delta`, of which `slack` is set aside for the conversion of rho. With a
    /// slack of 0 only basic composition accepts. The slack is not available to the deltas of releases,
    /// whichever accountant accepts them.
    pub fn new(epsilon: Epsilon, delta: Delta, slack: Delta) -> Result<Self> {
        let [delta_units, slack_units] = [("delta", delta), ("slack", slack)].map(|(name, given)| {
            let units = given.units().map(|[down, _]| down);
            units.filter(|_| given.as_f64() < 1.0).ok_or_else(|| {
                Error::parameter(format!(
                    "the {name} of the cap is {}, but must be at least 0 and below 1: 1e-6 is a common choice",
                    given.as_f64()
                ))
            })
        });
        let (delta_units, slack) = (delta_units?, slack_units?);
        let left = delta_units.checked_sub(slack).ok_or_else(|| {
            Error::parameter(format!(
                "the slack of the cap is above its delta, of which it is a part: half of {} is a common choice, 0 sets nothing aside",
                delta.as_f64()
            ))
        })?;
        let scaled = u128::from(epsilon.numerator()) * u128::from(OF_EPSILON);
        let epsilon = u64::try_from(scaled / u128::from(epsilon.denominator())).unwrap_or(u64::MAX);
        let rho = match slack {
            0 => 0,
            slack => most_rho(epsilon, slack),
        };
        let most = Amount { epsilon, delta: left, rho };
        Ok(Self { most, slack })
    }

    /// Pays for exactly this many releases with this charge, besides the initial account.
    pub fn for_releases(born: &Account, charge: &Charge, releases: u64) -> Self {
        let Amount { epsilon, delta, .. } = born.plus_many(charge, releases).amount();
        Self { most: Amount { epsilon, delta, rho: 0 }, slack: 0 }
    }

    /// The accountant that accepts this total; basic composition first.
    pub fn accepts(&self, account: &Account) -> Option<Accountant> {
        let Amount { epsilon, delta, rho } = account.amount();
        if delta > self.most.delta {
            None
        } else if epsilon <= self.most.epsilon {
            Some(Accountant::Basic)
        } else if self.slack > 0 && rho <= self.most.rho {
            Some(Accountant::ZeroConcentrated)
        } else {
            None
        }
    }

    /// The most of each: epsilon, rho, and delta without the slack.
    pub const fn most(&self) -> Amount {
        self.most
    }

    /// The remainder of each.
    pub fn left(&self, account: &Account) -> Amount {
        self.most.minus(account.amount())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(delta: f64, slack: f64) -> Result<Cap> {
        Cap::new(Epsilon::ONE, Delta::new(delta), Delta::new(slack))
    }

    #[test]
    fn what_is_no_cap_is_refused_with_advice() {
        for (delta, slack, said) in [
            (1.0, 0.0, "the delta of the cap is 1, but must be at least 0 and below 1: 1e-6 is"),
            (f64::NAN, 0.0, "the delta of the cap is NaN, but must"),
            (-1e-9, 0.0, "the delta of the cap is -0.000000001, but must"),
            (1e-6, -1.0, "the slack of the cap is -1, but must"),
            (1e-6, 1.0, "the slack of the cap is 1, but must"),
            (1e-6, 2e-6, "the slack of the cap is above its delta, of which it is a part: half"),
        ] {
            let message = cap(delta, slack).unwrap_err().to_string();
            assert!(message.starts_with(said), "{message}");
        }
        assert!(cap(0.0, 0.0).is_ok() && cap(1e-6, 1e-6).is_ok());
    }

    #[test]
    fn a_cap_is_rounded_down() {
        let cap = Cap::new(Epsilon::ONE.share(1, 3), Delta::new(1.5e-36), Delta::ZERO).unwrap();
        let Amount { epsilon, delta, rho } = cap.most();
        assert_eq!((epsilon, delta, rho), (333_333, 1, 0));
    }

    /// Including charges without any rho.
    #[test]
    fn without_slack_rho_accepts_nothing() {
        let beyond = |rho| Account::from_amount(Amount { epsilon: 1_000_001, delta: 0, rho });
        assert_eq!(cap(1e-6, 0.0).unwrap().accepts(&beyond(0)), None);
        let with_slack = cap(1e-6, 1e-7).unwrap();
        let most = with_slack.most().rho;
        assert_eq!(with_slack.accepts(&beyond(most)), Some(Accountant::ZeroConcentrated));
        assert_eq!(with_slack.accepts(&beyond(most + 1)), None);
    }
}
