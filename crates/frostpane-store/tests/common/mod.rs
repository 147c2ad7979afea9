//! Temporary folders, and streams for tests.

#![allow(dead_code)]

pub mod decoders;
pub mod known;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use frostpane::{Bytes, Event, Keys, Span, Spec};
use frostpane_store::{Begin, ContinualRelease, Result, SourceWriter, Store};

pub const HOUR: i64 = 3_600_000_000;

pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// A new folder, and the path of a state within it.
    pub fn with_state() -> (Self, PathBuf) {
        let folder = Self::new();
        let state = folder.join("state");
        (folder, state)
    }

    /// In memory if possible, for tests that write much and do not depend on syncs.
    pub fn in_memory() -> Self {
        match Path::new("/dev/shm") {
            memory if memory.is_dir() => Self::within(memory),
            _ => Self::new(),
        }
    }

    fn within(place: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("frostpane-store-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = place.join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The fence beside the file `witness` in a folder.
pub fn fence(folder: &Folder) -> PathBuf {
    let files = std::fs::read_dir(&folder.0).unwrap();
    let mut fences = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.display().to_string().contains("/witness.fence-"));
    let fence = fences.next().unwrap();
    assert_eq!(fences.next(), None);
    fence
}

pub fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

pub fn spec(json: &str) -> Spec {
    serde_json::from_str(json).unwrap()
}

/// Every policy, both units, single and continual releases.
pub const ALL: [(&str, &str); 8] = [
    ("uniform", r#"{"window": 5000, "slide": 250, "norm": "l1", "policy": "uniform", "releases": 9}"#),
    (
        "exponential",
        r#"{"window": 5000, "slide": 100, "policy": "exponential", "entries": 60, "releases": 9}"#,
    ),
    ("smooth", r#"{"window": 50000, "slide": 100, "policy": "smooth", "entries": 90, "releases": 9}"#),
    ("clock", r#"{"window": "24h", "slide": "1h", "lateness": "30m", "releases": 9}"#),
    (
        "people",
        r#"{"window": "24h", "top": 9, "unit": {"user": {"per_user": 3, "epoch": "6h"}}, "releases": 9, "epsilon": 9}"#,
    ),
    ("list by count", r#"{"window": 5000, "slide": 500, "norm": "l1", "continual": true, "epsilon": 40}"#),
    ("list", r#"{"window": "24h", "slide": "1h", "continual": true, "epsilon": 40}"#),
    (
        "list of people",
        r#"{"window": "24h", "slide": "2h", "top": 9, "unit": {"user": {"per_user": 3, "epoch": "6h"}}, "continual": true, "epsilon": 40}"#,
    ),
];

pub fn longest(store: &Store<Bytes>) -> Span {
    store.header().spec.longest()
}

pub fn is_continual(store: &Store<Bytes>) -> bool {
    store.header().spec.continual
}

pub fn create(folder: &Path, json: &str) -> Store<Bytes> {
    begin(folder, json, Some(0), None).unwrap()
}

pub fn created(json: &str) -> (Folder, Store<Bytes>) {
    let (folder, state) = Folder::with_state();
    let store = create(&state, json);
    (folder, store)
}

pub fn reopened(store: Store<Bytes>, state: &Path) -> Store<Bytes> {
    drop(store);
    Store::open(state).unwrap()
}

pub fn begin(folder: &Path, json: &str, from: Option<i64>, witness: Option<PathBuf>) -> Result<Store<Bytes>> {
    let mut begin = Begin::default();
    (begin.from, begin.witness) = (from, witness);
    Store::create(folder, spec(json), Keys::open(), begin)
}

/// A store in the folder `state` with a witness beside it.
pub fn witnessed(folder: &Folder, json: &str) -> Store<Bytes> {
    begin(&folder.join("state"), json, Some(0), Some(folder.join("witness"))).unwrap()
}

/// One event of an hour: most are of a few keys.
pub fn event(hour: i64, number: u64) -> (i64, [u8; 2], [u8; 1]) {
    let random = (hour as u64 * 1_000 + number).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let key = match random % 3 {
        0 => random / 3 % 300,
        _ => random / 3 % 5,
    };
    let time = hour * HOUR + (number as i64) * 5_000_000 + (random % 7) as i64;
    (time, (key as u16).to_be_bytes(), [(random / 999 % 40) as u8])
}

pub fn push_events(feed: &mut SourceWriter<'_, Bytes>, hour: i64, events: u64, by_count: bool) -> Result<()> {
    for number in 0..events {
        let (time, key, user) = event(hour, number);
        feed.push(if by_count { Event::of(key.as_slice()) } else { Event::by(&user, time, key.as_slice()) })?;
    }
    Ok(())
}

pub fn hour(store: &mut Store<Bytes>, hour: i64) -> Result<Vec<ContinualRelease<Bytes>>> {
    let by_count = longest(store).is_by_count();
    let mut feed = store.feed(&format!("hour {hour}"))?.at((hour + 1) * HOUR);
    push_events(&mut feed, hour, 400, by_count)?;
    let mut lists = feed.finish(true)?.lists;
    if !by_count {
        lists.extend(store.tick((hour + 1) * HOUR)?);
    }
    Ok(lists)
}

pub fn run(mut store: Store<Bytes>, hours: Range<i64>) -> Store<Bytes> {
    hours.for_each(|number| drop(hour(&mut store, number).unwrap()));
    store
}
