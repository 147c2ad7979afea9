//! Stores: the Rust side of `frostpane.Store`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use frostpane::{Amount, Batch, Bytes, Event, Keys, Spec};
use frostpane_store::{
    AwaitedPane, Begin, ContinualRelease, Header, KeyKind, Renderings, SourceOutcome, SourceWriter, Store,
    StoredKey, StoredRelease, Summary,
};
use jiff::Timestamp;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::building::PanePlan;
use crate::error::{CallError, Result};
use crate::events::{ColumnKey, EventColumns, Sink, feed};
use crate::process_guard::{ProcessGuard, UpdateError};
use crate::progress::ProgressReporter;
use crate::rows::EventRows;
use crate::spec::{self, ByKeyKind, map_keys, with_keys};
use crate::{Made, sentences, written};

/// The maximal lead of event times over the wall clock if users are protected, as in the program.
const TOLERANCE: Duration = Duration::from_secs(3_600);

const WORDS: &str = "words";

type AnyStore = ByKeyKind<Store<Bytes>, Store<u64>>;

/// Evaluates an expression with the store of a handle.
macro_rules! with_store {
    ($handle:expr, $py:expr, $store:ident => $expression:expr) => {
        $handle.guard.with($py, |store| with_keys!(store, $store => $expression))
    };
}

#[pyclass(frozen, module = "frostpane._internal")]
pub struct StoreHandle {
    guard: ProcessGuard<AnyStore>,
    header: Header,
}

impl StoreHandle {
    fn new(store: AnyStore) -> Self {
        let header = with_keys!(&store, store => store.header().clone());
        Self { guard: ProcessGuard::new(store), header }
    }

    fn spec(&self) -> &Spec {
        &self.header.spec
    }
}

#[pymethods]
impl StoreHandle {
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
        let engine = py.detach(|| -> Result<AnyStore> {
            let keys = spec::keys(&spec, integers)?;
            Ok(map_keys!(keys, keys => create(&folder, &spec, keys, begin)?))
        })?;
        Ok(Self::new(engine))
    }

    /// Creates a store that makes the same panes as this one.
    #[pyo3(signature = (folder, begin=None, witness=None))]
    fn create_like(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        begin: Option<i64>,
        witness: Option<PathBuf>,
    ) -> PyResult<Self> {
        let begin = beginning(begin, witness);
        let engine = self
            .guard
            .with(py, |engine| Ok(map_keys!(engine, store => Store::create_like(&folder, store, begin)?)))?;
        Ok(Self::new(engine))
    }

    /// Opens a store, or one that was restored from a copy, all of whose past is then marked as spent.
    #[staticmethod]
    #[pyo3(signature = (folder, restored=false))]
    fn open(py: Python<'_>, folder: PathBuf, restored: bool) -> PyResult<Self> {
        let engine = py.detach(|| -> Result<AnyStore> {
            let header = Header::read(&folder)?;
            Ok(match header.keys {
                KeyKind::Bytes => AnyStore::Bytes(open(&folder, &header, restored)?),
                KeyKind::Integers => AnyStore::Integers(open(&folder, &header, restored)?),
            })
        })?;
        Ok(Self::new(engine))
    }

    fn header(&self) -> PyResult<String> {
        Ok(written(&self.header)?)
    }

    /// Ingests the rows of a source, each of them once. Returns the numbers of new rows by their outcome, as JSON, and
    /// the continual releases that fell due. If users are protected, the rows arrive at
    /// the given moment, by default now.
    #[pyo3(signature = (rows, source, until=None, told=None))]
    fn update(
        &self,
        py: Python<'_>,
        rows: &EventRows,
        source: &str,
        until: Option<i64>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<(String, Vec<Made>)> {
        let held = rows.borrow(py, self.spec())?;
        let columns = held.columns(self.spec())?;
        let mut pace = ProgressReporter::prompt(told, rows.len as u64);
        with_store!(self, py, store => {
            let taken = take(store, columns, source, until, &mut pace)?;
            pace.finish()?;
            Ok(taken)
        })
    }

    /// Advances time to a moment in microseconds since 1970, by default that of a plausible wall clock.
    #[pyo3(signature = (now=None, accept_clock=false))]
    fn advance(&self, py: Python<'_>, now: Option<i64>, accept_clock: bool) -> PyResult<Vec<Made>> {
        with_store!(self, py, store => {
            let due = match now {
                Some(now) => store.tick(now)?,
                None => store.tick_by(&store.clock(TOLERANCE, accept_clock))?,
            };
            lists(due, self.spec())
        })
    }

    #[pyo3(signature = (accept_clock=false))]
    fn present(&self, py: Python<'_>, accept_clock: bool) -> PyResult<i64> {
        with_store!(self, py, store => Ok(store.present(&store.clock(TOLERANCE, accept_clock))?))
    }

    /// A release by its id: its JSON, its sentences, its table if there is one, and if it was stored before.
    #[pyo3(signature = (id, window=None))]
    fn release(
        &self,
        py: Python<'_>,
        id: &str,
        window: Option<&str>,
    ) -> PyResult<(String, Option<String>, Option<String>, bool)> {
        let asked = spec::span(window)?;
        let span = asked.unwrap_or(self.spec().longest());
        let StoredRelease { json, mut forms, again } = with_store!(self, py, store => {
            Ok(store.release_in_forms(id, span, |release| {
                Renderings::from([(WORDS.to_owned(), sentences(self.spec(), asked, release))])
            })?)
        })?;
        Ok((text(json)?, forms.remove(WORDS), forms.remove("table"), again))
    }

    #[pyo3(signature = (window=None))]
    fn dry_run(&self, py: Python<'_>, window: Option<&str>) -> PyResult<String> {
        let span = spec::span(window)?.unwrap_or(self.spec().longest());
        with_store!(self, py, store => {
            let run = store.dry_run(span)?;
            let at = |number| store.moment(store.stream().begins(number));
            written(&CostReport {
                from: at(run.from),
                to: at(run.to),
                panes: run.to - run.from,
                charge: run.charge,
                left: run.left,
            })
        })
    }

    fn budget(&self, py: Python<'_>) -> PyResult<String> {
        with_store!(self, py, store => written(&store.budget()?))
    }

    fn releases(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        with_store!(self, py, store => Ok(store.releases()?))
    }

    /// The continual releases after a number, with their numbers, as JSON.
    fn lists(&self, py: Python<'_>, after: u64) -> PyResult<Vec<(u64, String)>> {
        with_store!(self, py, store => {
            let lists = store.lists_after(after)?.into_iter();
            lists.map(|list| Ok((list.number, text(list.json)?))).collect()
        })
    }

    fn history(&self, py: Python<'_>, from: u64) -> PyResult<String> {
        with_store!(self, py, store => written(&store.history(from)?))
    }

    fn now(&self, py: Python<'_>) -> PyResult<String> {
        with_store!(self, py, store => Ok(store.moment(store.stream().now())))
    }

    fn forget(&self, py: Python<'_>, from: i64, until: i64) -> PyResult<()> {
        with_store!(self, py, store => Ok(store.forget(from..until)?))
    }

    /// The recipe of its panes, for a builder outside of the store.
    fn plan(&self, py: Python<'_>) -> PyResult<PanePlan> {
        self.guard.with(py, |engine| Ok(PanePlan(map_keys!(engine, store => store.blueprint()?))))
    }

    /// The range of numbers of the panes that are to be built.
    #[pyo3(signature = (until, since=None))]
    fn to_build(&self, py: Python<'_>, until: i64, since: Option<i64>) -> PyResult<(i64, i64)> {
        let numbers = with_store!(self, py, store => Ok(store.to_build(since, until)?))?;
        Ok((numbers.start, numbers.end))
    }

    fn record_build(&self, py: Python<'_>, build: &str, first: i64, seals: Vec<[u8; 32]>) -> PyResult<()> {
        with_store!(self, py, store => Ok(store.record_build(build, first, &seals)?))
    }

    /// The recorded panes that are not in the store yet: number, build and seal.
    fn awaited(&self, py: Python<'_>) -> PyResult<Vec<(i64, String, String)>> {
        let awaited = with_store!(self, py, store => Ok(store.awaited()?))?;
        let each = |(number, awaited): (i64, AwaitedPane)| (number, awaited.build, awaited.seal);
        Ok(awaited.into_iter().map(each).collect())
    }

    fn take_built(&self, py: Python<'_>, panes: Vec<Vec<u8>>) -> PyResult<()> {
        with_store!(self, py, store => Ok(store.take_built(&panes)?))
    }

    /// The number after the last pane that was built, if there is one.
    fn built_to(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        with_store!(self, py, store => Ok(store.built_to()?))
    }

    /// The oldest number that a window can reach.
    fn oldest(&self, py: Python<'_>) -> PyResult<i64> {
        with_store!(self, py, store => Ok(store.stream().numbers().start))
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.guard.close(py)
    }
}

/// The header and the budget of a store, as JSON; also while another process has it open.
#[pyfunction]
pub fn read_budget(py: Python<'_>, folder: PathBuf) -> PyResult<(String, String)> {
    let read = py.detach(|| -> Result<_> {
        let Summary { header, budget, .. } = Summary::read(&folder)?;
        Ok((written(&header)?, written(&budget)?))
    });
    Ok(read?)
}

/// A `json!` has no integers of 128 bits.
#[derive(Serialize)]
struct CostReport {
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

fn create<K: StoredKey>(folder: &Path, spec: &Spec, keys: Keys<K>, begin: Begin) -> Result<Store<K>> {
    let spec = spec::builder(spec, keys.clone()).spec()?;
    Ok(Store::create(folder, spec, keys, begin)?)
}

fn open<K: StoredKey>(folder: &Path, header: &Header, restored: bool) -> Result<Store<K>> {
    if !restored {
        return Ok(Store::open(folder)?);
    }
    // Without a witness only the caller knows that the store is a copy.
    Ok(Store::accept_restored(folder, header.witness.is_none())?)
}

/// Ingests the rows of a source. Acknowledged rows stay, and are skipped when they come again.
fn take<K: ColumnKey>(
    store: &mut Store<K>,
    columns: EventColumns<'_>,
    source: &str,
    until: Option<i64>,
    pace: &mut ProgressReporter,
) -> Result<(String, Vec<Made>)> {
    let spec = store.header().spec.clone();
    let present = match until {
        // The moment itself is excluded.
        Some(until) => until - 1,
        // Events slightly ahead wait for their epoch.
        None if spec.unit.is_user() => Timestamp::now().as_microsecond() + TOLERANCE.as_micros() as i64,
        None => Timestamp::now().as_microsecond(),
    };
    let mut feeding = store.feed(source)?.at(present);
    let before = feeding.before();
    let without_time = {
        let mut sink = StoreSink { feed: &mut feeding, batch: Batch::new() };
        feed(columns, pace, &mut sink).map_err(|change| match change {
            UpdateError::Refused(cause) | UpdateError::Broken(cause) => cause,
        })?
    };
    let SourceOutcome { events, tally, lists: due } = feeding.finish(false)?;
    let new = events - before;
    let counts = json!({
        "new": new,
        "counted": new.saturating_sub(tally.not_counted()),
        "late": tally.late,
        "ahead": tally.ahead,
        "without_key": tally.without_key,
        "without_user": tally.without_user,
        "without_time": without_time,
        "not_sampled": tally.not_sampled,
    });
    Ok((counts.to_string(), lists(due, &spec)?))
}

fn lists<K: StoredKey>(lists: Vec<ContinualRelease<K>>, spec: &Spec) -> Result<Vec<Made>> {
    let made = |list: ContinualRelease<K>| {
        let words = list.release.map_or_else(String::new, |release| sentences(spec, None, &release));
        Ok((text(list.json)?, words))
    };
    lists.into_iter().map(made).collect()
}

fn text(json: Vec<u8>) -> Result<String> {
    String::from_utf8(json).map_err(|_| CallError::Closed("what was kept is no text: the state is damaged"))
}

struct StoreSink<'a, 'b, K: StoredKey> {
    feed: &'a mut SourceWriter<'b, K>,
    batch: Batch<K>,
}

impl<K: ColumnKey> Sink<K> for StoreSink<'_, '_, K> {
    fn take<'a>(&mut self, events: impl Iterator<Item = Event<'a, K>>) -> Result<()> {
        self.batch.clear();
        events.for_each(|event| self.batch.push(event));
        self.feed.append(&self.batch)?;
        Ok(())
    }
}
