//! A release that was asked for, and paid for.

use std::ops::Range;

use crate::codec::{Reader, Writer, damaged};
use crate::error::Result;
use crate::ledger::Accountant;

/// Who was charged for a release, and by which accountant: what has to be kept before anything is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paid {
    length: i64,
    numbers: Range<i64>,
    /// Of whoever the window begins within.
    beside: Option<Range<i64>>,
    paid_beside: bool,
    accountant: Accountant,
}

impl Paid {
    pub(super) fn asked(length: i64, numbers: Range<i64>, beside: Option<Range<i64>>) -> Self {
        Self {
            length,
            numbers,
            beside,
            paid_beside: false,
            accountant: Accountant::Basic,
        }
    }

    pub(super) fn with(self, accountant: Accountant, beside: Option<Range<i64>>) -> Self {
        Self {
            accountant,
            paid_beside: beside.is_some(),
            ..self
        }
    }

    pub(super) fn length(&self) -> i64 {
        self.length
    }

    /// The numbers of panes, or epochs, that the window covers.
    pub fn numbers(&self) -> Range<i64> {
        self.numbers.clone()
    }

    /// Those of the pane that the window begins within, if it does.
    pub(super) fn beside(&self) -> Option<Range<i64>> {
        self.beside.clone()
    }

    /// Whether that could pay, too.
    pub(super) fn paid_beside(&self) -> bool {
        self.paid_beside
    }

    /// Who let it pass.
    pub fn accountant(&self) -> Accountant {
        self.accountant
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.signed(self.length);
        to.range(&self.numbers);
        to.maybe(self.beside.as_ref(), Writer::range);
        to.flag(self.paid_beside);
        to.flag(self.accountant == Accountant::ZeroConcentrated);
        to.finish()
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        let paid = Self {
            length: from.position()?,
            numbers: from.range()?,
            beside: from.maybe(Reader::range)?,
            paid_beside: from.flag()?,
            accountant: match from.flag()? {
                true => Accountant::ZeroConcentrated,
                false => Accountant::Basic,
            },
        };
        from.finish()?;
        match paid.length > 0 {
            true => Ok(paid),
            false => Err(damaged("a window has no length")),
        }
    }
}
