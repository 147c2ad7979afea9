//! Full disks, truncated files and partial writes.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use common::known::{Known, check, hash, remember};
use common::{ALL, Folder, begin, copy, create, hour, is_by_count};
use frostpane::Bytes;
use frostpane_store::{Error, Result, Store, points};

const FILES: [&str; 2] = ["frostpane.redb", "secrets"];
/// Hours before the disk is full.
const BEFORE: i64 = 13;

/// The simulated disk is shared by the process.
static DISK: Mutex<()> = Mutex::new(());

fn long() -> bool {
    std::env::var_os("FROSTPANE_LONG").is_some()
}

fn release(store: &mut Store<Bytes>, number: i64, known: &mut Known) -> Result<()> {
    let window = store.header().spec.longest();
    let released = store.release(&format!("release {number}"), window)?;
    remember(&mut known.releases, number as u64, hash(&released.json), "release");
    Ok(())
}

/// Runs for some hours, each with a release.
fn go_on(store: &mut Store<Bytes>, json: &str, until: i64, known: &mut Known) -> Result<()> {
    for number in known.hours..until {
        for list in hour(store, number, is_by_count(json))? {
            remember(&mut known.lists, list.number, hash(&list.json), "list");
        }
        known.hours = number + 1;
        if json.contains("continual") {
            continue;
        }
        match release(store, number, known) {
            Err(Error::Refused(_)) => {}
            released => released?,
        }
    }
    Ok(())
}

fn says_what_to_do(error: &Error) {
    let message = error.to_string();
    assert!(matches!(error, Error::File(_)), "{message}");
    assert!(message.contains("the disk is full: make room"), "{message}");
}

/// A broken store refuses everything, also after space is freed.
fn is_refused_until_opened_again(store: &mut Store<Bytes>) {
    let window = store.header().spec.longest();
    for refused in [
        store.release("another", window).map(drop),
        store.tick(i64::MAX - 1).map(drop),
        store.feed("another").map(drop),
    ] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("open the state again"), "{message}");
    }
}

/// After space is freed, all that was acknowledged is there, a charge has one noise, and the store goes on.
fn is_whole(name: &str, state: &Path, json: &str, known: &mut Known) {
    for _ in 0..2 {
        check(name, state, json, known);
        let mut store = Store::<Bytes>::open(state).unwrap();
        for id in store.releases().unwrap() {
            let number = id.strip_prefix("release ").unwrap().parse().unwrap();
            release(&mut store, number, known).unwrap();
        }
    }
    let mut store = Store::<Bytes>::open(state).unwrap();
    let until = known.hours + 2;
    go_on(&mut store, json, until, known).unwrap_or_else(|cause| panic!("{name}: {cause}"));
    drop(store);
    check(name, state, json, known);
}

/// A store after some hours, and what is known about it.
fn begun(folder: &Folder, json: &str) -> Known {
    let (state, mut known) = (folder.join("begun"), Known::default());
    fs::create_dir(folder.join("outside")).unwrap();
    let witness = folder.join("outside").join("witness");
    let mut store = begin(&state, json, Some(0), Some(witness)).unwrap();
    for number in 0..BEFORE {
        hour(&mut store, number, is_by_count(json)).unwrap();
    }
    known.hours = BEFORE;
    known.lists = store.lists_after(0).unwrap().iter().map(|list| (list.number, hash(&list.json))).collect();
    known
}

/// Opens a copy and runs until the disk is full. Returns the number of writes if the disk was large enough.
fn fill(folder: &Folder, json: &str, known: &mut Known, room: i64) -> Option<i64> {
    let state = folder.join("state");
    points::full_after(room);
    let opened = Store::<Bytes>::open(&state);
    let ended = match opened {
        Err(cause) => Err(cause),
        Ok(mut store) => {
            let ended = go_on(&mut store, json, BEFORE + 2, known);
            if ended.is_err() {
                points::full_after(i64::MAX);
                is_refused_until_opened_again(&mut store);
                points::full_after(0);
            }
            ended
        }
    };
    let left = points::room();
    points::full_after(i64::MAX);
    match ended {
        Ok(()) => Some(room - left),
        Err(cause) => {
            says_what_to_do(&cause);
            None
        }
    }
}

/// Every write, and every half of one, fails first once.
#[test]
fn wherever_the_disk_is_full_nothing_acknowledged_is_lost_and_nothing_drawn_twice() {
    let _disk = DISK.lock();
    for (name, json) in ALL {
        let folder = Folder::in_memory();
        let mut known = begun(&folder, json);
        copy(&folder.join("outside"), &folder.join("outside begun"));
        let (lists, mut room) = (known.lists.clone(), 0);
        let step = match name {
            _ if long() => 1,
            "clock" => 2,
            _ => 29,
        };
        loop {
            copy(&folder.join("begun"), &folder.join("state"));
            copy(&folder.join("outside begun"), &folder.join("outside"));
            (known.hours, known.lists) = (BEFORE, lists.clone());
            known.releases.clear();
            let enough = fill(&folder, json, &mut known, room);
            is_whole(name, &folder.join("state"), json, &mut known);
            if let Some(writes) = enough {
                println!("{name}: {writes} writes");
                assert!(writes > 50, "{name}: {writes}");
                break;
            }
            room += step;
        }
    }
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    let status = Command::new("mount").args(arguments).arg(at).output();
    status.is_ok_and(|output| output.status.success())
}

/// Full disks, truncated files and partial writes.
struct Small<'a>(&'a Path);

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// Without permission to mount, the test above covers all but the file system.
#[test]
fn a_small_disk_that_is_full_says_so_and_goes_on_with_more_room() {
    let _disk = DISK.lock();
    for (name, json) in [ALL[3], ALL[5], ALL[6]] {
        let folder = Folder::in_memory();
        let small = folder.join("small");
        fs::create_dir(&small).unwrap();
        if !mount(&["-t", "tmpfs", "-o", "size=300k", "tmpfs"], &small) {
            println!("a disk cannot be mounted here: it was not tried with one");
            return;
        }
        let mounted = Small(&small);
        let state = small.join("state");
        drop(create(&state, json));
        let mut known = Known::default();
        let mut store = Store::open(&state).unwrap();
        let ended = go_on(&mut store, json, 5_000, &mut known);
        says_what_to_do(&ended.unwrap_err());
        is_refused_until_opened_again(&mut store);
        drop(store);
        println!("{name}: full after {} hours", known.hours);
        assert!(known.hours > 3);
        assert!(mount(&["-o", "remount,size=64m"], &small));
        is_whole(name, &state, json, &mut known);
        drop(mounted);
    }
}

/// Accounts, a release and continual releases.
type Seen = (Vec<u8>, Vec<u8>, Vec<Vec<u8>>);

fn seen(state: &Path) -> Option<Seen> {
    let mut store =
        Store::<Bytes>::open(state).inspect_err(|cause| assert!(!cause.to_string().is_empty())).ok()?;
    let window = store.header().spec.longest();
    let released = if store.releases().unwrap().is_empty() {
        Vec::new()
    } else {
        store.release("one", window).unwrap().json
    };
    let lists = store.lists_after(0).unwrap();
    let accounts = store.stream().accounts();
    Some((accounts, released, lists.into_iter().map(|list| list.json).collect()))
}

/// A store before and after a commit with a release.
fn before_and_after(folder: &Folder, json: &str) {
    let (before, after) = (folder.join("before"), folder.join("after"));
    let mut store = create(&after, json);
    for number in 0..8 {
        hour(&mut store, number, is_by_count(json)).unwrap();
    }
    drop(store);
    copy(&after, &before);
    let mut store = Store::open(&after).unwrap();
    let window = store.header().spec.longest();
    if json.contains("continual") {
        drop(hour(&mut store, 8, is_by_count(json)).unwrap())
    } else {
        drop(store.release("one", window).unwrap())
    }
}

/// Lengths up to that of a file, both ends included.
fn lengths(most: usize) -> impl Iterator<Item = usize> {
    let count = if long() { 600 } else { 30 };
    (0..=count).map(move |part| most * part / count).chain([1, 31, most - 1])
}

#[test]
fn a_file_that_was_cut_off_or_torn_is_refused_or_read_and_never_believed() {
    let _disk = DISK.lock();
    for (name, json) in [ALL[0], ALL[4], ALL[6]] {
        let folder = Folder::in_memory();
        before_and_after(&folder, json);
        let (state, expected) =
            (folder.join("state"), ["before", "after"].map(|of| seen(&folder.join(of)).unwrap()));
        for file in FILES {
            let [old, new] = ["before", "after"].map(|of| fs::read(folder.join(of).join(file)).unwrap());
            let mut read = 0;
            for length in lengths(new.len()) {
                let torn = [&new[..length], old.get(length..).unwrap_or_default()].concat();
                for bytes in [&new[..length], &torn] {
                    copy(&folder.join("after"), &state);
                    fs::write(state.join(file), bytes).unwrap();
                    let Some(found) = seen(&state) else { continue };
                    read += 1;
                    assert!(found == expected[1], "{name}: {file} of {length} bytes");
                }
            }
            assert!(read > 0, "{name}: {file}");
        }
    }
}
