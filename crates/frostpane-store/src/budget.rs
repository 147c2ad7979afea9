//! What has been spent of the budget, and when there will be more.

use std::fs;
use std::path::Path;

use frostpane::{Amount, Ledger};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::{Header, StoredKey};
use crate::history::Head;
use crate::store::{STATUS, Store};

/// What has been spent, and how much is left. Nothing in it is private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Budget {
    /// Whether a list is released at every slide, which every pane pays for when it is born.
    pub continual: bool,
    /// What one release costs everyone it covers.
    pub charge: Amount,
    /// The most that anyone may spend: of epsilon or of rho, and of delta without what is set aside for rho.
    pub cap: Amount,
    /// How many more releases of the longest window fit now.
    pub left: u64,
    /// When there will be more because panes have left, and how many then: a moment, or a number of events.
    pub more: Option<(String, u64)>,
    /// What the panes, or epochs, of the longest window have spent, from the oldest on; those next to each other that have spent the
    /// same are one. None before the first event of a stream whose events say where it is.
    pub periods: Vec<Period>,
}

/// Panes, or epochs, next to each other that have spent the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Period {
    /// Where the first begins: a moment, or the number of an event.
    pub from: String,
    /// Where the last ends.
    pub to: String,
    /// How many they are.
    pub panes: u64,
    /// What each of them has spent.
    pub spent: Amount,
    /// When the last of them has left the window.
    pub leaves: String,
}

/// What can be looked at while another process has the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Status {
    pub header: Header,
    pub head: Head,
    pub budget: Budget,
}

impl Status {
    pub fn of<K: StoredKey>(store: &Store<K>) -> Result<Self> {
        Ok(Self {
            header: store.header.clone(),
            head: store.head().clone(),
            budget: store.budget()?,
        })
    }

    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(STATUS);
        let bytes = fs::read(&path).map_err(|cause| Error::file(&path, cause))?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

impl Budget {
    /// What has been spent of a state; while another process has it, as of its last commit that changed anything.
    pub fn read(folder: &Path) -> Result<(Header, Head, Self)> {
        let Status { header, head, budget } = Status::read(folder)?;
        Ok((header, head, budget))
    }
}

impl<K: StoredKey> Store<K> {
    /// What has been spent, and how much is left.
    pub fn budget(&self) -> Result<Budget> {
        let stream = &self.stream;
        let (charge, cap, ledger) = (stream.charge(), stream.cap(), stream.ledger());
        let numbers = stream.numbers();
        let window = stream.panes_of_window();
        let continual = stream.spec().continual;
        // The window that ends with the pane before this one.
        let left = |end: i64| match continual {
            true => 0,
            false => ledger.releases_left(end - window..end, charge, cap),
        };
        let end = stream.end_of_window();
        let now = left(end);
        if !stream.spec().longest().is_by_count() && stream.is_empty() {
            // Nothing has come that says which moments its panes are of.
            return Ok(Budget {
                continual,
                charge: charge.amount(),
                cap: cap.most(),
                left: now,
                more: None,
                periods: Vec::new(),
            });
        }
        // A window has more only where it begins with a pane that has spent something else than the one before it.
        let first = end - window + 1;
        let more = ledger.steps(first..end + 2).find_map(|begin| {
            let more = left(begin + window);
            (more > now).then(|| (self.moment(stream.window_reaches(begin + window)), more))
        });
        Ok(Budget {
            continual,
            charge: charge.amount(),
            cap: cap.most(),
            left: now,
            more,
            periods: self.periods(ledger, end - window..numbers.end),
        })
    }

    fn periods(&self, ledger: &Ledger, numbers: std::ops::Range<i64>) -> Vec<Period> {
        let window = self.stream.panes_of_window();
        let mut periods: Vec<(i64, i64, Amount)> = Vec::new();
        let begins = std::iter::once(numbers.start).chain(ledger.steps(numbers.start + 1..numbers.end));
        for number in begins.filter(|number| numbers.contains(number)) {
            let spent = ledger.account(number..number + 1).amount();
            match periods.last_mut() {
                Some((_, _, same)) if *same == spent => {}
                Some((_, end, _)) => {
                    *end = number;
                    periods.push((number, numbers.end, spent));
                }
                None => periods.push((number, numbers.end, spent)),
            }
        }
        let at = |number| self.moment(self.stream.begins(number));
        let period = |(from, to, spent): (i64, i64, Amount)| Period {
            from: at(from),
            to: at(to),
            panes: (to - from) as u64,
            spent,
            leaves: self.moment(self.stream.window_reaches(to + window)),
        };
        periods.into_iter().map(period).collect()
    }

    /// A position, as it is said: a moment, or the number of an event.
    pub fn moment(&self, position: i64) -> String {
        match self.stream.spec().longest().is_by_count() {
            true => format!("event {position}"),
            false => Timestamp::from_microsecond(position)
                .map_or_else(|_| position.to_string(), |at| at.to_string()),
        }
    }
}
