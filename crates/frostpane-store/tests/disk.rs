//! Full disks, truncated files and partial writes.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

use common::known::{Known, check, hash, remember};
use common::{ALL, Folder, begin, copy, create, hour, is_continual, longest, run};
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
    let released = store.release(&format!("release {number}"), longest(store))?;
    remember(&mut known.releases, number as u64, hash(&released.json), "release");
    Ok(())
}

/// Runs for some hours, each with a release.
fn go_on(store: &mut Store<Bytes>, until: i64, known: &mut Known) -> Result<()> {
    for number in known.hours..until {
        known.remember_lists(&hour(store, number)?, "list");
        known.hours = number + 1;
        if is_continual(store) {
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
    for refused in [
        store.release("another", longest(store)).map(drop),
        store.tick(i64::MAX - 1).map(drop),
        store.feed("another").map(drop),
    ] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("open the state again"), "{message}");
    }
}

/// After space is freed, all that was acknowledged is there, a charge has one noise, and the store goes on.
fn is_whole(name: &str, state: &Path, known: &mut Known) {
    for _ in 0..2 {
        check(name, state, known);
        let mut store = Store::<Bytes>::open(state).unwrap();
        for id in store.releases().unwrap() {
            let number = id.strip_prefix("release ").unwrap().parse().unwrap();
            release(&mut store, number, known).unwrap();
        }
    }
    let mut store = Store::<Bytes>::open(state).unwrap();
    let until = known.hours + 2;
    go_on(&mut store, until, known).unwrap_or_else(|cause| panic!("{name}: {cause}"));
    drop(store);
    check(name, state, known);
}

/// A store after some hours, and what is known about it.
fn begun(folder: &Folder, json: &str) -> Known {
    fs::create_dir(folder.join("outside")).unwrap();
    let witness = folder.join("outside").join("witness");
    let store = run(begin(&folder.join("begun"), json, Some(0), Some(witness)).unwrap(), 0..BEFORE);
    let mut known = Known { hours: BEFORE, ..Known::default() };
    known.remember_lists(&store.lists_after(0).unwrap(), "list");
    known
}

/// Opens a copy and runs until the disk is full. Returns the number of writes if the disk was large enough.
fn fill(folder: &Folder, known: &mut Known, room: i64) -> Option<i64> {
    points::full_after(room);
    let ended = Store::<Bytes>::open(&folder.join("state")).and_then(|mut store| {
        go_on(&mut store, BEFORE + 2, known).inspect_err(|_| {
            points::full_after(i64::MAX);
            is_refused_until_opened_again(&mut store);
            points::full_after(0);
        })
    });
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
            let enough = fill(&folder, &mut known, room);
            is_whole(name, &folder.join("state"), &mut known);
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

/// A mounted disk, which is unmounted when it is dropped.
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
        says_what_to_do(&go_on(&mut store, 5_000, &mut known).unwrap_err());
        is_refused_until_opened_again(&mut store);
        drop(store);
        println!("{name}: full after {} hours", known.hours);
        assert!(known.hours > 3);
        assert!(mount(&["-o", "remount,size=64m"], &small));
        is_whole(name, &state, &mut known);
        drop(mounted);
    }
}

/// Accounts, a release and continual releases.
type Seen = (Vec<u8>, Vec<u8>, Vec<Vec<u8>>);

fn seen(state: &Path) -> Result<Seen> {
    let mut store = Store::<Bytes>::open(state)?;
    let released =
        if store.releases()?.is_empty() { Vec::new() } else { store.release("one", longest(&store))?.json };
    let lists = store.lists_after(0)?;
    Ok((store.stream().accounts(), released, lists.into_iter().map(|list| list.json).collect()))
}

/// Writes a store before and after a commit with a release.
fn before_and_after(folder: &Folder, json: &str) {
    let (before, after) = (folder.join("before"), folder.join("after"));
    drop(run(create(&after, json), 0..8));
    copy(&after, &before);
    let mut store = Store::open(&after).unwrap();
    if is_continual(&store) {
        drop(run(store, 8..9));
    } else {
        store.release("one", longest(&store)).unwrap();
    }
}

/// Lengths up to that of a file, both ends included.
fn lengths(most: usize) -> impl Iterator<Item = usize> {
    let count = if long() { 600 } else { 30 };
    (0..=count).map(move |part| most * part / count).chain([1, 31, most - 1])
}

/// Truncated files, files of which a part is older, and flipped bits.
#[test]
fn a_damaged_file_is_refused_or_read_and_never_believed() {
    let _disk = DISK.lock();
    for (name, json) in [ALL[0], ALL[4], ALL[6]] {
        let folder = Folder::in_memory();
        before_and_after(&folder, json);
        let (state, expected) = (folder.join("state"), seen(&folder.join("after")).unwrap());
        for file in FILES {
            let [old, new] = ["before", "after"].map(|of| fs::read(folder.join(of).join(file)).unwrap());
            let cut = lengths(new.len()).flat_map(|length| {
                let torn = [&new[..length], old.get(length..).unwrap_or_default()].concat();
                [(length, new[..length].to_vec()), (length, torn)]
            });
            let flipped = (0..new.len()).step_by(new.len().div_ceil(50)).map(|place| {
                let mut flipped = new.clone();
                flipped[place] ^= 1 << (place % 8);
                (place, flipped)
            });
            let mut read = 0;
            for (place, bytes) in cut.chain(flipped) {
                copy(&folder.join("after"), &state);
                fs::write(state.join(file), bytes).unwrap();
                match seen(&state) {
                    Err(refused) => assert!(!refused.to_string().is_empty()),
                    Ok(found) => {
                        read += 1;
                        assert!(found == expected, "{name}: {file} at {place}");
                    }
                }
            }
            assert!(read > 0, "{name}: {file}");
        }
    }
}
