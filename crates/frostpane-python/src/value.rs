//! A key or a user as one Python object.
//!
//! Each value is read by itself, into bytes: no other value of the column has a say in it, so no user has one in how others are read.

use arrow_array::LargeBinaryArray;
use arrow_array::builder::LargeBinaryBuilder;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString};

use crate::number::whole;

/// Decimals with more digits than this are not written out.
const MOST_DIGITS: i64 = 4_300;

/// A column of keys or users that grows value by value.
#[derive(Default)]
pub struct ValueColumn {
    builder: LargeBinaryBuilder,
    readable: bool,
    unreadable: bool,
}

impl ValueColumn {
    /// Appends one value. What is neither a key nor a user is a null: the loss of its event alone.
    pub fn push(&mut self, value: &Bound<'_, PyAny>) {
        if let Ok(text) = value.cast::<PyString>() {
            // A lone surrogate is no text that could be written down.
            return match text.to_cow() {
                Ok(text) => self.append(text.as_bytes()),
                Err(_) => self.lose(),
            };
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return self.append(bytes.as_bytes());
        }
        if let Ok(bytes) = value.cast::<PyByteArray>() {
            return self.append(&bytes.to_vec());
        }
        match number(value).or_else(|| other(value)) {
            Some(text) => self.append(text.as_bytes()),
            None if is_missing(value) => self.builder.append_null(),
            None => self.lose(),
        }
    }

    /// The column. Returns true beside it if it had values of which none could be read.
    pub fn finish(mut self) -> (LargeBinaryArray, bool) {
        (self.builder.finish(), self.unreadable && !self.readable)
    }

    fn append(&mut self, bytes: &[u8]) {
        self.readable = true;
        self.builder.append_value(bytes);
    }

    fn lose(&mut self) {
        self.unreadable = true;
        self.builder.append_null();
    }
}

/// The digits of Python's numbers, if they are whole. Booleans are none.
fn number(value: &Bound<'_, PyAny>) -> Option<String> {
    if value.cast::<PyBool>().is_ok() {
        return None;
    }
    if let Ok(integer) = value.cast::<PyInt>() {
        return digits(integer);
    }
    whole(value.cast::<PyFloat>().ok()?.value()).map(|number| number.to_string())
}

/// The digits of an integer, up to the most that Python writes.
fn digits(integer: &Bound<'_, PyInt>) -> Option<String> {
    if let Ok(number) = integer.extract::<i64>() {
        return Some(number.to_string());
    }
    // Types derived from int may show themselves otherwise.
    integer.py().get_type::<PyInt>().call_method1("__repr__", (integer,)).ok()?.extract().ok()
}

/// Numbers of numpy and of `decimal`, and UUIDs.
fn other(value: &Bound<'_, PyAny>) -> Option<String> {
    let class = value.get_type().fully_qualified_name().ok()?;
    match class.to_cow().ok()?.as_ref() {
        "decimal.Decimal" => decimal(value).ok()?,
        "uuid.UUID" => value.str().ok()?.extract().ok(),
        name if name.starts_with("numpy.") => number(&scalar(value).ok()?),
        _ => None,
    }
}

/// A number of numpy's, as Python has it.
fn scalar<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_one = value.getattr("ndim")?.extract::<usize>()? == 0;
    match is_one && "iuf".contains(&value.getattr("dtype")?.getattr("kind")?.extract::<String>()?) {
        true => value.call_method0("item"),
        false => Ok(value.py().None().into_bound(value.py())),
    }
}

fn decimal(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let is_short = value.call_method0("is_finite")?.extract::<bool>()?
        && value.call_method0("adjusted")?.extract::<i64>()? < MOST_DIGITS;
    if !is_short || !value.eq(value.call_method0("to_integral_value")?)? {
        return Ok(None);
    }
    Ok(digits(value.call_method0("__int__")?.cast::<PyInt>()?))
}

/// Returns true for None, and for its counterparts of floats and pandas.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    let is_null = || {
        let class = value.get_type().name();
        class.is_ok_and(|class| class == "NAType" || class == "NaTType")
    };
    value.is_none() || value.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan()) || is_null()
}
