//! Processes that are killed at every point, and the stores that they leave.
//!
//! The test starts itself again as the process to be killed. A third of the kills come from outside at any
//! time, the others at a chosen point within a commit: before a write, half through one, before a sync,
//! before a rename.

mod common;

use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use common::known::{Known, check, hash, mix, remember};
use common::{ALL, Folder, begin, hour, is_continual, longest, witnessed};
use frostpane::Bytes;
use frostpane_store::{Store, points};

const CHILD: &str = "FROSTPANE_TEST_CRASH";
const ENDS: u64 = 40;
/// The commits of an hour have some dozens of points.
const POINTS: u64 = 240;

/// Runs for ever, and prints everything that is acknowledged or shown.
fn child(folder: &Path, first: i64) {
    // The test harness may have left an unfinished line.
    println!();
    let mut store = Store::<Bytes>::open(folder).unwrap();
    for number in first.. {
        for list in hour(&mut store, number).unwrap() {
            println!("list {} {}", list.number, hash(&list.json));
        }
        println!("acknowledged {number}");
        if number % 3 == 0
            && !is_continual(&store)
            && let Ok(release) = store.release(&format!("release {number}"), longest(&store))
        {
            println!("release {number} {}", hash(&release.json));
        }
    }
}

fn hear(known: &mut Known, said: &str) {
    // An unfinished last line does not count.
    for line in said.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |place: usize| words[place].parse().unwrap();
        match words[0] {
            "acknowledged" => known.hours = number(1) as i64 + 1,
            "list" => remember(&mut known.lists, number(1), number(2), line),
            "release" => remember(&mut known.releases, number(1), number(2), line),
            _ => {}
        }
    }
}

/// A test in another process, which ends after so many points.
fn in_another(test: &str, state: &Path, told: &str, end_after: i64) -> Command {
    let mut process = Command::new(env::current_exe().unwrap());
    process.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    process.env(CHILD, format!("{}\n{told}\n{end_after}", state.display()));
    process.stdout(Stdio::piped()).stderr(Stdio::null());
    process
}

/// In such a process, the folder and the text that it was told.
fn told() -> Option<(PathBuf, String)> {
    let told = env::var(CHILD).ok()?;
    let [state, text, end_after] = told.split('\n').collect::<Vec<_>>()[..] else { panic!("{told}") };
    points::end_after(end_after.parse().unwrap());
    Some((state.into(), text.to_owned()))
}

/// Starts the process, has it killed, and returns its output.
fn run(name: &str, state: &Path, known: &Known, round: u64) -> String {
    let from_outside = round.is_multiple_of(3);
    let end_after = if from_outside { -1 } else { (mix(round) % POINTS) as i64 };
    let test = "whatever_ends_the_process_nothing_is_lost_and_nothing_spent_twice";
    let mut process = in_another(test, state, &known.hours.to_string(), end_after).spawn().unwrap();
    if from_outside {
        std::thread::sleep(Duration::from_millis(20 + mix(round) % 90));
        process.kill().unwrap();
    }
    let mut said = String::new();
    process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let status = process.wait().unwrap();
    assert!(!status.success(), "{name}: it ends only when it is ended");
    assert_ne!(status.code(), Some(101), "{name}: it failed by itself: {said}");
    said
}

#[test]
fn whatever_ends_the_process_nothing_is_lost_and_nothing_spent_twice() {
    if let Some((state, first)) = told() {
        return child(&state, first.parse().unwrap());
    }
    let long = if env::var_os("FROSTPANE_LONG").is_some() { 10 } else { 1 };
    let (mut ends, mut shown) = (0, 0);
    for (name, json) in ALL {
        let (folder, state) = Folder::with_state();
        drop(witnessed(&folder, json));
        let mut known = Known::default();
        for round in 0..ENDS * long {
            let said = run(name, &state, &known, round);
            hear(&mut known, &said);
            check(name, &state, &mut known);
            ends += 1;
        }
        assert!(known.hours > 20, "{name}: only {} hours were taken", known.hours);
        shown += known.lists.len() + known.releases.len();
    }
    println!("{ends} processes were ended; {shown} lists and releases were shown, each with one noise");
    assert!(shown > 100);
}

/// Creates a store in a process that is killed after so many points. Returns true if it finished before.
fn begin_in_another(state: &Path, witness: &Path, end_after: i64) -> bool {
    let test = "wherever_a_process_ends_that_begins_a_state_the_next_one_begins_it";
    let status = in_another(test, state, witness.to_str().unwrap(), end_after).output().unwrap().status;
    assert_ne!(status.code(), Some(101), "it failed by itself after {end_after} points");
    status.success()
}

/// A kill at any point leaves a store, or a folder in which it can be created again with the same witness.
#[test]
fn wherever_a_process_ends_that_begins_a_state_the_next_one_begins_it() {
    if let Some((state, witness)) = told() {
        return drop(begin(&state, ALL[3].1, Some(0), Some(witness.into())).unwrap());
    }
    let (mut again, mut whole) = (0, 0);
    for end_after in (0..).step_by(3) {
        let folder = Folder::in_memory();
        let (state, witness) = (folder.join("state"), folder.join("witness"));
        let ended = begin_in_another(&state, &witness, end_after);
        match Store::<Bytes>::open(&state) {
            Ok(_) => whole += 1,
            Err(_) => {
                assert!(!state.join("frostpane.redb").exists(), "after {end_after} points");
                drop(witnessed(&folder, ALL[3].1));
                drop(Store::<Bytes>::open(&state).unwrap());
                again += 1;
            }
        }
        if ended {
            break;
        }
    }
    println!("{again} states were begun again, {whole} were whole");
    assert!(again > 5 && whole > 1, "{again} and {whole}");
}
