//! Accuracy of releases on real streams, as JSON and as a table on standard error: stated bounds beside true
//! errors. Noise is seeded, so two versions can be compared.

use std::ops::Range;

use frostpane::testing::InsecureSeededEntropy;
use frostpane::testing::audit::Audit;
use frostpane::{Builder, Bytes, Edge, HeavyHitters, Keys, Norm, Policy, Release, Window};

use crate::BenchResult;
use crate::real::{
    ExactKeyCounts, KeyTruth, MeasurementTable, RealStream, TableCell, hidden, shown, streams,
};

const RELEASES: u64 = 400;
const WINDOW: usize = 300_000;
/// Streams of at least this many events are also measured as one window.
const LARGE: usize = 3_000_000;
/// Events before the window. Not a whole number of panes, so that the window begins within one.
const BEFORE: usize = 7_777;
const LITTLE_MEMORY: u64 = 9_000_000;

#[derive(Clone, Copy)]
pub struct ReleaseSetting {
    pub name: &'static str,
    pub change: fn(Builder<Bytes>) -> Builder<Bytes>,
}

pub const SETTINGS: [ReleaseSetting; 4] = [
    ReleaseSetting { name: "L2 0.05", change: |builder| builder.norm(Norm::L2).alpha(0.05) },
    ReleaseSetting { name: "L1 0.01", change: |builder| builder.norm(Norm::L1).alpha(0.01) },
    ReleaseSetting { name: "top 20", change: |builder| builder.top(20) },
    ReleaseSetting { name: "all", change: |builder| builder.all() },
];

/// A window at the end of a stream with the parameters of its release.
struct SharpnessCase<'a> {
    stream: &'a RealStream,
    setting: ReleaseSetting,
    window: usize,
    before: usize,
    memory: Option<u64>,
    known_end: bool,
}

pub fn run() -> BenchResult {
    let mut table = MeasurementTable::default();
    for stream in streams() {
        for case in cases(&stream?) {
            table.push(case.measure()?);
        }
    }
    table.print()
}

fn cases(stream: &RealStream) -> Vec<SharpnessCase<'_>> {
    let case = |setting, window: usize, memory, known_end| SharpnessCase {
        stream,
        setting,
        window,
        before: BEFORE.min(stream.len() - window),
        memory,
        known_end,
    };
    let mut cases: Vec<_> =
        SETTINGS.map(|setting| case(setting, WINDOW.min(stream.len() - BEFORE), None, false)).into();
    if stream.len() >= LARGE {
        cases.extend(SETTINGS.map(|setting| case(setting, stream.len(), None, false)));
        cases.extend(SETTINGS.map(|setting| case(setting, stream.len(), None, true)));
        cases.extend(SETTINGS.map(|setting| case(setting, stream.len(), Some(LITTLE_MEMORY), false)));
    }
    cases
}

impl SharpnessCase<'_> {
    fn builder(&self) -> Builder<Bytes> {
        let builder = (self.setting.change)(HeavyHitters::builder(Keys::open()))
            .epsilon(1.0)
            .delta(1e-9)
            .confidence(0.95)
            .releases(RELEASES as u32 + 1)
            .window(Window::events(self.window as u64));
        let builder = match self.memory {
            Some(memory) => builder.memory(memory),
            None => builder,
        };
        if self.known_end {
            builder.until(Edge::Event((self.before + self.window) as u64))
        } else {
            builder.policy(Policy::Uniform)
        }
    }

    /// The index of the first event fed.
    fn first(&self) -> usize {
        self.stream.len() - self.window - self.before
    }

    fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.stream.keys(self.first()..self.stream.len())
    }

    fn releases(&self) -> frostpane::Result<Vec<Release<Bytes>>> {
        let mut hitters = self.builder().build()?;
        hitters.update_batch(self.keys())?;
        let release = |seed| {
            let mut entropy = InsecureSeededEntropy::new(seed);
            hitters.release_with_entropy(self.window as u64, &mut entropy)
        };
        (0..RELEASES).map(release).collect()
    }

    /// Counts before noise: the exact ones if there is no cut.
    fn before_noise(&self) -> frostpane::Result<ExactKeyCounts> {
        let mut audited = Audit::of(self.builder(), None).build()?;
        audited.update_all(self.keys().map(Some))?;
        Ok(audited.inside()?.counts.into_iter().collect())
    }

    fn measure(&self) -> frostpane::Result<Vec<TableCell>> {
        let releases = self.releases()?;
        let covered = self.stream.truth(places(&releases[0], self.first()));
        let judge = match releases[0].cut {
            0 => ReleaseJudge::of_exact_counts(covered),
            _ => {
                let before_noise = self.before_noise()?;
                ReleaseJudge {
                    covered,
                    offset: offset(&releases, &before_noise),
                    before_noise: Some(before_noise),
                }
            }
        };
        Ok(self.sum_up(&releases, &judge))
    }

    fn sum_up(&self, releases: &[Release<Bytes>], judge: &ReleaseJudge) -> Vec<TableCell> {
        let findings: Vec<_> = releases.iter().map(|release| judge.findings(release)).collect();
        let threshold: u64 = releases.iter().map(|release| release.threshold).sum();
        let sum = |number: fn(&ReleaseFindings) -> f64| findings.iter().map(number).sum::<f64>();
        let listed = sum(|found| found.listed);
        let each = |number: fn(&ReleaseFindings) -> f64| (listed > 0.0).then(|| sum(number) / listed);
        let widest = findings.iter().map(|found| found.widest).fold(0.0, f64::max);
        let largest_error = quantile(findings.iter().map(|found| found.largest_error).collect());
        let largest_part = quantile(findings.iter().map(|found| found.largest_part).collect());
        let runs = findings.len() as f64;
        vec![
            shown("stream", "stream", 20, self.stream.name),
            shown("setting", "setting", 7, self.setting.name),
            shown("window", "window", 7, self.window),
            shown("memory", "memory", 8, self.memory.unwrap_or(64_000_000)),
            shown("known_end", "end", 5, self.known_end),
            hidden("releases", releases.len()),
            shown("cut", "cut", 6, releases[0].cut),
            shown("threshold", "T", 7, threshold as f64 / runs),
            shown("listed", "listed", 7, listed / runs),
            shown("above_threshold", ">=T", 7, sum(|found| found.above_threshold) / runs),
            shown("of_these_listed", "of them", 7, sum(|found| found.above_and_listed) / runs),
            hidden("count_is_noisy_count_plus", judge.offset),
            shown("half_width_largest", "widest", 7, widest),
            shown("half_width_mean", "width", 7, each(|found| found.widths)),
            shown("largest_error_95", "err95", 6, largest_error),
            shown("ratio", "ratio", 6, (largest_error > 0.0).then(|| widest / largest_error)),
            shown("ratio_by_key", "by key", 6, (largest_part > 0.0).then(|| 1.0 / largest_part)),
            shown("mean_error", "error", 7, each(|found| found.errors)),
            shown("bias", "bias", 8, each(|found| found.bias)),
            shown("lost_to_the_cut", "lost", 7, each(|found| found.lost)),
            shown("untrue", "untrue", 7, sum(|found| f64::from(found.untrue)) / runs),
        ]
    }
}

/// The events that a release covers if the first one fed is `first`.
pub fn places(release: &Release<Bytes>, first: usize) -> Range<usize> {
    let place = |edge| match edge {
        Some(Edge::Event(event)) => first + event as usize,
        _ => first,
    };
    place(release.window.from)..place(release.window.to)
}

/// The difference of a count from its noisy count: the cut, half of it, or 0, by the median.
fn offset(releases: &[Release<Bytes>], before_noise: &ExactKeyCounts) -> i64 {
    let cut = releases[0].cut as i64;
    let listed = releases.iter().flat_map(|release| &release.heavy);
    let mut above: Vec<i64> = listed
        .map(|heavy| heavy.count as i64 - before_noise.get(&heavy.key).map_or(0, |count| *count as i64))
        .collect();
    above.sort_unstable();
    let median = above.get(above.len() / 2).copied().unwrap_or(0);
    let candidates = [0, cut / 2, cut];
    candidates.into_iter().min_by_key(|offset| (offset - median).abs()).unwrap_or(0)
}

/// The 95 % quantile.
fn quantile(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() * 95 / 100]
}

/// The exact values that releases are compared with.
pub struct ReleaseJudge {
    covered: KeyTruth,
    /// Counts before noise, if there is a cut.
    before_noise: Option<ExactKeyCounts>,
    /// The difference of a count from its noisy count.
    offset: i64,
}

/// Errors of a release; sums over its keys.
#[derive(Default)]
pub struct ReleaseFindings {
    pub listed: f64,
    pub above_threshold: f64,
    pub above_and_listed: f64,
    pub widest: f64,
    pub widths: f64,
    pub largest_error: f64,
    /// The largest ratio of a key's noise to its half-width.
    pub largest_part: f64,
    pub errors: f64,
    pub bias: f64,
    /// Events lost to the cut.
    pub lost: f64,
    pub untrue: bool,
}

impl ReleaseJudge {
    /// For windows without a cut.
    pub fn of_exact_counts(covered: KeyTruth) -> Self {
        Self { covered, before_noise: None, offset: 0 }
    }

    pub fn findings(&self, release: &Release<Bytes>) -> ReleaseFindings {
        let mut found = ReleaseFindings {
            listed: release.heavy.len() as f64,
            above_threshold: self.covered.at_least(release.threshold) as f64,
            untrue: !self.covered.bears_out(release),
            ..ReleaseFindings::default()
        };
        for heavy in &release.heavy {
            let truth = self.covered.of(&heavy.key);
            let count = heavy.count as f64;
            let width = (heavy.high - heavy.low) as f64 / 2.0 - release.cut as f64 / 2.0;
            let before_noise = self.before_noise(&heavy.key);
            let noise = (heavy.count as i64 - self.offset - before_noise) as f64;
            found.above_and_listed += f64::from(truth >= release.threshold);
            found.widest = found.widest.max(width);
            found.widths += width;
            found.largest_error = found.largest_error.max(noise.abs());
            found.largest_part = found.largest_part.max(noise.abs() / width);
            found.errors += (count - truth as f64).abs();
            found.bias += count - truth as f64;
            found.lost += (truth as i64 - before_noise) as f64;
        }
        found
    }

    fn before_noise(&self, key: &[u8]) -> i64 {
        match &self.before_noise {
            Some(counts) => counts.get(key).map_or(0, |count| *count as i64),
            None => self.covered.of(key) as i64,
        }
    }
}
