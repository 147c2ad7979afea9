//! Pairs of streams that differ in one user's event: it changes one count of its time's epoch, or nothing.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use frostpane::{Bytes, Edge};
use frostpane_server::Limits;
use frostpane_store::{ContinualRelease, Store, StoredKey};
use jiff::{SignedDuration, Timestamp};

use crate::call::{ARROW, Api, Folder, JSONL, arrow, limits};

pub const HALF_A_DAY: i64 = 12 * 3_600;
/// Long enough for slow machines.
const TOLERANCE: Duration = Duration::from_secs(120);

pub fn spec(begins: i64) -> String {
    spec_of(3, r#"["base", "x"]"#, begins)
}

/// Epochs of half a day, one from this second on; an hour of lateness; noise is 0 but for a tiny chance.
pub fn spec_of(top: usize, keys: &str, begins: i64) -> String {
    let offset = begins.rem_euclid(HALF_A_DAY);
    format!(
        r#"{{ "window": "12h", "slide": "12h", "lateness": "1h", "top": {top}, "keys": {keys}, "continual": true, "epsilon": 1000000,
             "unit": {{ "user": {{ "per_user": 1, "epoch": "12h", "offset": "{offset}s" }} }} }}"#
    )
}

/// An event of a user at a second, in a format.
fn body(kind: &str, time: i64) -> Vec<u8> {
    let object = format!(r#"{{"key":"x","time":{time},"user":"challenge"}}"#);
    let rows = |by: &str| format!("key{by}time{by}user\nx{by}{time}{by}challenge\n").into_bytes();
    let text = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
    match kind {
        "application/json" => format!("[{object}]").into_bytes(),
        "text/csv" => rows(","),
        "text/tab-separated-values" => rows("\t"),
        ARROW => {
            let times = Arc::new(Int64Array::from(vec![time]));
            arrow([("key", text("x")), ("time", times), ("user", text("challenge"))])
        }
        _ => object.into_bytes(),
    }
}

/// The releases of a stream when the epoch that begins at a second has ended.
pub fn ended<K: StoredKey>(folder: &Folder, name: &str, begins: i64) -> Vec<ContinualRelease<K>> {
    let mut store = Store::open(&folder.0.join("streams").join(name)).unwrap();
    store.tick(Timestamp::from_second(begins + HALF_A_DAY + 3_600).unwrap().as_microsecond()).unwrap()
}

/// The counts of the key in the epochs before and after a second.
pub fn counted(folder: &Folder, name: &str, begins: i64) -> [u64; 2] {
    let lists = ended::<Bytes>(folder, name, begins);
    let of_epoch = |from: i64| {
        let from = Some(Edge::Instant(Timestamp::from_second(from).unwrap()));
        let mut releases = lists.iter().filter_map(|list| list.release.as_ref());
        let release = releases.find(|release| release.window.from == from).unwrap();
        let heavy = release.heavy.iter().find(|heavy| *heavy.key == *b"x");
        heavy.map_or(0, |heavy| heavy.count)
    };
    [begins - HALF_A_DAY, begins].map(of_epoch)
}

/// Seconds, from the begin of an epoch, of events sent one by one; their count in the epochs around it.
type Row = (&'static str, &'static [i64], [u64; 2]);

const ROWS: [Row; 9] = [
    ("ahead, of the epoch that begins", &[1], [0, 1]),
    ("ahead, and again when it has begun", &[1, 1], [0, 1]),
    ("ahead, of the first moment of the epoch", &[0], [0, 1]),
    ("ahead, of the last second before", &[-1], [1, 0]),
    ("on either side", &[-1, 1], [1, 1]),
    ("on either side, the later first", &[1, -1], [1, 1]),
    ("further ahead than it may be", &[7_200], [0, 0]),
    ("further ahead than it may be, and not", &[7_200, 1], [0, 1]),
    ("before the stream", &[-HALF_A_DAY - 1], [0, 0]),
];

#[tokio::test]
async fn an_event_moves_one_count_of_the_epoch_of_its_own_time_or_nothing() {
    let forms = [JSONL, "application/json", "text/csv", "text/tab-separated-values", ARROW];
    let api = Api::with_limits(Folder::new(), Limits { tolerance: TOLERANCE, ..limits() });
    let begins = (Timestamp::now() + SignedDuration::from_secs(60)).as_second();
    let mut rows = Vec::new();
    for (number, (what, seconds, counts)) in ROWS.into_iter().enumerate() {
        for (form, kind) in forms.into_iter().enumerate() {
            let name = format!("row-{number}-{form}");
            api.call("PUT", &format!("/v1/streams/{name}"), spec(begins)).await.is(201);
            for second in seconds {
                let taken = api.send(&name, kind, body(kind, begins + second)).await.is(200).json();
                let ahead = u64::from(*second > 3_600);
                assert_eq!(taken["ahead"], ahead, "{what}, {kind}");
            }
            rows.push((name, format!("{what}, {kind}"), counts));
        }
    }
    let folder = api.stopped().await;
    for (name, what, counts) in rows {
        assert_eq!(counted(&folder, &name, begins), counts, "{what}");
    }
}

#[tokio::test]
async fn what_waits_for_its_epoch_is_kept_and_counts_once() {
    let mut api = Api::with_limits(Folder::new(), Limits { tolerance: TOLERANCE, ..limits() });
    let begins = (Timestamp::now() + SignedDuration::from_secs(60)).as_second();
    api.call("PUT", "/v1/streams/one", spec(begins)).await.is(201);
    for number in 0..3 {
        let headers = [("content-type", JSONL), ("idempotency-key", "a")];
        let taken = api.with("POST", "/v1/streams/one/events", &headers, body(JSONL, begins + 1)).await;
        assert_eq!(taken.is(200).json()["again"], number > 0);
        api = api.restarted().await;
    }
    assert_eq!(counted(&api.stopped().await, "one", begins), [0, 1]);
}
