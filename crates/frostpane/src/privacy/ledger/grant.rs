//! The charge of a release, and the grant that it gives.

use std::ops::Range;

use super::{Accountant, Cap, Charge, Ledger, Refusal};
use crate::codec::{Reader, Writer, check};
use crate::error::Result;

#[derive(Clone, Debug)]
pub(crate) struct Price {
    pub charge: Charge,
    pub cap: Cap,
}

/// The panes, or epochs, that a release charges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WindowNumbers {
    pub covered: Range<i64>,
    /// The pane that it begins within, if it does: it pays if it can.
    pub boundary: Option<Range<i64>>,
}

/// A release that has not been charged.
pub(crate) struct Quote {
    pub length: i64,
    pub numbers: WindowNumbers,
}

impl Quote {
    pub fn check(&self, ledger: &Ledger, price: &Price) -> std::result::Result<Accountant, Refusal> {
        ledger.check(self.numbers.covered.clone(), &price.charge, &price.cap)
    }

    /// Charges everyone that the window covers, or refuses and charges nobody. The pane that it begins within pays if it can; if not,
    /// the release says less.
    pub fn charge(self, ledger: &mut Ledger, price: &Price) -> std::result::Result<Grant, Refusal> {
        let Price { charge, cap } = price;
        let WindowNumbers { covered, boundary } = self.numbers;
        let accountant = ledger.charge(covered.clone(), charge, cap)?;
        let paying = boundary.clone();
        let boundary_paid = paying.is_some_and(|boundary| ledger.charge(boundary, charge, cap).is_ok());
        Ok(Grant { length: self.length, numbers: covered, boundary, boundary_paid, accountant })
    }
}

/// One release that everyone it covers has been charged for. A charge makes it, and a release uses it up.
///
/// ```compile_fail,E0382
/// # fn twice(mut stream: frostpane::Stream<u64>, grant: frostpane::stream::Grant) {
/// # let secret = &frostpane::stream::SecretBytes::new([0; 32]);
/// let first = stream.release(grant, secret);
/// let second = stream.release(grant, secret);
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Grant {
    length: i64,
    numbers: Range<i64>,
    boundary: Option<Range<i64>>,
    boundary_paid: bool,
    accountant: Accountant,
}

impl Grant {
    pub(crate) fn length(&self) -> i64 {
        self.length
    }

    /// The numbers of panes, or epochs, that the window covers.
    pub fn numbers(&self) -> Range<i64> {
        self.numbers.clone()
    }

    /// Returns true if the pane that the window begins within could pay, too.
    pub(crate) fn boundary_paid(&self) -> bool {
        self.boundary_paid
    }

    /// The accountant that let it pass.
    pub fn accountant(&self) -> Accountant {
        self.accountant
    }

    /// As bytes, to be kept before anything is drawn.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.signed(self.length);
        to.range(&self.numbers);
        to.maybe(self.boundary.as_ref(), Writer::range);
        to.flag(self.boundary_paid);
        to.flag(self.accountant == Accountant::ZeroConcentrated);
        to.finish()
    }

    /// Reads a grant that was kept: the release that follows is the same as before.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        let grant = Self {
            length: from.position()?,
            numbers: from.range()?,
            boundary: from.maybe(Reader::range)?,
            boundary_paid: from.flag()?,
            accountant: if from.flag()? { Accountant::ZeroConcentrated } else { Accountant::Basic },
        };
        from.finish()?;
        check(grant.length > 0, "a window has no length").map(|()| grant)
    }
}
