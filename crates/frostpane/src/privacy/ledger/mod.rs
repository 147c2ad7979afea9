#![doc = include_str!("ledger.md")]

mod account;
mod amount;
mod cap;
mod charge;
mod conversion;
mod grant;
mod refusal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::{Bound, Range};

pub use account::Account;
pub use amount::Amount;
pub use cap::{Accountant, Cap};
pub use charge::{Charge, Measurement};
pub use grant::Grant;
pub(crate) use grant::{Price, Quote, WindowNumbers};
pub use refusal::{Refusal, Unpaid};

use crate::error::{self, Error};
use crate::search::first;

/// The accounts of all panes, or of all epochs, by their numbers: also of those without events, and of future
/// ones. A charge that would exceed a cap is refused.
///
/// ```
/// use frostpane::{Account, Accountant, Cap, Charge, Delta, Epsilon, Ledger};
///
/// # fn main() -> frostpane::Result<()> {
/// let cap = Cap::new(Epsilon::new(2.0)?, Delta::new(1e-6), Delta::ZERO)?;
/// let charge = Charge::laplace(Epsilon::ONE, Delta::new(1e-9));
/// let mut ledger = Ledger::new(Account::default());
/// assert_eq!(ledger.charge(0..30, &charge, &cap)?, Accountant::Basic);
/// assert_eq!(ledger.charge(29..59, &charge, &cap)?, Accountant::Basic);
/// // Number 29 has been in both.
/// assert!(ledger.charge(29..30, &charge, &cap).is_err());
/// assert!(ledger.charge(30..60, &charge, &cap).is_ok());
/// # Ok(())
/// # }
/// ```
///
/// Ranges exclude their end, so `i64::MAX` is no number. An empty range is accepted, and charges nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    gone: i64,
    /// Each account holds from its number up to the next. There is one for the first number of all, and
    /// adjacent accounts differ.
    steps: BTreeMap<i64, Account>,
}

impl Ledger {
    /// A ledger in which every number starts with this account: what private boundaries or continual
    /// release cost.
    pub fn new(born: Account) -> Self {
        Self { gone: i64::MIN, steps: BTreeMap::from([(i64::MIN, born)]) }
    }

    /// Charges every number of the range, or none if one of them cannot pay. Returns the weakest
    /// accountant that accepts all of them.
    pub fn charge(&mut self, numbers: Range<i64>, charge: &Charge, cap: &Cap) -> Result<Accountant, Refusal> {
        let accountant = self.check(numbers.clone(), charge, cap)?;
        self.update(numbers, |account| account.plus(charge));
        Ok(accountant)
    }

    /// The result of [`charge`](Self::charge), without charging.
    pub fn check(&self, numbers: Range<i64>, charge: &Charge, cap: &Cap) -> Result<Accountant, Refusal> {
        let mut accountant = Accountant::Basic;
        let mut unpaid = Vec::new();
        for (numbers, spent) in self.pieces(numbers.clone()) {
            match cap.accepts(&spent.plus(charge)) {
                Some(by) => accountant = accountant.max(by),
                None => unpaid.push(Unpaid {
                    have_left: numbers.start < self.gone,
                    numbers,
                    spent,
                    left: cap.left(&spent),
                }),
            }
        }
        if unpaid.is_empty() { Ok(accountant) } else { Err(Refusal { asked: *charge, of: numbers, unpaid }) }
    }

    /// The number of further charges like this one that the range can pay.
    pub fn releases_left(&self, numbers: Range<i64>, charge: &Charge, cap: &Cap) -> u64 {
        let each = self.pieces(numbers).map(|(_, spent)| fit(&spent, charge, cap));
        each.min().unwrap_or(u64::MAX)
    }

    /// The number of further charges like this one that the window of `window` numbers ending before
    /// `end` can pay; and the first later window that can pay more, by its end, with its number. Takes
    /// time in proportion to the number of different accounts.
    pub fn renewal(&self, end: i64, window: i64, charge: &Charge, cap: &Cap) -> (u64, Option<(i64, u64)>) {
        let start = end.saturating_sub(window);
        let latest = end.saturating_add(window).saturating_add(2);
        let left: Vec<_> =
            self.pieces(start..latest).map(|(numbers, spent)| (numbers, fit(&spent, charge, cap))).collect();
        let least = |window: Range<i64>| {
            let within =
                left.iter().filter(|(numbers, _)| numbers.start < window.end && window.start < numbers.end);
            within.map(|(_, left)| *left).min().unwrap_or(u64::MAX)
        };
        let now = least(start..end);
        // A window can pay more if it contains none of these; it begins where the account changes.
        let short: Vec<_> = left.iter().filter(|(_, left)| *left <= now).collect();
        let is_without = |begin: i64| {
            let before = short.partition_point(|(numbers, _)| numbers.start < begin.saturating_add(window));
            before == 0 || short[before - 1].0.end <= begin
        };
        let begin =
            self.steps(start.saturating_add(1)..end.saturating_add(2)).find(|begin| is_without(*begin));
        let more = begin.map(|begin| begin..begin.saturating_add(window));
        (now, more.map(|window| (window.end, least(window))))
    }

    /// The numbers of a range whose account differs from the one before.
    pub fn steps(&self, numbers: Range<i64>) -> impl Iterator<Item = i64> {
        let within = (!numbers.is_empty()).then(|| self.steps.range(numbers));
        within.into_iter().flatten().map(|(number, _)| *number)
    }

    /// The account of a pane made of these numbers: the maximum of each accountant.
    pub fn account(&self, numbers: Range<i64>) -> Account {
        let accounts = self.pieces(numbers).map(|(_, account)| account);
        accounts.fold(Account::default(), |most, account| most.max(&account))
    }

    /// Retires the numbers before this: none of them is ever charged again.
    pub fn retire(&mut self, before: i64) {
        self.gone = self.gone.max(before);
        self.spend_all(before);
    }

    /// Exhausts the numbers before this, under any cap, because their releases may be unknown.
    pub fn spend_all(&mut self, before: i64) {
        self.split(before);
        let rest = self.steps.split_off(&before);
        self.steps = BTreeMap::from([(i64::MIN, Account::SPENT)]);
        self.steps.extend(rest);
        self.join();
    }

    fn update(&mut self, numbers: Range<i64>, change: impl Fn(Account) -> Account) {
        if numbers.is_empty() {
            return;
        }
        self.split(numbers.start);
        self.split(numbers.end);
        for (_, account) in self.steps.range_mut(numbers) {
            *account = change(*account);
        }
        self.join();
    }

    /// Numbers below this are retired; the smallest number of all if none is.
    pub fn gone(&self) -> i64 {
        self.gone
    }

    /// All accounts, to be stored: each holds from its number up to the next.
    pub fn segments(&self) -> impl Iterator<Item = (i64, Account)> {
        self.steps.iter().map(|(start, account)| (*start, *account))
    }

    /// Restores stored accounts. Refuses what no ledger writes.
    pub fn from_parts(gone: i64, segments: impl IntoIterator<Item = (i64, Account)>) -> error::Result<Self> {
        let segments: Vec<_> = segments.into_iter().collect();
        let begins = segments.first().is_some_and(|(start, _)| *start == i64::MIN);
        let ascends =
            segments.is_sorted_by(|(start, account), (next, after)| start < next && account != after);
        let ledger = Self { gone, steps: segments.into_iter().collect() };
        let is_spent = |(_, account)| account == Account::SPENT;
        if begins && ascends && ledger.pieces(i64::MIN..gone).all(is_spent) {
            Ok(ledger)
        } else {
            Err(Error::parameter(
                "this is no ledger: its accounts must begin with the smallest number, ascend, differ from one to the next, and be spent \
                 where numbers have left",
            ))
        }
    }

    /// The range, divided where accounts differ and where numbers are retired.
    fn pieces(&self, numbers: Range<i64>) -> impl Iterator<Item = (Range<i64>, Account)> {
        let Range { start, end } = numbers;
        let within = (start < end).then(|| self.steps.range((Bound::Excluded(start), Bound::Excluded(end))));
        let mut starts: Vec<i64> = within.into_iter().flatten().map(|(number, _)| *number).collect();
        starts.extend([start, self.gone].iter().filter(|number| (start..end).contains(number)));
        starts.sort_unstable();
        starts.dedup();
        let ends: Vec<i64> = starts.iter().skip(1).copied().chain([end]).collect();
        let pieces = starts.into_iter().zip(ends);
        pieces.map(|(start, end)| (start..end, self.at(start)))
    }

    fn at(&self, number: i64) -> Account {
        let step = self.steps.range(..=number).next_back();
        // There is always one.
        step.map_or(Account::SPENT, |(_, account)| *account)
    }

    fn split(&mut self, number: i64) {
        let account = self.at(number);
        self.steps.insert(number, account);
    }

    fn join(&mut self) {
        let mut before = None;
        self.steps.retain(|_, account| before.replace(*account) != Some(*account));
    }
}

/// The number of further charges that fit. It is monotone: a charge that does not fit never fits later.
fn fit(spent: &Account, charge: &Charge, cap: &Cap) -> u64 {
    let fits = |number| cap.accepts(&spent.plus_many(charge, number)).is_some();
    let number = first(1, u64::MAX, |number| !fits(number));
    if fits(number) { number } else { number - 1 }
}
