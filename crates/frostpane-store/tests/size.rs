//! Large stores: opening reads little, damage is found on reading, and releases take little space.

mod common;

use std::fs;
use std::path::Path;

use common::known::{hash, mix};
use common::{Folder, copy, create, longest, reopened, run, witnessed};
use frostpane::Bytes;
use frostpane_store::{Action, CheckReport, Error, Renderings, Store};

const BLOCK: usize = 4096;
const RELEASES: u64 = 40;
const SPEC: &str = r#"{"window": "24h", "slide": "1h", "releases": 1000}"#;
const DATABASE: &str = "frostpane.redb";
const CHECKSUMS: &str = "checksums";

/// An incompressible text.
fn noise(seed: u64, length: u64) -> String {
    let letter = |place: u64| char::from(b'!' + (mix(seed << 32 ^ place) % 90) as u8);
    (0..length).map(letter).collect()
}

fn fill(store: &mut Store<Bytes>, releases: u64, page: impl Fn(u64) -> String) -> Vec<u64> {
    let release = |number: u64| {
        let forms = |_: &_| Renderings::from([("page".to_owned(), page(number))]);
        shown(&store.release_in_forms(&format!("release {number}"), longest(store), forms).unwrap())
    };
    (0..releases).map(release).collect()
}

/// A store with releases whose renderings fill pages of their own.
fn made(state: &Path) -> Vec<u64> {
    fill(&mut run(create(state, SPEC), 0..3), RELEASES, |number| noise(number, 20_000))
}

fn shown(released: &frostpane_store::StoredRelease) -> u64 {
    hash(&[&released.json, released.forms.get("page").map_or("", String::as_str).as_bytes()].concat())
}

/// The releases of a store, as far as they are readable.
fn read(store: &mut Store<Bytes>) -> Vec<Result<u64, Error>> {
    let read = |number| Ok(shown(&store.release(&format!("release {number}"), longest(store))?));
    (0..RELEASES).map(read).collect()
}

/// Most pages hold releases: a damaged one does not prevent opening, and is an error when it is read.
#[test]
fn what_is_damaged_is_found_where_it_is_read_and_by_a_check() {
    let folder = Folder::in_memory();
    let (whole, state) = (folder.join("whole"), folder.join("state"));
    let expected = made(&whole);
    let checked = CheckReport::of(&whole).unwrap();
    assert_eq!((checked.records, checked.releases), (1 + RELEASES, RELEASES));
    let bytes = fs::read(whole.join(DATABASE)).unwrap();
    let (mut opened, mut found, mut refused) = (0, 0, 0);
    let blocks = (BLOCK..bytes.len()).step_by(7 * BLOCK);
    for start in blocks.clone() {
        copy(&whole, &state);
        let mut damaged = bytes.clone();
        damaged[start + BLOCK / 2] ^= 4;
        fs::write(state.join(DATABASE), damaged).unwrap();
        let Ok(mut store) = Store::<Bytes>::open(&state) else { continue };
        opened += 1;
        let mut wrong = None;
        for (read, expected) in read(&mut store).into_iter().zip(&expected) {
            match read {
                Ok(read) => assert_eq!(read, *expected, "block {}", start / BLOCK),
                Err(cause) => wrong = wrong.or(Some(cause.to_string())),
            }
        }
        drop(store);
        // The next opening checks all pages. Damage to unused pages has no effect.
        if let Some(message) = wrong {
            found += 1;
            assert!(message.contains("damaged"), "{message}");
            match Store::<Bytes>::open(&state) {
                Err(_) => refused += 1,
                Ok(mut store) => {
                    let read: Vec<u64> = read(&mut store).into_iter().map(Result::unwrap).collect();
                    assert_eq!(read, expected);
                }
            }
            assert_eq!(CheckReport::of(&state).is_err(), Store::<Bytes>::open(&state).is_err());
        }
    }
    let blocks = blocks.count() as u64;
    assert!(
        opened > blocks / 2 && found > blocks / 4 && refused > found / 2,
        "{opened}, {found} and {refused} of {blocks}"
    );
}

/// Missing checksums are rebuilt after a check of all pages.
#[test]
fn checksums_that_are_lost_or_damaged_are_made_again() {
    let folder = Folder::in_memory();
    let (whole, state) = (folder.join("whole"), folder.join("state"));
    let expected = made(&whole);
    let sums = fs::read(whole.join(CHECKSUMS)).unwrap();
    let flipped = |place: usize| {
        let mut sums = sums.clone();
        sums[place] ^= 1;
        Some(sums)
    };
    let middle = sums.len() / 2;
    for damaged in
        [None, Some(Vec::new()), Some(sums[..middle].to_vec()), flipped(0), flipped(middle), flipped(64)]
    {
        copy(&whole, &state);
        match &damaged {
            None => fs::remove_file(state.join(CHECKSUMS)).unwrap(),
            Some(sums) => fs::write(state.join(CHECKSUMS), sums).unwrap(),
        }
        CheckReport::of(&state).unwrap();
        let mut store = Store::open(&state).unwrap();
        let read: Vec<u64> = read(&mut store).into_iter().map(Result::unwrap).collect();
        assert_eq!(read, expected);
    }
}

/// An older database beside newer checksums is recognised as an older copy.
#[test]
fn an_older_database_beside_newer_checksums_is_not_believed() {
    let folder = Folder::in_memory();
    let state = folder.join("state");
    made(&state);
    let older = fs::read(state.join(DATABASE)).unwrap();
    let mut store = Store::<Bytes>::open(&state).unwrap();
    store.release("one more", longest(&store)).unwrap();
    drop(store);
    fs::write(state.join(DATABASE), older).unwrap();
    for _ in 0..2 {
        let refused = Store::<Bytes>::open(&state).map(drop).unwrap_err().to_string();
        assert!(refused.contains("it is older than its secrets"), "{refused}");
    }
}

/// Similar releases take little more space than one of them.
#[test]
fn releases_that_are_like_each_other_are_small() {
    let folder = Folder::in_memory();
    let mut store = run(create(&folder.join("state"), SPEC), 0..3);
    let page = noise(5, 60_000);
    fill(&mut store, 300, |number| format!("{page}{number}"));
    assert_eq!(store.released("release 299").unwrap().unwrap().forms["page"], format!("{page}299"));
    drop(store);
    let bytes = fs::metadata(folder.join("state").join(DATABASE)).unwrap().len();
    assert!(bytes < 300 * 60_000 / 4, "{bytes}");
    assert_eq!(CheckReport::of(&folder.join("state")).unwrap().releases, 300);
}

/// A dropped release is never drawn again, and its charge remains.
#[test]
fn texts_can_be_dropped_and_nothing_else() {
    let folder = Folder::in_memory();
    let state = folder.join("state");
    let mut store = run(witnessed(&folder, SPEC), 0..3);
    fill(&mut store, RELEASES, |number| noise(number, 200_000));
    let (ids, accounts) = (store.releases().unwrap(), store.stream().accounts());
    let database = state.join(DATABASE);
    let before = fs::metadata(&database).unwrap().len();
    assert_eq!(store.drop_before(0).unwrap(), Default::default());
    let dropped = store.drop_before(i64::MAX).unwrap();
    assert_eq!((dropped.releases, dropped.lists), (RELEASES, 0));
    store.compact().unwrap();
    let after = fs::metadata(&database).unwrap().len();
    assert!(after < before / 3, "{after} of {before}");
    let mut store = reopened(store, &state);
    assert_eq!((store.releases().unwrap(), store.stream().accounts()), (ids, accounts.clone()));
    let refused = store.release("release 3", longest(&store)).unwrap_err().to_string();
    assert!(refused.contains("it is not drawn again"), "{refused}");
    assert_eq!(store.stream().accounts(), accounts);
    let last = store.history(1).unwrap().pop().unwrap().what;
    assert_eq!(last, Action::Dropped { releases: RELEASES, lists: 0 });
    assert!(!store.release("another", longest(&store)).unwrap().again);
    drop(store);
    CheckReport::of(&state).unwrap();
}
