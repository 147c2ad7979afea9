//! Releases that are asked for by an id.

use std::collections::BTreeMap;
use std::ops::Range;

use frostpane::stream::{Mark, Paid, SecretBytes, mark_of};
use frostpane::{Accountant, Amount, Release, Span};
use redb::{ReadableDatabase, ReadableTable, TableError, WriteTransaction};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, Unaffordable};
use crate::header::StoredKey;
use crate::history::Deed;
use crate::packed::Unpacker;
use crate::random;
use crate::store::{Change, Store};
use crate::tables::{PENDING, RELEASES};

/// A release that was charged and kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Released {
    /// As JSON: the same bytes whenever it is asked for.
    pub json: Vec<u8>,
    /// In other forms, by their names, as they were made with it. None if the process ended between charge and release.
    pub forms: Forms,
    /// Whether it was there before, so that nothing was charged now.
    pub again: bool,
}

/// Texts by their names.
pub type Forms = BTreeMap<String, String>;

/// What a release would cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DryRun {
    /// Those whom it would be charged to, from this number on.
    pub from: i64,
    /// Up to this one, which would not be.
    pub to: i64,
    /// What each of them would be charged.
    pub charge: Amount,
    /// Who would let it pass.
    pub accountant: Accountant,
    /// How many more such releases could follow.
    pub left: u64,
}

/// What is kept under an id.
#[derive(Serialize, Deserialize)]
struct Row {
    /// The window that was asked for: the id stands for it.
    window: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ordered: Option<OrderedRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    forms: Forms,
    /// Whether it was made, and its text was dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dropped: bool,
}

/// What becomes of the row of a release.
pub(crate) struct Kept<'a> {
    pub id: &'a str,
    /// As JSON.
    pub row: Vec<u8>,
    /// Whether it was charged and is not made yet.
    pub pending: bool,
}

#[derive(Serialize, Deserialize)]
struct OrderedRow {
    paid: Vec<u8>,
    mark: Mark,
}

/// A release that was charged, and whose noise follows from a secret that was kept with the charge: it can be made again, the same, until it is kept.
pub(crate) struct Ordered {
    pub window: Span,
    pub paid: Paid,
    pub mark: Mark,
}

impl<K: StoredKey> Store<K> {
    /// The release of a window that ends now: charged to everyone it covers, kept, and only then returned. The same id returns the same
    /// bytes and charges nothing; with another window it is refused. Who cannot pay refuses it, and nothing has changed.
    pub fn release(&mut self, id: &str, window: Span) -> Result<Released> {
        self.release_in_forms(id, window, |_| Forms::new())
    }

    /// The same, in other forms too, which are kept with it and are as much the same whenever they are asked for.
    pub fn release_in_forms(
        &mut self,
        id: &str,
        window: Span,
        forms: impl FnOnce(&Release<K>) -> Forms,
    ) -> Result<Released> {
        self.check_whole()?;
        if let Some(row) = self.row(id)? {
            return again(id, window, row);
        }
        self.check_going()?;
        self.check_none_awaited()?;
        let paid = match self.stream.pay(window)? {
            Ok(paid) => paid,
            Err(refusal) => return Err(self.unaffordable(refusal)),
        };
        let secret = random::<32>()?;
        let mark = mark_of(&secret);
        let row = Row {
            window,
            ordered: Some(OrderedRow {
                paid: paid.to_bytes(),
                mark,
            }),
            json: None,
            forms: Forms::new(),
            dropped: false,
        };
        let numbers = paid.numbers();
        self.ordered.push(mark);
        self.commit(Change {
            release: Some(Kept {
                id,
                row: serde_json::to_vec(&row)?,
                pending: true,
            }),
            deed: Some(Deed::Charged {
                id: id.to_owned(),
                window: window.to_string(),
                from: numbers.start,
                to: numbers.end,
                accountant: named(paid.accountant()).to_owned(),
            }),
            secrets: vec![secret.clone()],
            ..Change::default()
        })?;
        self.make(id, &Ordered { window, paid, mark }, &secret, forms)
    }

    /// What a release of a window would cost, with nothing charged.
    pub fn dry_run(&self, window: Span) -> Result<DryRun> {
        let paid = match self.stream.try_pay(window)? {
            Ok(paid) => paid,
            Err(refusal) => return Err(self.unaffordable(refusal)),
        };
        let numbers = paid.numbers();
        Ok(DryRun {
            from: numbers.start,
            to: numbers.end,
            charge: self.stream.charge().amount(),
            accountant: paid.accountant(),
            left: self.stream.releases_left(window)?.saturating_sub(1),
        })
    }

    /// The ids of all releases.
    pub fn releases(&self) -> Result<Vec<String>> {
        let table = self.database.begin_read()?.open_table(RELEASES)?;
        let ids = table.iter()?.map(|row| Ok(row?.0.value().to_owned()));
        ids.collect()
    }

    /// The release that an id stands for, if there is one.
    pub fn released(&self, id: &str) -> Result<Option<Released>> {
        self.check_whole()?;
        let Some(row) = self.row(id)? else {
            return Ok(None);
        };
        again(id, row.window, row).map(Some)
    }

    /// Makes a release that was charged, and keeps it; its secret is then of no use.
    fn make(
        &mut self,
        id: &str,
        ordered: &Ordered,
        secret: &SecretBytes,
        forms: impl FnOnce(&Release<K>) -> Forms,
    ) -> Result<Released> {
        let release = self.guarded(|store| Ok(store.stream.release(&ordered.paid, secret)?))?;
        let json = serde_json::to_string(&release)?;
        let row = Row {
            window: ordered.window,
            ordered: None,
            json: Some(json.clone()),
            forms: forms(&release),
            dropped: false,
        };
        self.commit(Change {
            release: Some(Kept {
                id,
                row: serde_json::to_vec(&row)?,
                pending: false,
            }),
            ..Change::default()
        })?;
        self.ordered.retain(|mark| *mark != ordered.mark);
        self.guarded(|store| {
            store.erase_secrets()?;
            store.tell_status()
        })?;
        Ok(Released {
            json: json.into_bytes(),
            forms: row.forms,
            again: false,
        })
    }

    /// Releases that were charged and not kept, because the process ended between the two: they are made as they would have been.
    pub(crate) fn finish_releases(&mut self) -> Result<()> {
        let all = self.find_ordered()?;
        self.ordered = all.iter().map(|(_, ordered)| ordered.mark).collect();
        for (id, ordered) in all {
            let secret = self.secrets.find(&ordered.mark)?.ok_or_else(|| {
                Error::conflict(format!(
                    "the secret of the release {id}, which was charged, is missing and is never drawn again: restore the file of secrets"
                ))
            })?;
            self.make(&id, &ordered, &secret, |_| Forms::new())?;
        }
        Ok(())
    }

    /// Releases that were charged and not kept are given up: a copy does not know whether they were shown.
    pub(crate) fn abandon_releases(&mut self) -> Result<()> {
        for (id, ordered) in self.find_ordered()? {
            let row = Row {
                window: ordered.window,
                ordered: None,
                json: None,
                forms: Forms::new(),
                dropped: false,
            };
            self.commit(Change {
                release: Some(Kept {
                    id: &id,
                    row: serde_json::to_vec(&row)?,
                    pending: false,
                }),
                ..Change::default()
            })?;
        }
        Ok(())
    }

    /// All of those.
    fn find_ordered(&self) -> Result<Vec<(String, Ordered)>> {
        let pending = match self.database.begin_read()?.open_table(PENDING) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            table => table?,
        };
        let mut all = Vec::new();
        for entry in pending.iter()? {
            let id = entry?.0.value().to_owned();
            let row = self.row(&id)?;
            let ordered = row.and_then(|row| Some((row.window, row.ordered?)));
            let Some((window, OrderedRow { paid, mark })) = ordered else {
                return Err(Error::damaged(format_args!(
                    "the release {id} was charged and is not there"
                )));
            };
            let paid = Paid::from_bytes(&paid)?;
            all.push((id, Ordered { window, paid, mark }));
        }
        Ok(all)
    }

    fn row(&self, id: &str) -> Result<Option<Row>> {
        let table = self.database.begin_read()?.open_table(RELEASES)?;
        let Some(bytes) = table.get(id)? else {
            return Ok(None);
        };
        let text = Unpacker::new(&self.database).unpack(bytes.value())?;
        Ok(Some(serde_json::from_slice(&text)?))
    }

    /// Who cannot pay, by where they lie, and when they leave the window.
    fn unaffordable(&self, refusal: frostpane::Refusal) -> Error {
        let window = refusal.of.end - refusal.of.start;
        let leaves = |number: i64| self.moment(self.stream.window_reaches(number + window));
        let leave: Vec<String> = refusal
            .unpaid
            .iter()
            .map(|unpaid| leaves(unpaid.numbers.end))
            .collect();
        let mut words = refusal.words(|numbers| self.place(numbers));
        if let Some(last) = leave.last() {
            words += &format!("; the last of them leaves the window at {last}");
        }
        Error::Refused(Box::new(Unaffordable {
            refusal,
            leave,
            words,
        }))
    }

    /// Panes, or epochs, by where they lie.
    pub(crate) fn place(&self, numbers: &Range<i64>) -> String {
        let of_people = self.stream.spec().unit.is_user();
        let what = match (of_people, numbers.end - numbers.start) {
            (true, 1) => "the epoch",
            (true, _) => "the epochs",
            (false, 1) => "the pane",
            (false, _) => "the panes",
        };
        let at = |number| {
            let moment = self.moment(self.stream.begins(number));
            moment
                .strip_suffix("T00:00:00Z")
                .map_or(moment.clone(), str::to_owned)
        };
        format!("{what} from {} up to {}", at(numbers.start), at(numbers.end))
    }
}

/// Releases that a state of format 1 has charged and not made, found by looking at all of them.
pub(crate) fn index_pending(transaction: &WriteTransaction) -> Result<()> {
    let releases = transaction.open_table(RELEASES)?;
    let mut pending = transaction.open_table(PENDING)?;
    for entry in releases.iter()? {
        let (id, bytes) = entry?;
        let row: Row = serde_json::from_slice(bytes.value())?;
        if row.ordered.is_some() {
            pending.insert(id.value(), ())?;
        }
    }
    Ok(())
}

/// The same row without its text; none if it has none.
pub(crate) fn without_text(text: &[u8]) -> Result<Option<Vec<u8>>> {
    let row: Row = serde_json::from_slice(text)?;
    if row.json.is_none() {
        return Ok(None);
    }
    let dropped = Row {
        window: row.window,
        ordered: None,
        json: None,
        forms: Forms::new(),
        dropped: true,
    };
    Ok(Some(serde_json::to_vec(&dropped)?))
}

fn again(id: &str, window: Span, row: Row) -> Result<Released> {
    if row.window != window {
        return Err(Error::conflict(format!(
            "the id {id} stands for a release of {}, and not of {window}: give this one another id",
            row.window
        )));
    }
    match row.json {
        Some(json) => Ok(Released {
            json: json.into_bytes(),
            forms: row.forms,
            again: true,
        }),
        None if row.dropped => Err(Error::conflict(format!(
            "the release {id} was made and charged, and its text was dropped by `frostpane compact`: it is not drawn again; give this one another id"
        ))),
        None => Err(Error::conflict(format!(
            "the release {id} was charged, but the copy that this state was restored from does not have it: give this one another id"
        ))),
    }
}

/// As it is said.
pub(crate) fn named(accountant: Accountant) -> &'static str {
    match accountant {
        Accountant::Basic => "basic composition",
        Accountant::ZeroConcentrated => "zero-concentrated composition",
    }
}
