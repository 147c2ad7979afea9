//! What has been published: the same bytes for everybody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use frostpane::{Key, Release, words};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use utoipa::ToSchema;

/// So many of the latest are held in memory.
pub const HELD: usize = 256;

/// A release as it was published.
#[derive(Clone, Debug)]
pub struct Published {
    /// From 1 on, in the order in which they were made.
    pub number: u64,
    /// Of one that was asked for.
    pub id: Option<String>,
    /// Its JSON, as it is kept.
    pub json: Bytes,
    /// The same for those who listen, as one event.
    pub frame: Bytes,
    /// What tells these bytes from all others.
    pub etag: String,
    /// What it says, for people; none if it was made by an earlier process.
    pub words: Option<Arc<Words>>,
}

/// What a release says, for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Words {
    /// What the list is of.
    pub title: String,
    /// Which time it covers.
    pub covered: String,
    /// What holds of it, all at once, a sentence each.
    pub holds: Vec<String>,
    /// With what confidence.
    pub sure: String,
    /// What is protected, and how well.
    pub privacy: String,
    /// What is not.
    pub not_hidden: String,
    /// Why it is empty, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_empty: Option<String>,
}

impl Words {
    /// Of a release.
    pub fn of<K: Key>(release: &Release<K>) -> Self {
        Self {
            title: words::title(release),
            covered: words::covered(release),
            holds: words::holds(release),
            sure: words::sure(release),
            privacy: words::privacy(release, "", &words::of_sequence(release)),
            not_hidden: words::not_hidden(release.unit),
            why_empty: words::why_empty(release),
        }
    }
}

impl Published {
    /// With what follows from its bytes.
    pub fn new(number: u64, id: Option<String>, json: Vec<u8>, words: Option<Words>) -> Self {
        let (head, end) = (format!("id: {number}\nevent: release\ndata: "), b"\n\n");
        let frame = Bytes::from([head.as_bytes(), &json, end].concat());
        Self {
            number,
            id,
            etag: format!("\"{}\"", &blake3::hash(&json).to_hex()[..32]),
            // The same bytes, once.
            json: frame.slice(head.len()..frame.len() - end.len()),
            frame,
            words: words.map(Arc::new),
        }
    }
}

/// The latest releases of a stream, for those who read and those who listen. Whoever listens holds no copy of them, only how far they
/// have come.
#[derive(Debug)]
pub struct Shelf {
    held: Mutex<VecDeque<Arc<Published>>>,
    /// The number of the latest.
    latest: watch::Sender<u64>,
}

impl Default for Shelf {
    fn default() -> Self {
        Self {
            held: Mutex::default(),
            latest: watch::Sender::new(0),
        }
    }
}

impl Shelf {
    /// One more, which is kept and charged already.
    pub fn put(&self, published: Published) {
        let number = published.number;
        let mut held = self.held();
        held.push_back(Arc::new(published));
        if held.len() > HELD {
            held.pop_front();
        }
        drop(held);
        self.latest.send_replace(number);
    }

    /// The latest, if there is one.
    pub fn latest(&self) -> Option<Arc<Published>> {
        self.held().back().cloned()
    }

    /// That with an id, if it is held.
    pub fn of(&self, id: &str) -> Option<Arc<Published>> {
        let held = self.held();
        let mut found = held
            .iter()
            .filter(|published| published.id.as_deref() == Some(id));
        found.next().cloned()
    }

    /// The next after a number, so many at the most; none if some that are not held come before them.
    pub fn after(&self, number: u64, most: usize) -> Option<Vec<Arc<Published>>> {
        let held = self.held();
        match held.front() {
            Some(first) if first.number > number.saturating_add(1) => None,
            _ => {
                let after = held.iter().filter(|published| published.number > number);
                Some(after.take(most).cloned().collect())
            }
        }
    }

    /// Has those who listen look again.
    pub fn wake(&self) {
        self.latest.send_modify(|_| ());
    }

    /// To be told when there is another.
    pub fn listen(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<Arc<Published>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
