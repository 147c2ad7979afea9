//! The listed keys of a release as an Arrow table.

use std::slice;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, LargeStringArray, StructArray, UInt64Array};
use arrow_schema::{Field, Fields};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::error::CallError;

/// The columns of a list, read through `__arrow_c_stream__`.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Table {
    rows: StructArray,
}

#[pymethods]
impl Table {
    #[new]
    fn new(keys: KeyCells, counts: Vec<i64>, lows: Vec<i64>, highs: Vec<i64>) -> PyResult<Self> {
        let keys: ArrayRef = match keys {
            KeyCells::Integers(keys) => Arc::new(UInt64Array::from(keys)),
            KeyCells::Text(keys) => Arc::new(LargeStringArray::from(keys)),
        };
        let numbers = |numbers: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(numbers)) };
        let columns =
            [("key", keys), ("count", numbers(counts)), ("low", numbers(lows)), ("high", numbers(highs))];
        let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), false);
        let fields: Fields = columns.iter().map(field).collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let rows = StructArray::try_new(fields, columns, None);
        Ok(Self { rows: rows.map_err(|cause| CallError::Input(cause.to_string()))? })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        to_stream(py, slice::from_ref(&self.rows), self.rows.fields(), requested_schema)
    }
}

/// An Arrow stream of batches.
pub fn to_stream<'py>(
    py: Python<'py>,
    batches: &[StructArray],
    fields: &Fields,
    requested_schema: Option<Bound<'py, PyCapsule>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batches: Vec<_> = batches.iter().map(|batch| Ok(Arc::new(batch.clone()) as ArrayRef)).collect();
    let field = Arc::new(Field::new_struct("", fields.clone(), false));
    let reader = Box::new(ArrayIterator::new(batches, field));
    Ok(to_stream_pycapsule(py, reader, requested_schema)?)
}

/// Text comes first, so that an empty list has text keys, the default.
#[derive(FromPyObject)]
enum KeyCells {
    Text(Vec<String>),
    Integers(Vec<u64>),
}
