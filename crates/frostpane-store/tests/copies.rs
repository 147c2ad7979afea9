//! Two copies of a store under one witness, running at the same time where files cannot be locked: no window
//! is shown with two noises.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use common::known::hash;
use common::{ALL, Folder, copy, hour, is_continual, longest, witnessed};
use frostpane::Bytes;
use frostpane_store::{Error, Store, points};

const TRIES: u64 = 8;
const HOURS: std::ops::Range<i64> = 0..6;

/// Hashes of what a process has shown, by the number of the release.
type Shown = BTreeMap<u64, u64>;

/// Runs until another copy has overtaken this one. Also requires a reason of every refusal.
fn go_on(state: &Path, start: &Barrier) -> Shown {
    let mut shown = Shown::new();
    let opened = Store::<Bytes>::open(state);
    start.wait();
    let Ok(mut store) = opened else { return shown };
    for number in HOURS {
        let went_on = hour(&mut store, number).and_then(|lists| {
            shown.extend(lists.iter().map(|list| (list.number, hash(&list.json))));
            if !is_continual(&store) {
                let released = store.release(&number.to_string(), longest(&store))?;
                shown.insert(number as u64, hash(&released.json));
            }
            Ok(())
        });
        match went_on {
            Ok(()) | Err(Error::Refused(_)) => {}
            Err(cause) => {
                assert!(cause.to_string().contains("goes on"), "{cause}");
                assert!(store.is_broken());
                assert!(store.lists_after(0).is_err() && store.released(&number.to_string()).is_err());
                assert!(store.release("another", longest(&store)).is_err());
                drop(store);
                assert!(Store::<Bytes>::open(state).is_err(), "nor when it is opened again");
                break;
            }
        }
    }
    shown
}

#[test]
fn of_two_copies_under_one_witness_one_shows_a_window() {
    points::without_locks();
    for (name, json) in [ALL[3], ALL[4], ALL[6]] {
        let (mut windows, mut raced) = (0, 0);
        for _ in 0..TRIES {
            let folder = Folder::in_memory();
            let (state, other) = (folder.join("state"), folder.join("copy"));
            drop(witnessed(&folder, json));
            copy(&state, &other);
            let start = Barrier::new(2);
            let [one, two] = thread::scope(|scope| {
                let both = [&state, &other].map(|state| scope.spawn(|| go_on(state, &start)));
                both.map(|process| process.join().unwrap())
            });
            for (number, hash) in &one {
                let same = two.get(number).is_none_or(|other| other == hash);
                assert!(same, "{name}: window {number} was shown with two noises");
            }
            windows += one.len() + two.len();
            raced += u64::from(!one.is_empty() && !two.is_empty());
        }
        println!(
            "{name}: {windows} windows, each with one noise; both showed some in {raced} of {TRIES} tries"
        );
        assert!(windows > 0, "{name}");
    }
}
