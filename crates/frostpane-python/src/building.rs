//! Panes that are built by many machines: what each of them does with its rows.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, StructArray};
use arrow_schema::{DataType, Field, Fields};
use frostpane::stream::{Blueprint, Bounding, Part};
use frostpane::{Bytes, Key};
use frostpane_store::scratch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use crate::column::Piece;
use crate::error::{Failure, Result};
use crate::events::ColumnKey;
use crate::own::Own;
use crate::rows::pull;

/// Rows of a batch that is given back: its keys take less than the 2 GB that a column may have.
const BATCH: usize = 1 << 14;
const BYTES: u8 = 0;
const INTEGERS: u8 = 1;

enum Kind {
    Bytes(Blueprint<Bytes>),
    Integers(Blueprint<u64>),
}

macro_rules! with_kind {
    ($kind:expr, $blueprint:ident => $value:expr) => {
        match $kind {
            Kind::Bytes($blueprint) => $value,
            Kind::Integers($blueprint) => $value,
        }
    };
}

/// How the panes of a store are made. It has the seed of all hashes, and shows nothing of itself.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Plan(Kind);

impl Plan {
    pub fn of_bytes(blueprint: Blueprint<Bytes>) -> Self {
        Self(Kind::Bytes(blueprint))
    }

    pub fn of_integers(blueprint: Blueprint<u64>) -> Self {
        Self(Kind::Integers(blueprint))
    }
}

#[pymethods]
impl Plan {
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Self(match bytes {
            [BYTES, rest @ ..] => Kind::Bytes(Blueprint::from_bytes(rest).map_err(Failure::from)?),
            [INTEGERS, rest @ ..] => Kind::Integers(Blueprint::from_bytes(rest).map_err(Failure::from)?),
            _ => return Err(Failure::Input("these bytes are no plan of panes".to_owned()).into()),
        }))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let kind = if self.are_integers() { INTEGERS } else { BYTES };
        let bytes = with_kind!(&self.0, blueprint => blueprint.to_bytes());
        PyBytes::new(py, &[&[kind], &bytes[..]].concat())
    }

    /// Whether keys are integers.
    #[getter]
    fn integers(&self) -> bool {
        self.are_integers()
    }

    /// Whether people are protected.
    #[getter]
    fn people(&self) -> bool {
        with_kind!(&self.0, blueprint => blueprint.is_of_people())
    }

    /// In microseconds: how long panes are, and where the one with the number 0 begins.
    #[getter]
    fn grid(&self) -> (i64, i64) {
        with_kind!(&self.0, blueprint => (blueprint.length(), blueprint.offset()))
    }

    /// What panes are made with.
    #[getter]
    fn fingerprint(&self) -> String {
        let bytes = with_kind!(&self.0, blueprint => blueprint.fingerprint());
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Bounds what users contribute in panes of these numbers.
    fn bounder(&self, first: i64, end: i64, memory: u64) -> PyResult<Bounder> {
        let numbers = first..end;
        let state = match &self.0 {
            Kind::Bytes(blueprint) => Bounds::Bytes(
                blueprint
                    .bounding(numbers, memory, scratch)
                    .map_err(Failure::from)?,
            ),
            Kind::Integers(blueprint) => Bounds::Integers(
                blueprint
                    .bounding(numbers, memory, scratch)
                    .map_err(Failure::from)?,
            ),
        };
        Ok(Bounder(Own::new(state)))
    }

    /// Counts the keys of parts of panes.
    fn counter(&self) -> Counter {
        Counter(Own::new(match &self.0 {
            Kind::Bytes(blueprint) => Parts::Bytes(blueprint.clone(), BTreeMap::new()),
            Kind::Integers(blueprint) => Parts::Integers(blueprint.clone(), BTreeMap::new()),
        }))
    }

    /// The pane that its parts are, and its seal.
    fn close<'py>(
        &self,
        py: Python<'py>,
        number: i64,
        parts: Vec<Vec<u8>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let closed = py.detach(|| -> Result<_> {
            with_kind!(&self.0, blueprint => {
                let pane = blueprint.close(parts.iter().map(Vec::as_slice))?;
                let seal = blueprint.seal(number, &pane);
                Ok((pane, seal))
            })
        });
        let (pane, seal) = closed?;
        Ok((PyBytes::new(py, &pane), PyBytes::new(py, &seal)))
    }
}

impl Plan {
    fn are_integers(&self) -> bool {
        matches!(self.0, Kind::Integers(_))
    }
}

/// Events of users, a batch at a time; then how often keys count.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Bounder(Own<Bounds>);

enum Bounds {
    Bytes(Bounding<Bytes>),
    Integers(Bounding<u64>),
}

#[pymethods]
impl Bounder {
    /// A batch with the columns `pane`, `user` and `key`.
    fn add(&self, py: Python<'_>, batch: AnyArray) -> PyResult<()> {
        let chunks = pull(py, batch)?;
        self.0.with(py, |state| match state {
            Bounds::Bytes(bounding) => chunks.iter().try_for_each(|chunk| bound(bounding, chunk)),
            Bounds::Integers(bounding) => chunks.iter().try_for_each(|chunk| bound(bounding, chunk)),
        })
    }

    /// A table with the columns `pane`, `key` and `count`.
    fn finish(&self, py: Python<'_>) -> PyResult<Counted> {
        let state = self.0.take(py)?;
        let counted = py.detach(|| match state {
            Bounds::Bytes(bounding) => counted(bounding, BytesColumn::default()),
            Bounds::Integers(bounding) => counted(bounding, IntegerColumn::default()),
        });
        Ok(counted?)
    }
}

fn column<'a>(chunk: &'a ArrayRef, name: &str) -> Result<&'a ArrayRef> {
    let table = chunk.as_struct_opt();
    let missing = || Failure::Column(format!("there is no column {name}"));
    table
        .and_then(|table| table.column_by_name(name))
        .ok_or_else(missing)
}

fn numbers<'a>(chunk: &'a ArrayRef, name: &str) -> Result<&'a Int64Array> {
    let column = column(chunk, name)?.as_primitive_opt::<Int64Type>();
    column.ok_or_else(|| Failure::Input(format!("the column {name} does not hold 64-bit integers")))
}

fn bound<K: ColumnKey>(bounding: &mut Bounding<K>, chunk: &ArrayRef) -> Result<()> {
    let (panes, users, keys) = (
        numbers(chunk, "pane")?,
        column(chunk, "user")?,
        column(chunk, "key")?,
    );
    let (mut people, mut read) = (Vec::new(), K::Read::default());
    if !piece(users, &(0..chunk.len())).bytes(&mut people) {
        return Err(Failure::Input("the column user does not hold bytes".to_owned()));
    }
    K::read(&piece(keys, &(0..chunk.len())), &mut read);
    let event = |row: usize| (panes.value(row), people[row], K::key(&read, row));
    Ok(bounding.extend((0..chunk.len()).map(event))?)
}

fn piece<'a>(column: &'a ArrayRef, rows: &Range<usize>) -> Piece<'a> {
    Piece::Arrow(column, rows.clone())
}

/// A column of keys that grows.
trait Keys<K: Key>: Default {
    fn push(&mut self, key: K::Ref<'_>);
    fn finish(&mut self) -> ArrayRef;
}

#[derive(Default)]
struct BytesColumn(BinaryBuilder);

impl Keys<Bytes> for BytesColumn {
    fn push(&mut self, key: &[u8]) {
        self.0.append_value(key);
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

#[derive(Default)]
struct IntegerColumn(Vec<i64>);

impl Keys<u64> for IntegerColumn {
    // They were signed when they came.
    fn push(&mut self, key: u64) {
        self.0.push(key as i64);
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(Int64Array::from(std::mem::take(&mut self.0)))
    }
}

fn counted<K: Key, C: Keys<K>>(bounding: Bounding<K>, mut keys: C) -> Result<Counted> {
    let (mut panes, mut counts, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    let end = |panes: &mut Vec<i64>, keys: &mut C, counts: &mut Vec<i64>| {
        let integers =
            |numbers: &mut Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(std::mem::take(numbers))) };
        [integers(panes), keys.finish(), integers(counts)]
    };
    bounding.finish(|pane, key, count| {
        panes.push(pane);
        keys.push(key);
        counts.push(count as i64);
        if panes.len() == BATCH {
            batches.push(end(&mut panes, &mut keys, &mut counts));
        }
    })?;
    batches.push(end(&mut panes, &mut keys, &mut counts));
    Counted::new(batches)
}

/// How often keys count in panes, read through `__arrow_c_stream__`.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Counted {
    fields: Fields,
    batches: Vec<StructArray>,
}

impl Counted {
    fn new(batches: Vec<[ArrayRef; 3]>) -> Result<Self> {
        let key = batches
            .first()
            .map_or(DataType::Binary, |[_, key, _]| key.data_type().clone());
        let field = |(name, data): (&str, DataType)| Field::new(name, data, true);
        let fields: Fields = [
            ("pane", DataType::Int64),
            ("key", key),
            ("count", DataType::Int64),
        ]
        .map(field)
        .into_iter()
        .collect();
        let batch = |columns: [ArrayRef; 3]| StructArray::try_new(fields.clone(), columns.into(), None);
        let batches = batches
            .into_iter()
            .map(batch)
            .collect::<std::result::Result<_, _>>();
        let batches = batches.map_err(|cause| Failure::Input(cause.to_string()))?;
        Ok(Self { fields, batches })
    }
}

#[pymethods]
impl Counted {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let batches: Vec<_> = self
            .batches
            .iter()
            .map(|batch| Ok(Arc::new(batch.clone()) as ArrayRef))
            .collect();
        let field = Arc::new(Field::new_struct("", self.fields.clone(), false));
        Ok(to_stream_pycapsule(
            py,
            Box::new(ArrayIterator::new(batches, field)),
            requested_schema,
        )?)
    }
}

/// Keys with their counts, a batch at a time; then parts of panes.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Counter(Own<Parts>);

enum Parts {
    Bytes(Blueprint<Bytes>, BTreeMap<i64, Part<Bytes>>),
    Integers(Blueprint<u64>, BTreeMap<i64, Part<u64>>),
}

#[pymethods]
impl Counter {
    /// A batch with the columns `pane`, `key` and `count`: no other batch, here or elsewhere, has the same key of the same pane.
    fn add(&self, py: Python<'_>, batch: AnyArray) -> PyResult<()> {
        let chunks = pull(py, batch)?;
        self.0.with(py, |state| match state {
            Parts::Bytes(blueprint, parts) => {
                chunks.iter().try_for_each(|chunk| count(blueprint, parts, chunk))
            }
            Parts::Integers(blueprint, parts) => {
                chunks.iter().try_for_each(|chunk| count(blueprint, parts, chunk))
            }
        })
    }

    /// The number of each pane, and what is known of it.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Vec<(i64, Bound<'py, PyBytes>)>> {
        fn finished<K: Key>(parts: BTreeMap<i64, Part<K>>) -> Vec<(i64, Vec<u8>)> {
            parts
                .into_iter()
                .map(|(number, part)| (number, part.finish()))
                .collect()
        }
        let state = self.0.take(py)?;
        let parts = py.detach(|| match state {
            Parts::Bytes(_, parts) => finished(parts),
            Parts::Integers(_, parts) => finished(parts),
        });
        let given = parts
            .iter()
            .map(|(number, bytes)| (*number, PyBytes::new(py, bytes)));
        Ok(given.collect())
    }
}

fn count<K: ColumnKey>(
    blueprint: &Blueprint<K>,
    parts: &mut BTreeMap<i64, Part<K>>,
    chunk: &ArrayRef,
) -> Result<()> {
    let (panes, counts) = (numbers(chunk, "pane")?, numbers(chunk, "count")?);
    let mut read = K::Read::default();
    K::read(&piece(column(chunk, "key")?, &(0..chunk.len())), &mut read);
    for row in 0..chunk.len() {
        let part = parts.entry(panes.value(row)).or_insert_with(|| blueprint.part());
        part.add(K::key(&read, row), counts.value(row).unsigned_abs());
    }
    Ok(())
}
