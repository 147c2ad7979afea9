//! Accuracy of continual releases on real streams, as JSON and as a table on standard error: stated bounds
//! beside the largest error of a run. Their noise cannot be seeded, so runs are repeated.

use frostpane::{Bytes, Continual, Event, HeavyHitters, Keys, Release, Window};

use crate::BenchResult;
use crate::real::{MeasurementTable, RealStream, TableCell, hidden, shown, streams};
use crate::sharp::{ReleaseFindings, ReleaseJudge, ReleaseSetting, SETTINGS, places};

const WINDOW: u64 = 100_000;
const SLIDES: u64 = 32;
const RUNS: usize = 3;
/// The most releases of full windows in a run.
const LISTS: u64 = 150;

pub fn run() -> BenchResult {
    let mut table = MeasurementTable::default();
    for stream in streams() {
        let stream = stream?;
        for setting in SETTINGS {
            table.push(measure(&stream, setting)?);
        }
    }
    table.print()
}

fn measure(stream: &RealStream, setting: ReleaseSetting) -> frostpane::Result<Vec<TableCell>> {
    let mut releases = Vec::new();
    let mut findings = Vec::new();
    let mut largest_errors = Vec::new();
    for _ in 0..RUNS {
        let (lists, found): (Vec<_>, Vec<_>) = run_once(stream, setting)?.into_iter().unzip();
        largest_errors.push(found.iter().map(|found| found.largest_error).fold(0.0, f64::max));
        releases.extend(lists);
        findings.extend(found);
    }
    let runs = releases.len() as f64;
    let sum = |number: fn(&ReleaseFindings) -> f64| findings.iter().map(number).sum::<f64>();
    let listed = sum(|found| found.listed);
    let widest = findings.iter().map(|found| found.widest).fold(0.0, f64::max);
    let error_of_run = largest_errors.iter().sum::<f64>() / RUNS as f64;
    let threshold: u64 = releases.iter().map(|release| release.threshold).sum();
    Ok(vec![
        shown("stream", "stream", 20, stream.name),
        shown("setting", "setting", 7, setting.name),
        hidden("window", WINDOW),
        hidden("slides", SLIDES),
        shown("lists", "lists", 5, releases.len() / RUNS),
        shown("threshold", "T", 7, threshold as f64 / runs),
        shown("listed", "listed", 7, listed / runs),
        shown("half_width_largest", "widest", 7, widest),
        shown("largest_error_of_run", "error of run", 12, error_of_run),
        shown("ratio", "ratio", 6, (error_of_run > 0.0).then(|| widest / error_of_run)),
        shown("mean_error", "error", 6, (listed > 0.0).then(|| sum(|found| found.errors) / listed)),
        shown("untrue", "untrue", 6, sum(|found| f64::from(found.untrue)) / runs),
    ])
}

/// The releases of full windows at the end of a stream, with their accuracy.
fn run_once(
    stream: &RealStream,
    setting: ReleaseSetting,
) -> frostpane::Result<Vec<(Release<Bytes>, ReleaseFindings)>> {
    let slide = WINDOW / SLIDES;
    let window = Window::events(WINDOW).slide(slide);
    let mut continual = (setting.change)(HeavyHitters::builder(Keys::open())).window(window).continual()?;
    let slides = (stream.len() as u64 / slide).min(SLIDES + LISTS);
    let first = stream.len() - (slides * slide) as usize;
    let mut lists = Vec::new();
    let events = stream.keys(first..stream.len()).map(Event::of);
    continual.extend(events, |continual: &Continual<Bytes>| lists.push(continual.release()))?;
    let full = lists.into_iter().skip(SLIDES as usize - 1);
    full.map(|list| {
        let list = list?;
        let found = ReleaseJudge::of_exact_counts(stream.truth(places(&list, first))).findings(&list);
        Ok((list, found))
    })
    .collect()
}
