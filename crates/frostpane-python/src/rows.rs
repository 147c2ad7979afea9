//! Events as Python gives them: columns of keys, times and users, in the memory of whoever made them.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, LargeBinaryBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, NullArray, TimestampMicrosecondArray};
use arrow_schema::{DataType, Fields};
use frostpane::Spec;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyInt, PyList, PyString};
use pyo3_arrow::input::AnyArray;

use crate::column::{Borrowed, Column, Kind, Role, unsuitable};
use crate::error::{Failure, Result};
use crate::events::Columns;

/// Rows of a list are looked at so often for an interrupt.
const OFTEN: usize = 1 << 16;

/// Events that are taken together.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct Rows {
    pub key: Column,
    pub time: Option<Column>,
    pub user: Option<Column>,
    pub len: usize,
}

#[pymethods]
impl Rows {
    /// Three columns of a table, whatever has it: an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    #[staticmethod]
    fn of_frame(
        py: Python<'_>,
        frame: AnyArray,
        key: &str,
        time: Option<&str>,
        user: Option<&str>,
    ) -> PyResult<Self> {
        let field = frame.field()?;
        let DataType::Struct(fields) = field.data_type() else {
            return Err(Failure::Input(format!(
                "a table was expected, with the column {key}, but this is a column of {}",
                field.data_type()
            ))
            .into());
        };
        let wanted = [(Some(key), Role::Key), (time, Role::Time), (user, Role::User)];
        let find = |(name, role): &(Option<&str>, Role)| match name {
            Some(name) => place(fields, name).map(|place| Some((place, *role, (*name).to_owned()))),
            None => Ok(None),
        };
        let found = wanted.iter().map(find).collect::<Result<Vec<_>>>()?;
        // What cannot be read is refused before anything is.
        for (place, role, name) in found.iter().flatten() {
            Column::arrow(Vec::new(), fields[*place].data_type(), *role, &column(name))?;
        }
        let chunks = pull(py, frame)?;
        let take = |found: &Option<(usize, Role, String)>| -> Result<Option<Column>> {
            let Some((place, role, name)) = found else {
                return Ok(None);
            };
            let data = fields[*place].data_type();
            let of = chunks
                .iter()
                .map(|chunk| Arc::clone(chunk.as_struct().column(*place)));
            Column::arrow(of.collect(), data, *role, &column(name)).map(Some)
        };
        let missing = || Failure::Column("there is no column of keys".to_owned());
        Ok(Self {
            key: take(&found[0])?.ok_or_else(missing)?,
            time: take(&found[1])?,
            user: take(&found[2])?,
            len: chunks.iter().map(|chunk| chunk.len()).sum(),
        })
    }

    /// Columns one by one: Arrow's, arrays of 64-bit integers of numpy's, or lists. Integers are Unix times, told apart by their size, unless
    /// they are said to be microseconds.
    #[staticmethod]
    #[pyo3(signature = (key, time=None, user=None, micros=false))]
    fn of_columns(
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        time: Option<&Bound<'_, PyAny>>,
        user: Option<&Bound<'_, PyAny>>,
        micros: bool,
    ) -> PyResult<Self> {
        let key = any_column(py, key, Role::Key)?;
        let time = time.map(|time| any_column(py, time, Role::Time)).transpose()?;
        let time = match time {
            Some(Column::Signed(array, _)) if micros => Some(Column::Signed(array, Kind::Time)),
            time => time,
        };
        let user = user.map(|user| any_column(py, user, Role::User)).transpose()?;
        let len = key.len(py);
        for (column, what) in [(&time, "times"), (&user, "users")] {
            if let Some(other) = column
                .as_ref()
                .map(|column| column.len(py))
                .filter(|other| *other != len)
            {
                return Err(Failure::Input(format!(
                    "there are {len} keys and {other} {what}, but every event has one of each: give columns of the same length"
                ))
                .into());
            }
        }
        Ok(Self { key, time, user, len })
    }

    fn __len__(&self) -> usize {
        self.len
    }
}

impl Rows {
    /// Keeps others from writing to its arrays.
    pub fn borrow<'py>(&self, py: Python<'py>) -> Result<Held<'_, 'py>> {
        let (time, user) = (self.time.as_ref(), self.user.as_ref());
        Ok(Held {
            key: self.key.borrow(py)?,
            time: time.map(|column| column.borrow(py)).transpose()?,
            time_kind: time.map_or(Kind::Nulls, Column::kind),
            user: user.map(|column| column.borrow(py)).transpose()?,
        })
    }

    /// That it has what a window needs: times by the clock, and users where they are protected.
    pub fn check(&self, spec: &Spec) -> Result<()> {
        let by_clock = !spec.longest().is_by_count();
        let parameter = |message: &str| Err(Failure::Parameter(message.to_owned()));
        match spec.unit.is_user() {
            true if self.user.is_none() => parameter(
                "people are protected, but nothing says whose an event is: say which column holds the user, with user",
            ),
            false if self.user.is_some() => parameter(
                "users were given, but what is protected is the key of one event: build this with user, or leave them out",
            ),
            _ if by_clock && self.time.is_none() => parameter(
                "a window by time needs the times of the events: say which column holds them, with time, or give the window as a number of events",
            ),
            _ => Ok(()),
        }
    }
}

/// Columns that nobody writes to.
pub struct Held<'a, 'py> {
    key: Borrowed<'a, 'py>,
    time: Option<Borrowed<'a, 'py>>,
    time_kind: Kind,
    user: Option<Borrowed<'a, 'py>>,
}

impl Held<'_, '_> {
    /// As a window goes through them: times are looked at by the clock alone.
    pub fn columns(&self, spec: &Spec) -> Result<Columns<'_>> {
        let by_clock = !spec.longest().is_by_count();
        let time = self
            .time
            .as_ref()
            .filter(|_| by_clock)
            .map(Borrowed::view)
            .transpose()?;
        Ok(Columns {
            key: self.key.view()?,
            time: time.map(|view| (view, self.time_kind)),
            user: self.user.as_ref().map(Borrowed::view).transpose()?,
        })
    }
}

fn column(name: &str) -> String {
    format!("the column {name}")
}

fn place(fields: &Fields, name: &str) -> Result<usize> {
    let named: Vec<usize> = (0..fields.len())
        .filter(|place| fields[*place].name() == name)
        .collect();
    match named[..] {
        [place] => Ok(place),
        [] => {
            let all: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            Err(Failure::Column(format!(
                "there is no column {name}: there are {}",
                all.join(", ")
            )))
        }
        _ => Err(Failure::Column(format!(
            "there are several columns {name}: rename one of them"
        ))),
    }
}

/// All chunks of a stream, as they are. Until they are here nothing has been taken, so an interrupt ends it.
pub fn pull(py: Python<'_>, array: AnyArray) -> PyResult<Vec<ArrayRef>> {
    let mut reader = array.into_reader()?;
    let mut chunks = Vec::new();
    loop {
        match py.detach(|| reader.next()) {
            Some(Ok(chunk)) => chunks.push(chunk),
            Some(Err(cause)) => {
                return Err(Failure::Input(format!("the events cannot be read: {cause}")).into());
            }
            None => return Ok(chunks),
        }
        py.check_signals()?;
    }
}

fn any_column(py: Python<'_>, given: &Bound<'_, PyAny>, role: Role) -> PyResult<Column> {
    let name = match role {
        Role::Key => "the column of keys",
        Role::Time => "the column of times",
        Role::User => "the column of users",
    };
    if let Ok(list) = given.cast::<PyList>() {
        return Ok(of_list(py, list, role)?);
    }
    if let Ok(array) = given.cast::<PyArray1<u64>>() {
        return Ok(Column::Unsigned(array.clone().unbind()));
    }
    if let Ok(array) = given.cast::<PyArray1<i64>>() {
        return Ok(Column::Signed(array.clone().unbind(), Kind::Integers));
    }
    let array: AnyArray = given.extract()?;
    let field = array.field()?;
    let data = field.data_type();
    Column::arrow(Vec::new(), data, role, name)?;
    let data = data.clone();
    Ok(Column::arrow(pull(py, array)?, &data, role, name)?)
}

/// What a list of Python's objects holds.
fn of_list(py: Python<'_>, list: &Bound<'_, PyList>, role: Role) -> Result<Column> {
    let first = list.iter().find(|item| !item.is_none());
    let array: ArrayRef = match first {
        None => Arc::new(NullArray::new(list.len())),
        Some(_) if role == Role::Time => Arc::new(moments(py, list)?),
        Some(item) if item.cast::<PyInt>().is_ok() => integers(py, list, role)?,
        Some(_) => texts(py, list, role)?,
    };
    let data = array.data_type().clone();
    Column::arrow(vec![array], &data, role, "the list")
}

/// The package has made microseconds of them.
fn moments(py: Python<'_>, list: &Bound<'_, PyList>) -> Result<TimestampMicrosecondArray> {
    let mut builder = Int64Builder::with_capacity(list.len());
    for (row, item) in list.iter().enumerate() {
        look_around(py, row)?;
        builder.append_option(item.extract::<Option<i64>>()?);
    }
    Ok(builder.finish().reinterpret_cast())
}

/// Whole numbers, of which those beyond 64 bits are none.
fn integers(py: Python<'_>, list: &Bound<'_, PyList>, role: Role) -> Result<ArrayRef> {
    let mut numbers = Vec::with_capacity(list.len());
    for (row, item) in list.iter().enumerate() {
        look_around(py, row)?;
        numbers.push(match item {
            item if item.is_none() => None,
            item if item.cast::<PyInt>().is_ok() && item.cast::<PyBool>().is_err() => {
                item.extract::<i128>().ok()
            }
            item => return Err(Failure::Input(mixed(&item, "integers", role))),
        });
    }
    let signed = numbers
        .iter()
        .flatten()
        .all(|number| i64::try_from(*number).is_ok());
    Ok(match signed {
        true => {
            let mut builder = Int64Builder::with_capacity(numbers.len());
            let narrow = |number: i128| i64::try_from(number).ok();
            numbers
                .into_iter()
                .for_each(|number| builder.append_option(number.and_then(narrow)));
            Arc::new(builder.finish())
        }
        false => {
            let mut builder = UInt64Builder::with_capacity(numbers.len());
            let narrow = |number: i128| u64::try_from(number).ok();
            numbers
                .into_iter()
                .for_each(|number| builder.append_option(number.and_then(narrow)));
            Arc::new(builder.finish())
        }
    })
}

fn texts(py: Python<'_>, list: &Bound<'_, PyList>, role: Role) -> Result<ArrayRef> {
    let mut builder = LargeBinaryBuilder::new();
    for (row, item) in list.iter().enumerate() {
        look_around(py, row)?;
        if item.is_none() {
            builder.append_null();
        } else if let Ok(text) = item.cast::<PyString>() {
            // Half of a pair is no text that could be written down.
            builder.append_option(text.to_cow().ok().map(|text| text.as_bytes().to_vec()));
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            builder.append_value(bytes.as_bytes());
        } else if let Ok(bytes) = item.cast::<PyByteArray>() {
            builder.append_value(bytes.to_vec());
        } else {
            return Err(Failure::Input(mixed(&item, "text or bytes", role)));
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn mixed(item: &Bound<'_, PyAny>, others: &str, role: Role) -> String {
    let name = item
        .get_type()
        .name()
        .map_or_else(|_| "another type".to_owned(), |name| name.to_string());
    match others {
        "integers" => {
            format!("the list holds {others}, and then one of the type {name}: give all of one type")
        }
        _ => unsuitable(&format!("the type {name}"), role, "the list"),
    }
}

fn look_around(py: Python<'_>, row: usize) -> Result<()> {
    match row % OFTEN {
        0 => Ok(py.check_signals()?),
        _ => Ok(()),
    }
}
