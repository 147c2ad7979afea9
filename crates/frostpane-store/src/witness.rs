//! A file outside of the state that knows how far its history has come: a copy that was restored has not come as far.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::replace;
use crate::history::Head;

/// What the file says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Said {
    store: String,
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    reach: Reach,
}

/// How far a state has come: nothing beyond was charged, or shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// The latest moment, or number of events.
    pub position: i64,
    /// How many lists at every slide there were.
    pub lists: u64,
}

/// What a witness knows of a history.
pub(crate) enum Verdict {
    /// As far as it has come.
    Same,
    /// The history has come further than this, which must be one of its heads.
    Behind(Head),
    /// It knows of more than the history has, or of another one.
    Contradicts,
}

pub(crate) struct Witness {
    path: PathBuf,
}

impl Witness {
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes how far the history of a state has come, so that it is there whatever happens.
    pub fn tell(&self, store: &str, head: &Head, reach: Reach) -> Result<()> {
        let said = Said {
            store: store.to_owned(),
            head: head.clone(),
            reach,
        };
        replace(&self.path, &serde_json::to_vec(&said)?, true)
    }

    /// How far it knows that a state has come, whose witness it must be if it can be read.
    pub fn reach(&self, store: &str) -> Result<Option<Reach>> {
        let said = fs::read(&self.path)
            .ok()
            .map(|bytes| serde_json::from_slice::<Said>(&bytes));
        match said {
            None => Ok(None),
            Some(Ok(said)) if said.store == store => Ok(Some(said.reach)),
            Some(_) => Err(Error::conflict(format!(
                "the witness {} is not of this state: put its own back, or take the file away",
                self.path.display()
            ))),
        }
    }

    /// What it knows of the history of a state.
    pub fn ask(&self, store: &str, head: &Head) -> Result<Verdict> {
        let bytes = fs::read(&self.path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Error::conflict(format!(
                "the witness {} cannot be read ({cause}), and without it nobody knows whether this state is the latest: put it back, or accept \
                 the state as a restored copy",
                self.path.display()
            )),
            _ => Error::File(format!(
                "the witness {} could not be read ({cause}), which is no damage to the state: try again, and look at its disk if it happens again",
                self.path.display()
            )),
        })?;
        let Ok(said) = serde_json::from_slice::<Said>(&bytes) else {
            return Ok(Verdict::Contradicts);
        };
        Ok(match said.head.generation.cmp(&head.generation) {
            _ if said.store != store => Verdict::Contradicts,
            std::cmp::Ordering::Equal if said.head == *head => Verdict::Same,
            std::cmp::Ordering::Less => Verdict::Behind(said.head),
            _ => Verdict::Contradicts,
        })
    }
}
