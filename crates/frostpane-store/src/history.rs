//! The history: actions that cannot be undone, each record with a hash of all before it.

use serde::{Deserialize, Serialize};

use crate::hex;

const CONTEXT: &str = "frostpane 2026-11-17 the history of a state";

/// One action. Nothing in it is private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The time, by the clock of the machine.
    pub at: String,
    /// The action.
    pub what: Action,
}

#[derive(Serialize)]
pub(crate) struct NewRecord<'a> {
    pub at: String,
    pub what: &'a Action,
    /// Random, so that two copies of a store that go on apart never have a head in common.
    pub nonce: String,
}

/// An action that is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Action {
    /// The store was created.
    Began,
    /// A release was charged to a range of panes or epochs.
    Charged {
        /// The id of the release.
        id: String,
        /// The requested window.
        window: String,
        /// The first number.
        from: i64,
        /// The number after the last one.
        to: i64,
        /// The accountant that admitted it.
        accountant: String,
    },
    /// Secrets of noise were drawn for continual releases.
    Drew {
        /// The number of the latest one.
        list: u64,
    },
    /// A copy was restored, and its past was marked as spent.
    Restored,
    /// An earlier version has moved panes to another store.
    #[serde(rename = "exported", alias = "pane_export")]
    PaneExport {
        /// The position where the first one begins.
        from: i64,
        /// The position where the last one ends.
        to: i64,
    },
    /// Panes were forgotten.
    Forgot {
        /// The position where the first one begins.
        from: i64,
        /// The position where the last one ends.
        to: i64,
    },
    /// Panes or epochs that were built elsewhere were added.
    Built {
        /// The first number.
        from: i64,
        /// The number after the last one.
        to: i64,
        /// The seal of all of them: only sealed panes are released.
        seal: String,
    },
    /// Texts of releases were dropped. Their charges remain.
    Dropped {
        /// The number of releases with an id.
        releases: u64,
        /// The number of continual releases.
        lists: u64,
    },
    /// An earlier version has taken panes from another store.
    Imported {
        /// The position where the first one begins.
        from: i64,
        /// The position where the last one ends.
        to: i64,
    },
}

/// The end of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    /// The number of records.
    pub generation: u64,
    /// A hash of the last record and of all before it.
    pub mark: String,
}

impl ChainHead {
    pub(crate) fn after(&self, record: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(self.mark.as_bytes()).update(&[0]).update(record);
        Self { generation: self.generation + 1, mark: hex(hasher.finalize().as_bytes()) }
    }
}

/// A record as it is stored, with the hash of the head that it led to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HistoryEntry {
    pub record: String,
    pub mark: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_of_earlier_versions_are_read() {
        let panes = |name| format!(r#"{{"{name}":{{"from":0,"to":9}}}}"#);
        for name in ["exported", "pane_export"] {
            let action: Action = serde_json::from_str(&panes(name)).unwrap();
            assert_eq!(action, Action::PaneExport { from: 0, to: 9 });
        }
        let action: Action = serde_json::from_str(&panes("imported")).unwrap();
        assert_eq!(action, Action::Imported { from: 0, to: 9 });
    }
}
