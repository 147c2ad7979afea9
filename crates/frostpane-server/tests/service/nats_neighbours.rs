//! Neighbours through NATS: the same thousand events, and one more whose user, key, time or form is odd. That
//! event changes one count, or nothing.

use std::path::Path;

use async_nats::jetstream;
use frostpane::Bytes;
use frostpane_store::{ContinualRelease, StoredKey};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use crate::call::{Folder, eventually};
use crate::nats::{Pulling, left};
use crate::own_time::{HALF_A_DAY, ended, spec_of};
use crate::process::{Process, token};

const EVENTS: u64 = 1_000;
const MESSAGES: usize = 10;
const KEYS: u64 = 5;

/// The line of an event, and the key whose count it moves.
type Row = (Vec<u8>, Option<u64>);

/// An event of the key 3. `rows` puts times for words in capitals.
const EVENT: &str = r#"{"key": 3, "time": TIME, "user": "ann"}"#;

/// A value of that event, the key whose count moves, and odd values in its place, separated by blanks. The table
/// of all readers has more.
const VALUES: [(&str, Option<u64>, &str); 6] = [
    (
        "\"ann\"",
        Some(3),
        r#"18446744073709551616 -9223372036854775809 -0 "2025-11-30" "a\"b\nb\u0000\t" "\udc00\ud800""#,
    ),
    ("\"ann\"", None, r#"007 17.0 1e400 null [-1] "" "\u12" ann"#),
    ("3", Some(3), r#""3" "\u0033""#),
    ("3", None, r#"03 3.0 -3 18446744073709551619 null [3] "3\n3" "\ud800""#),
    ("TIME", Some(3), r#"TIME.25 TIME000 "TIME" "MOMENT" "EAST+09:00""#),
    ("TIME", None, r#""EAST" "noon" 0 1180591620717411303424 null [TIME] TOMORROW YESTERDAY"#),
];

/// Other odd events.
const ROWS: [(&str, Option<u64>); 19] = [
    (r#"{"key": 3, "time": TIME, "user": " "}"#, Some(3)),
    (r#"{"key": "3 ", "time": TIME, "user": "ann"}"#, None),
    ("", None),
    ("\r", None),
    ("hello", None),
    ("{", None),
    ("\u{feff}{}", None),
    ("PAR1", None),
    (r#"{"key": 3, "time": TIME}"#, None),
    (r#"{"time": TIME, "user": "ann"}"#, None),
    (r#"{"key": 3, "user": "ann"}"#, None),
    (r#"{"key": 3, "time": TIME, "user": "ann""#, None),
    (r#"[{"key": 3, "time": TIME, "user": "ann"}]"#, None),
    (r#"{"key": 3, "time": TIME, "user": "ann"} {"key": 3, "time": TIME, "user": "bob"}"#, None),
    // A field twice: of keys the last counts, of times and users the first.
    (r#"{"key": 3, "key": 4, "time": TIME, "user": "ann"}"#, Some(4)),
    (r#"{"key": 3, "time": TIME, "time": 5, "user": "ann"}"#, Some(3)),
    (r#"{"key": 3, "time": TIME, "user": "ann", "user": "-1"}"#, Some(3)),
    // A user that has its key already: the second event is not counted.
    (r#"{"key": 1, "time": TIME, "user": -1}"#, None),
    (r#"{"key": 1, "time": TIME, "user": "-1"}"#, None),
];

fn event(key: &[u8], time: &[u8], user: &[u8]) -> Vec<u8> {
    [b"{\"key\": ", key, b", \"time\": ", time, b", \"user\": ", user, b"}"].concat()
}

/// A JSON string of so many bytes.
fn long(bytes: usize) -> Vec<u8> {
    [&b"\""[..], &b"x".repeat(bytes), b"\""].concat()
}

fn rows(second: i64) -> Vec<Row> {
    let moment = Timestamp::from_second(second).unwrap();
    let east = moment.to_zoned(TimeZone::fixed(Offset::constant(9)));
    let names = [
        ("TIME", second.to_string()),
        ("MOMENT", moment.to_string()),
        ("EAST", east.strftime("%Y-%m-%dT%H:%M:%S").to_string()),
        ("TOMORROW", (second + 2 * HALF_A_DAY).to_string()),
        ("YESTERDAY", (second - 2 * HALF_A_DAY).to_string()),
    ];
    let line = |line: &str| names.iter().fold(line.to_owned(), |line, (name, time)| line.replace(name, time));
    let values = VALUES
        .iter()
        .flat_map(|(usual, key, odd)| odd.split(' ').map(move |odd| (EVENT.replacen(*usual, odd, 1), *key)));
    let rows = values.chain(ROWS.map(|(odd, key)| (odd.to_owned(), key)));
    let rows = rows.map(|(odd, key)| (line(&odd).into_bytes(), key));
    let time = names[0].1.as_bytes();
    let deep = [b"[".repeat(200), b"]".repeat(200)].concat();
    let by = |user: &[u8]| event(b"3", time, user);
    let of = |key: &[u8]| event(key, time, b"\"ann\"");
    let rest = [
        (by(b"\"\xff\""), None),
        (by(&long(1 << 16)), Some(3)),
        (by(&long((1 << 16) + 1)), None),
        (by(&long(900_000)), None),
        (by(&deep), None),
        (of(b"\"\xff\""), None),
        (of(&long((1 << 16) + 1)), None),
        (of(&long(900_000)), None),
        (of(&deep), None),
    ];
    rows.chain(rest).collect()
}

/// The messages of a thousand users: each once, each with one of five keys.
fn usual(second: i64) -> Vec<Vec<Vec<u8>>> {
    let event = |number: u64| {
        let (key, user) = ((number % KEYS).to_string(), format!("-{number}"));
        event(key.as_bytes(), second.to_string().as_bytes(), user.as_bytes())
    };
    let events: Vec<_> = (1..=EVENTS).map(event).collect();
    events.chunks(events.len() / MESSAGES).map(<[_]>::to_vec).collect()
}

/// The place of the odd event.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A line of a message with other events; keys are bytes.
    Line,
    /// A message of its own; keys are integers.
    Message,
}

/// A stream of the thousand events and, but for the first two, of one more.
struct Neighbour {
    name: String,
    place: Place,
    row: Option<Row>,
    number: usize,
}

impl Neighbour {
    fn all(second: i64) -> Vec<Self> {
        let rows = std::iter::once(None).chain(rows(second).into_iter().map(Some));
        let both = |(number, row): (usize, Option<Row>)| {
            [Place::Line, Place::Message].map(|place| {
                let name = format!("{place:?}-{number}").to_lowercase();
                Self { name, place, row: row.clone(), number }
            })
        };
        rows.enumerate().flat_map(both).collect()
    }

    fn spec(&self, begins: i64) -> String {
        spec_of(20, if matches!(self.place, Place::Line) { r#""open""# } else { r#""0..20""# }, begins)
    }

    fn messages(&self, second: i64) -> Vec<Vec<u8>> {
        let mut messages = usual(second);
        if let Some((odd, _)) = &self.row {
            let (message, line) = (self.number % MESSAGES, self.number * 37 % 101);
            match self.place {
                Place::Line => messages[message].insert(line, odd.clone()),
                Place::Message => messages.insert(message, vec![odd.clone()]),
            }
        }
        messages.into_iter().map(|lines| lines.join(&b'\n')).collect()
    }

    async fn publish(&self, context: &jetstream::Context, second: i64) {
        let config = jetstream::stream::Config {
            name: self.name.clone(),
            subjects: vec![self.name.clone()],
            storage: jetstream::stream::StorageType::Memory,
            ..Default::default()
        };
        context.create_stream(config).await.unwrap();
        for message in self.messages(second) {
            context.publish(self.name.clone(), message.into()).await.unwrap().await.unwrap();
        }
    }

    fn release(&self, folder: &Folder, begins: i64) -> Published {
        published(match self.place {
            Place::Line => release(ended::<Bytes>(folder, &self.name, begins)),
            Place::Message => release(ended::<u64>(folder, &self.name, begins)),
        })
    }

    /// Returns a fault unless all is as usual but for the count that the row names.
    fn fault(&self, found: &Published, usual: &Published) -> Option<String> {
        let (mut counts, public) = usual.clone();
        let (odd, key) = self.row.as_ref()?;
        key.iter().for_each(|key| counts[*key as usize] += 1);
        let odd = odd[..odd.len().min(100)].escape_ascii();
        (*found != (counts, public)).then(|| format!("{odd} as a {:?}: {:?}", self.place, found.0))
    }
}

fn release<K: StoredKey>(lists: Vec<ContinualRelease<K>>) -> Value {
    assert_eq!(lists.len(), 1);
    serde_json::from_slice(&lists[0].json).unwrap()
}

/// The counts of the five keys, and all fields that do not follow from counts.
type Published = (Vec<u64>, Value);

/// A key that only the odd event has may count once at most.
fn published(mut release: Value) -> Published {
    let fields = release.as_object_mut().unwrap();
    let heavy = fields.remove("heavy").unwrap();
    fields.remove("norm_estimate");
    let window = fields["window"].as_object_mut().unwrap();
    // The noisy number of events.
    for field in ["events", "between"] {
        window.remove(field);
    }
    let mut counts = vec![0; KEYS as usize];
    for heavy in heavy.as_array().unwrap() {
        let (key, count) = (&heavy["key"], heavy["count"].as_u64().unwrap());
        let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
        match key.parse().ok().and_then(|key: usize| counts.get_mut(key)) {
            Some(of_key) => *of_key = count,
            None => assert!(count <= 1, "{heavy}"),
        }
    }
    (counts, release)
}

/// Pulls each stream from the JetStream stream of its name.
async fn pull(folder: &Path, context: &jetstream::Context, port: u16, streams: &[Neighbour]) {
    let options = streams.iter().flat_map(|stream| {
        let from = format!("nats://127.0.0.1:{port}/{}", stream.name);
        ["--from".to_owned(), from, "--into".to_owned(), stream.name.clone()]
    });
    let options: Vec<String> = options.collect();
    let process = Process::with(folder, &options);
    for Neighbour { name, .. } in streams {
        eventually(async || left(context, name, name).await == Some(0)).await;
    }
    assert!(process.stop());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_odd_event_moves_one_count_or_nothing() {
    let Some(nats) = Pulling::start().await else {
        return;
    };
    let (folder, context) = (&nats.folder, &nats.context);
    let now = Timestamp::now().as_second();
    let begins = now - 60;
    let streams = Neighbour::all(now);
    let token = token(&folder.0, "nats");
    let process = Process::start(&folder.0);
    for stream in &streams {
        stream.publish(context, now).await;
        process.create(&stream.name, &token, stream.spec(begins));
    }
    assert!(process.stop());
    pull(&folder.0, context, nats.port, &streams).await;

    let releases: Vec<Published> = streams.iter().map(|stream| stream.release(folder, begins)).collect();
    for (counts, _) in &releases[..2] {
        assert_eq!(*counts, [EVENTS / KEYS; KEYS as usize]);
    }
    let faults = streams.iter().zip(&releases);
    let faults = faults.filter_map(|(stream, found)| stream.fault(found, &releases[stream.place as usize]));
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new());
}
