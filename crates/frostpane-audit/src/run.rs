//! Runs checks, on all processors, and says what was found.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use frostpane::testing::audit::Mutant;
use serde::{Serialize, Serializer};

use crate::all;
use crate::check::{Check, Method, Result, Trial};
use crate::tally::{NeighbourSide, OutcomeTally};

/// Runs of a cheap check on each stream, in a short and in a full audit.
const SHORT: f64 = 6_000.0;
const FULL: f64 = 60_000.0;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No evidence against the claim.
    Stood,
    /// The claim does not hold.
    Violated,
}

/// Findings of checks.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The check.
    pub check: &'static str,
    /// The streams and the property that it tests.
    pub tests: &'static str,
    /// The claim is of the published algorithms.
    pub published: bool,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
    /// A lower bound on epsilon; null in JSON if no epsilon suffices.
    #[serde(serialize_with = "finite")]
    pub at_least: f64,
    /// The bound is calculated, not sampled.
    pub exact: bool,
    /// Runs on each stream.
    pub runs: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The worst pair of neighbours, if all were enumerated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<String>,
    /// All runs, for plots.
    #[serde(skip)]
    pub tally: OutcomeTally,
}

/// Rounding of a calculated bound.
const ROUNDING: f64 = 1e-9;

impl Finding {
    /// The finding of a check with this lower bound.
    pub fn new(check: &Check, at_least: f64) -> Self {
        let epsilon = check.share * check.setting.epsilon;
        Self {
            check: check.name,
            tests: check.about,
            published: check.is_published,
            epsilon,
            delta: check.setting.delta,
            at_least,
            exact: !check.is_sampled(),
            runs: 0,
            verdict: if at_least > epsilon * (1.0 + ROUNDING) { Verdict::Violated } else { Verdict::Stood },
            streams: None,
            tally: OutcomeTally::default(),
        }
    }
}

fn finite<S: Serializer>(value: &f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(serializer)
}

/// Options of an audit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Audit {
    /// The probability that no check of a sound mechanism alarms.
    pub confidence: f64,
    /// The defect of the mechanism, if it has one.
    pub mutant: Option<Mutant>,
    /// Runs of a cheap check on each stream.
    pub runs: f64,
    /// The number of sampled checks in all, which share the confidence: the result of a check does not depend
    /// on which others run.
    pub sampled: usize,
}

impl Audit {
    /// A short or a full audit.
    pub fn new(short: bool, mutant: Option<Mutant>) -> Self {
        let sampled = all().iter().filter(|check| check.is_sampled()).count();
        Self { confidence: 0.99, mutant, runs: if short { SHORT } else { FULL }, sampled }
    }

    /// Runs a check, and reports progress between 0 and 1.
    pub fn run(&self, check: &Check, progress: &(impl Fn(f64) + Sync)) -> Result<Finding> {
        match check.method {
            Method::Exact(calculate) => {
                let loss = calculate(&check.setting, self.mutant)?;
                Ok(Finding { streams: Some(loss.streams), ..Finding::new(check, loss.epsilon) })
            }
            Method::Sampled(prepare) => {
                let trial = prepare(&check.setting, self.mutant)?;
                let half = ((self.runs * check.effort / 2.0) as u64).max(1);
                let failure = (1.0 - self.confidence) / self.sampled.max(1) as f64;
                let delta = check.setting.delta;
                // The event is chosen on one half of the runs and counted on the other.
                let mut first = tally(&trial, half, &|done| progress(done / 2.0))?;
                let event = first.choose(delta, failure);
                let second = tally(&trial, half, &|done| progress(0.5 + done / 2.0))?;
                let at_least = second.bound(&event, delta, failure);
                first.merge(second);
                Ok(Finding { runs: first.runs(), tally: first, ..Finding::new(check, at_least) })
            }
        }
    }
}

/// Runs a trial so many times on each stream.
pub fn tally(trial: &Trial, runs: u64, progress: &(impl Fn(f64) + Sync)) -> Result<OutcomeTally> {
    let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
    let done = AtomicU64::new(0);
    let work = &|worker: u64| -> Result<OutcomeTally> {
        let mut tally = OutcomeTally::default();
        for _ in (worker..runs).step_by(workers as usize) {
            for side in NeighbourSide::BOTH {
                tally.add(side, trial(side)?);
            }
            progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / runs as f64);
        }
        Ok(tally)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let mut all = OutcomeTally::default();
        for thread in threads {
            all.merge(thread.join().map_err(|_| "a run of the mechanism panicked")??);
        }
        Ok(all)
    })
}
