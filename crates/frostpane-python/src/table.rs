//! Arrow tables for Python.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch, StructArray, UInt64Array};
use arrow_schema::Field;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::error::{CallError, Result};

/// Batches of rows, read through `__arrow_c_stream__`: at least one.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Table {
    batches: Vec<StructArray>,
}

impl Table {
    /// A table of batches of the same named columns.
    pub fn of<const N: usize>(batches: Vec<[(&str, ArrayRef); N]>, nullable: bool) -> Result<Self> {
        let batch = |columns: [(&str, ArrayRef); N]| {
            let columns = columns.map(|(name, column)| (name, column, nullable));
            RecordBatch::try_from_iter_with_nullable(columns).map(StructArray::from)
        };
        let batches: std::result::Result<_, _> = batches.into_iter().map(batch).collect();
        Ok(Self { batches: batches.map_err(|cause| CallError::Input(cause.to_string()))? })
    }
}

#[pymethods]
impl Table {
    /// The listed keys of a release.
    #[new]
    fn new(keys: KeyCells, counts: Vec<i64>, lows: Vec<i64>, highs: Vec<i64>) -> PyResult<Self> {
        let keys: ArrayRef = match keys {
            KeyCells::Integers(keys) => Arc::new(UInt64Array::from(keys)),
            KeyCells::Text(keys) => Arc::new(LargeStringArray::from(keys)),
        };
        let numbers = |numbers: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(numbers)) };
        let columns =
            [("key", keys), ("count", numbers(counts)), ("low", numbers(lows)), ("high", numbers(highs))];
        Ok(Self::of(vec![columns], false)?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Arc::new(Field::new_struct("", self.batches[0].fields().clone(), false));
        let batches: Vec<_> =
            self.batches.iter().map(|batch| Ok(Arc::new(batch.clone()) as ArrayRef)).collect();
        let reader = Box::new(ArrayIterator::new(batches, field));
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }
}

/// Text comes first, so that an empty list has text keys, the default.
#[derive(FromPyObject)]
enum KeyCells {
    Text(Vec<String>),
    Integers(Vec<u64>),
}
