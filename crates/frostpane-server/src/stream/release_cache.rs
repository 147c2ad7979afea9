//! Published releases: the same bytes for everybody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use frostpane_render::ReaderSummary;
use tokio::sync::watch;

use crate::sync;

/// The most releases that are held in memory: the latest.
pub const HELD: usize = 256;
/// The most bytes of them: 4 MB, of which the latest alone may have more.
pub const HELD_BYTES: usize = 4 << 20;

/// A release as it was published.
#[derive(Clone, Debug)]
pub struct Published {
    /// From 1 on, in the order in which they were made.
    pub number: u64,
    pub id: Option<String>,
    /// Its JSON as the state has it.
    pub json: Bytes,
    /// The JSON as one server-sent event.
    pub frame: Bytes,
    pub etag: String,
    /// Its summary; none if an earlier process made it.
    pub words: Option<Arc<ReaderSummary>>,
}

impl Published {
    /// A release with the frame and the hash of its JSON.
    pub fn new(number: u64, id: Option<String>, json: Vec<u8>, words: Option<ReaderSummary>) -> Self {
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

/// A limit of the releases that are returned together. The first alone may have more bytes.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub number: usize,
    pub bytes: usize,
    is_first: bool,
}

impl Most {
    pub fn new(number: usize, bytes: usize) -> Self {
        Self { number, bytes, is_first: true }
    }

    /// Returns true if one more fits, and counts it.
    pub fn take(&mut self, next: &Published) -> bool {
        let Some(number) = self.number.checked_sub(1) else {
            return false;
        };
        let (bytes, is_first) = (self.bytes.checked_sub(next.json.len()), self.is_first);
        (self.number, self.bytes, self.is_first) = (number, bytes.unwrap_or(0), false);
        bytes.is_some() || is_first
    }

    pub fn is_used(&self) -> bool {
        self.number == 0 || self.bytes == 0
    }
}

/// The latest releases of a stream. Listeners hold no copy of them, only the number of the last that they saw.
#[derive(Debug, Default)]
pub struct ReleaseCache {
    held: Mutex<Latest>,
    latest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Latest {
    releases: VecDeque<Arc<Published>>,
    bytes: usize,
}

impl Latest {
    fn push(&mut self, published: Published) {
        self.bytes += published.frame.len();
        self.releases.push_back(Arc::new(published));
        while self.releases.len() > 1 && (self.releases.len() > HELD || self.bytes > HELD_BYTES) {
            let first = self.releases.pop_front();
            self.bytes -= first.map_or(0, |first| first.frame.len());
        }
    }
}

impl ReleaseCache {
    /// Adds a release that is stored and charged already.
    pub fn put(&self, published: Published) {
        let number = published.number;
        sync::lock(&self.held).push(published);
        self.latest.send_replace(number);
    }

    pub fn latest(&self) -> Option<Arc<Published>> {
        sync::lock(&self.held).releases.back().cloned()
    }

    /// The number of the latest release; 0 before the first.
    pub(crate) fn latest_number(&self) -> u64 {
        // Not what listeners are told, which may be one behind what they can read.
        sync::lock(&self.held).releases.back().map_or(0, |latest| latest.number)
    }

    pub fn of(&self, id: &str) -> Option<Arc<Published>> {
        let held = sync::lock(&self.held);
        held.releases.iter().find(|published| published.id.as_deref() == Some(id)).cloned()
    }

    /// The releases after a number, up to a limit; none if some of them are not held.
    pub fn after(&self, number: u64, most: Most) -> Option<Vec<Arc<Published>>> {
        let held = sync::lock(&self.held);
        match held.releases.front() {
            Some(first) if first.number > number.saturating_add(1) => None,
            _ => {
                let mut left = most;
                let after = held.releases.iter().filter(|published| published.number > number);
                Some(after.take_while(|next| left.take(next)).cloned().collect())
            }
        }
    }

    pub fn wake(&self) {
        self.latest.send_modify(|_| ());
    }

    /// A receiver of the number of each further release.
    pub fn listen(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(sizes: &[usize]) -> ReleaseCache {
        let cache = ReleaseCache::default();
        for (number, size) in (1..).zip(sizes) {
            cache.put(Published::new(number, None, vec![b'x'; *size], None));
        }
        cache
    }

    fn numbers(found: Option<Vec<Arc<Published>>>) -> Option<Vec<u64>> {
        found.map(|found| found.iter().map(|published| published.number).collect())
    }

    #[test]
    fn what_is_held_is_bounded_in_bytes_and_the_latest_is_always_there() {
        let large = cache(&[HELD_BYTES / 3; 40]);
        assert_eq!(sync::lock(&large.held).releases.len(), 2);
        assert!(sync::lock(&large.held).bytes <= HELD_BYTES);
        assert_eq!(numbers(large.after(10, Most::new(100, usize::MAX))), None, "on disk");
        assert_eq!(numbers(large.after(38, Most::new(100, usize::MAX))), Some(vec![39, 40]));
        let larger = cache(&[10, HELD_BYTES + 1]);
        assert_eq!(larger.latest().map(|latest| latest.number), Some(2));
        assert_eq!(sync::lock(&larger.held).releases.len(), 1);
        assert_eq!(sync::lock(&cache(&[10; 300]).held).releases.len(), HELD);
    }

    #[test]
    fn a_page_has_so_many_bytes_or_one_release() {
        let all = cache(&[100; 10]);
        let page = |number, bytes| numbers(all.after(2, Most::new(number, bytes)));
        assert_eq!(page(100, 250), Some(vec![3, 4]));
        assert_eq!(page(2, 1_000), Some(vec![3, 4]));
        assert_eq!(page(100, 99), Some(vec![3]), "the first, however large");
        assert_eq!(page(100, 100), Some(vec![3]));
    }
}
