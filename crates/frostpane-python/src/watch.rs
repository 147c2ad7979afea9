//! A list at every slide.

use frostpane::{Bytes, Continual, Edge, Event, History, Key, Keys, Release, Spec};
use jiff::Timestamp;
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{Failure, Result};
use crate::events::{ColumnKey, Sink, feed};
use crate::made::{Made, made};
use crate::own::{Change, Own};
use crate::pace::Pace;
use crate::rows::Rows;
use crate::spec::{self, AnyKeys};

/// What goes on, or a time of people that is over.
enum Lists<K: Key> {
    Live(Box<Continual<K>>),
    Past(Option<Box<History<K>>>),
}

enum Engine {
    Bytes(Lists<Bytes>),
    Integers(Lists<u64>),
}

macro_rules! with_engine {
    ($engine:expr, $lists:ident => $value:expr) => {
        match $engine {
            Engine::Bytes($lists) => $value,
            Engine::Integers($lists) => $value,
        }
    };
}

/// What stands behind `frostpane.Watch`.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Watching {
    own: Own<State>,
    spec: Spec,
}

struct State {
    engine: Engine,
    rows: u64,
    without_time: u64,
    /// Lists that an interrupt has kept from being handed over.
    kept: Vec<Made>,
}

#[pymethods]
impl Watching {
    /// Of people between two moments, in microseconds since 1970, if these are given; else from now on. With open keys that are integers, if
    /// that is said.
    #[new]
    #[pyo3(signature = (spec, period=None, integers=false))]
    fn new(spec: &str, period: Option<(i64, i64)>, integers: bool) -> PyResult<Self> {
        let mut spec = spec::parse(spec)?;
        spec.continual = true;
        let engine = match spec::keys(&spec, integers)? {
            AnyKeys::Bytes(keys) => Engine::Bytes(build(&spec, keys, period)?),
            AnyKeys::Integers(keys) => Engine::Integers(build(&spec, keys, period)?),
        };
        let state = State {
            engine,
            rows: 0,
            without_time: 0,
            kept: Vec::new(),
        };
        Ok(Self {
            own: Own::new(state),
            spec,
        })
    }

    /// Takes all rows, or none of them; returns the lists that were due meanwhile.
    #[pyo3(signature = (rows, told=None))]
    fn update(&self, py: Python<'_>, rows: &Rows, told: Option<Py<PyAny>>) -> PyResult<Vec<Made>> {
        rows.check(&self.spec)?;
        let total = rows.len as u64;
        let held = rows.borrow(py)?;
        let columns = held.columns(&self.spec)?;
        let mut pace = Pace::new(told, total);
        self.own.change(py, |state| {
            let mut due = Due::new(&self.spec);
            let without_time = with_engine!(&mut state.engine, lists => {
                feed(columns, &mut pace, &mut Into { lists, due: &mut due })
            })?;
            state.rows += total;
            state.without_time += without_time;
            state.kept.extend(due.lists()?);
            pace.finish().map_err(Change::Refused)?;
            Ok(std::mem::take(&mut state.kept))
        })
    }

    /// Time has come to this moment, in microseconds since 1970; returns the lists that are due.
    fn advance(&self, py: Python<'_>, time: i64) -> PyResult<Vec<Made>> {
        self.own.change(py, |state| {
            let mut due = Due::new(&self.spec);
            with_engine!(&mut state.engine, lists => match lists {
                Lists::Live(continual) => continual.advance(time, |continual| due.see(continual.release())).map_err(broken)?,
                Lists::Past(_) => return Err(Change::Refused(Failure::Parameter(
                    "the end of these lists was given before the first event: finish shows them".to_owned(),
                ))),
            });
            state.kept.extend(due.lists()?);
            Ok(std::mem::take(&mut state.kept))
        })
    }

    /// All events of a time that is over have come: returns its lists.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Made>> {
        self.own.change(py, |state| {
            let mut due = Due::new(&self.spec);
            with_engine!(&mut state.engine, lists => match lists {
                Lists::Past(history) => match history.take() {
                    Some(history) => {
                        history.finish(|continual| due.see(continual.release())).map_err(broken)?;
                    }
                    None => return Err(Change::Refused(over())),
                },
                Lists::Live(_) => return Err(Change::Refused(Failure::Parameter(
                    "these lists have no end: advance tells them how late it is".to_owned(),
                ))),
            });
            due.lists()
        })
    }

    /// The latest list again.
    fn latest(&self, py: Python<'_>) -> PyResult<Made> {
        self.own.with(py, |state| {
            with_engine!(&state.engine, lists => match lists {
                Lists::Live(continual) => Ok(made(&self.spec, None, &continual.release()?)),
                Lists::Past(_) => Err(Failure::Parameter("finish shows the lists of a time that is over".to_owned())),
            })
        })
    }

    /// What became of events, for the operator alone.
    fn counted(&self, py: Python<'_>) -> PyResult<String> {
        self.own.with(py, |state| {
            let mut counts = with_engine!(&state.engine, lists => match lists {
                Lists::Live(continual) => json!({
                    "without_key": continual.without_key(),
                    "without_user": continual.without_user(),
                    "beyond_bounds": continual.beyond_bounds(),
                    "late": continual.dropped(),
                    "memory": continual.bytes(),
                }),
                Lists::Past(Some(history)) => json!({
                    "without_key": history.without_key(),
                    "without_user": history.without_user(),
                    "outside": history.outside(),
                }),
                Lists::Past(None) => json!({}),
            });
            (counts["rows"], counts["without_time"]) = (state.rows.into(), state.without_time.into());
            Ok(counts.to_string())
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.own.close(py)
    }
}

fn broken(cause: frostpane::Error) -> Change {
    Change::Broken(cause.into())
}

fn over() -> Failure {
    Failure::Parameter(
        "the lists of this time have been shown, and its people are bounded with it: build another one"
            .to_owned(),
    )
}

fn build<K: Key>(spec: &Spec, keys: Keys<K>, period: Option<(i64, i64)>) -> Result<Lists<K>> {
    let builder = spec::builder(spec, keys);
    let edge = |micros| match Timestamp::from_microsecond(micros) {
        Ok(moment) => Ok(Edge::Instant(moment)),
        Err(_) => Err(Failure::Parameter(format!("{micros} lies outside the calendar"))),
    };
    Ok(match period {
        Some((from, until)) => Lists::Past(Some(Box::new(builder.history(edge(from)?, edge(until)?)?))),
        None => Lists::Live(Box::new(builder.continual()?)),
    })
}

/// Lists that are due, as they come.
struct Due<'a> {
    spec: &'a Spec,
    made: Vec<Made>,
    failure: Option<Failure>,
}

impl<'a> Due<'a> {
    fn new(spec: &'a Spec) -> Self {
        Self {
            spec,
            made: Vec::new(),
            failure: None,
        }
    }

    fn see<K: Key>(&mut self, release: frostpane::Result<Release<K>>) {
        match release {
            Ok(release) => self.made.push(made(self.spec, None, &release)),
            Err(cause) => self.failure = Some(cause.into()),
        }
    }

    fn lists(self) -> std::result::Result<Vec<Made>, Change> {
        match self.failure {
            Some(cause) => Err(Change::Broken(cause)),
            None => Ok(self.made),
        }
    }
}

struct Into<'a, 'b, K: Key> {
    lists: &'a mut Lists<K>,
    due: &'a mut Due<'b>,
}

impl<K: ColumnKey> Sink<K> for Into<'_, '_, K> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        let due = &mut *self.due;
        match self.lists {
            Lists::Live(continual) => {
                continual.extend(events, |continual| due.see(continual.release()))?;
            }
            Lists::Past(Some(history)) => history.extend(events)?,
            Lists::Past(None) => return Err(over()),
        }
        Ok(())
    }
}
