//! Single releases: the Rust side of `frostpane.HeavyHitters`.

use frostpane::{Bytes, Event, HeavyHitters, Key, Keys, Spec};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{CallError, Result};
use crate::events::{Sink, feed};
use crate::process_guard::{ProcessGuard, UpdateError};
use crate::progress::ProgressReporter;
use crate::rows::EventRows;
use crate::spec::{self, ByKeyKind, map_keys, with_keys};
use crate::{Made, made};

type AnyHitters = ByKeyKind<HeavyHitters<Bytes>, HeavyHitters<u64>>;

#[pyclass(frozen, module = "frostpane._internal")]
pub struct Hitters {
    guard: ProcessGuard<HittersState>,
    spec: Spec,
}

struct HittersState {
    engine: AnyHitters,
    rows: u64,
    without_time: u64,
}

#[pymethods]
impl Hitters {
    /// Open keys are integers if `integers` is set.
    #[new]
    #[pyo3(signature = (spec, integers=false))]
    fn new(spec: &str, integers: bool) -> PyResult<Self> {
        let spec = spec::parse(spec)?;
        check_end(&spec)?;
        let state = HittersState {
            engine: map_keys!(spec::keys(&spec, integers)?, keys => build(&spec, keys)?),
            rows: 0,
            without_time: 0,
        };
        Ok(Self { guard: ProcessGuard::new(state), spec })
    }

    /// Ingests all rows, or none of them.
    #[pyo3(signature = (rows, told=None))]
    fn update(&self, py: Python<'_>, rows: &EventRows, told: Option<Py<PyAny>>) -> PyResult<()> {
        let total = rows.len as u64;
        let held = rows.borrow(py, &self.spec)?;
        let columns = held.columns(&self.spec)?;
        let mut pace = ProgressReporter::new(told, total);
        self.guard.change(py, |state| {
            let without_time = with_keys!(&mut state.engine, hitters => feed(columns, &mut pace, hitters))?;
            state.rows += total;
            state.without_time += without_time;
            pace.finish().map_err(UpdateError::Refused)
        })
    }

    /// Releases a window, by default the longest.
    #[pyo3(signature = (window=None))]
    fn release(&self, py: Python<'_>, window: Option<&str>) -> PyResult<Made> {
        let asked = spec::span(window)?;
        self.guard.with(py, |state| {
            let span = asked.unwrap_or(self.spec.longest());
            Ok(with_keys!(&mut state.engine, hitters => made(&self.spec, asked, &hitters.release_over(span)?)))
        })
    }

    /// Counts of events by outcome, for the operator alone.
    fn counted(&self, py: Python<'_>) -> PyResult<String> {
        self.guard.with(py, |state| {
            let counts = with_keys!(&state.engine, hitters => json!({
                "rows": state.rows,
                "without_key": hitters.tally().without_key,
                "without_time": state.without_time,
                "without_user": hitters.tally().without_user,
                "beyond_bounds": hitters.tally().beyond_bounds,
                "outside": hitters.tally().outside,
                "late": hitters.tally().late,
                "memory": hitters.bytes(),
                "panes": hitters.panes(),
            }));
            Ok(counts.to_string())
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.guard.close(py)
    }
}

/// If users are protected, the end is given before the first event: nothing is derived from the data.
fn check_end(spec: &Spec) -> Result<()> {
    if spec.continual {
        return Err(CallError::Parameter(
            "the specification is of continual release: give it to Watch, or leave continual out".to_owned(),
        ));
    }
    if spec.unit.is_user() && spec.until.is_none() {
        // Other errors of the specification come first.
        spec::with_builder!(spec, builder => builder.decided().map(drop))?;
        return Err(CallError::Parameter(
            "users are protected, so events do not say where the windows end: give until, such as \
             until=\"2025-12-01\""
                .to_owned(),
        ));
    }
    Ok(())
}

fn build<K: Key>(spec: &Spec, keys: Keys<K>) -> Result<HeavyHitters<K>> {
    let hitters = spec::builder(spec, keys).build()?;
    spec.windows.iter().try_for_each(|window| hitters.check_window(*window))?;
    Ok(hitters)
}

impl<K: Key> Sink<K> for HeavyHitters<K> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        Ok(self.extend(events)?)
    }
}
