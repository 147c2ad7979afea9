//! External panes, built by many machines: the work on the rows of each of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, BinaryBuilder, Int64Builder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array};
use frostpane::stream::{PaneBounder, PaneRecipe, PartialPane};
use frostpane::{Bytes, Key};
use frostpane_events::valid_user;
use frostpane_store::scratch;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;

use crate::column::Piece;
use crate::error::{CallError, Result};
use crate::events::ColumnKey;
use crate::process_guard::ProcessGuard;
use crate::rows::pull;
use crate::spec::{ByKeyKind, map_keys, with_keys};
use crate::table::Table;

/// Rows of a returned batch: its keys take less than the 2 GB that a column may have.
const BATCH: usize = 1 << 14;
const BYTES: u8 = 0;
const INTEGERS: u8 = 1;

/// The recipe of the panes of a store. It holds the seed of all hashes, and never shows its contents.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct PanePlan(pub(crate) ByKeyKind<PaneRecipe<Bytes>, PaneRecipe<u64>>);

#[pymethods]
impl PanePlan {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let plan = match bytes {
            [BYTES, rest @ ..] => PaneRecipe::from_bytes(rest).map(ByKeyKind::Bytes),
            [INTEGERS, rest @ ..] => PaneRecipe::from_bytes(rest).map(ByKeyKind::Integers),
            _ => return Err(CallError::Input("these bytes are no plan of panes".to_owned()).into()),
        };
        Ok(Self(plan.map_err(CallError::from)?))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let kind = if self.integers() { INTEGERS } else { BYTES };
        let bytes = with_keys!(&self.0, blueprint => blueprint.to_bytes());
        [&[kind], &bytes[..]].concat()
    }

    #[getter]
    fn integers(&self) -> bool {
        matches!(self.0, ByKeyKind::Integers(_))
    }

    #[getter]
    fn people(&self) -> bool {
        with_keys!(&self.0, blueprint => blueprint.is_of_people())
    }

    /// The length of a pane, and the begin of pane number 0, in microseconds.
    #[getter]
    fn grid(&self) -> (i64, i64) {
        with_keys!(&self.0, blueprint => (blueprint.length(), blueprint.offset()))
    }

    /// A hash of the parameters that panes are made with.
    #[getter]
    fn fingerprint(&self) -> String {
        let bytes = with_keys!(&self.0, blueprint => blueprint.fingerprint());
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Bounds the contributions of users to panes of these numbers.
    fn bounder(&self, first: i64, end: i64, memory: u64) -> PyResult<Bounder> {
        let numbers = first..end;
        let bounding = map_keys!(&self.0, blueprint => {
            blueprint.bounding(numbers, memory, scratch).map_err(CallError::from)?
        });
        Ok(Bounder(ProcessGuard::new(bounding)))
    }

    /// Counts the keys of parts of panes.
    fn counter(&self) -> PartCounter {
        let parts = map_keys!(&self.0, blueprint => (blueprint.clone(), BTreeMap::new()));
        PartCounter(ProcessGuard::new(parts))
    }

    /// Closes a pane from its parts, and returns it with its seal.
    fn close(&self, py: Python<'_>, number: i64, parts: Vec<Vec<u8>>) -> PyResult<(Vec<u8>, [u8; 32])> {
        let closed = py.detach(|| -> Result<_> {
            with_keys!(&self.0, blueprint => {
                let pane = blueprint.close(parts.iter().map(Vec::as_slice))?;
                let seal = blueprint.seal(number, &pane);
                Ok((pane, seal))
            })
        });
        Ok(closed?)
    }
}

/// Events of users, a batch at a time; then counts of keys.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Bounder(ProcessGuard<AnyBounding>);

type AnyBounding = ByKeyKind<PaneBounder<Bytes>, PaneBounder<u64>>;

#[pymethods]
impl Bounder {
    /// A batch with the columns `pane`, `user` and `key`.
    fn add(&self, py: Python<'_>, batch: AnyArray) -> PyResult<()> {
        let chunks = pull(py, batch)?;
        self.0.with(py, |bounding| {
            with_keys!(bounding, bounding => chunks.iter().try_for_each(|chunk| bound(bounding, chunk)))
        })
    }

    /// A table with the columns `pane`, `key` and `count`.
    fn finish(&self, py: Python<'_>) -> PyResult<Table> {
        let state = self.0.take(py)?;
        let counted = py.detach(|| match state {
            AnyBounding::Bytes(bounding) => counted(bounding, BinaryBuilder::new()),
            AnyBounding::Integers(bounding) => counted(bounding, Int64Builder::new()),
        });
        Ok(counted?)
    }
}

fn column<'a>(chunk: &'a ArrayRef, name: &str) -> Result<&'a ArrayRef> {
    let table = chunk.as_struct_opt();
    let missing = || CallError::Column(format!("there is no column {name}"));
    table.and_then(|table| table.column_by_name(name)).ok_or_else(missing)
}

fn numbers<'a>(chunk: &'a ArrayRef, name: &str) -> Result<&'a Int64Array> {
    let column = column(chunk, name)?.as_primitive_opt::<Int64Type>();
    column.ok_or_else(|| CallError::Input(format!("the column {name} does not hold 64-bit integers")))
}

fn bound<K: ColumnKey>(bounding: &mut PaneBounder<K>, chunk: &ArrayRef) -> Result<()> {
    let (panes, users, keys) = (numbers(chunk, "pane")?, column(chunk, "user")?, column(chunk, "key")?);
    let (mut people, mut read) = (Vec::new(), K::Output::default());
    if !whole(users).bytes(&mut people) {
        return Err(CallError::Input("the column user does not hold bytes".to_owned()));
    }
    K::read(&whole(keys), &mut read);
    let event = |row: usize| (panes.value(row), valid_user(people[row]), K::key(&read, row));
    Ok(bounding.extend((0..chunk.len()).map(event))?)
}

fn whole(column: &ArrayRef) -> Piece<'_> {
    Piece::Arrow(column, 0..column.len())
}

/// A column of keys that grows.
trait KeyColumn<K: Key>: ArrayBuilder {
    fn push(&mut self, key: K::Ref<'_>);
}

impl KeyColumn<Bytes> for BinaryBuilder {
    fn push(&mut self, key: &[u8]) {
        self.append_value(key);
    }
}

impl KeyColumn<u64> for Int64Builder {
    // Keys were signed on input.
    fn push(&mut self, key: u64) {
        self.append_value(key as i64);
    }
}

fn counted<K: Key, C: KeyColumn<K>>(bounding: PaneBounder<K>, mut keys: C) -> Result<Table> {
    let (mut panes, mut counts, mut batches) = (Int64Builder::new(), Int64Builder::new(), Vec::new());
    let end = |panes: &mut Int64Builder,
               keys: &mut C,
               counts: &mut Int64Builder|
     -> [(&'static str, ArrayRef); 3] {
        [("pane", Arc::new(panes.finish())), ("key", keys.finish()), ("count", Arc::new(counts.finish()))]
    };
    bounding.finish(|pane, key, count| {
        panes.append_value(pane);
        keys.push(key);
        counts.append_value(count as i64);
        if panes.len() == BATCH {
            batches.push(end(&mut panes, &mut keys, &mut counts));
        }
    })?;
    batches.push(end(&mut panes, &mut keys, &mut counts));
    Table::of(batches, true)
}

/// Keys with their counts, a batch at a time; then parts of panes.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct PartCounter(ProcessGuard<ByKeyKind<PartsByPane<Bytes>, PartsByPane<u64>>>);

type PartsByPane<K> = (PaneRecipe<K>, BTreeMap<i64, PartialPane<K>>);

#[pymethods]
impl PartCounter {
    /// A batch with the columns `pane`, `key` and `count`: no other one anywhere has the same key of a pane.
    fn add(&self, py: Python<'_>, batch: AnyArray) -> PyResult<()> {
        let chunks = pull(py, batch)?;
        self.0.with(py, |parts| {
            with_keys!(parts, (blueprint, parts) => {
                chunks.iter().try_for_each(|chunk| count(blueprint, parts, chunk))
            })
        })
    }

    /// The number and the bytes of the part of each pane.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<(i64, Vec<u8>)>> {
        let state = self.0.take(py)?;
        Ok(py.detach(|| {
            with_keys!(state, (_, parts) => {
                parts.into_iter().map(|(number, part)| (number, part.finish())).collect()
            })
        }))
    }
}

fn count<K: ColumnKey>(
    blueprint: &PaneRecipe<K>,
    parts: &mut BTreeMap<i64, PartialPane<K>>,
    chunk: &ArrayRef,
) -> Result<()> {
    let (panes, counts) = (numbers(chunk, "pane")?, numbers(chunk, "count")?);
    let mut read = K::Output::default();
    K::read(&whole(column(chunk, "key")?), &mut read);
    for row in 0..chunk.len() {
        let part = parts.entry(panes.value(row)).or_insert_with(|| blueprint.part());
        part.add(K::key(&read, row), counts.value(row).unsigned_abs());
    }
    Ok(())
}
