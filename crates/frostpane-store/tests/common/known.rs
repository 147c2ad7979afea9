//! Checks that everything acknowledged and shown is stored.

use std::collections::BTreeMap;
use std::path::Path;

use frostpane::Bytes;
use frostpane_store::{Action, ContinualRelease, Record, Store};

use super::longest;

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

impl Known {
    pub fn remember_lists(&mut self, lists: &[ContinualRelease<Bytes>], line: &str) {
        for list in lists {
            remember(&mut self.lists, list.number, hash(&list.json), line);
        }
    }
}

pub fn remember(shown: &mut BTreeMap<u64, u64>, number: u64, hash: u64, line: &str) {
    let before = shown.insert(number, hash);
    assert!(before.is_none_or(|before| before == hash), "shown with two noises: {line}");
}

/// Checks that what was acknowledged is stored once, and what was shown is stored as shown, and charged once.
pub fn check(name: &str, folder: &Path, known: &mut Known) {
    let mut store = Store::<Bytes>::open(folder).unwrap_or_else(|cause| panic!("{name}: {cause}"));
    let taken = |store: &mut Store<Bytes>, hour: i64| store.feed(&format!("hour {hour}")).unwrap().before();
    for hour in 0..known.hours {
        assert_eq!(taken(&mut store, hour), EVENTS, "{name}, hour {hour}");
    }
    // The next hour is stored as a whole or not at all.
    let more = taken(&mut store, known.hours);
    assert!(more == 0 || more == EVENTS, "{name}: {more}");
    if longest(&store).is_by_count() {
        assert_eq!(store.stream().counted(), known.hours as u64 * EVENTS + more, "{name}");
    }
    let lists = store.lists_after(0).unwrap();
    assert_eq!(lists.len() as u64, store.stream().lists(), "{name}: a list for each pane that has ended");
    known.remember_lists(&lists, name);
    let last = lists.last().map_or(0, |list| list.number);
    assert!(known.lists.keys().all(|shown| *shown <= last), "{name}: a list was shown that is not there");
    check_releases(name, &mut store, known);
}

fn check_releases(name: &str, store: &mut Store<Bytes>, known: &Known) {
    let charged = |record: Record| match record.what {
        Action::Charged { id, .. } => Some(id),
        _ => None,
    };
    let mut charges: Vec<String> = store.history(1).unwrap().into_iter().filter_map(charged).collect();
    charges.sort();
    assert_eq!(charges, store.releases().unwrap(), "{name}: each is charged once");
    for (number, shown) in &known.releases {
        let release = store.release(&format!("release {number}"), longest(store)).unwrap();
        assert!(release.again, "{name}: it was shown before it was kept");
        assert_eq!(hash(&release.json), *shown, "{name}: release {number} has two noises");
    }
}
