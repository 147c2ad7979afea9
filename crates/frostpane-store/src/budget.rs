//! What has been spent of the budget, and when there will be more.

use std::fs;
use std::path::Path;

use frostpane::{Amount, Bytes, Ledger};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::header::{Header, KeyKind, StoredKey};
use crate::hex;
use crate::history::Head;
use crate::store::{STATUS, Store};
use crate::tables;

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

/// What a state is asked for, how far it has come and what it has spent. Nothing in it is private.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// What was fixed when it was begun.
    pub header: Header,
    /// The end of its history.
    pub head: Head,
    /// What it has spent.
    pub budget: Budget,
    /// Whether another process has it: then this is what that process has written down for others, and may be a moment old.
    pub in_use: bool,
}

/// What a process that has the state writes down for others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Status {
    pub header: Header,
    pub head: Head,
    pub budget: Budget,
}

const CONTEXT: &str = "frostpane 2026-11-18 the status of a state";
/// Around the checksum and the status, so that the file is JSON.
const BEFORE: &str = "{\"checksum\":\"";
const BETWEEN: &str = "\",\"status\":";
const AFTER: &str = "}";

impl Status {
    pub fn of<K: StoredKey>(store: &Store<K>) -> Result<Self> {
        Ok(Self {
            header: store.header.clone(),
            head: store.head().clone(),
            budget: store.budget()?,
        })
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let status = serde_json::to_string(self)?;
        Ok(format!("{BEFORE}{}{BETWEEN}{status}{AFTER}", checksum(&status)).into_bytes())
    }

    /// Reads it, and refuses what is not as it was written.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(STATUS);
        let text = fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?;
        let whole = || {
            let (sum, rest) = text.strip_prefix(BEFORE)?.split_once(BETWEEN)?;
            let status = rest.strip_suffix(AFTER)?;
            (sum == checksum(status)).then_some(status)
        };
        let status = whole().ok_or_else(|| {
            Error::conflict(format!(
                "{} is not what was written, and another process has the state: ask again when that has ended",
                path.display()
            ))
        })?;
        Ok(serde_json::from_str(status)?)
    }
}

fn checksum(status: &str) -> String {
    hex(&blake3::derive_key(CONTEXT, status.as_bytes()))
}

impl Summary {
    /// Reads what is kept; while another process has the state, what that has written down.
    pub fn read(folder: &Path) -> Result<Self> {
        let database = match tables::open(folder) {
            Err(Error::Busy(_)) => return Ok(Self::of(Status::read(folder)?, true)),
            database => database?,
        };
        let header = Header::of(&database)?;
        drop(database);
        let status = match header.keys {
            KeyKind::Bytes => kept::<Bytes>(folder),
            KeyKind::Integers => kept::<u64>(folder),
        };
        match status {
            // It was opened in between.
            Err(Error::Busy(_)) => Ok(Self::of(Status::read(folder)?, true)),
            status => Ok(Self::of(status?, false)),
        }
    }

    fn of(status: Status, in_use: bool) -> Self {
        let Status { header, head, budget } = status;
        Self {
            header,
            head,
            budget,
            in_use,
        }
    }
}

fn kept<K: StoredKey>(folder: &Path) -> Result<Status> {
    let store = Store::<K>::read(folder)?;
    store.check_commits()?;
    Status::of(&store)
}

impl<K: StoredKey> Store<K> {
    /// What has been spent, and how much is left.
    pub fn budget(&self) -> Result<Budget> {
        let stream = &self.stream;
        let (charge, cap, ledger) = (stream.charge(), stream.cap(), stream.ledger());
        let numbers = stream.numbers();
        let window = stream.panes_of_window();
        let continual = stream.spec().continual;
        let end = stream.end_of_window();
        let (left, more) = match continual {
            true => (0, None),
            false => ledger.renewal(end, window, charge, cap),
        };
        if !stream.spec().longest().is_by_count() && stream.is_empty() {
            // Nothing has come that says which moments its panes are of.
            return Ok(Budget {
                continual,
                charge: charge.amount(),
                cap: cap.most(),
                left,
                more: None,
                periods: Vec::new(),
            });
        }
        Ok(Budget {
            continual,
            charge: charge.amount(),
            cap: cap.most(),
            left,
            more: more.map(|(end, more)| (self.moment(stream.window_reaches(end)), more)),
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
