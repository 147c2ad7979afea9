use std::ops::Range;

use dashu_int::UBig;

use super::*;
use crate::noise::{Entropy, InsecureSeededEntropy};
use crate::privacy::{Delta, Epsilon};

const RUNS: u64 = 3_000;
const STEPS: usize = 40;
const NUMBERS: Range<i64> = -13..13;

fn cap(epsilon: f64, delta: f64, slack: f64) -> Cap {
    Cap::new(Epsilon::new(epsilon).unwrap(), Delta::new(delta), Delta::new(slack)).unwrap()
}

fn laplace(epsilon: f64, delta: f64) -> Charge {
    Charge::laplace(Epsilon::new(epsilon).unwrap(), Delta::new(delta))
}

#[derive(Clone, Debug, PartialEq)]
struct Model {
    accounts: Vec<[UBig; 3]>,
    spent: Vec<bool>,
}

impl Model {
    fn new(born: Amount) -> Self {
        let length = NUMBERS.count();
        Self { accounts: vec![big(born); length], spent: vec![false; length] }
    }

    /// The accountants that would accept, or `None`.
    fn charge(
        &mut self,
        range: &Range<i64>,
        charge: Amount,
        most: Amount,
        by_rho: bool,
    ) -> Option<Accountant> {
        let before = self.clone();
        let (mut accountant, most) = (Accountant::Basic, big(most));
        for (index, _) in NUMBERS.enumerate().filter(|(_, number)| range.contains(number)) {
            let account = &mut self.accounts[index];
            for (sum, more) in account.iter_mut().zip(big(charge)) {
                *sum += more;
            }
            let [epsilon, delta, rho] = [0, 1, 2].map(|which| account[which] <= most[which]);
            if self.spent[index] || !delta || !(epsilon || by_rho && rho) {
                *self = before;
                return None;
            }
            if !epsilon {
                accountant = Accountant::ZeroConcentrated;
            }
        }
        Some(accountant)
    }
}

fn big(amount: Amount) -> [UBig; 3] {
    [amount.epsilon.into(), amount.delta.into(), amount.rho.into()]
}

/// Uniform below `bound`.
fn draw(entropy: &mut InsecureSeededEntropy, bound: u64) -> u64 {
    entropy.below(bound).unwrap()
}

fn any_charge(entropy: &mut InsecureSeededEntropy) -> Charge {
    let mut part = |large: u128| match draw(entropy, 4) {
        0 => 0,
        1 => 1,
        2 => u128::from(draw(entropy, 1_000)),
        _ => large * u128::from(draw(entropy, 8)) / 16,
    };
    Charge::from_amount(Amount {
        epsilon: part(1_000_000) as u64,
        delta: part(10_u128.pow(30)),
        rho: part(10_u128.pow(16)),
    })
}

fn any_range(entropy: &mut InsecureSeededEntropy) -> Range<i64> {
    let [a, b] = [(); 2].map(|()| draw(entropy, 27) as i64 - 13);
    a.min(b)..a.max(b)
}

fn assert_same(ledger: &Ledger, model: &Model) {
    let of = |index: usize| {
        if model.spent[index] { big(Amount::ALL) } else { model.accounts[index].clone() }
    };
    for (first, start) in NUMBERS.enumerate() {
        let mut most = [UBig::ZERO, UBig::ZERO, UBig::ZERO];
        for (index, last) in NUMBERS.enumerate().skip(first) {
            for (most, account) in most.iter_mut().zip(of(index)) {
                *most = account.max(most.clone());
            }
            assert_eq!(big(ledger.account(start..last + 1).amount()), most, "{start} to {last}");
        }
    }
}

/// Random interleavings against a model with one account for each number: 120,000 requests. Detects a
/// number that is not charged, or charged without being asked for, at either end of a range; a sum that
/// loses anything; a refusal that charges; a merged pane that forgets its largest account; a cap that
/// is exceeded or refuses too early; a number that comes back.
#[test]
fn every_number_has_the_account_that_it_would_have_by_itself() {
    let (mut accepted, mut by_rho, mut refused) = (0, 0, 0);
    for run in 0..RUNS {
        let mut entropy = InsecureSeededEntropy::new(run);
        let slack = [0.0, 1e-7, 5e-7][draw(&mut entropy, 3) as usize];
        let cap = cap(1.0, 1e-6, slack);
        let born = match draw(&mut entropy, 2) {
            0 => Account::default(),
            _ => Account::default().plus(&any_charge(&mut entropy)),
        };
        let (mut ledger, mut model) = (Ledger::new(born), Model::new(born.amount()));
        for _ in 0..STEPS {
            let before = draw(&mut entropy, 27) as i64 - 13;
            match draw(&mut entropy, 60) {
                0 => ledger.retire(before),
                1 => ledger.spend_all(before),
                _ => {
                    let (range, charge) = (any_range(&mut entropy), any_charge(&mut entropy));
                    let expected = model.charge(&range, charge.amount(), cap.most(), slack > 0.0);
                    let was = ledger.clone();
                    assert_eq!(ledger.check(range.clone(), &charge, &cap).ok(), expected);
                    let left = ledger.releases_left(range.clone(), &charge, &cap);
                    assert_eq!(left > 0, expected.is_some());
                    let given = ledger.charge(range, &charge, &cap);
                    assert_eq!(given.clone().ok(), expected, "{charge:?} {cap:?}");
                    match given {
                        Ok(Accountant::Basic) => accepted += 1,
                        Ok(Accountant::ZeroConcentrated) => by_rho += 1,
                        Err(_) => {
                            refused += 1;
                            assert_eq!(ledger, was, "a refused charge leaves all as it was");
                        }
                    }
                    continue;
                }
            }
            for (index, _) in NUMBERS.enumerate().filter(|(_, number)| *number < before) {
                model.spent[index] = true;
            }
        }
        assert_same(&ledger, &model);
        assert_eq!(ledger.account(100..101), born, "yet to be born");
        assert_eq!(Ledger::from_parts(ledger.gone(), ledger.segments()).unwrap(), ledger);
    }
    assert!(accepted > 20_000 && by_rho > 1_000 && refused > 20_000, "{accepted} {by_rho} {refused}");
}

/// The first and the last number of a range pay, and their neighbours do not; also at the extreme numbers.
#[test]
fn every_pane_that_a_range_touches_pays() {
    let (cap, charge) = (cap(1.0, 0.0, 0.0), laplace(1.0, 0.0));
    for range in [-1..1, 3..4, i64::MIN..i64::MIN + 1, i64::MAX - 2..i64::MAX, i64::MIN..i64::MAX] {
        let mut ledger = Ledger::new(Account::default());
        ledger.charge(range.clone(), &charge, &cap).unwrap();
        let one = |number: i64| ledger.account(number..number + 1);
        for number in [range.start, range.end - 1] {
            assert_eq!(one(number), Account::default().plus(&charge));
            assert!(ledger.check(number..number + 1, &charge, &cap).is_err());
        }
        for number in [range.start.checked_sub(1), Some(range.end).filter(|end| *end < i64::MAX)] {
            assert!(number.is_none_or(|number| one(number) == Account::default()));
        }
        assert!(ledger.segments().count() <= 3);
    }
}

#[test]
fn nobody_pays_for_an_empty_range() {
    let (cap, charge) = (cap(1.0, 0.0, 0.0), laplace(2.0, 0.0));
    let mut ledger = Ledger::new(Account::default());
    for range in [0..0, Range { start: 5, end: -5 }] {
        assert_eq!(ledger.charge(range.clone(), &charge, &cap), Ok(Accountant::Basic));
        assert_eq!(ledger.releases_left(range.clone(), &charge, &cap), u64::MAX);
        assert_eq!(ledger.account(range), Account::default());
    }
    assert_eq!(ledger, Ledger::new(Account::default()));
}

/// One more unit of each, when nearly all is spent, and one too many.
#[test]
fn the_smallest_spend_counts() {
    let one = Amount { epsilon: 1, delta: 1, rho: 1 };
    let cap = cap(1e6, 0.9, 0.3);
    let parts = |amount: Amount, which: usize| {
        let pick = |index, of| if which == index { of } else { 0 };
        Amount {
            epsilon: pick(0, amount.epsilon as u128) as u64,
            delta: pick(1, amount.delta),
            rho: pick(2, amount.rho),
        }
    };
    let beyond = Amount { epsilon: u64::MAX, ..Amount::default() };
    for which in 0..3 {
        // Rho matters where epsilon is exceeded.
        let others = if which == 2 { beyond } else { Amount { rho: u128::MAX, ..Amount::default() } };
        let nearly = parts(cap.most(), which).minus(parts(one, which)).plus(others);
        let mut ledger = Ledger::new(Account::from_amount(nearly));
        let charge = Charge::from_amount(parts(one, which));
        assert_eq!(ledger.releases_left(0..1, &charge, &cap), 1, "{which}");
        assert!(ledger.charge(0..1, &charge, &cap).is_ok(), "{which}");
        assert!(ledger.charge(0..1, &charge, &cap).is_err(), "{which}");
    }
}

/// Releases of epsilon 0.1: basic composition refuses after 80, and rho after 174, the most at which
/// `rho + 2 sqrt(rho log(1/slack)) <= 8`.
#[test]
fn many_small_releases_fit_by_their_rho() {
    let (cap, charge) = (cap(8.0, 1e-6, 5e-7), laplace(0.1, 1e-9));
    let mut ledger = Ledger::new(Account::default());
    for release in 0..174 {
        assert_eq!(ledger.releases_left(0..1, &charge, &cap), 174 - release);
        let by = if release < 80 { Accountant::Basic } else { Accountant::ZeroConcentrated };
        assert_eq!(ledger.charge(0..1, &charge, &cap), Ok(by));
    }
    assert_eq!(ledger.releases_left(0..1, &charge, &cap), 0);
    assert!(ledger.charge(0..1, &charge, &cap).is_err());
}

/// All of the slack is set aside, and both accountants share delta.
#[test]
fn deltas_and_the_slack_fit_into_delta_together() {
    let charge = laplace(0.001, 1e-7);
    let ledger = Ledger::new(Account::default());
    for (slack, releases) in [(0.0, 10), (4e-7, 6), (9.5e-7, 0), (1e-6, 0)] {
        assert_eq!(ledger.releases_left(0..1, &charge, &cap(8.0, 1e-6, slack)), releases, "{slack}");
    }
    // The same where rho decides.
    let ledger = Ledger::new(Account::from_amount(Amount { epsilon: 9_000_000, delta: 0, rho: 1 }));
    for (slack, releases) in [(0.0, 0), (4e-7, 6), (9.5e-7, 0)] {
        assert_eq!(ledger.releases_left(0..1, &charge, &cap(8.0, 1e-6, slack)), releases, "{slack}");
    }
}

#[test]
fn a_number_that_left_or_is_spent_never_comes_back() {
    let (cap, charge) = (cap(1e6, 0.9, 0.0), laplace(1e-6, 0.0));
    let none = Charge::from_amount(Amount::default());
    let mut ledger = Ledger::new(Account::default());
    ledger.charge(0..20, &charge, &cap).unwrap();
    ledger.spend_all(10);
    ledger.retire(5);
    ledger.retire(3);
    assert_eq!(ledger.gone(), 5);
    for number in [i64::MIN, 0, 4, 5, 9] {
        assert!(ledger.check(number..number + 1, &none, &cap).is_err());
        assert_eq!(ledger.releases_left(number..number + 1, &none, &cap), 0);
        assert_eq!(ledger.account(number..12), Account::SPENT, "and makes others so");
    }
    assert_eq!(ledger.account(10..20), Account::default().plus(&charge));
    let refusal = ledger.check(2..30, &charge, &cap).unwrap_err();
    let said: Vec<_> =
        refusal.unpaid.iter().map(|unpaid| (unpaid.numbers.clone(), unpaid.have_left)).collect();
    assert_eq!(said, [(2..5, true), (5..10, false)]);
    assert_eq!(
        refusal.to_string(),
        "epsilon 0.000001, delta 0 and rho 5e-13 were asked of numbers 2 to 29, but numbers 2 to 4 have left for good; numbers 5 to 9 have \
         spent all that there is: ask for less, or wait until the window has moved on"
    );
    ledger.retire(i64::MIN);
    assert_eq!(ledger.gone(), 5);
}

#[test]
fn a_refusal_says_who_cannot_pay_and_what_they_have_left() {
    let (cap, half) = (cap(1.0, 1e-6, 5e-7), laplace(0.5, 1e-9));
    let mut ledger = Ledger::new(Account::default());
    ledger.charge(0..9, &half, &cap).unwrap();
    ledger.charge(3..5, &half, &cap).unwrap();
    ledger.charge(7..8, &half, &cap).unwrap();
    let refusal = ledger.charge(2..20, &half, &cap).unwrap_err();
    assert_eq!((refusal.asked, refusal.of.clone()), (half, 2..20));
    let unpaid: Vec<_> = refusal.unpaid.iter().map(|unpaid| unpaid.numbers.clone()).collect();
    assert_eq!(unpaid, [3..5, 7..8]);
    for unpaid in &refusal.unpaid {
        assert_eq!(unpaid.spent, Account::default().plus(&half).plus(&half));
        assert_eq!((unpaid.left.epsilon, unpaid.left.rho), (0, 0));
        assert_eq!(unpaid.left.delta, 498 * 10_u128.pow(27));
    }
    assert!(!refusal.to_string().contains("in all"), "{refusal}");
    for number in [10, 12] {
        ledger.charge(number..number + 1, &half, &cap).unwrap();
        ledger.charge(number..number + 1, &half, &cap).unwrap();
    }
    let message = ledger.charge(2..20, &half, &cap).unwrap_err().to_string();
    assert!(message.contains("left; number 10 has spent epsilon 1, "), "{message}");
    assert!(message.contains("; and so on, 4 ranges in all: ask for less"), "{message}");
}

#[test]
fn what_no_ledger_writes_is_not_read() {
    let [none, some] = [Account::default(), Account::default().plus(&laplace(1.0, 0.0))];
    for (gone, segments) in [
        (i64::MIN, vec![]),
        (i64::MIN, vec![(0, none)]),
        (i64::MIN, vec![(i64::MIN, none), (5, some), (5, none)]),
        (i64::MIN, vec![(i64::MIN, none), (5, some), (4, none)]),
        (i64::MIN, vec![(i64::MIN, none), (5, none)]),
        (5, vec![(i64::MIN, none)]),
        (5, vec![(i64::MIN, Account::SPENT), (4, none)]),
    ] {
        let message = Ledger::from_parts(gone, segments).unwrap_err().to_string();
        assert!(message.starts_with("this is no ledger"), "{message}");
    }
    assert!(Ledger::from_parts(5, vec![(i64::MIN, Account::SPENT), (5, some), (6, none)]).is_ok());
}

/// The same, window by window.
fn renewal_by_hand(
    ledger: &Ledger,
    end: i64,
    window: i64,
    charge: &Charge,
    cap: &Cap,
) -> (u64, Option<(i64, u64)>) {
    let left = |end: i64| ledger.releases_left(end - window..end, charge, cap);
    let now = left(end);
    let later = (end + 1..=end + 1 + window).map(|end| (end, left(end)));
    (now, later.into_iter().find(|(_, left)| *left > now))
}

#[test]
fn a_budget_renews_when_the_first_window_can_pay_more() {
    let (cap, charge) = (cap(9.0, 1e-6, 0.0), laplace(1.0, 1e-9));
    let mut entropy = InsecureSeededEntropy::new(11);
    let mut below = |bound: u64| entropy.below(bound).unwrap() as i64;
    for _ in 0..300 {
        let mut ledger = Ledger::new(Account::default());
        for _ in 0..below(12) {
            let start = below(20);
            let _ = ledger.charge(start..start + below(9), &charge, &cap);
        }
        if below(3) == 0 {
            ledger.retire(below(12));
        }
        let (end, window) = (below(25), 1 + below(9));
        let expected = renewal_by_hand(&ledger, end, window, &charge, &cap);
        assert_eq!(ledger.renewal(end, window, &charge, &cap), expected, "{ledger:?}, {window} up to {end}");
    }
}

/// With time for each pair of accounts this would not end.
#[test]
fn a_budget_takes_as_long_as_there_are_accounts() {
    const PANES: i64 = 20_000;
    let (cap, charge) = (cap(30.0, 1e-3, 0.0), laplace(0.001, 0.0));
    let spent = |releases: i64| Account::default().plus_many(&charge, releases as u64);
    let steps = (0..PANES).map(|number| (number, spent(number + 1)));
    let unspent = [i64::MIN, PANES].map(|number| (number, spent(0)));
    let segments = [unspent[0]].into_iter().chain(steps).chain([unspent[1]]);
    let ledger = Ledger::from_parts(i64::MIN, segments).unwrap();
    assert_eq!(ledger.renewal(PANES, PANES, &charge, &cap), (10_000, Some((2 * PANES, 30_000))));
}
