//! Events and time: each batch and each tick is committed before it is acknowledged.

use frostpane::stream::Outcome;
use frostpane::{Batch, Release, Tally};
use redb::{ReadableDatabase, WriteTransaction};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::history::Action;
use crate::log::LogEntry;
use crate::packed::Unpacker;
use crate::source::{SourceProgress, SourceWriter};
use crate::store::{ContinualRelease, DAY, Store, now};
use crate::tables::{LISTS, SOURCES, value};
use crate::transaction::ChangeSet;

/// A log of fewer bytes is always appended to.
const SHORT_LOG: u64 = 1 << 20;

impl<K: StoredKey> Store<K> {
    /// Writes events of a source, each of them once. The id of a source is the name of a file, or anything
    /// else that tells it from others, but never derived from its contents.
    pub fn feed(&mut self, source: &str) -> Result<SourceWriter<'_, K>> {
        self.check_usable()?;
        self.check_not_stopped()?;
        self.check_takes_events()?;
        if source.is_empty() {
            return Err(Error::conflict(
                "a source has no id, so nobody could tell whether it comes again: give it one",
            ));
        }
        let progress = value(&self.database, SOURCES, source)?;
        let progress = progress.map(|bytes| SourceProgress::from_bytes(&bytes)).transpose()?;
        Ok(SourceWriter::new(self, source, progress.unwrap_or_default()))
    }

    /// Ingests a batch, and commits the progress of its source with it.
    pub(crate) fn take(
        &mut self,
        source: &str,
        progress: SourceProgress,
        batch: &Batch<K>,
        present: i64,
    ) -> Result<(Tally, Vec<ContinualRelease<K>>)> {
        self.check_usable()?;
        // A batch that is refused has changed nothing.
        self.stream.check(batch)?;
        let outcome = self.change(|stream| stream.ingest(batch, present))?;
        let (tally, entry) = (outcome.tally, (LogEntry::Events(batch), present));
        Ok((tally, self.persist(outcome, entry, Some((source, progress)), |_| Ok(()))?))
    }

    /// Advances time to this moment, in microseconds since 1970. Time never goes back.
    pub fn tick(&mut self, moment: i64) -> Result<Vec<ContinualRelease<K>>> {
        self.check_usable()?;
        if moment <= self.stream.clock() {
            return Ok(Vec::new());
        }
        if moment > now().saturating_add(DAY) {
            return Err(Error::conflict(format!(
                "{} lies in the future, and time never goes back: whatever happens until then would be too \
                 late",
                self.moment(moment)
            )));
        }
        let outcome = self.change(|stream| stream.advance(moment))?;
        self.persist(outcome, (LogEntry::Tick, moment), None, |_| Ok(()))
    }

    /// Commits a log entry, or the state that it has led to, with `more` in the same transaction.
    pub(crate) fn persist(
        &mut self,
        outcome: Outcome<K>,
        (entry, present): (LogEntry<'_, K>, i64),
        source: Option<(&str, SourceProgress)>,
        more: impl FnOnce(&WriteTransaction) -> Result<()>,
    ) -> Result<Vec<ContinualRelease<K>>> {
        self.ahead += outcome.tally.ahead;
        let first = self.stream.lists() - outcome.releases.len() as u64 + 1;
        let numbered = |(number, release): (u64, Release<K>)| {
            Ok(ContinualRelease { number, json: serde_json::to_vec(&release)?, release: Some(release) })
        };
        let lists: Vec<_> = (first..).zip(outcome.releases).map(numbered).collect::<Result<_>>()?;
        let is_long = self.log.bytes + entry.len() > self.stream.open_bytes().max(SHORT_LOG);
        let rows: Vec<(u64, &[u8])> = lists.iter().map(|list| (list.number, &*list.json)).collect();
        let change = ChangeSet {
            source,
            entry: (!outcome.ended && !is_long).then(|| entry.to_bytes(present)),
            lists: &rows,
            action: lists.last().map(|list| Action::Drew { list: list.number }),
            ..ChangeSet::default()
        };
        self.commit_with(change, more)?;
        Ok(lists)
    }

    /// The continual releases after this number, as they were published.
    pub fn lists_after(&self, number: u64) -> Result<Vec<ContinualRelease<K>>> {
        self.some_lists_after(number, usize::MAX)
    }

    /// At most `most` of the continual releases after this number.
    pub fn some_lists_after(&self, number: u64, most: usize) -> Result<Vec<ContinualRelease<K>>> {
        // The last may be of a commit that another copy has overtaken.
        self.check_usable()?;
        let table = self.database.begin_read()?.open_table(LISTS)?;
        let rows = table.range(number.saturating_add(1)..)?;
        let mut unpacker = Unpacker::new(&self.database);
        rows.take(most)
            .map(|row| {
                let (number, json) = row?;
                Ok(ContinualRelease {
                    number: number.value(),
                    json: unpacker.unpack(json.value())?,
                    release: None,
                })
            })
            .collect()
    }
}
