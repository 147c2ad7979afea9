//! Tombstones of deleted streams: their names are not used again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

use frostpane::Spec;
use serde::{Deserialize, Serialize};

use crate::name::check_stream;
use crate::{atomic_file, sync};

const ENDING: &str = ".json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    pub store: String,
    /// No release has events after this moment, in microseconds since 1970: events that were ahead waited for
    /// an epoch that never ended.
    pub until: i64,
    /// Its windows were counted in events.
    pub by_count: bool,
    #[serde(default)]
    pub epochs: Option<EpochCycle>,
}

/// The cycle of epochs of users, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochCycle {
    length: i64,
    offset: i64,
}

impl EpochCycle {
    pub fn of(spec: &Spec) -> Option<Self> {
        let bounds = spec.unit.bounds()?;
        let micros = |time: std::time::Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        Some(Self { length: micros(bounds.epoch).max(1), offset: micros(bounds.offset) })
    }

    /// The begin of the first epoch at a moment or after it.
    pub fn begin(&self, moment: i64) -> i64 {
        let into = moment.saturating_sub(self.offset).rem_euclid(self.length);
        match into {
            0 => moment,
            _ => moment.saturating_add(self.length - into),
        }
    }
}

impl Tombstone {
    /// The moment from which a stream with this specification covers no epoch of which this stream may have
    /// released a part; `None` if its windows were counted in events, which have no times.
    pub fn replaced_from(&self, spec: &Spec) -> Option<i64> {
        let epochs = [self.epochs, EpochCycle::of(spec)];
        let since = epochs.into_iter().flatten().fold(self.until, |since, epochs| epochs.begin(since));
        (!self.by_count).then_some(since)
    }
}

/// All tombstones, in one folder or in several that hold the same.
#[derive(Debug)]
pub struct Tombstones {
    folders: Vec<PathBuf>,
    /// `None` for a tombstone that cannot be read: its name is taken all the same.
    known: RwLock<BTreeMap<String, Option<Tombstone>>>,
}

impl Tombstones {
    /// Reads the tombstones of folders, which are created if necessary; afterwards each has all of them.
    pub fn read(folders: Vec<PathBuf>) -> io::Result<Self> {
        let mut known = BTreeMap::new();
        for folder in &folders {
            atomic_file::make_folder(folder)?;
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if let Some(name) = name_of(&entry.path()) {
                    let tombstone = fs::read(entry.path()).ok();
                    let tombstone = tombstone.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                    let known: &mut Option<Tombstone> = known.entry(name).or_default();
                    *known = known.take().or(tombstone);
                }
            }
        }
        let all = Self { folders, known: RwLock::new(known) };
        all.spread()?;
        Ok(all)
    }

    pub fn is_empty(&self) -> bool {
        sync::read(&self.known).is_empty()
    }

    /// The tombstone of a name; the inner option is `None` if it cannot be read.
    pub fn find(&self, name: &str) -> Option<Option<Tombstone>> {
        sync::read(&self.known).get(name).cloned()
    }

    /// Adds a tombstone. It counts if one of the folders has it; the next start copies it to the others.
    pub fn put(&self, name: &str, tombstone: Tombstone) -> io::Result<()> {
        let written = self.write(name, &tombstone);
        if !self.folders.iter().any(|folder| path_in(folder, name).exists()) {
            return written;
        }
        sync::write(&self.known).insert(name.to_owned(), Some(tombstone));
        Ok(())
    }

    fn write(&self, name: &str, tombstone: &Tombstone) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(tombstone)?;
        let mut paths = self.folders.iter().map(|folder| path_in(folder, name));
        paths.try_for_each(|path| atomic_file::replace(&path, &bytes))
    }

    /// Writes tombstones that a restored folder has lost.
    fn spread(&self) -> io::Result<()> {
        for (name, tombstone) in &*sync::read(&self.known) {
            let everywhere = self.folders.iter().all(|folder| path_in(folder, name).exists());
            if let Some(tombstone) = tombstone.as_ref().filter(|_| !everywhere) {
                self.write(name, tombstone)?;
            }
        }
        Ok(())
    }
}

fn path_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{ENDING}"))
}

fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(ENDING)?;
    check_stream(name).ok()?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn spec(json: &str) -> Spec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_takes_its_place_begins_where_an_epoch_of_both_does() {
        let tombstone = |json: &str, until: i64| Tombstone {
            store: String::new(),
            until,
            by_count: false,
            epochs: EpochCycle::of(&spec(json)),
        };
        let events = r#"{ "window": "7d" }"#;
        let days = r#"{ "window": "7d", "unit": { "user": { "epoch": "1d" } } }"#;
        let hours = r#"{ "window": "7d", "unit": { "user": { "epoch": "5h" } } }"#;
        let from =
            |old, new, hour: i64| tombstone(old, hour * HOUR).replaced_from(&spec(new)).unwrap() / HOUR;
        assert_eq!(from(events, events, 25), 25);
        assert_eq!(from(days, events, 25), 48);
        assert_eq!(from(events, days, 25), 48);
        assert_eq!(from(days, days, 48), 48);
        assert_eq!(from(days, hours, 25), 50, "the day has ended, and an epoch begins");
        assert_eq!(from(hours, days, 25), 48);
    }
}
