//! What was done that cannot be undone, each with a mark of all before it.

use serde::{Deserialize, Serialize};

use crate::hex;

const CONTEXT: &str = "frostpane 2026-11-17 the history of a state";

/// One thing that was done. Nothing in it is private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When, by the clock of the machine.
    pub at: String,
    /// What.
    pub what: Deed,
}

/// A record as it is written down.
#[derive(Serialize)]
pub(crate) struct NewRecord<'a> {
    pub at: String,
    pub what: &'a Deed,
    /// Random, so that no two copies of a state have a head in common that they came to apart.
    pub nonce: String,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Deed {
    /// The state was begun.
    Began,
    /// A release was charged to panes, or epochs, with these numbers, the last not included.
    Charged {
        /// Of the release.
        id: String,
        /// The window that was asked for.
        window: String,
        /// From this one on.
        from: i64,
        /// Up to this one, which was not.
        to: i64,
        /// By whom it was let pass.
        accountant: String,
    },
    /// Secrets of noise were drawn for lists up to this number.
    Drew {
        /// The number of the latest.
        list: u64,
    },
    /// A copy was restored, and everything before was marked as spent.
    Restored,
    /// Panes with these positions went away.
    Exported {
        /// From this one on.
        from: i64,
        /// Up to this one, which did not.
        to: i64,
    },
    /// Panes with these positions were forgotten.
    Forgot {
        /// From this one on.
        from: i64,
        /// Up to this one, which was not.
        to: i64,
    },
    /// Panes, or epochs, with these numbers were built elsewhere and taken in.
    Built {
        /// From this one on.
        from: i64,
        /// Up to this one, which was not.
        to: i64,
        /// Of all of them: what is released is what was sealed.
        seal: String,
    },
    /// Texts of releases, or lists at every slide, were dropped. What they were charged stays charged.
    Dropped {
        /// So many releases.
        releases: u64,
        /// So many lists.
        lists: u64,
    },
    /// Panes with these positions came.
    Imported {
        /// From this one on.
        from: i64,
        /// Up to this one, which did not.
        to: i64,
    },
}

/// Where a history ends: how many records it has, and a mark of all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// How many.
    pub generation: u64,
    /// Of the last record and of all before it.
    pub mark: String,
}

impl Head {
    /// With one more record.
    pub(crate) fn after(&self, record: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(self.mark.as_bytes()).update(&[0]).update(record);
        Self {
            generation: self.generation + 1,
            mark: hex(hasher.finalize().as_bytes()),
        }
    }
}

/// A record as it is kept, with the head that it led to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub record: String,
    pub mark: String,
}
