//! Checks that everything acknowledged and shown is stored.

use std::collections::BTreeMap;
use std::path::Path;

use frostpane::Bytes;
use frostpane_store::{Action, Store};

use super::is_by_count;

const EVENTS: u64 = 400;

pub fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11
}

pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |hash, byte| mix(hash ^ u64::from(*byte)))
}

#[derive(Default)]
pub struct Known {
    pub hours: i64,
    pub lists: BTreeMap<u64, u64>,
    pub releases: BTreeMap<u64, u64>,
}

pub fn remember(shown: &mut BTreeMap<u64, u64>, number: u64, hash: u64, line: &str) {
    let before = shown.insert(number, hash);
    assert!(before.is_none_or(|before| before == hash), "shown with two noises: {line}");
}

/// Checks that what was acknowledged is stored once, and what was shown is stored as shown, and charged once.
pub fn check(name: &str, folder: &Path, json: &str, known: &mut Known) {
    let mut store = Store::<Bytes>::open(folder).unwrap_or_else(|cause| panic!("{name}: {cause}"));
    let taken = |store: &mut Store<Bytes>, hour: i64| store.feed(&format!("hour {hour}")).unwrap().before();
    for hour in 0..known.hours {
        assert_eq!(taken(&mut store, hour), EVENTS, "{name}, hour {hour}");
    }
    // The next hour is stored as a whole or not at all.
    let more = taken(&mut store, known.hours);
    assert!(more == 0 || more == EVENTS, "{name}: {more}");
    if is_by_count(json) {
        let events = known.hours as u64 * EVENTS + more;
        let counted = store.stream().counted();
        assert_eq!(counted, events, "{name}");
    }
    let lists = store.lists_after(0).unwrap();
    assert_eq!(lists.len() as u64, store.stream().lists(), "{name}: a list for each pane that has ended");
    for list in &lists {
        remember(&mut known.lists, list.number, hash(&list.json), name);
    }
    let last = lists.last().map_or(0, |list| list.number);
    assert!(known.lists.keys().all(|shown| *shown <= last), "{name}: a list was shown that is not there");
    check_releases(name, &mut store, known);
}

fn check_releases(name: &str, store: &mut Store<Bytes>, known: &Known) {
    let window = store.header().spec.longest();
    let history = store.history(1).unwrap();
    let charges = |of: &str| {
        let charged = |record: &&frostpane_store::Record| matches!(&record.what, Action::Charged { id, .. } if id == of);
        history.iter().filter(charged).count()
    };
    for id in store.releases().unwrap() {
        assert_eq!(charges(&id), 1, "{name}: {id}");
    }
    let kept = store.releases().unwrap().len();
    assert_eq!(history.iter().filter(|record| matches!(record.what, Action::Charged { .. })).count(), kept);
    for (number, shown) in &known.releases {
        let release = store.release(&format!("release {number}"), window).unwrap();
        assert!(release.again, "{name}: it was shown before it was kept");
        assert_eq!(hash(&release.json), *shown, "{name}: release {number} has two noises");
    }
}
