//! The budget: what is spent, what is left, and when there will be more.

use std::fs;
use std::path::Path;

use frostpane::{Amount, Bytes, Ledger};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, Result};
use crate::header::{Header, KeyKind, StoredKey};
use crate::hex;
use crate::history::ChainHead;
use crate::store::{STATUS, Store};
use crate::tables;

/// The budget that is spent and left. Nothing in it is private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BudgetReport {
    /// Releases are continual: every pane pays for all of them when it begins.
    pub continual: bool,
    /// The charge of one release to each pane or epoch that it covers.
    pub charge: Amount,
    /// The most that each may spend: epsilon or rho, and delta without the part that is reserved for rho.
    pub cap: Amount,
    /// The number of releases of the longest window that are affordable now.
    pub left: u64,
    /// When more are affordable, as a moment or a number of events, and how many then.
    pub more: Option<(String, u64)>,
    /// Spending of the panes, or epochs, of the longest window, from the oldest on. Neighbours that have
    /// spent the same are one period. Empty before the first event of a stream whose position follows from
    /// its events.
    pub periods: Vec<BudgetPeriod>,
}

/// Neighbouring panes, or epochs, that have spent the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BudgetPeriod {
    /// The begin of the first: a moment, or the number of an event.
    pub from: String,
    /// The end of the last.
    pub to: String,
    /// Their number.
    pub panes: u64,
    /// The amount that each of them has spent.
    pub spent: Amount,
    /// The moment at which the last of them has left the window.
    pub leaves: String,
}

/// Header, history and budget of a store. Nothing in it is private.
///
/// A process with an open store writes it to a file for others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The header.
    pub header: Header,
    /// The end of its history.
    pub head: ChainHead,
    /// The budget.
    pub budget: BudgetReport,
    /// Another process has the store open. The summary is then from its file, and may be a moment old.
    #[serde(skip)]
    pub in_use: bool,
}

const CONTEXT: &str = "frostpane 2026-11-18 the status of a state";

#[derive(Serialize, Deserialize)]
struct StatusFile {
    checksum: String,
    status: Box<RawValue>,
}

impl Summary {
    /// Reads a store, or its status file while another process has the store open.
    pub fn read(folder: &Path) -> Result<Self> {
        let read = || {
            let database = tables::open(folder, false)?;
            let header = Header::of(&database)?;
            drop(database);
            match header.keys {
                KeyKind::Bytes => Self::of_closed::<Bytes>(folder),
                KeyKind::Integers => Self::of_closed::<u64>(folder),
            }
        };
        match read() {
            Err(Error::Busy(_)) => Self::read_status(folder),
            summary => summary,
        }
    }

    fn of_closed<K: StoredKey>(folder: &Path) -> Result<Self> {
        let store = Store::<K>::read(folder)?;
        store.check_commits()?;
        Self::of(&store)
    }

    pub(crate) fn of<K: StoredKey>(store: &Store<K>) -> Result<Self> {
        Ok(Self {
            header: store.header.clone(),
            head: store.head().clone(),
            budget: store.budget()?,
            in_use: false,
        })
    }

    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let status = serde_json::value::to_raw_value(self)?;
        Ok(serde_json::to_vec(&StatusFile { checksum: checksum(&status), status })?)
    }

    /// Reads the status file, and refuses one that differs from its checksum.
    pub(crate) fn read_status(folder: &Path) -> Result<Self> {
        let path = folder.join(STATUS);
        let text = fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?;
        let file = serde_json::from_str::<StatusFile>(&text).ok();
        let file = file.filter(|file| file.checksum == checksum(&file.status)).ok_or_else(|| {
            Error::conflict(format!(
                "{} is not what was written, and another process has the state: ask again when that has \
                 ended",
                path.display()
            ))
        })?;
        Ok(Self { in_use: true, ..serde_json::from_str(file.status.get())? })
    }
}

fn checksum(status: &RawValue) -> String {
    hex(&blake3::derive_key(CONTEXT, status.get().as_bytes()))
}

impl<K: StoredKey> Store<K> {
    /// The budget that is spent and left.
    pub fn budget(&self) -> Result<BudgetReport> {
        let stream = &self.stream;
        let (charge, cap, ledger) = (stream.charge(), stream.cap(), stream.ledger());
        let numbers = stream.numbers();
        let window = stream.panes_of_window();
        let continual = stream.spec().continual;
        let end = stream.end_of_window();
        let (left, more) = if continual { (0, None) } else { ledger.renewal(end, window, charge, cap) };
        // Before the first event the moments of its panes are unknown.
        let is_placed = stream.spec().longest().is_by_count() || !stream.is_empty();
        let more = more.filter(|_| is_placed);
        Ok(BudgetReport {
            continual,
            charge: charge.amount(),
            cap: cap.most(),
            left,
            more: more.map(|(end, more)| (self.moment(stream.window_reaches(end)), more)),
            periods: if is_placed { self.periods(ledger, end - window..numbers.end) } else { Vec::new() },
        })
    }

    fn periods(&self, ledger: &Ledger, numbers: std::ops::Range<i64>) -> Vec<BudgetPeriod> {
        let window = self.stream.panes_of_window();
        let begins = std::iter::once(numbers.start).chain(ledger.steps(numbers.start + 1..numbers.end));
        let begins = begins.filter(|number| numbers.contains(number));
        let mut periods: Vec<(i64, Amount)> =
            begins.map(|number| (number, ledger.account(number..number + 1).amount())).collect();
        periods.dedup_by(|later, earlier| later.1 == earlier.1);
        let ends: Vec<i64> = periods.iter().skip(1).map(|(begin, _)| *begin).chain([numbers.end]).collect();
        let at = |number| self.moment(self.stream.begins(number));
        let period = |((from, spent), to): ((i64, Amount), i64)| BudgetPeriod {
            from: at(from),
            to: at(to),
            panes: (to - from) as u64,
            spent,
            leaves: self.moment(self.stream.window_reaches(to + window)),
        };
        periods.into_iter().zip(ends).map(period).collect()
    }

    /// A position as text: a moment, or the number of an event.
    pub fn moment(&self, position: i64) -> String {
        if self.stream.spec().longest().is_by_count() {
            return format!("event {position}");
        }
        Timestamp::from_microsecond(position).map_or_else(|_| position.to_string(), |at| at.to_string())
    }
}
