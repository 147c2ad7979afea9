//! State and budget that outlive the process.

use std::path::PathBuf;
use std::time::Duration;

use frostpane::{Amount, Batch, Bytes, Event, Keys, Spec};
use frostpane_store::{
    Awaited, Begin, Forms, Header, KeyKind, List, Panes, Released, Store, StoredKey, Summary,
};
use jiff::Timestamp;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::building::Plan;
use crate::error::{Failure, Result};
use crate::events::{ColumnKey, Columns, Sink, feed};
use crate::made::{Made, sentences};
use crate::own::{Change, Own};
use crate::pace::Pace;
use crate::rows::Rows;
use crate::spec::{self, AnyKeys};

/// How far ahead of the wall clock events of users may be, as for the program.
const TOLERANCE: Duration = Duration::from_secs(3_600);

/// The form in which sentences are kept with a release.
const WORDS: &str = "words";

enum Engine {
    Bytes(Store<Bytes>),
    Integers(Store<u64>),
}

macro_rules! with_engine {
    ($engine:expr, $store:ident => $value:expr) => {
        match $engine {
            Engine::Bytes($store) => $value,
            Engine::Integers($store) => $value,
        }
    };
}

/// What stands behind `frostpane.Store`.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Keeper {
    own: Own<Engine>,
    header: Header,
}

impl Keeper {
    fn of(engine: Engine) -> Self {
        let header = with_engine!(&engine, store => store.header().clone());
        Self {
            own: Own::new(engine),
            header,
        }
    }

    fn spec(&self) -> &Spec {
        &self.header.spec
    }
}

#[pymethods]
impl Keeper {
    /// Begins a state, of integers if that is said of open keys.
    #[staticmethod]
    #[pyo3(signature = (folder, spec, integers=false, begin=None, witness=None))]
    fn create(
        py: Python<'_>,
        folder: PathBuf,
        spec: &str,
        integers: bool,
        begin: Option<i64>,
        witness: Option<PathBuf>,
    ) -> PyResult<Self> {
        let spec = spec::parse(spec)?;
        let begin = beginning(begin, witness);
        let engine = py.detach(|| -> Result<Engine> {
            Ok(match spec::keys(&spec, integers)? {
                AnyKeys::Bytes(keys) => Engine::Bytes(create(&folder, &spec, keys, begin)?),
                AnyKeys::Integers(keys) => Engine::Integers(create(&folder, &spec, keys, begin)?),
            })
        })?;
        Ok(Self::of(engine))
    }

    /// Begins a state that makes the same panes as this one.
    #[pyo3(signature = (folder, begin=None, witness=None))]
    fn create_like(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        begin: Option<i64>,
        witness: Option<PathBuf>,
    ) -> PyResult<Self> {
        let begin = beginning(begin, witness);
        let engine = self.own.with(py, |engine| {
            Ok(match engine {
                Engine::Bytes(store) => Engine::Bytes(Store::create_like(&folder, store, begin)?),
                Engine::Integers(store) => Engine::Integers(Store::create_like(&folder, store, begin)?),
            })
        })?;
        Ok(Self::of(engine))
    }

    /// Goes on with a state; one that was restored from a copy only after all of its past was marked as spent.
    #[staticmethod]
    #[pyo3(signature = (folder, restored=false))]
    fn open(py: Python<'_>, folder: PathBuf, restored: bool) -> PyResult<Self> {
        let engine = py.detach(|| -> Result<Engine> {
            let header = Header::read(&folder)?;
            // Without a witness only the caller knows that it is a copy.
            let force = header.witness.is_none();
            Ok(match (header.keys, restored) {
                (KeyKind::Bytes, false) => Engine::Bytes(Store::open(&folder)?),
                (KeyKind::Bytes, true) => Engine::Bytes(Store::accept_restored(&folder, force)?),
                (KeyKind::Integers, false) => Engine::Integers(Store::open(&folder)?),
                (KeyKind::Integers, true) => Engine::Integers(Store::accept_restored(&folder, force)?),
            })
        })?;
        Ok(Self::of(engine))
    }

    /// What was fixed when it began, as JSON.
    fn header(&self) -> PyResult<String> {
        Ok(written(&self.header)?)
    }

    /// Takes the rows of a source, each of them once; returns how many are new, how many of them had no time, and the lists that they have
    /// brought about. Where people are protected they come at the moment that is given, or now.
    #[pyo3(signature = (rows, source, until=None, told=None))]
    fn update(
        &self,
        py: Python<'_>,
        rows: &Rows,
        source: &str,
        until: Option<i64>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<(u64, u64, Vec<Made>)> {
        rows.check(self.spec())?;
        let held = rows.borrow(py)?;
        let columns = held.columns(self.spec())?;
        let mut pace = Pace::prompt(told, rows.len as u64);
        self.own.with(py, |engine| {
            let taken = with_engine!(engine, store => take(store, columns, source, until, &mut pace))?;
            pace.finish()?;
            Ok(taken)
        })
    }

    /// Time has come to this moment, in microseconds since 1970; unless told, to that of the wall clock, if it is believed.
    #[pyo3(signature = (now=None, accept_clock=false))]
    fn advance(&self, py: Python<'_>, now: Option<i64>, accept_clock: bool) -> PyResult<Vec<Made>> {
        self.own.with(py, |engine| {
            with_engine!(engine, store => {
                let due = match now {
                    Some(now) => store.tick(now)?,
                    None => store.tick_by(&store.clock(TOLERANCE, accept_clock))?,
                };
                lists(due, self.spec())
            })
        })
    }

    /// What time it is by the wall clock, if it is believed.
    #[pyo3(signature = (accept_clock=false))]
    fn present(&self, py: Python<'_>, accept_clock: bool) -> PyResult<i64> {
        self.own.with(
            py,
            |engine| with_engine!(engine, store => Ok(store.present(&store.clock(TOLERANCE, accept_clock))?)),
        )
    }

    /// A release by its id: its JSON, its sentences, its table if another program made it, and whether it was there before.
    #[pyo3(signature = (id, window=None))]
    fn release(
        &self,
        py: Python<'_>,
        id: &str,
        window: Option<&str>,
    ) -> PyResult<(String, Option<String>, Option<String>, bool)> {
        let asked = spec::span(window)?;
        let span = asked.unwrap_or(self.spec().longest());
        self.own.with(py, |engine| {
            let Released {
                json,
                mut forms,
                again,
            } = with_engine!(engine, store => {
                store.release_in_forms(id, span, |release| {
                    Forms::from([(WORDS.to_owned(), sentences(self.spec(), asked, release))])
                })?
            });
            Ok((text(json)?, forms.remove(WORDS), forms.remove("table"), again))
        })
    }

    /// What a release would cost, as JSON.
    #[pyo3(signature = (window=None))]
    fn dry_run(&self, py: Python<'_>, window: Option<&str>) -> PyResult<String> {
        let span = spec::span(window)?.unwrap_or(self.spec().longest());
        self.own.with(py, |engine| {
            with_engine!(engine, store => {
                let run = store.dry_run(span)?;
                let at = |number| store.moment(store.stream().begins(number));
                written(&Cost {
                    from: at(run.from),
                    to: at(run.to),
                    panes: run.to - run.from,
                    charge: run.charge,
                    left: run.left,
                })
            })
        })
    }

    /// What has been spent, as JSON.
    fn budget(&self, py: Python<'_>) -> PyResult<String> {
        self.own.with(
            py,
            |engine| with_engine!(engine, store => written(&store.budget()?)),
        )
    }

    /// The ids of all releases.
    fn releases(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.own
            .with(py, |engine| Ok(with_engine!(engine, store => store.releases()?)))
    }

    /// The lists at every slide after a number, with theirs, as JSON.
    fn lists(&self, py: Python<'_>, after: u64) -> PyResult<Vec<(u64, String)>> {
        self.own.with(py, |engine| {
            with_engine!(engine, store => {
                let lists = store.lists_after(after)?.into_iter();
                lists.map(|list| Ok((list.number, text(list.json)?))).collect()
            })
        })
    }

    /// What was done, from a record on, as JSON.
    fn history(&self, py: Python<'_>, from: u64) -> PyResult<String> {
        self.own.with(
            py,
            |engine| with_engine!(engine, store => written(&store.history(from)?)),
        )
    }

    /// How late it is, as it is said.
    fn now(&self, py: Python<'_>) -> PyResult<String> {
        self.own.with(py, |engine| {
            Ok(with_engine!(engine, store => store.moment(store.stream().now())))
        })
    }

    /// Takes closed panes out, for one other state.
    fn export<'py>(
        &self,
        py: Python<'py>,
        from: i64,
        until: i64,
        destination: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.own.with(
            py,
            |engine| with_engine!(engine, store => Ok(store.export(from..until, destination)?.to_bytes()?)),
        )?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Takes panes in that come from another state.
    #[pyo3(name = "import_")]
    fn import(&self, py: Python<'_>, panes: &[u8]) -> PyResult<()> {
        let panes = Panes::from_bytes(panes).map_err(Failure::from)?;
        self.own.with(py, |engine| {
            with_engine!(engine, store => store.import(&panes)?);
            Ok(())
        })
    }

    /// Forgets closed panes.
    fn forget(&self, py: Python<'_>, from: i64, until: i64) -> PyResult<()> {
        self.own.with(py, |engine| {
            with_engine!(engine, store => store.forget(from..until)?);
            Ok(())
        })
    }

    /// How its panes are made, for whoever counts its events elsewhere.
    fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        self.own.with(py, |engine| {
            Ok(match engine {
                Engine::Bytes(store) => Plan::of_bytes(store.blueprint()?),
                Engine::Integers(store) => Plan::of_integers(store.blueprint()?),
            })
        })
    }

    /// The first number of the panes that are to be built, and the one after the last.
    #[pyo3(signature = (until, since=None))]
    fn to_build(&self, py: Python<'_>, until: i64, since: Option<i64>) -> PyResult<(i64, i64)> {
        self.own.with(py, |engine| {
            let numbers = with_engine!(engine, store => store.to_build(since, until)?);
            Ok((numbers.start, numbers.end))
        })
    }

    /// Records a build of panes from a number on, with these seals.
    fn record_build(&self, py: Python<'_>, build: &str, first: i64, seals: Vec<[u8; 32]>) -> PyResult<()> {
        self.own.with(py, |engine| {
            with_engine!(engine, store => store.record_build(build, first, &seals)?);
            Ok(())
        })
    }

    /// The panes that were built and are not here yet: number, build and seal.
    fn awaited(&self, py: Python<'_>) -> PyResult<Vec<(i64, String, String)>> {
        self.own.with(py, |engine| {
            let awaited = with_engine!(engine, store => store.awaited()?);
            let each = |(number, awaited): (i64, Awaited)| (number, awaited.build, awaited.seal);
            Ok(awaited.into_iter().map(each).collect())
        })
    }

    /// Takes all awaited panes in, in their order.
    fn take_built(&self, py: Python<'_>, panes: Vec<Vec<u8>>) -> PyResult<()> {
        self.own.with(py, |engine| {
            with_engine!(engine, store => store.take_built(&panes)?);
            Ok(())
        })
    }

    /// The number after the last pane that was built, if any was.
    fn built_to(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.own
            .with(py, |engine| Ok(with_engine!(engine, store => store.built_to()?)))
    }

    /// The oldest number that a window can reach.
    fn oldest(&self, py: Python<'_>) -> PyResult<i64> {
        self.own.with(py, |engine| {
            Ok(with_engine!(engine, store => store.stream().numbers().start))
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.own.close(py)
    }
}

/// What has been spent of a state that another process may have: its header and its budget, as JSON.
#[pyfunction]
pub fn read_budget(py: Python<'_>, folder: PathBuf) -> PyResult<(String, String)> {
    let read = py.detach(|| -> Result<_> {
        let Summary { header, budget, .. } = Summary::read(&folder)?;
        Ok((written(&header)?, written(&budget)?))
    });
    Ok(read?)
}

/// What a release would cost.
#[derive(Serialize)]
struct Cost {
    from: String,
    to: String,
    panes: i64,
    charge: Amount,
    left: u64,
}

fn beginning(from: Option<i64>, witness: Option<PathBuf>) -> Begin {
    let mut begin = Begin::default();
    (begin.from, begin.witness) = (from, witness);
    begin
}

fn create<K: StoredKey>(
    folder: &std::path::Path,
    spec: &Spec,
    keys: Keys<K>,
    begin: Begin,
) -> Result<Store<K>> {
    let spec = spec::builder(spec, keys.clone()).spec()?;
    Ok(Store::create(folder, spec, keys, begin)?)
}

/// Takes the rows of a source. What was acknowledged of them stays, also after an interrupt: those are passed over when they come again.
fn take<K: ColumnKey>(
    store: &mut Store<K>,
    columns: Columns<'_>,
    source: &str,
    until: Option<i64>,
    pace: &mut Pace,
) -> Result<(u64, u64, Vec<Made>)> {
    let spec = store.header().spec.clone();
    let present = match until {
        // None of the moment itself and after it.
        Some(until) => until - 1,
        // What is a little ahead waits for its epoch.
        None if spec.unit.is_user() => Timestamp::now().as_microsecond() + TOLERANCE.as_micros() as i64,
        None => Timestamp::now().as_microsecond(),
    };
    let mut feeding = store.feed(source)?.at(present);
    let before = feeding.before();
    let without_time = {
        let mut sink = Into {
            feed: &mut feeding,
            batch: Batch::new(),
        };
        feed(columns, pace, &mut sink).map_err(|change| match change {
            Change::Refused(cause) | Change::Broken(cause) => cause,
        })?
    };
    let (events, due) = feeding.finish(false)?;
    Ok((events - before, without_time, lists(due, &spec)?))
}

fn lists<K: StoredKey>(lists: Vec<List<K>>, spec: &Spec) -> Result<Vec<Made>> {
    let made = |list: List<K>| {
        let words = list
            .release
            .map_or_else(String::new, |release| sentences(spec, None, &release));
        Ok((text(list.json)?, words))
    };
    lists.into_iter().map(made).collect()
}

fn text(json: Vec<u8>) -> Result<String> {
    String::from_utf8(json).map_err(|_| Failure::Closed("what was kept is no text: the state is damaged"))
}

fn written(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| Failure::Parameter(cause.to_string()))
}

struct Into<'a, 'b, K: StoredKey> {
    feed: &'a mut frostpane_store::Feed<'b, K>,
    batch: Batch<K>,
}

impl<K: ColumnKey> Sink<K> for Into<'_, '_, K> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        self.batch.clear();
        events.for_each(|event| self.batch.push(event));
        self.feed.append(&self.batch)?;
        Ok(())
    }
}
