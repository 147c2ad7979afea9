//! The header of a store, which can be read before the store is opened.

use std::path::{Path, PathBuf};

use frostpane::{Bytes, Key, Spec};
use redb::Database;
use serde::{Deserialize, Serialize};

use crate::budget::Summary;
use crate::error::{Error, Result};
use crate::tables::{self, FORMAT, meta_value};

/// The type of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Bytes.
    Bytes,
    /// 64-bit integers.
    Integers,
}

/// Properties that are fixed when a store is created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The version of the format.
    pub format: u64,
    /// The identity of the store, a random number.
    pub store: String,
    /// The specification, with all choices made.
    pub spec: Spec,
    /// The type of the keys.
    pub keys: KeyKind,
    /// A file outside of the folder that records how far the history has come.
    pub witness: Option<PathBuf>,
    /// The columns of input files, in a form that the reader of those files chooses.
    pub input: Option<String>,
}

impl Header {
    /// Reads the header of a store, also while another process has the store open.
    pub fn read(folder: &Path) -> Result<Self> {
        let read = || Self::of(&tables::open(folder, false)?);
        match read() {
            Err(Error::Busy(_)) => Ok(Summary::read_status(folder)?.header),
            Err(_) if tables::is_doubted(folder) => read(),
            read => read,
        }
    }

    pub(crate) fn of(database: &Database) -> Result<Self> {
        let header: Self = serde_json::from_slice(&meta_value(database, "header")?)?;
        match header.format {
            1..=FORMAT => Ok(header),
            newer => Err(Error::conflict(format!(
                "the state has format {newer}, but this program knows format {FORMAT}: use a program that \
                 knows it"
            ))),
        }
    }
}

/// Keys that a store can have: bytes or integers.
pub trait StoredKey: Key {
    /// The type.
    const KIND: KeyKind;
}

impl StoredKey for Bytes {
    const KIND: KeyKind = KeyKind::Bytes;
}

impl StoredKey for u64 {
    const KIND: KeyKind = KeyKind::Integers;
}
