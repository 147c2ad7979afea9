//! Forgets closed panes, and knows those that earlier versions moved between stores.

use std::ops::Range;

use redb::{ReadableTable, ReadableTableMetadata, TableDefinition};

use crate::error::Result;
use crate::header::StoredKey;
use crate::history::Action;
use crate::store::Store;
use crate::tables::open_existing;

/// Panes that an earlier version has moved to another store, by their positions.
const EXPORTED: TableDefinition<'_, (i64, i64), &[u8]> = TableDefinition::new("gone");
/// Origins of panes that an earlier version has moved to this store.
const IMPORTED: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("came");

impl<K: StoredKey> Store<K> {
    /// Forgets the closed panes within a range of positions, exported ones included. Later releases are
    /// without them; what they have spent stays spent.
    pub fn forget(&mut self, positions: Range<i64>) -> Result<()> {
        self.check_usable()?;
        let within = |from: i64, to: i64| positions.start <= from && to <= positions.end;
        match self.stream.forget(positions.clone()) {
            // A refusal has changed nothing, and is in no history.
            Err(cause) if !self.has_exported(within)? => return Err(cause.into()),
            _ => {}
        }
        self.commit_action(Action::Forgot { from: positions.start, to: positions.end }, |transaction| {
            let mut table = transaction.open_table(EXPORTED)?;
            table.retain(|(from, to), _| !within(from, to))?;
            Ok(())
        })
    }

    fn has_exported(&self, within: impl Fn(i64, i64) -> bool) -> Result<bool> {
        let Some(table) = open_existing(&self.database, EXPORTED)? else {
            return Ok(false);
        };
        for row in table.iter()? {
            let (from, to) = row?.0.value();
            if within(from, to) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn has_imported(&self) -> Result<bool> {
        let table = open_existing(&self.database, IMPORTED)?;
        Ok(table.map(|table| table.is_empty()).transpose()? == Some(false))
    }
}
