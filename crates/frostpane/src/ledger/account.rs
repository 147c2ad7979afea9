//! What a number has spent.

use super::amount::Amount;
use super::charge::Charge;

/// What a pane or an epoch has spent: the sums of its charges, under every accountant. They never wrap.
///
/// ```
/// use frostpane::{Account, Charge, Delta, Epsilon};
///
/// let charge = Charge::laplace(Epsilon::ONE, Delta::new(1e-9));
/// let once = Account::default().plus(&charge);
/// let twice = once.plus(&charge);
/// assert_eq!(twice.to_string(), "epsilon 2, delta 2e-9 and rho 1");
/// assert_eq!(once.max(&twice), twice);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Account(Amount);

impl Account {
    /// Of what can never pay again, under any cap.
    pub const SPENT: Self = Self(Amount::ALL);

    /// With one charge more.
    pub fn plus(self, charge: &Charge) -> Self {
        self.plus_many(charge, 1)
    }

    pub(super) fn plus_many(self, charge: &Charge, number: u64) -> Self {
        Self(self.0.plus(charge.amount().times(number)))
    }

    /// With everything that another account has spent: that of a unit that may be in both.
    ///
    /// ```
    /// use frostpane::{Account, Charge, Delta, Epsilon};
    ///
    /// let once = Account::default().plus(&Charge::laplace(Epsilon::ONE, Delta::ZERO));
    /// assert_eq!(once.sum(&once).to_string(), "epsilon 2, delta 0 and rho 1");
    /// assert_eq!(once.sum(&Account::SPENT), Account::SPENT);
    /// ```
    pub fn sum(self, other: &Self) -> Self {
        Self(self.0.plus(other.0))
    }

    /// Of panes that become one: the larger sum, of each accountant by itself. No unit has lost more, if every unit is in one of
    /// them alone.
    pub fn max(self, other: &Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// As it was written down.
    pub const fn from_amount(amount: Amount) -> Self {
        Self(amount)
    }

    /// In whole numbers.
    pub const fn amount(&self) -> Amount {
        self.0
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::SPENT => f.write_str("all that there is"),
            Self(amount) => amount.fmt(f),
        }
    }
}
