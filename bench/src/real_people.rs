//! Accuracy of releases with users as the unit of privacy on real streams, as JSON and as a table on standard
//! error: the share of the top keys that is listed, the errors of counts, and untrue statements. Noise is
//! seeded.

use std::time::Duration;

use frostpane::testing::InsecureSeededEntropy;
use frostpane::testing::audit::{Audit, Audited};
use frostpane::{Bounds, Builder, Bytes, Edge, Event, HeavyHitters, Keys, Release, Unit, Window};
use hashbrown::HashSet;

use crate::real::{ExactKeyCounts, KeyTruth, MeasurementTable, TableCell, hidden, lines, shown};
use crate::{BenchResult, median};

/// The end of the year with most users on most days.
const STREAMS: [(&str, &str); 3] = [
    ("mathoverflow_answers", "2011-01-01T00:00:00Z"),
    ("retail_items", "2011-12-10T00:00:00Z"),
    ("commits_folder", "2014-01-01T00:00:00Z"),
];
const DAY: Duration = Duration::from_secs(86_400);
const DAYS: u32 = 365;
const PER_USER: [u32; 3] = [1, 4, 16];
const TOP: [u64; 2] = [20, 100];
/// Releases compared with the exact counts, and releases checked for untrue statements.
const COMPARED: usize = 20;
const CHECKED: usize = 1_000;

/// The events of the window: time, user and key.
struct UserStream {
    name: &'static str,
    until: Edge,
    events: Vec<(i64, Bytes, Bytes)>,
    /// For each key, the users of each day.
    truth: KeyTruth,
}

pub fn run() -> BenchResult {
    let mut table = MeasurementTable::default();
    for (name, until) in STREAMS {
        let Some(stream) = UserStream::read(name, until)? else {
            continue;
        };
        for per_user in PER_USER {
            for top in TOP {
                table.push(stream.measure(per_user, top)?);
            }
        }
    }
    table.print()
}

impl UserStream {
    fn read(name: &'static str, until: &str) -> Result<Option<Self>, Box<dyn std::error::Error>> {
        let end = until.parse()?;
        let until = Edge::Instant(end);
        let last = end.as_second();
        let first = last - i64::from(DAYS) * DAY.as_secs() as i64;
        let Some(text) = lines(&format!("people/{name}"))? else {
            return Ok(None);
        };
        let (mut events, mut visits) = (Vec::new(), HashSet::new());
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut cells = line.splitn(3, |byte| *byte == b'\t');
            let (Some(time), Some(user), Some(key)) = (cells.next(), cells.next(), cells.next()) else {
                continue;
            };
            let time: i64 = str::from_utf8(time)?.parse()?;
            if !(first..last).contains(&time) || user.is_empty() {
                continue;
            }
            let (user, key): (Bytes, Bytes) = (user.into(), key.into());
            visits.insert((time / DAY.as_secs() as i64, user.clone(), key.clone()));
            events.push((time * 1_000_000, user, key));
        }
        let mut counts = ExactKeyCounts::new();
        for (_, _, key) in visits {
            *counts.entry(key).or_default() += 1;
        }
        let truth = KeyTruth::new(counts);
        Ok(Some(Self { name, until, events, truth }))
    }

    fn builder(&self, per_user: u32, top: u64) -> Builder<Bytes> {
        HeavyHitters::builder(Keys::open())
            .unit(Unit::User(Bounds::new(per_user).epoch(DAY)))
            .top(top)
            .epsilon(1.0)
            .delta(1e-9)
            .confidence(0.95)
            .window(Window::clock(DAYS * DAY))
            .until(self.until)
            .releases(CHECKED as u32 + 1)
    }

    fn audited(&self, per_user: u32, top: u64) -> frostpane::Result<Audited<Bytes>> {
        let mut audited = Audit::of(self.builder(per_user, top), None).build()?;
        for (time, user, key) in &self.events {
            audited.push(Event::<Bytes>::by(user, *time, key))?;
        }
        Ok(audited)
    }

    fn measure(&self, per_user: u32, top: u64) -> frostpane::Result<Vec<TableCell>> {
        let mut audited = self.audited(per_user, top)?;
        let bounded = KeyTruth::new(audited.inside()?.counts.into_iter().collect());
        let release = |seed| audited.release_with_entropy(&mut InsecureSeededEntropy::new(seed));
        let releases = (0..CHECKED as u64).map(release).collect::<frostpane::Result<Vec<_>>>()?;
        let compared = &releases[..COMPARED];
        let middle = |number: &dyn Fn(&Release<Bytes>) -> f64| median(compared.iter().map(number).collect());
        let untrue = releases.iter().filter(|release| !is_true(&bounded, release));
        let (threshold, first) = (releases[0].threshold, &releases[0]);
        let (visits, counted) = (self.truth.sum(), bounded.sum());
        let error = |truth: &KeyTruth| middle(&|release| mean(truth, release, u64::abs_diff));
        Ok(vec![
            shown("stream", "stream", 20, self.name),
            shown("visits", "visits", 7, visits),
            shown("keys", "keys", 6, self.truth.keys()),
            shown("per_user", "c", 3, per_user),
            shown("top", "top", 4, top),
            shown("counted", "counted", 7, counted as f64 / visits as f64),
            shown("deviation", "dev", 6, first.deviation),
            shown("threshold", "T", 4, threshold),
            shown("could_be_listed", ">=T", 5, bounded.at_least(threshold)),
            shown("truly", "truly", 5, self.truth.at_least(threshold)),
            shown("listed", "listed", 7, middle(&|release| release.heavy.len() as f64)),
            shown("f1", "F1", 5, middle(&|release| f1(&self.truth, release, top))),
            shown("error_of_counted", "error", 7, error(&bounded)),
            shown("error_of_all", "of all", 7, error(&self.truth)),
            shown("mean_of_all", "mean", 8, middle(&|release| mean(&self.truth, release, |_, truth| truth))),
            hidden("releases", releases.len()),
            shown("untrue", "untrue", 7, untrue.count()),
        ])
    }
}

/// The F1 score of the listed keys against the top ones. A key that ties with the last is at the top.
fn f1(truth: &KeyTruth, release: &Release<Bytes>, top: u64) -> f64 {
    let last = truth.at_rank(top).unwrap_or(1);
    let right = release.heavy.iter().filter(|heavy| truth.of(&heavy.key) >= last);
    2.0 * right.count() as f64 / (release.heavy.len() as f64 + top.min(truth.keys() as u64) as f64)
}

/// The mean of a number over the listed keys, from the count of each and its true one.
fn mean(truth: &KeyTruth, release: &Release<Bytes>, number: fn(u64, u64) -> u64) -> f64 {
    let numbers = release.heavy.iter().map(|heavy| number(heavy.count, truth.of(&heavy.key)));
    numbers.sum::<u64>() as f64 / release.heavy.len().max(1) as f64
}

/// Returns true if all statements of a release are true.
fn is_true(truth: &KeyTruth, release: &Release<Bytes>) -> bool {
    let [least, most] = release.window.between.unwrap_or([release.window.events; 2]);
    truth.bears_out(release) && (least..=most).contains(&truth.sum())
}
