//! Neighbours through NATS: the same thousand events, and one more whose user, key, time or form is odd. That
//! event changes one count, or nothing.

use std::path::Path;

use async_nats::jetstream;
use frostpane::Bytes;
use frostpane_store::{Store, StoredKey};
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use serde_json::Value;

use crate::call::{Folder, eventually};
use crate::nats::{Pulling, left};
use crate::process::{Process, token};

const EVENTS: u64 = 1_000;
const MESSAGES: usize = 10;
const KEYS: u64 = 5;
const HALF_A_DAY: i64 = 12 * 3_600;

/// The line of an event, and the key whose count it moves.
type Row = (Vec<u8>, Option<u64>);

/// JSON in the place of a user.
const USERS: [(&str, Option<u64>); 31] = [
    ("9223372036854775807", Some(3)),
    ("9223372036854775808", Some(3)),
    ("18446744073709551616", Some(3)),
    ("1180591620717411303424", Some(3)),
    ("-9223372036854775809", Some(3)),
    ("0", Some(3)),
    ("-0", Some(3)),
    ("007", None),
    ("17.0", None),
    ("0.5", None),
    ("1e3", None),
    ("1e400", None),
    ("NaN", None),
    ("-Infinity", None),
    ("true", None),
    ("null", None),
    ("[-1]", None),
    ("{\"user\": -1}", None),
    ("\"\"", None),
    ("\" \"", Some(3)),
    ("\"-1.0\"", Some(3)),
    ("\"null\"", Some(3)),
    ("\"2025-11-30\"", Some(3)),
    ("\"2025-11-30T12:00:00Z\"", Some(3)),
    ("\"a\\\"b\"", Some(3)),
    ("\"a\\nb\\u0000\\t\"", Some(3)),
    ("\"\u{2028}\u{feff}\"", Some(3)),
    ("\"\\ud800\"", Some(3)),
    ("\"\\udc00\\ud800\"", Some(3)),
    ("\"\\u12\"", None),
    ("ann", None),
];

/// JSON in the place of a key.
const ODD_KEYS: [(&str, Option<u64>); 27] = [
    ("\"3\"", Some(3)),
    ("\"\\u0033\"", Some(3)),
    ("\"3 \"", None),
    ("03", None),
    ("3.0", None),
    ("3e0", None),
    ("-3", None),
    ("9223372036854775808", None),
    ("18446744073709551615", None),
    ("18446744073709551619", None),
    ("1180591620717411303424", None),
    ("1e400", None),
    ("NaN", None),
    ("true", None),
    ("null", None),
    ("[3]", None),
    ("{\"key\": 3}", None),
    ("\"\"", None),
    ("\" 3\"", None),
    ("\"three\"", None),
    ("\"2025-11-30\"", None),
    ("\"a\\\"b\"", None),
    ("\"3\\n3\"", None),
    ("\"\\u0000\"", None),
    ("\"\\ud800\"", None),
    ("\"\\u\"", None),
    ("three", None),
];

/// Text in the place of the whole event.
const LINES: [&str; 22] = [
    "",
    "\r",
    " ",
    "hello",
    "{}",
    "{",
    "}",
    "\"",
    "{\"key\": 3, \"user\": \"ann",
    "null",
    "3",
    "[]",
    "\u{feff}{}",
    "key,time,user",
    "PAR1",
    "\u{1f}\u{8b}",
    "\0",
    "{\"key\": 3, \"time\": TIME}",
    "{\"time\": TIME, \"user\": \"ann\"}",
    "{\"key\": 3, \"user\": \"ann\"}",
    "{\"key\": 3, \"time\": TIME, \"user\": \"ann\"",
    "[{\"key\": 3, \"time\": TIME, \"user\": \"ann\"}]",
];

/// The same, with a field or an object twice: of keys the last counts, of times and users the first.
const TWICE: [(&str, Option<u64>); 5] = [
    ("{\"key\": 3, \"key\": 4, \"time\": TIME, \"user\": \"ann\"}", Some(4)),
    ("{\"key\": 3, \"time\": TIME, \"time\": 5, \"user\": \"ann\"}", Some(3)),
    ("{\"key\": 3, \"time\": TIME, \"user\": \"ann\", \"user\": \"-1\"}", Some(3)),
    ("{\"key\": 3, \"time\": TIME, \"user\": \"ann\", \"user\": \"ann\"}", Some(3)),
    ("{\"key\": 3, \"time\": TIME, \"user\": \"ann\"} {\"key\": 3, \"time\": TIME, \"user\": \"bob\"}", None),
];

fn event(key: &[u8], time: &[u8], user: &[u8]) -> Vec<u8> {
    [b"{\"key\": ", key, b", \"time\": ", time, b", \"user\": ", user, b"}"].concat()
}

/// JSON in the place of a time; true if it is a time of this epoch.
fn times(second: i64) -> Vec<(String, bool)> {
    let moment = Timestamp::from_second(second).unwrap();
    let east = moment.to_zoned(TimeZone::fixed(Offset::constant(9)));
    let of = |text: String, counts| (text, counts);
    vec![
        of(format!("{second}.25"), true),
        of(format!("{second}000"), true),
        of(format!("{second}000000"), true),
        of(format!("{second}000000000"), true),
        of(format!("\"{second}\""), true),
        of(format!("\"{moment}\""), true),
        of(format!("\"{}\"", east.strftime("%Y-%m-%dT%H:%M:%S%:z")), true),
        of(format!("\"{}\"", east.strftime("%Y-%m-%dT%H:%M:%S")), false),
        of(format!("\"{}\"", moment.strftime("%Y-%m-%d")), false),
        of(moment.strftime("%Y%m%d").to_string(), false),
        of("\"noon\"".to_owned(), false),
        of("\"\"".to_owned(), false),
        of("0".to_owned(), false),
        of("-9223372036854775808".to_owned(), false),
        of("9223372036854775807".to_owned(), false),
        of("1180591620717411303424".to_owned(), false),
        of("1e400".to_owned(), false),
        of("NaN".to_owned(), false),
        of("true".to_owned(), false),
        of("null".to_owned(), false),
        of(format!("[{second}]"), false),
        of((second + 2 * HALF_A_DAY).to_string(), false),
        of((second - 2 * HALF_A_DAY).to_string(), false),
    ]
}

/// A JSON string of so many bytes.
fn long(bytes: usize) -> Vec<u8> {
    [&b"\""[..], &b"x".repeat(bytes), b"\""].concat()
}

fn rows(second: i64) -> Vec<Row> {
    let time = second.to_string().into_bytes();
    let by = |user: &[u8]| event(b"3", &time, user);
    let of = |key: &[u8]| event(key, &time, b"\"ann\"");
    let line = |line: &str| line.replace("TIME", &second.to_string()).into_bytes();
    let users = USERS.iter().map(|(user, key)| (by(user.as_bytes()), *key));
    let keys = ODD_KEYS.iter().map(|(odd, key)| (of(odd.as_bytes()), *key));
    let times = times(second).into_iter().map(|(odd, counts)| {
        let event = event(b"3", odd.as_bytes(), b"\"ann\"");
        (event, counts.then_some(3))
    });
    let lines = LINES.iter().map(|odd| (line(odd), None));
    let twice = TWICE.iter().map(|(odd, key)| (line(odd), *key));
    let deep = [b"[".repeat(200), b"]".repeat(200)].concat();
    let rest = [
        // A user that has its key already: the second event is not counted.
        (event(b"1", &time, b"-1"), None),
        (event(b"1", &time, b"\"-1\""), None),
        (by(b"\"\xff\""), None),
        (by(&long(1 << 16)), Some(3)),
        (by(&long((1 << 16) + 1)), None),
        (by(&long(900_000)), None),
        (by(&deep), None),
        (of(b"\"\xff\""), None),
        (of(b"\"\xed\xa0\x80\""), None),
        (of(&long(1 << 16)), None),
        (of(&long((1 << 16) + 1)), None),
        (of(&long(900_000)), None),
        (of(&deep), None),
    ];
    users.chain(keys).chain(times).chain(lines).chain(twice).chain(rest).collect()
}

/// The messages of a thousand users: each once, each with one of five keys.
fn usual(second: i64) -> Vec<Vec<Vec<u8>>> {
    let event = |number: u64| {
        let (key, user) = ((number % KEYS).to_string(), format!("-{number}"));
        event(key.as_bytes(), second.to_string().as_bytes(), user.as_bytes())
    };
    let events: Vec<_> = (1..=EVENTS).map(event).collect();
    let each = events.len() / MESSAGES;
    events.chunks(each).map(<[_]>::to_vec).collect()
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
    fn new(number: usize, place: Place, row: Option<Row>) -> Self {
        let name = format!("{place:?}-{number}").to_lowercase();
        Self { name, place, row, number }
    }

    fn all(second: i64) -> Vec<Self> {
        let rows = std::iter::once(None).chain(rows(second).into_iter().map(Some));
        let both = |(number, row): (usize, Option<Row>)| {
            [Place::Line, Place::Message].map(|place| Self::new(number, place, row.clone()))
        };
        rows.enumerate().flat_map(both).collect()
    }

    fn spec(&self, begins: i64) -> String {
        let offset = begins.rem_euclid(HALF_A_DAY);
        let keys = match self.place {
            Place::Line => "open",
            Place::Message => "0..20",
        };
        format!(
            r#"{{ "window": "12h", "slide": "12h", "lateness": "1h", "top": 20, "keys": "{keys}", "continual": true, "epsilon": 1000000,
                 "unit": {{ "user": {{ "per_user": 1, "epoch": "12h", "offset": "{offset}s" }} }} }}"#
        )
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
            let sent = context.publish(self.name.clone(), message.into()).await.unwrap();
            sent.await.unwrap();
        }
    }

    fn release(&self, folder: &Folder, begins: i64) -> Published {
        let path = folder.0.join("streams").join(&self.name);
        published(match self.place {
            Place::Line => release::<Bytes>(&path, begins),
            Place::Message => release::<u64>(&path, begins),
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

fn release<K: StoredKey>(path: &Path, begins: i64) -> Value {
    let mut store = Store::<K>::open(path).unwrap();
    let after = Timestamp::from_second(begins + HALF_A_DAY + 3_600).unwrap();
    let lists = store.tick(after.as_microsecond()).unwrap();
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
