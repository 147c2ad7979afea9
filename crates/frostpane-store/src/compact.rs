//! Compaction: drops texts of old releases and gives back space on disk.
//!
//! The history, the accounts and all ids remain, and an id whose text is dropped is never drawn again.

use std::collections::BTreeSet;

use jiff::Timestamp;
use redb::{Key, ReadableDatabase, ReadableTable, TableDefinition};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::history::{Action, Record};
use crate::packed::{Unpacker, dictionary_of, is_packed, pack};
use crate::release::without_text;
use crate::store::Store;
use crate::tables::{self, DICTIONARIES, LISTS, RELEASES};

const TOGETHER: usize = 1_000;

/// The numbers of releases that were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DropReport {
    /// Releases with an id, whose text was dropped.
    pub releases: u64,
    /// Continual releases.
    pub lists: u64,
}

impl<K: StoredKey> Store<K> {
    /// Drops the texts of releases, and the continual releases, from before a moment in microseconds since
    /// 1970. Their charges remain, and their ids are never drawn again.
    pub fn drop_before(&mut self, moment: i64) -> Result<DropReport> {
        self.check_usable()?;
        let (ids, last) = made_before(&self.history(1)?, moment)?;
        let (mut texts, mut unpacker) = (Vec::new(), Unpacker::new(&self.database));
        let table = self.database.begin_read()?.open_table(RELEASES)?;
        for id in ids {
            let Some(bytes) = table.get(id.as_str())? else {
                continue;
            };
            if let Some(row) = without_text(&unpacker.unpack(bytes.value())?)? {
                texts.push((id, row));
            }
        }
        drop(table);
        let rows = self.database.begin_read()?.open_table(LISTS)?;
        let lists = rows.range(..=last)?.count() as u64;
        drop(rows);
        let dropped = DropReport { releases: texts.len() as u64, lists };
        if dropped == DropReport::default() {
            return Ok(dropped);
        }
        let action = Action::Dropped { releases: dropped.releases, lists: dropped.lists };
        self.commit_action(action, |transaction| {
            let mut table = transaction.open_table(RELEASES)?;
            for (id, row) in &texts {
                table.insert(id.as_str(), pack(transaction, row)?.as_slice())?;
            }
            transaction.open_table(LISTS)?.retain(|number, _| number > last)?;
            Ok(())
        })?;
        Ok(dropped)
    }

    /// Compresses the texts that an earlier version has stored plainly, and shortens the file.
    pub fn compact(&mut self) -> Result<()> {
        self.check_usable()?;
        self.guarded(|store| {
            store.pack_texts(RELEASES)?;
            store.pack_texts(LISTS)?;
            store.drop_dictionaries()?;
            store.database.compact().map_err(|cause| match cause {
                redb::CompactionError::Storage(cause) => Error::from(cause),
                cause => Error::damaged(cause),
            })?;
            Ok(())
        })
    }

    fn pack_texts<T: Key + 'static>(&self, table: TableDefinition<'_, T, &[u8]>) -> Result<()> {
        let mut plain = Vec::new();
        for row in self.database.begin_read()?.open_table(table)?.iter()? {
            let (key, bytes) = row?;
            if !is_packed(bytes.value()) {
                plain.push(T::as_bytes(&key.value()).as_ref().to_vec());
            }
        }
        for keys in plain.chunks(TOGETHER) {
            let transaction = tables::begin(&self.database)?;
            for key in keys.iter().map(|key| T::from_bytes(key)) {
                let mut rows = transaction.open_table(table)?;
                let text = rows.get(&key)?.map(|bytes| bytes.value().to_vec());
                let packed = pack(&transaction, &text.unwrap_or_default())?;
                rows.insert(&key, packed.as_slice())?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    /// Drops the dictionaries that no text needs.
    fn drop_dictionaries(&self) -> Result<()> {
        let transaction = tables::begin(&self.database)?;
        let mut used = BTreeSet::new();
        for row in transaction.open_table(RELEASES)?.iter()? {
            used.extend(dictionary_of(row?.1.value()));
        }
        for row in transaction.open_table(LISTS)?.iter()? {
            used.extend(dictionary_of(row?.1.value()));
        }
        transaction.open_table(DICTIONARIES)?.retain(|number, _| used.contains(&number))?;
        Ok(transaction.commit()?)
    }
}

/// Ids of releases that were charged before a moment, and the last number of continual ones.
fn made_before(history: &[Record], moment: i64) -> Result<(BTreeSet<String>, u64)> {
    let (mut ids, mut last) = (BTreeSet::new(), 0);
    for record in history {
        let at: Timestamp = record.at.parse().map_err(Error::damaged)?;
        if at.as_microsecond() >= moment {
            continue;
        }
        match &record.what {
            Action::Charged { id, .. } => drop(ids.insert(id.clone())),
            Action::Drew { list } => last = last.max(*list),
            _ => {}
        }
    }
    Ok((ids, last))
}
