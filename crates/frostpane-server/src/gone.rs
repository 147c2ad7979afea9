//! What stays of streams that were deleted: their names are not used again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use frostpane::Spec;
use serde::{Deserialize, Serialize};

use crate::file;
use crate::name::check_stream;

const ENDING: &str = ".json";

/// A stream that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// Of its state.
    pub store: String,
    /// Nothing that it showed was later, in microseconds since 1970: what was ahead waited for its epoch, which never ended.
    pub until: i64,
    /// Whether it went by the number of events.
    pub by_count: bool,
    /// Where people were protected: their epochs.
    #[serde(default)]
    pub epochs: Option<Epochs>,
}

/// How the clock is cut into epochs of people, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epochs {
    length: i64,
    offset: i64,
}

impl Epochs {
    /// Of a specification, where people are protected.
    pub fn of(spec: &Spec) -> Option<Self> {
        let bounds = spec.unit.bounds()?;
        let micros = |time: std::time::Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        Some(Self {
            length: micros(bounds.epoch).max(1),
            offset: micros(bounds.offset),
        })
    }

    /// The first that begins at a moment or after it.
    pub fn begin(&self, moment: i64) -> i64 {
        let into = moment.saturating_sub(self.offset).rem_euclid(self.length);
        match into {
            0 => moment,
            _ => moment.saturating_add(self.length - into),
        }
    }
}

impl Gone {
    /// From when on a stream of this specification shows nobody's epoch that this one may have shown a part of.
    pub fn replaced_from(&self, spec: &Spec) -> i64 {
        let epochs = [self.epochs, Epochs::of(spec)];
        let epochs = epochs.into_iter().flatten();
        epochs.fold(self.until, |since, epochs| epochs.begin(since))
    }
}

/// All of them, in one folder or in several that hold the same.
#[derive(Debug)]
pub struct Tombstones {
    folders: Vec<PathBuf>,
    /// None of one that cannot be read: its name is taken all the same.
    known: RwLock<BTreeMap<String, Option<Gone>>>,
}

impl Tombstones {
    /// Those of folders, which are made if they are not there; each has all of them afterwards.
    pub fn read(folders: Vec<PathBuf>) -> io::Result<Self> {
        let mut known = BTreeMap::new();
        for folder in &folders {
            file::make_folder(folder)?;
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if let Some(name) = name_of(&entry.path()) {
                    let gone = fs::read(entry.path()).ok();
                    let gone = gone.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                    let known: &mut Option<Gone> = known.entry(name).or_default();
                    *known = known.take().or(gone);
                }
            }
        }
        let all = Self {
            folders,
            known: RwLock::new(known),
        };
        all.spread()?;
        Ok(all)
    }

    /// Whether a name was one of them.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
    }

    /// The one of a name; within, none if it cannot be read.
    pub fn find(&self, name: &str) -> Option<Option<Gone>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(name).cloned()
    }

    /// One more. If it is in one folder and not in another it is there all the same, and in both from the next start on.
    pub fn put(&self, name: &str, gone: Gone) -> io::Result<()> {
        let written = self.write(name, &gone);
        if !self.folders.iter().any(|folder| path_in(folder, name).exists()) {
            return written;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_owned(), Some(gone));
        Ok(())
    }

    fn write(&self, name: &str, gone: &Gone) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(gone)?;
        let mut paths = self.folders.iter().map(|folder| path_in(folder, name));
        paths.try_for_each(|path| file::replace(&path, &bytes))
    }

    /// A copy that was restored may have lost some.
    fn spread(&self) -> io::Result<()> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        for (name, gone) in &*known {
            let everywhere = self.folders.iter().all(|folder| path_in(folder, name).exists());
            if let Some(gone) = gone.as_ref().filter(|_| !everywhere) {
                self.write(name, gone)?;
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
        let gone = |json: &str, until: i64| Gone {
            store: String::new(),
            until,
            by_count: false,
            epochs: Epochs::of(&spec(json)),
        };
        let events = r#"{ "window": "7d" }"#;
        let days = r#"{ "window": "7d", "unit": { "user": { "epoch": "1d" } } }"#;
        let hours = r#"{ "window": "7d", "unit": { "user": { "epoch": "5h" } } }"#;
        let from = |old, new, hour: i64| gone(old, hour * HOUR).replaced_from(&spec(new)) / HOUR;
        assert_eq!(from(events, events, 25), 25);
        assert_eq!(from(days, events, 25), 48);
        assert_eq!(from(events, days, 25), 48);
        assert_eq!(from(days, days, 48), 48);
        assert_eq!(
            from(days, hours, 25),
            50,
            "the day has ended, and an epoch begins"
        );
        assert_eq!(from(hours, days, 25), 48);
    }

    #[test]
    fn a_name_stays_taken_where_its_stone_cannot_be_read_or_is_gone_from_one_folder() {
        let folder = std::env::temp_dir().join(format!("frostpane-gone-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let both = vec![folder.join("state"), folder.join("witnesses")];
        let all = Tombstones::read(both.clone()).unwrap();
        let gone = Gone {
            store: "x".to_owned(),
            until: 7,
            by_count: false,
            epochs: None,
        };
        all.put("one", gone.clone()).unwrap();
        fs::write(folder.join("state/two.json"), b"no JSON").unwrap();
        fs::remove_file(folder.join("state/one.json")).unwrap();
        let all = Tombstones::read(both).unwrap();
        assert_eq!(all.find("one"), Some(Some(gone)));
        assert_eq!(all.find("two"), Some(None));
        assert!(!all.has("three") && folder.join("state/one.json").exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
