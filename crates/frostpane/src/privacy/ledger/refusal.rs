//! Refusals of charges.

use std::fmt;
use std::ops::Range;

use super::account::Account;
use super::amount::Amount;
use super::charge::Charge;
use crate::error::{Error, ErrorKind};

const SAID: usize = 3;

/// Consecutive numbers that cannot pay and have the same account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpaid {
    /// The range of numbers.
    pub numbers: Range<i64>,
    /// True if they are retired, whatever they had spent.
    pub have_left: bool,
    /// The account of each of them.
    pub spent: Account,
    /// The remainder of each of them under each accountant.
    pub left: Amount,
}

/// A refused charge. Nothing has been charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The charge that was asked for.
    pub asked: Charge,
    /// The range of numbers it was for.
    pub of: Range<i64>,
    /// The numbers that cannot pay, in order.
    pub unpaid: Vec<Unpaid>,
}

impl Refusal {
    /// A sentence, with the given names for ranges of numbers.
    pub fn words(&self, name: impl Fn(&Range<i64>) -> String) -> String {
        let mut words = format!("{} were asked of {}, but ", self.asked, name(&self.of));
        let said: Vec<String> = self.unpaid.iter().take(SAID).map(|unpaid| unpaid.words(&name)).collect();
        words += &said.join("; ");
        if self.unpaid.len() > SAID {
            words += &format!("; and so on, {} ranges in all", self.unpaid.len());
        }
        words + ": ask for less, or wait until the window has moved on"
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(range_name))
    }
}

impl Unpaid {
    fn words(&self, name: impl Fn(&Range<i64>) -> String) -> String {
        let numbers = name(&self.numbers);
        let have = if self.numbers.start == last(&self.numbers) { "has" } else { "have" };
        match (self.have_left, self.spent) {
            (true, _) => format!("{numbers} {have} left for good"),
            (false, Account::SPENT) => format!("{numbers} {have} spent {}", self.spent),
            (false, spent) => format!("{numbers} {have} spent {spent}, and {have} {:#} left", self.left),
        }
    }
}

/// The last number of a range.
fn last(numbers: &Range<i64>) -> i64 {
    numbers.end.saturating_sub(1)
}

fn range_name(numbers: &Range<i64>) -> String {
    match (numbers.start, last(numbers)) {
        (first, last) if first == last => format!("number {first}"),
        (first, last) => format!("numbers {first} to {last}"),
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::new(ErrorKind::Budget, refusal.to_string())
    }
}
