//! Secrets of noise, in a file of their own: each in a place where it is overwritten when nobody can ask for it any more.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use frostpane::stream::{Mark, SecretBytes, mark_of};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::files::{open_private, points};

const SECRET: usize = 32;
const NONE: [u8; SECRET] = [0; SECRET];
/// The first place has how many commits there were.
const FIRST: u64 = 1;

/// The file. Where a secret stands is found by looking: the marks are in the state.
pub(crate) struct Secrets {
    path: PathBuf,
    file: File,
    places: BTreeMap<Mark, u64>,
    free: Vec<u64>,
    end: u64,
}

impl Secrets {
    /// Opens it, or makes it if there is none.
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
            match *secret == NONE {
                true => secrets.free.push(place),
                false => drop(secrets.places.insert(mark_of(&secret), place)),
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

    /// The secret with a mark.
    pub fn find(&self, mark: &Mark) -> Result<Option<SecretBytes>> {
        self.places.get(mark).map(|&place| self.read(place)).transpose()
    }

    /// How many commits there were, at the least: the database never goes back behind them.
    pub fn commits(&self) -> u64 {
        let mut count = [0; size_of::<u64>()];
        match self.file.read_exact_at(&mut count, 0) {
            Ok(()) => u64::from_le_bytes(count),
            Err(_) => 0,
        }
    }

    /// There was one more.
    pub fn count(&self, commits: u64) -> Result<()> {
        let count = commits.to_le_bytes();
        let written = points::writing().and_then(|()| self.file.write_all_at(&count, 0));
        written.map_err(|cause| Error::file(&self.path, cause))
    }

    /// Writes those that are not there, so that they are there whatever happens.
    pub fn keep<'a>(&mut self, secrets: impl IntoIterator<Item = &'a [u8; SECRET]>) -> Result<()> {
        let mut written = false;
        for secret in secrets {
            let mark = mark_of(secret);
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
        match written {
            true => self.sync(),
            false => Ok(()),
        }
    }

    /// Overwrites all but these, where they stand.
    pub fn erase_others(&mut self, kept: &[Mark]) -> Result<()> {
        let others: Vec<(Mark, u64)> = self
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
        match others.is_empty() {
            true => Ok(()),
            false => self.sync(),
        }
    }

    fn write(&self, place: u64, secret: &[u8; SECRET]) -> Result<()> {
        let place = place * SECRET as u64;
        let written = points::writing().and_then(|()| self.file.write_all_at(secret, place));
        written.map_err(|cause| Error::file(&self.path, cause))
    }

    fn sync(&self) -> Result<()> {
        points::reached();
        self.file
            .sync_data()
            .map_err(|cause| Error::file(&self.path, cause))
    }
}
