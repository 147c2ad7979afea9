//! One user's event moves one count of the epoch of its time, or nothing.

use std::collections::BTreeMap;

use frostpane::stream::SecretBytes;
use frostpane::{Batch, Bytes, Event, Keys, Release, Span, Spec, Stream};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
/// The most that an event may be ahead of the clock, and the most that it may be late.
const TOLERANCE: i64 = 5 * SECOND;
const LATENESS: i64 = 10 * SECOND;
/// At noon.
const BEGIN: i64 = 8 * DAY + 12 * HOUR;
const MIDNIGHT: i64 = 10 * DAY;

/// A release of a day, continual release every day, and every six hours with epochs of a day. With the length
/// of a pane, and the number of windows that it is in.
const SPECS: [(&str, i64, i64); 3] = [
    (r#""releases": 1"#, DAY, 1),
    (r#""continual": true, "slide": "1d""#, DAY, 1),
    (r#""continual": true, "slide": "6h""#, 6 * HOUR, 4),
];

/// An event and the time of its arrival.
#[derive(Clone, Copy)]
struct Sent {
    clock: i64,
    time: i64,
    user: &'static str,
    key: &'static str,
}

fn x(clock: i64, time: i64) -> Sent {
    Sent { clock, time, user: "challenge", key: "x" }
}

/// Counts by the number of the window and the key, without noise.
type CountsByWindow = BTreeMap<(i64, String), u64>;

fn see(counts: &mut CountsByWindow, pane: i64, release: &Release<Bytes>) {
    for heavy in &release.heavy {
        counts.insert((pane, String::from_utf8(heavy.key.to_vec()).unwrap()), heavy.count);
    }
}

/// Other users come six times a day; the clock ticks at the end of every pane.
fn released((asked, pane, _): (&str, i64, i64), sent: &[Sent]) -> CountsByWindow {
    let spec: Spec = serde_json::from_str(&format!(
        r#"{{"window": "1d", "top": 3, "epsilon": 1000000, "lateness": "10s", {asked},
            "unit": {{"user": {{"per_user": 1, "epoch": "1d"}}}}}}"#
    ))
    .unwrap();
    let keys = ["base", "x", "y"].map(|key| Bytes::from(key.as_bytes()));
    let mut stream = Stream::<Bytes>::new(spec, Keys::list(keys).unwrap(), BEGIN).unwrap();
    let others = (BEGIN / HOUR..12 * 24).step_by(4).flat_map(|hour| {
        let time = hour * HOUR + HOUR;
        ["a", "b", "c"].map(|user| Sent { clock: time, time, user, key: "base" })
    });
    let mut sent: Vec<Sent> = sent.iter().copied().chain(others).collect();
    sent.sort_by_key(|sent| sent.clock);
    let mut counts = CountsByWindow::new();
    let mut ended = BEGIN / pane;
    let mut tick = |stream: &mut Stream<Bytes>, to: i64| {
        while ended < (to - LATENESS).div_euclid(pane) {
            let number = ended;
            let taken = stream.advance((number + 1) * pane + LATENESS).unwrap();
            taken.releases.iter().for_each(|release| see(&mut counts, number, release));
            if !asked.contains("continual") {
                let paid = stream.pay(Span::Clock(std::time::Duration::from_secs(86_400)));
                let secret = SecretBytes::new([7; 32]);
                see(&mut counts, number, &stream.release(paid.unwrap().unwrap(), &secret).unwrap());
            }
            ended += 1;
        }
        stream.advance(to).unwrap();
    };
    for Sent { clock, time, user, key } in sent {
        tick(&mut stream, clock);
        let mut batch = Batch::new();
        batch.push(Event::by(user.as_bytes(), time, key.as_bytes()));
        stream.ingest(&batch, clock + TOLERANCE).unwrap();
    }
    tick(&mut stream, 12 * DAY + LATENESS);
    counts
}

#[test]
fn an_event_moves_one_count_of_the_epoch_of_its_own_time_or_nothing() {
    let noon = MIDNIGHT - 12 * HOUR;
    // Name, events sent, and the time of the only event that counts.
    let rows: [(&str, &[Sent], Option<i64>); 13] = [
        ("ahead over midnight", &[x(MIDNIGHT - 3 * SECOND, MIDNIGHT + SECOND)], Some(MIDNIGHT + SECOND)),
        (
            "ahead over midnight, and again when it has come",
            &[x(MIDNIGHT - 3 * SECOND, MIDNIGHT + SECOND), x(MIDNIGHT + SECOND, MIDNIGHT + SECOND)],
            Some(MIDNIGHT + SECOND),
        ),
        ("ahead of the first moment of the day", &[x(MIDNIGHT - 1, MIDNIGHT)], Some(MIDNIGHT)),
        (
            "ahead up to the last moment of the day",
            &[x(MIDNIGHT - 3 * SECOND, MIDNIGHT - 1)],
            Some(MIDNIGHT - 1),
        ),
        (
            "as far ahead as it may be, over midnight",
            &[x(MIDNIGHT - SECOND, MIDNIGHT + 4 * SECOND)],
            Some(MIDNIGHT + 4 * SECOND),
        ),
        (
            "further ahead by a microsecond, over midnight",
            &[x(MIDNIGHT - SECOND, MIDNIGHT + 4 * SECOND + 1)],
            None,
        ),
        ("as far ahead as it may be, within a day", &[x(noon, noon + TOLERANCE)], Some(noon + TOLERANCE)),
        ("further ahead by a microsecond, within a day", &[x(noon, noon + TOLERANCE + 1)], None),
        ("of the year 2100", &[x(noon, 4_102_444_800 * SECOND)], None),
        ("late by less than the lateness", &[x(MIDNIGHT + 9 * SECOND, MIDNIGHT - 1)], Some(MIDNIGHT - 1)),
        ("later than the lateness", &[x(MIDNIGHT + LATENESS, MIDNIGHT - 1)], None),
        ("before the stream", &[x(BEGIN + HOUR, 8 * DAY - 1)], None),
        ("of 1970", &[x(noon, 0)], None),
    ];
    for spec in SPECS {
        let alone = released(spec, &[]);
        let last = alone.keys().map(|(number, _)| *number).max().unwrap();
        assert!(alone.len() >= 3, "{alone:?}");
        for (name, sent, counts) in rows {
            let mut expected = alone.clone();
            if let Some(time) = counts {
                let first = time.div_euclid(spec.1);
                let windows = first..=last.min(first + spec.2 - 1);
                expected.extend(windows.map(|number| ((number, "x".to_owned()), 1)));
            }
            assert_eq!(released(spec, sent), expected, "{name}: {}", spec.0);
        }
    }
}

/// Bounds include events that were sent before their epoch began.
#[test]
fn bounds_hold_across_what_waited_for_its_epoch() {
    let y = |clock, time| Sent { key: "y", ..x(clock, time) };
    for spec in SPECS {
        let alone = released(spec, &[]);
        let sent = [
            x(MIDNIGHT - 3 * SECOND, MIDNIGHT + SECOND),
            y(MIDNIGHT - 2 * SECOND, MIDNIGHT + SECOND),
            y(MIDNIGHT + SECOND, MIDNIGHT + SECOND),
            x(MIDNIGHT + 9 * HOUR, MIDNIGHT + 9 * HOUR),
        ];
        let counts = released(spec, &sent);
        let moved: Vec<_> = counts.iter().filter(|count| alone.get(count.0) != Some(count.1)).collect();
        let first = MIDNIGHT / spec.1;
        let expected: Vec<_> = (first..first + spec.2).map(|number| (number, 1)).collect();
        let windows: Vec<_> = moved.iter().map(|((number, _), count)| (*number, **count)).collect();
        assert_eq!(windows, expected, "{moved:?}");
    }
}
