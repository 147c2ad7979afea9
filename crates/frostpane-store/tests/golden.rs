//! Stores of earlier versions, in `golden`: **they are never deleted**. A new format adds files beside them
//! and still opens these; none is ever rewritten.
//!
//! `FROSTPANE_WRITE_GOLDEN=1 cargo test -p frostpane-store --test golden` writes those that are missing.

mod common;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use common::{ALL, Folder, HOUR, create, hour, is_continual, longest, push_events, reopened, run};
use frostpane::Bytes;
use frostpane_store::Store;
use serde::{Deserialize, Serialize};

const FORMAT: u64 = 2;
const HOURS: i64 = 13;
const ID: &str = "kept";
const FILES: [&str; 3] = ["frostpane.redb", "secrets", "checksums"];
const MOST_BYTES: u64 = 30_000;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Expected {
    accounts: Vec<u8>,
    closed: Vec<Range<i64>>,
    panes: Vec<String>,
    counted: u64,
    head: String,
    /// A release, or continual releases by number, as they were shown.
    release: Option<String>,
    lists: Vec<(u64, String)>,
}

impl Expected {
    fn of(store: &mut Store<Bytes>) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let release = (!is_continual(store)).then(|| text(store.release(ID, longest(store)).unwrap().json));
        let lists = store.lists_after(0).unwrap().into_iter();
        let stream = store.stream();
        Self {
            accounts: stream.accounts(),
            panes: stream
                .closed()
                .iter()
                .map(|pane| blake3::hash(&stream.closed_pane(pane).unwrap()).to_string())
                .collect(),
            closed: stream.closed(),
            counted: stream.counted(),
            head: store.head().mark.clone(),
            release,
            lists: lists.map(|list| (list.number, text(list.json))).collect(),
        }
    }
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name.replace(' ', "-"))
}

fn packed(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!("{file}.zst"))
}

fn pack(folder: &Path, file: &str, bytes: &[u8]) {
    let path = packed(folder, file);
    assert!(!path.exists(), "{} is kept for ever", path.display());
    fs::write(path, zstd::encode_all(bytes, 19).unwrap()).unwrap();
}

fn unpack(folder: &Path, file: &str) -> Vec<u8> {
    let path = packed(folder, file);
    let bytes = fs::read(&path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()));
    zstd::decode_all(&*bytes).unwrap()
}

/// A store with events, releases, and a log.
fn made(folder: &Path, json: &str) -> Store<Bytes> {
    let mut store = run(create(folder, json), 0..HOURS);
    let by_count = longest(&store).is_by_count();
    let mut feed = store.feed("the log").unwrap().at(HOURS * HOUR);
    push_events(&mut feed, HOURS, 40, by_count).unwrap();
    feed.finish(false).unwrap();
    store
}

fn write(name: &str, json: &str) {
    let to = golden(&format!("{FORMAT}-{name}"));
    if std::env::var_os("FROSTPANE_WRITE_GOLDEN").is_none() || to.exists() {
        return;
    }
    let (_folder, state) = Folder::with_state();
    let expected = Expected::of(&mut made(&state, json));
    fs::create_dir_all(&to).unwrap();
    for file in FILES {
        pack(&to, file, &fs::read(state.join(file)).unwrap());
    }
    pack(&to, "expected", &serde_json::to_vec(&expected).unwrap());
}

/// Unpacks a golden store into a folder.
fn copied(from: &Path, state: &Path) -> Store<Bytes> {
    fs::create_dir_all(state).unwrap();
    for file in FILES.iter().filter(|file| packed(from, file).exists()) {
        fs::write(state.join(file), unpack(from, file)).unwrap();
    }
    Store::open(state).unwrap_or_else(|cause| panic!("{}: {cause}", from.display()))
}

#[test]
fn what_an_earlier_version_wrote_is_opened_as_it_was_and_goes_on() {
    for (name, json) in ALL.into_iter().chain([("panes", ALL[3].1)]) {
        write(name, json);
        for format in 1..=FORMAT {
            let (folder, from) = (Folder::new(), golden(&format!("{format}-{name}")));
            let lengths = fs::read_dir(&from).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
            assert!(lengths.sum::<u64>() < MOST_BYTES, "{name}");
            let mut store = copied(&from, &folder.join("state"));
            let expected: Expected = serde_json::from_slice(&unpack(&from, "expected")).unwrap();
            assert_eq!(Expected::of(&mut store), expected, "{name}");
            let more = [HOURS + 1, HOURS + 2].map(|number| hour(&mut store, number).unwrap());
            let by_count = longest(&store).is_by_count();
            assert!(store.stream().counted() > expected.counted || !by_count, "{name}");
            if is_continual(&store) {
                assert!(more.iter().any(|lists| !lists.is_empty()), "{name}")
            } else {
                assert!(!store.release("more", longest(&store)).unwrap().again, "{name}");
                assert_ne!(store.stream().accounts(), expected.accounts, "{name}");
            }
        }
    }
}

/// A process of format 1 that ended between charge and release, whose pending release was found by a scan.
#[test]
fn a_release_that_an_earlier_version_charged_and_did_not_make_is_made() {
    let (_folder, state) = Folder::with_state();
    let made = |store: &Store<Bytes>| store.released("pending").unwrap().unwrap().json;
    let store = copied(&golden("1-pending"), &state);
    assert_eq!(store.releases().unwrap(), ["kept", "pending"]);
    let (json, accounts) = (made(&store), store.stream().accounts());
    let mut store = reopened(store, &state);
    assert_eq!((made(&store), store.stream().accounts()), (json.clone(), accounts));
    let again = store.release("pending", longest(&store)).unwrap();
    assert!(again.again && again.json == json);
    let charge = store.stream().charge().amount().epsilon;
    assert_eq!(store.stream().ledger().account(12..13).amount().epsilon, 2 * charge);
}
