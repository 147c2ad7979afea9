//! Single releases.

use frostpane::{Bytes, Event, HeavyHitters, Key, Keys, Spec};
use pyo3::prelude::*;
use serde_json::json;

use crate::error::{Failure, Result};
use crate::events::{Columns, Sink, feed};
use crate::made::{Made, made};
use crate::own::{Change, Own};
use crate::pace::Pace;
use crate::rows::Rows;
use crate::spec::{self, AnyKeys};

/// A window in memory, with keys of either type.
enum Engine {
    Bytes(HeavyHitters<Bytes>),
    Integers(HeavyHitters<u64>),
}

/// Does the same with keys of either type.
macro_rules! with_engine {
    ($engine:expr, $hitters:ident => $value:expr) => {
        match $engine {
            Engine::Bytes($hitters) => $value,
            Engine::Integers($hitters) => $value,
        }
    };
}

/// What stands behind `frostpane.HeavyHitters`.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Hitters {
    own: Own<State>,
    spec: Spec,
}

struct State {
    engine: Engine,
    rows: u64,
    without_time: u64,
}

#[pymethods]
impl Hitters {
    /// With open keys that are integers, if that is said.
    #[new]
    #[pyo3(signature = (spec, integers=false))]
    fn new(spec: &str, integers: bool) -> PyResult<Self> {
        let spec = spec::parse(spec)?;
        check_end(&spec)?;
        let engine = match spec::keys(&spec, integers)? {
            AnyKeys::Bytes(keys) => Engine::Bytes(build(&spec, keys)?),
            AnyKeys::Integers(keys) => Engine::Integers(build(&spec, keys)?),
        };
        let state = State {
            engine,
            rows: 0,
            without_time: 0,
        };
        Ok(Self {
            own: Own::new(state),
            spec,
        })
    }

    /// Takes all rows, or none of them.
    #[pyo3(signature = (rows, told=None))]
    fn update(&self, py: Python<'_>, rows: &Rows, told: Option<Py<PyAny>>) -> PyResult<()> {
        rows.check(&self.spec)?;
        let total = rows.len as u64;
        let held = rows.borrow(py)?;
        let columns = held.columns(&self.spec)?;
        let mut pace = Pace::new(told, total);
        self.own.change(py, |state| {
            let without_time = with_engine!(&mut state.engine, hitters => take(hitters, columns, &mut pace))?;
            state.rows += total;
            state.without_time += without_time;
            pace.finish().map_err(Change::Refused)
        })
    }

    /// A release of a window, or of the longest.
    #[pyo3(signature = (window=None))]
    fn release(&self, py: Python<'_>, window: Option<&str>) -> PyResult<Made> {
        let asked = spec::span(window)?;
        self.own.with(py, |state| {
            let span = asked.unwrap_or(self.spec.longest());
            let made = with_engine!(&mut state.engine, hitters => {
                made(&self.spec, asked, &hitters.release_over(span)?)
            });
            Ok(made)
        })
    }

    /// What became of events, for the operator alone.
    fn counted(&self, py: Python<'_>) -> PyResult<String> {
        self.own.with(py, |state| {
            let counts = with_engine!(&state.engine, hitters => json!({
                "rows": state.rows,
                "without_key": hitters.without_key(),
                "without_time": state.without_time,
                "without_user": hitters.without_user(),
                "beyond_bounds": hitters.beyond_bounds(),
                "outside": hitters.outside(),
                "late": hitters.dropped(),
                "memory": hitters.bytes(),
                "panes": hitters.panes(),
            }));
            Ok(counts.to_string())
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.own.close(py)
    }
}

/// With people the end is told before the first event: nothing is read off the data.
fn check_end(spec: &Spec) -> Result<()> {
    if spec.continual {
        return Err(Failure::Parameter(
            "the specification is of a list at every slide: give it to Watch, or leave continual out"
                .to_owned(),
        ));
    }
    match spec.unit.is_user() && spec.until.is_none() {
        false => Ok(()),
        true => {
            // What else is wrong with it comes first.
            spec::with_builder!(spec, builder => builder.decided().map(drop))?;
            Err(Failure::Parameter(
                "people are protected, so events do not say where the windows end: give until, such as until=\"2025-12-01\"".to_owned(),
            ))
        }
    }
}

fn build<K: Key>(spec: &Spec, keys: Keys<K>) -> Result<HeavyHitters<K>> {
    let hitters = spec::builder(spec, keys).build()?;
    spec.windows
        .iter()
        .try_for_each(|window| hitters.check_window(*window))?;
    Ok(hitters)
}

struct Into<'a, K: Key>(&'a mut HeavyHitters<K>);

impl<K: Key> Sink<K> for Into<'_, K> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        Ok(self.0.extend(events)?)
    }
}

fn take<K: crate::events::ColumnKey>(
    hitters: &mut HeavyHitters<K>,
    columns: Columns<'_>,
    pace: &mut Pace,
) -> std::result::Result<u64, Change> {
    feed(columns, pace, &mut Into(hitters))
}
