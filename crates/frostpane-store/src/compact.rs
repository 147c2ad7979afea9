//! Space on disk that is given back, on demand: what was promised is kept.
//!
//! The history, the accounts and the id of every release stay. Of releases before a moment the text can be dropped; their ids stand for them as before
//! and are never drawn again.

use std::collections::BTreeSet;

use jiff::Timestamp;
use redb::{ReadableDatabase, ReadableTable, WriteTransaction};

use crate::error::{Error, Result};
use crate::header::StoredKey;
use crate::history::{Deed, Record};
use crate::packed::{Unpacker, dictionary_of, is_packed, pack};
use crate::release::without_text;
use crate::store::{Change, Store};
use crate::tables::{self, DICTIONARIES, LISTS, RELEASES};

/// Releases that are written anew together.
const TOGETHER: usize = 1_000;

/// What was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// Releases whose text is gone.
    pub releases: u64,
    /// Lists at every slide that are gone.
    pub lists: u64,
}

impl<K: StoredKey> Store<K> {
    /// Drops the texts of releases, and the lists at every slide, that were made before a moment, in microseconds since 1970. What they were
    /// charged stays charged, and their ids are never drawn again.
    pub fn drop_before(&mut self, moment: i64) -> Result<Dropped> {
        self.check_whole()?;
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
        let dropped = Dropped {
            releases: texts.len() as u64,
            lists,
        };
        if dropped == Dropped::default() {
            return Ok(dropped);
        }
        let deed = Deed::Dropped {
            releases: dropped.releases,
            lists: dropped.lists,
        };
        let change = Change {
            deed: Some(deed),
            ..Change::default()
        };
        self.commit_with(change, |transaction| {
            let mut table = transaction.open_table(RELEASES)?;
            for (id, row) in &texts {
                table.insert(id.as_str(), pack(transaction, row)?.as_slice())?;
            }
            transaction.open_table(LISTS)?.retain(|number, _| number > last)?;
            Ok(())
        })?;
        Ok(dropped)
    }

    /// Gives back what the database does not need: texts that an earlier version has kept as they are get compressed, and the file is made as short as it can be.
    pub fn compact(&mut self) -> Result<()> {
        self.check_whole()?;
        self.guarded(|store| {
            store.pack_texts()?;
            store.drop_dictionaries()?;
            store.database.compact().map_err(|cause| match cause {
                redb::CompactionError::Storage(cause) => Error::from(cause),
                cause => Error::damaged(cause),
            })?;
            Ok(())
        })
    }

    fn pack_texts(&self) -> Result<()> {
        let table = self.database.begin_read()?.open_table(RELEASES)?;
        let plain = table.iter()?.filter_map(|row| match row {
            Ok((id, bytes)) => (!is_packed(bytes.value())).then(|| Ok(id.value().to_owned())),
            Err(cause) => Some(Err(Error::from(cause))),
        });
        let ids: Vec<String> = plain.collect::<Result<_>>()?;
        drop(table);
        self.in_parts(&ids, |transaction, ids| {
            let mut table = transaction.open_table(RELEASES)?;
            for id in ids {
                let text = table.get(id.as_str())?.map(|bytes| bytes.value().to_vec());
                let packed = pack(transaction, &text.unwrap_or_default())?;
                table.insert(id.as_str(), packed.as_slice())?;
            }
            Ok(())
        })?;
        let table = self.database.begin_read()?.open_table(LISTS)?;
        let plain = table.iter()?.filter_map(|row| match row {
            Ok((number, bytes)) => (!is_packed(bytes.value())).then(|| Ok(number.value())),
            Err(cause) => Some(Err(Error::from(cause))),
        });
        let numbers: Vec<u64> = plain.collect::<Result<_>>()?;
        drop(table);
        self.in_parts(&numbers, |transaction, numbers| {
            let mut table = transaction.open_table(LISTS)?;
            for number in numbers {
                let text = table.get(number)?.map(|bytes| bytes.value().to_vec());
                let packed = pack(transaction, &text.unwrap_or_default())?;
                table.insert(number, packed.as_slice())?;
            }
            Ok(())
        })
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
        transaction
            .open_table(DICTIONARIES)?
            .retain(|number, _| used.contains(&number))?;
        Ok(transaction.commit()?)
    }

    fn in_parts<T>(
        &self,
        all: &[T],
        mut write: impl FnMut(&WriteTransaction, &[T]) -> Result<()>,
    ) -> Result<()> {
        for part in all.chunks(TOGETHER) {
            let transaction = tables::begin(&self.database)?;
            write(&transaction, part)?;
            transaction.commit()?;
        }
        Ok(())
    }
}

/// Ids of the releases that were charged before a moment, and the number of the last list at every slide that was drawn before it.
fn made_before(history: &[Record], moment: i64) -> Result<(BTreeSet<String>, u64)> {
    let (mut ids, mut last) = (BTreeSet::new(), 0);
    for record in history {
        let at: Timestamp = record.at.parse().map_err(Error::damaged)?;
        if at.as_microsecond() >= moment {
            continue;
        }
        match &record.what {
            Deed::Charged { id, .. } => drop(ids.insert(id.clone())),
            Deed::Drew { list } => last = last.max(*list),
            _ => {}
        }
    }
    Ok((ids, last))
}
