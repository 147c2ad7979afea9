//! Secrets of noise, in a file of their own. Each is overwritten in place when no release needs it any more.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use frostpane::stream::{SecretBytes, SecretId, secret_id};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::files::{open_private, points};

const SECRET: usize = 32;
const NONE: [u8; SECRET] = [0; SECRET];
/// The first place holds the number of commits.
const FIRST: u64 = 1;

/// The file of secrets. The state holds their ids; places are found by reading the file.
pub(crate) struct Secrets {
    path: PathBuf,
    file: File,
    places: BTreeMap<SecretId, u64>,
    free: Vec<u64>,
    end: u64,
}

impl Secrets {
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_private(path)?;
        let length = file.metadata().map_err(|cause| Error::file(path, cause))?.len();
        let mut secrets = Self {
            path: path.to_owned(),
            file,
            places: BTreeMap::new(),
            free: Vec::new(),
            end: (length / SECRET as u64).max(FIRST),
        };
        for place in FIRST..secrets.end.min(length / SECRET as u64) {
            let secret = secrets.read(place)?;
            if *secret == NONE {
                secrets.free.push(place);
            } else {
                secrets.places.insert(secret_id(&secret), place);
            }
        }
        Ok(secrets)
    }

    fn read(&self, place: u64) -> Result<SecretBytes> {
        let mut secret = Zeroizing::new(NONE);
        let read = self.file.read_exact_at(&mut *secret, place * SECRET as u64);
        read.map_err(|cause| Error::file(&self.path, cause))?;
        Ok(secret)
    }

    pub fn find(&self, mark: &SecretId) -> Result<Option<SecretBytes>> {
        self.places.get(mark).map(|&place| self.read(place)).transpose()
    }

    /// A lower bound on the number of commits: the database never has fewer.
    pub fn commits(&self) -> u64 {
        let mut count = [0; size_of::<u64>()];
        self.file.read_exact_at(&mut count, 0).map_or(0, |()| u64::from_le_bytes(count))
    }

    pub fn count(&self, commits: u64) -> Result<()> {
        self.write(0, &commits.to_le_bytes())
    }

    /// Makes secrets durable.
    pub fn keep<'a>(&mut self, secrets: impl IntoIterator<Item = &'a [u8; SECRET]>) -> Result<()> {
        let mut written = false;
        for secret in secrets {
            let mark = secret_id(secret);
            if self.places.contains_key(&mark) {
                continue;
            }
            let place = self.free.pop().unwrap_or_else(|| {
                self.end += 1;
                self.end - 1
            });
            self.write(place, secret)?;
            self.places.insert(mark, place);
            written = true;
        }
        if written { self.sync() } else { Ok(()) }
    }

    /// Overwrites all secrets but these in place.
    pub fn erase_others(&mut self, kept: &[SecretId]) -> Result<()> {
        let others: Vec<(SecretId, u64)> = self
            .places
            .iter()
            .filter(|(mark, _)| !kept.contains(mark))
            .map(|(mark, place)| (*mark, *place))
            .collect();
        for (mark, place) in &others {
            self.write(*place, &NONE)?;
            self.places.remove(mark);
            self.free.push(*place);
        }
        if others.is_empty() { Ok(()) } else { self.sync() }
    }

    fn write(&self, place: u64, bytes: &[u8]) -> Result<()> {
        let start = place * SECRET as u64;
        let written = points::writing().and_then(|()| self.file.write_all_at(bytes, start));
        written.map_err(|cause| Error::file(&self.path, cause))
    }

    fn sync(&self) -> Result<()> {
        points::reached();
        self.file.sync_data().map_err(|cause| Error::file(&self.path, cause))
    }
}
