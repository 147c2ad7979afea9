use super::amount::Amount;
use super::charge::Charge;

/// The total privacy loss of a pane or an epoch: the sums of its charges, under every accountant. Sums
/// saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Account(Amount);

impl Account {
    /// An exhausted account, which can never pay again, under any cap.
    pub const SPENT: Self = Self(Amount::ALL);

    /// The account after one more charge.
    pub fn plus(self, charge: &Charge) -> Self {
        self.plus_many(charge, 1)
    }

    pub(super) fn plus_many(self, charge: &Charge, number: u64) -> Self {
        Self(self.0.plus(charge.amount().times(number)))
    }

    /// The account of a merged pane: the larger sum for each accountant. It covers every unit of
    /// privacy, if each unit is in only one of the panes.
    pub fn max(self, other: &Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Restores a stored account.
    pub const fn from_amount(amount: Amount) -> Self {
        Self(amount)
    }

    /// The sums in whole numbers.
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
