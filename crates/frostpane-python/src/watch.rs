//! Continual releases: the Rust side of `frostpane.Watch`.

use frostpane::{Bytes, Continual, Edge, Event, History, Key, Keys, Release, Spec};
use jiff::Timestamp;
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{CallError, Result};
use crate::events::{ColumnKey, Sink, feed};
use crate::process_guard::{ProcessGuard, UpdateError};
use crate::progress::ProgressReporter;
use crate::rows::EventRows;
use crate::spec::{self, ByKeyKind, map_keys, with_keys};
use crate::{Made, made};

enum ContinualEngine<K: Key> {
    Live(Box<Continual<K>>),
    Past(Option<Box<History<K>>>),
}

type AnyEngine = ByKeyKind<ContinualEngine<Bytes>, ContinualEngine<u64>>;

#[pyclass(frozen, module = "frostpane._internal")]
pub struct ContinualHandle {
    guard: ProcessGuard<ContinualState>,
    spec: Spec,
}

struct ContinualState {
    engine: AnyEngine,
    rows: u64,
    without_time: u64,
    /// Releases that an interrupt has withheld.
    kept: Vec<Made>,
}

#[pymethods]
impl ContinualHandle {
    /// Starts now or, if users are protected, covers a past period between two moments in microseconds since
    /// 1970. Open keys are integers if `integers` is set.
    #[new]
    #[pyo3(signature = (spec, period=None, integers=false))]
    fn new(spec: &str, period: Option<(i64, i64)>, integers: bool) -> PyResult<Self> {
        let mut spec = spec::parse(spec)?;
        spec.continual = true;
        let state = ContinualState {
            engine: map_keys!(spec::keys(&spec, integers)?, keys => build(&spec, keys, period)?),
            rows: 0,
            without_time: 0,
            kept: Vec::new(),
        };
        Ok(Self { guard: ProcessGuard::new(state), spec })
    }

    /// Ingests all rows, or none of them, and returns the releases that fell due.
    #[pyo3(signature = (rows, told=None))]
    fn update(&self, py: Python<'_>, rows: &EventRows, told: Option<Py<PyAny>>) -> PyResult<Vec<Made>> {
        let total = rows.len as u64;
        let held = rows.borrow(py, &self.spec)?;
        let columns = held.columns(&self.spec)?;
        let mut pace = ProgressReporter::new(told, total);
        self.guard.change(py, |state| {
            let mut due = Vec::new();
            let without_time = with_keys!(&mut state.engine, lists => {
                feed(columns, &mut pace, &mut ContinualSink { lists, spec: &self.spec, due: &mut due })
            })?;
            state.rows += total;
            state.without_time += without_time;
            state.kept.extend(all(due)?);
            pace.finish().map_err(UpdateError::Refused)?;
            Ok(std::mem::take(&mut state.kept))
        })
    }

    /// Advances time to a moment in microseconds since 1970, and returns the releases that fell due.
    fn advance(&self, py: Python<'_>, time: i64) -> PyResult<Vec<Made>> {
        self.guard.change(py, |state| {
            let mut due = Vec::new();
            with_keys!(&mut state.engine, lists => match lists {
                ContinualEngine::Live(continual) => continual
                    .advance(time, |continual| due.push(shown(&self.spec, continual.release())))
                    .map_err(broken)?,
                ContinualEngine::Past(_) => return Err(UpdateError::Refused(CallError::Parameter(
                    "the end of these lists was given before the first event: finish shows them".to_owned(),
                ))),
            });
            state.kept.extend(all(due)?);
            Ok(std::mem::take(&mut state.kept))
        })
    }

    /// Ends a past period, and returns its releases.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Made>> {
        self.guard.change(py, |state| {
            let mut due = Vec::new();
            with_keys!(&mut state.engine, lists => match lists {
                ContinualEngine::Past(history) => match history.take() {
                    Some(history) => {
                        let see = |continual: &Continual<_>| due.push(shown(&self.spec, continual.release()));
                        history.finish(see).map_err(broken)?;
                    }
                    None => return Err(UpdateError::Refused(over())),
                },
                ContinualEngine::Live(_) => return Err(UpdateError::Refused(CallError::Parameter(
                    "these lists have no end: advance tells them how late it is".to_owned(),
                ))),
            });
            all(due)
        })
    }

    fn latest(&self, py: Python<'_>) -> PyResult<Made> {
        self.guard.with(py, |state| {
            with_keys!(&state.engine, lists => match lists {
                ContinualEngine::Live(continual) => Ok(made(&self.spec, None, &continual.release()?)),
                ContinualEngine::Past(_) => Err(CallError::Parameter(
                    "finish shows the lists of a time that is over".to_owned(),
                )),
            })
        })
    }

    /// Counts of events by outcome, for the operator alone.
    fn counted(&self, py: Python<'_>) -> PyResult<String> {
        self.guard.with(py, |state| {
            let mut counts = with_keys!(&state.engine, lists => match lists {
                ContinualEngine::Live(continual) => json!({
                    "without_key": continual.tally().without_key,
                    "without_user": continual.tally().without_user,
                    "beyond_bounds": continual.tally().beyond_bounds,
                    "late": continual.tally().late,
                    "ahead": continual.tally().ahead,
                    "memory": continual.bytes(),
                }),
                ContinualEngine::Past(Some(history)) => json!({
                    "without_key": history.tally().without_key,
                    "without_user": history.tally().without_user,
                    "outside": history.tally().outside,
                }),
                ContinualEngine::Past(None) => json!({}),
            });
            (counts["rows"], counts["without_time"]) = (state.rows.into(), state.without_time.into());
            Ok(counts.to_string())
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.guard.close(py)
    }
}

fn broken(cause: frostpane::Error) -> UpdateError {
    UpdateError::Broken(cause.into())
}

fn over() -> CallError {
    CallError::Parameter(
        "the lists of this time have been shown, and its people are bounded with it: build another one"
            .to_owned(),
    )
}

fn build<K: Key>(spec: &Spec, keys: Keys<K>, period: Option<(i64, i64)>) -> Result<ContinualEngine<K>> {
    let builder = spec::builder(spec, keys);
    let edge = |micros| match Timestamp::from_microsecond(micros) {
        Ok(moment) => Ok(Edge::Instant(moment)),
        Err(_) => Err(CallError::Parameter(format!("{micros} lies outside the calendar"))),
    };
    Ok(match period {
        Some((from, until)) => {
            ContinualEngine::Past(Some(Box::new(builder.history(edge(from)?, edge(until)?)?)))
        }
        None => ContinualEngine::Live(Box::new(builder.continual()?)),
    })
}

fn shown<K: Key>(spec: &Spec, release: frostpane::Result<Release<K>>) -> Result<Made> {
    Ok(made(spec, None, &release?))
}

/// All releases that fell due. Without one of them the update is broken.
fn all(due: Vec<Result<Made>>) -> std::result::Result<Vec<Made>, UpdateError> {
    due.into_iter().collect::<Result<_>>().map_err(UpdateError::Broken)
}

struct ContinualSink<'a, K: Key> {
    lists: &'a mut ContinualEngine<K>,
    spec: &'a Spec,
    due: &'a mut Vec<Result<Made>>,
}

impl<K: ColumnKey> Sink<K> for ContinualSink<'_, K> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        match self.lists {
            ContinualEngine::Live(continual) => {
                continual.extend(events, |continual| self.due.push(shown(self.spec, continual.release())))?;
            }
            ContinualEngine::Past(Some(history)) => history.extend(events)?,
            ContinualEngine::Past(None) => return Err(over()),
        }
        Ok(())
    }
}
