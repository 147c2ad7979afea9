//! Events from Python: columns of keys, times and users, in the memory of the one who made them.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::TimestampMicrosecondBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_schema::{DataType, Fields};
use frostpane::Spec;
use frostpane_events::Times;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyString};
use pyo3_arrow::input::AnyArray;

use crate::column::{Borrowed, InputColumn, Kind, Role};
use crate::error::{CallError, Result};
use crate::events::EventColumns;
use crate::files;
use crate::number::is_number;
use crate::spec::{self, NeededColumns};
use crate::value::ValueColumn;

/// Rows of a list are looked at so often for an interrupt.
const OFTEN: usize = 1 << 16;

/// Events that are taken together.
#[pyclass(frozen, module = "frostpane._internal")]
pub struct EventRows {
    pub key: InputColumn,
    pub time: Option<InputColumn>,
    pub user: Option<InputColumn>,
    pub len: usize,
    /// The columns that have values of which none can be read.
    unreadable: Vec<&'static str>,
    notes: Vec<String>,
}

#[pymethods]
impl EventRows {
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
            return Err(CallError::Input(format!(
                "a table was expected, with the column {key}, but this is a column of {}",
                field.data_type()
            ))
            .into());
        };
        let find = |name: Option<&str>| name.map(|name| place(fields, name)).transpose();
        let wanted =
            [(Some(place(fields, key)?), Role::Key), (find(time)?, Role::Time), (find(user)?, Role::User)];
        let read =
            |chunks: &[ArrayRef], (place, role): (Option<usize>, Role)| -> Result<Option<InputColumn>> {
                let Some(place) = place else { return Ok(None) };
                let parts = chunks.iter().map(|chunk| Arc::clone(chunk.as_struct().column(place)));
                let name = format!("the column {}", fields[place].name());
                InputColumn::arrow(parts.collect(), fields[place].data_type(), role, &name).map(Some)
            };
        // What cannot be read is refused before anything is.
        for column in wanted {
            read(&[], column)?;
        }
        let chunks = pull(py, frame)?;
        let (mut columns, mut unreadable) = ([None, None, None], Vec::new());
        for (found, (place, role)) in columns.iter_mut().zip(wanted) {
            *found = read(&chunks, (place, role))?;
            let is_number = place.is_some_and(|place| is_number(fields[place].data_type()));
            let is_lost = is_number && found.as_ref().is_some_and(InputColumn::is_blank);
            unreadable.extend(is_lost.then(|| role.plural()));
        }
        let [key, time, user] = columns;
        let missing = || CallError::Column("there is no column of keys".to_owned());
        Ok(Self {
            key: key.ok_or_else(missing)?,
            time,
            user,
            len: chunks.iter().map(|chunk| chunk.len()).sum(),
            unreadable,
            notes: Vec::new(),
        })
    }

    /// Columns one by one: Arrow's, arrays of 64-bit numbers of numpy's, or lists. Numbers are Unix times, told apart by their size, unless
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
        let mut unreadable = Vec::new();
        let key = any_column(py, key, Role::Key, &mut unreadable)?;
        let time = time.map(|time| any_column(py, time, Role::Time, &mut unreadable));
        let time = match time.transpose()? {
            Some(InputColumn::Signed(array, _)) if micros => Some(InputColumn::Signed(array, Kind::Time)),
            time => time,
        };
        let user = user.map(|user| any_column(py, user, Role::User, &mut unreadable));
        let user = user.transpose()?;
        let len = key.len(py);
        for (column, what) in [(&time, "times"), (&user, "users")] {
            if let Some(other) = column.as_ref().map(|column| column.len(py)).filter(|other| *other != len) {
                return Err(CallError::Input(format!(
                    "there are {len} keys and {other} {what}, but every event has one of each: give columns of the same length"
                ))
                .into());
            }
        }
        Ok(Self { key, time, user, len, unreadable, notes: Vec::new() })
    }

    /// The events of files, a folder or a pattern, read as the program reads them. Names of columns, or their numbers from 1; without a key
    /// whole lines are keys. Times are read by the clock alone.
    #[staticmethod]
    #[pyo3(signature = (files, spec, key=None, time=None, user=None))]
    fn of_files(
        py: Python<'_>,
        files: Vec<PathBuf>,
        spec: &str,
        key: Option<&str>,
        time: Option<&str>,
        user: Option<&str>,
    ) -> PyResult<Self> {
        let spec = spec::parse(spec)?;
        let schema = files::schema([key, time, user], NeededColumns::of(&spec))?;
        let read = py.detach(|| files::read(&files, schema))?;
        let column = |(chunks, kind)| InputColumn::Arrow { chunks, kind };
        Ok(Self {
            len: read.len,
            key: column((read.keys, Kind::Text)),
            time: read.has_times.then(|| column((read.times, Kind::Time))),
            user: read.has_users.then(|| column((read.users, Kind::Text))),
            unreadable: Vec::new(),
            notes: read.notes,
        })
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The columns that have values of which none can be read, for the operator: "keys", "users".
    #[getter]
    fn unreadable(&self) -> Vec<&'static str> {
        self.unreadable.clone()
    }

    fn __len__(&self) -> usize {
        self.len
    }
}

impl EventRows {
    /// Keeps others from writing to its arrays, if it has what a window of this specification needs.
    pub fn borrow<'py>(&self, py: Python<'py>, spec: &Spec) -> Result<Held<'_, 'py>> {
        self.check(spec)?;
        let (time, user) = (self.time.as_ref(), self.user.as_ref());
        Ok(Held {
            key: self.key.borrow(py)?,
            time: time.map(|column| column.borrow(py)).transpose()?,
            time_kind: time.map_or(Kind::Nulls, InputColumn::kind),
            user: user.map(|column| column.borrow(py)).transpose()?,
        })
    }

    /// Checks that it has times by the clock, and users where they are protected.
    fn check(&self, spec: &Spec) -> Result<()> {
        let parameter = |message: &str| Err(CallError::Parameter(message.to_owned()));
        let needed = NeededColumns::of(spec);
        match (needed.user, self.user.is_some()) {
            (true, false) => parameter(
                "users are protected, but nothing says whose an event is: say which column holds the user, with user",
            ),
            (false, true) => parameter(
                "users were given, but what is protected is the key of one event: build this with user, or leave them out",
            ),
            _ if needed.time && self.time.is_none() => parameter(
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
    /// The columns that a window reads: times are read by the clock alone.
    pub fn columns(&self, spec: &Spec) -> Result<EventColumns<'_>> {
        let needed = NeededColumns::of(spec);
        let time = self.time.as_ref().filter(|_| needed.time).map(Borrowed::view).transpose()?;
        Ok(EventColumns {
            key: self.key.view()?,
            time: time.map(|view| (view, self.time_kind)),
            user: self.user.as_ref().map(Borrowed::view).transpose()?,
        })
    }
}

fn place(fields: &Fields, name: &str) -> Result<usize> {
    let named: Vec<usize> = (0..fields.len()).filter(|place| fields[*place].name() == name).collect();
    match named[..] {
        [place] => Ok(place),
        [] => {
            let all: Vec<&str> = fields.iter().map(|field| field.name().as_str()).collect();
            Err(CallError::Column(format!("there is no column {name}: there are {}", all.join(", "))))
        }
        _ => Err(CallError::Column(format!("there are several columns {name}: rename one of them"))),
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
                return Err(CallError::Input(format!("the events cannot be read: {cause}")).into());
            }
            None => return Ok(chunks),
        }
        py.check_signals()?;
    }
}

fn any_column(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    role: Role,
    unreadable: &mut Vec<&'static str>,
) -> PyResult<InputColumn> {
    let what = role.plural();
    let name = &format!("the column of {what}");
    if let Ok(list) = given.cast::<PyList>() {
        let (column, is_lost) = of_list(py, list, role)?;
        unreadable.extend(is_lost.then_some(what));
        return Ok(column);
    }
    if let Ok(array) = given.cast::<PyArray1<u64>>() {
        return Ok(InputColumn::Unsigned(array.clone().unbind()));
    }
    if let Ok(array) = given.cast::<PyArray1<i64>>() {
        return Ok(InputColumn::Signed(array.clone().unbind(), Kind::Integers));
    }
    let (chunks, data) = match given.cast::<PyArray1<f64>>() {
        Ok(array) => (vec![floats(array)?], DataType::Float64),
        Err(_) => of_arrow(py, given, role, name)?,
    };
    let column = InputColumn::arrow(chunks, &data, role, name)?;
    unreadable.extend((is_number(&data) && column.is_blank()).then_some(what));
    Ok(column)
}

fn floats(array: &Bound<'_, PyArray1<f64>>) -> Result<ArrayRef> {
    let held = array.try_readonly();
    let values = held.ok().and_then(|held| held.to_vec().ok());
    match values {
        Some(values) => Ok(Arc::new(Float64Array::from(values))),
        None => Err(CallError::Input("an array cannot be read while it is written to".to_owned())),
    }
}

/// A type that cannot be read is refused before anything is read.
fn of_arrow(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    role: Role,
    name: &str,
) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let array: AnyArray = given.extract()?;
    let data = array.field()?.data_type().clone();
    InputColumn::arrow(Vec::new(), &data, role, name)?;
    Ok((pull(py, array)?, data))
}

/// A list of Python's objects, each read by itself. Returns true beside it if it has values of which none can
/// be read.
fn of_list(py: Python<'_>, list: &Bound<'_, PyList>, role: Role) -> Result<(InputColumn, bool)> {
    let (array, is_lost): (ArrayRef, bool) = match role {
        Role::Time => {
            let times = Times::default().by_themselves();
            let mut moments = TimestampMicrosecondBuilder::with_capacity(list.len());
            for_each(py, list, |item| moments.append_option(moment(item, &times)))?;
            (Arc::new(moments.finish()), false)
        }
        Role::Key | Role::User => {
            let mut values = ValueColumn::default();
            for_each(py, list, |item| values.push(item))?;
            let (values, is_lost) = values.finish();
            (Arc::new(values), is_lost)
        }
    };
    let data = array.data_type().clone();
    Ok((InputColumn::arrow(vec![array], &data, role, "the list")?, is_lost))
}

fn for_each(py: Python<'_>, list: &Bound<'_, PyList>, mut read: impl FnMut(&Bound<'_, PyAny>)) -> Result<()> {
    for (row, item) in list.iter().enumerate() {
        if row % OFTEN == 0 {
            py.check_signals()?;
        }
        read(&item);
    }
    Ok(())
}

/// A time: text or a number, or microseconds alone in a tuple.
fn moment(item: &Bound<'_, PyAny>, times: &Times) -> Option<i64> {
    if let Ok(text) = item.cast::<PyString>() {
        return times.parse(text.to_cow().ok()?.as_bytes());
    }
    if let Ok(float) = item.cast::<PyFloat>() {
        return times.of_float(float.value());
    }
    if item.cast::<PyBool>().is_ok() {
        return None;
    }
    // Beyond 64 bits is beyond the calendar.
    match item.extract::<i64>() {
        Ok(number) => times.of_integer(number),
        Err(_) => item.extract::<(i64,)>().ok().map(|(micros,)| micros),
    }
}
