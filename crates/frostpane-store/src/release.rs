//! Releases that are requested by an id.

use std::collections::BTreeMap;
use std::ops::Range;

use frostpane::stream::{Grant, SecretBytes, SecretId, secret_id};
use frostpane::{Accountant, Amount, Release, Span};
use redb::{ReadableDatabase, ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, Unaffordable};
use crate::header::StoredKey;
use crate::history::Action;
use crate::packed::Unpacker;
use crate::random;
use crate::store::Store;
use crate::tables::{PENDING, RELEASES, open_existing, value};
use crate::transaction::ChangeSet;

/// A release that was charged and stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRelease {
    /// The release as JSON: the same bytes at every request.
    pub json: Vec<u8>,
    /// The renderings that were made with it. Empty if the process ended between charge and release.
    pub forms: Renderings,
    /// True if it was stored before, so that this request charged nothing.
    pub again: bool,
}

/// Renderings of a release, as text by name.
pub type Renderings = BTreeMap<String, String>;

/// The cost of a release.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DryRun {
    /// The first number that would be charged.
    pub from: i64,
    /// The number after the last one.
    pub to: i64,
    /// The charge to each of them.
    pub charge: Amount,
    /// The accountant that would admit it.
    pub accountant: Accountant,
    /// The number of such releases that could follow.
    pub left: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ReleaseRow {
    /// The requested window, which the id stands for.
    window: Span,
    /// Present if it is charged and not yet made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<PendingRow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    json: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    forms: Renderings,
    /// The release was made, and its text was dropped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    dropped: bool,
}

impl ReleaseRow {
    fn empty(window: Span) -> Self {
        Self { window, ordered: None, json: None, forms: Renderings::new(), dropped: false }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct PendingRow {
    paid: Vec<u8>,
    mark: SecretId,
}

/// A release that is charged and not yet stored. Its noise follows from a secret that was stored with the
/// charge, so it can be made again, the same, until it is stored.
struct PendingRelease {
    window: Span,
    paid: Grant,
    mark: SecretId,
}

impl<K: StoredKey> Store<K> {
    /// Releases a window that ends now: charges all panes or epochs that it covers, stores the release, and
    /// only then returns it. A known id returns the stored bytes and charges nothing, or is refused if the
    /// window differs. If one of those that are covered cannot pay, the release is refused and nothing has
    /// changed.
    pub fn release(&mut self, id: &str, window: Span) -> Result<StoredRelease> {
        self.release_in_forms(id, window, |_| Renderings::new())
    }

    /// Like [`release`](Self::release), with renderings that are made once and stored with the release.
    pub fn release_in_forms(
        &mut self,
        id: &str,
        window: Span,
        forms: impl FnOnce(&Release<K>) -> Renderings,
    ) -> Result<StoredRelease> {
        self.check_usable()?;
        if let Some(row) = self.row(id)? {
            return stored(id, window, row);
        }
        self.check_not_stopped()?;
        self.check_none_awaited()?;
        let paid = match self.stream.pay(window)? {
            Ok(paid) => paid,
            Err(refusal) => return Err(self.unaffordable(refusal)),
        };
        let secret = random::<32>()?;
        let mark = secret_id(&secret);
        let row = ReleaseRow {
            ordered: Some(PendingRow { paid: paid.to_bytes(), mark }),
            ..ReleaseRow::empty(window)
        };
        let numbers = paid.numbers();
        self.pending_secrets.push(mark);
        let change = ChangeSet {
            release: Some((id, &row)),
            action: Some(Action::Charged {
                id: id.to_owned(),
                window: window.to_string(),
                from: numbers.start,
                to: numbers.end,
                accountant: match paid.accountant() {
                    Accountant::Basic => "basic composition".to_owned(),
                    Accountant::ZeroConcentrated => "zero-concentrated composition".to_owned(),
                },
            }),
            secrets: vec![secret.clone()],
            ..ChangeSet::default()
        };
        self.commit_with(change, |_| Ok(()))?;
        self.make(id, PendingRelease { window, paid, mark }, &secret, forms)
    }

    /// The cost of a release, without charging it.
    pub fn dry_run(&self, window: Span) -> Result<DryRun> {
        let (numbers, accountant) = match self.stream.try_pay(window)? {
            Ok(granted) => granted,
            Err(refusal) => return Err(self.unaffordable(refusal)),
        };
        Ok(DryRun {
            from: numbers.start,
            to: numbers.end,
            charge: self.stream.charge().amount(),
            accountant,
            left: self.stream.releases_left(window)?.saturating_sub(1),
        })
    }

    /// The ids of all releases.
    pub fn releases(&self) -> Result<Vec<String>> {
        let table = self.database.begin_read()?.open_table(RELEASES)?;
        let ids = table.iter()?.map(|row| Ok(row?.0.value().to_owned()));
        ids.collect()
    }

    /// The release with this id, if there is one.
    pub fn released(&self, id: &str) -> Result<Option<StoredRelease>> {
        self.check_usable()?;
        let Some(row) = self.row(id)? else {
            return Ok(None);
        };
        stored(id, row.window, row).map(Some)
    }

    /// Makes and stores a release that was charged. Its secret is not needed afterwards.
    fn make(
        &mut self,
        id: &str,
        PendingRelease { window, paid, mark }: PendingRelease,
        secret: &SecretBytes,
        forms: impl FnOnce(&Release<K>) -> Renderings,
    ) -> Result<StoredRelease> {
        let release = self.guarded(|store| Ok(store.stream.release(paid, secret)?))?;
        let json = serde_json::to_string(&release)?;
        let row =
            ReleaseRow { json: Some(json.clone()), forms: forms(&release), ..ReleaseRow::empty(window) };
        self.commit_row(id, &row)?;
        self.pending_secrets.retain(|other| *other != mark);
        self.guarded(|store| {
            store.erase_secrets()?;
            store.write_status()
        })?;
        Ok(StoredRelease { json: json.into_bytes(), forms: row.forms, again: false })
    }

    fn commit_row(&mut self, id: &str, row: &ReleaseRow) -> Result<()> {
        self.commit_with(ChangeSet { release: Some((id, row)), ..ChangeSet::default() }, |_| Ok(()))
    }

    /// Makes the releases that were charged before the process ended, the same as they would have been.
    pub(crate) fn complete_pending(&mut self) -> Result<()> {
        let all = self.find_pending()?;
        self.pending_secrets = all.iter().map(|(_, pending)| pending.mark).collect();
        for (id, pending) in all {
            let secret = self.secrets.find(&pending.mark)?.ok_or_else(|| {
                Error::conflict(format!(
                    "the secret of the release {id}, which was charged, is missing and is never drawn again: \
                     restore the file of secrets"
                ))
            })?;
            self.make(&id, pending, &secret, |_| Renderings::new())?;
        }
        Ok(())
    }

    /// Gives up the releases that were charged and not stored: whether the original has shown them is unknown
    /// to a copy.
    pub(crate) fn abandon_pending(&mut self) -> Result<()> {
        for (id, pending) in self.find_pending()? {
            self.commit_row(&id, &ReleaseRow::empty(pending.window))?;
        }
        Ok(())
    }

    fn find_pending(&self) -> Result<Vec<(String, PendingRelease)>> {
        let Some(table) = open_existing(&self.database, PENDING)? else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        for entry in table.iter()? {
            let id = entry?.0.value().to_owned();
            let row = self.row(&id)?;
            let pending = row.and_then(|row| Some((row.window, row.ordered?)));
            let Some((window, PendingRow { paid, mark })) = pending else {
                return Err(Error::damaged(format_args!("the release {id} was charged and is not there")));
            };
            let paid = Grant::from_bytes(&paid)?;
            all.push((id, PendingRelease { window, paid, mark }));
        }
        Ok(all)
    }

    fn row(&self, id: &str) -> Result<Option<ReleaseRow>> {
        let Some(bytes) = value(&self.database, RELEASES, id)? else {
            return Ok(None);
        };
        Ok(Some(serde_json::from_slice(&Unpacker::new(&self.database).unpack(&bytes)?)?))
    }

    /// Says which panes or epochs cannot pay, and when they leave the window.
    fn unaffordable(&self, refusal: frostpane::Refusal) -> Error {
        let window = refusal.of.end - refusal.of.start;
        let leaves = |number: i64| self.moment(self.stream.window_reaches(number + window));
        let leave: Vec<String> = refusal.unpaid.iter().map(|unpaid| leaves(unpaid.numbers.end)).collect();
        let mut words = refusal.words(|numbers| self.place(numbers));
        if let Some(last) = leave.last() {
            words += &format!("; the last of them leaves the window at {last}");
        }
        Error::Refused(Box::new(Unaffordable { refusal, leave, words }))
    }

    /// Names panes or epochs by the time or the events that they cover.
    pub(crate) fn place(&self, numbers: &Range<i64>) -> String {
        let noun = match (self.stream.spec().unit.is_user(), numbers.end - numbers.start) {
            (true, 1) => "the epoch",
            (true, _) => "the epochs",
            (false, 1) => "the pane",
            (false, _) => "the panes",
        };
        let at = |number| {
            let moment = self.moment(self.stream.begins(number));
            moment.strip_suffix("T00:00:00Z").map_or(moment.clone(), str::to_owned)
        };
        format!("{noun} from {} up to {}", at(numbers.start), at(numbers.end))
    }
}

/// Finds the pending releases of a store of format 1, which has no index of them.
pub(crate) fn index_pending(transaction: &WriteTransaction) -> Result<()> {
    let releases = transaction.open_table(RELEASES)?;
    let mut pending = transaction.open_table(PENDING)?;
    for entry in releases.iter()? {
        let (id, bytes) = entry?;
        let row: ReleaseRow = serde_json::from_slice(bytes.value())?;
        if row.ordered.is_some() {
            pending.insert(id.value(), ())?;
        }
    }
    Ok(())
}

/// A row without its text; none if it has no text.
pub(crate) fn without_text(text: &[u8]) -> Result<Option<Vec<u8>>> {
    let row: ReleaseRow = serde_json::from_slice(text)?;
    if row.json.is_none() {
        return Ok(None);
    }
    let dropped = ReleaseRow { dropped: true, ..ReleaseRow::empty(row.window) };
    Ok(Some(serde_json::to_vec(&dropped)?))
}

fn stored(id: &str, window: Span, row: ReleaseRow) -> Result<StoredRelease> {
    if row.window != window {
        return Err(Error::conflict(format!(
            "the id {id} stands for a release of {}, and not of {window}: give this one another id",
            row.window
        )));
    }
    match row.json {
        Some(json) => Ok(StoredRelease { json: json.into_bytes(), forms: row.forms, again: true }),
        None if row.dropped => Err(Error::conflict(format!(
            "the release {id} was made and charged, and its text was dropped by `frostpane compact`: it is \
             not drawn again; give this one another id"
        ))),
        None => Err(Error::conflict(format!(
            "the release {id} was charged, but the copy that this state was restored from does not have it: \
             give this one another id"
        ))),
    }
}
