//! What a state says about itself before it is opened.

use std::path::{Path, PathBuf};

use frostpane::{Bytes, Key, Spec};
use redb::Database;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::tables::{self, FORMAT, the};

/// Of which type keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Bytes.
    Bytes,
    /// 64-bit integers.
    Integers,
}

/// What was fixed when a state was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The version of its format.
    pub format: u64,
    /// What tells it from all others.
    pub store: String,
    /// What is asked for, with all choices made.
    pub spec: Spec,
    /// Of which type keys are.
    pub keys: KeyKind,
    /// A file outside of the folder that knows how far the history has come.
    pub witness: Option<PathBuf>,
    /// Where columns are found in files, as whoever reads them wrote it down.
    pub input: Option<String>,
}

impl Header {
    /// Reads what a state says about itself; also while another process writes to it.
    pub fn read(folder: &Path) -> Result<Self> {
        let read = || Self::of(&tables::open(folder)?);
        match read() {
            Err(Error::Busy(_)) => Ok(crate::budget::Status::read(folder)?.header),
            Err(_) if tables::is_doubted(folder) => read(),
            read => read,
        }
    }

    pub(crate) fn of(database: &Database) -> Result<Self> {
        let header: Self = serde_json::from_slice(&the(database, "header")?)?;
        match header.format {
            1..=FORMAT => Ok(header),
            newer => Err(Error::conflict(format!(
                "the state has format {newer}, but this program knows format {FORMAT}: use a program that knows it"
            ))),
        }
    }
}

/// Keys of either type, for a state.
pub trait StoredKey: Key {
    /// Which type it is.
    const KIND: KeyKind;
}

impl StoredKey for Bytes {
    const KIND: KeyKind = KeyKind::Bytes;
}

impl StoredKey for u64 {
    const KIND: KeyKind = KeyKind::Integers;
}
