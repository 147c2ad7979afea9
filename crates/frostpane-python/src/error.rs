//! Errors, and their Python exceptions.

use frostpane::{Amount, ErrorKind};
use frostpane_store::Unaffordable;
use pyo3::prelude::*;
use serde::Serialize;

mod raised {
    pyo3::import_exception!(frostpane.errors, BusyError);
    pyo3::import_exception!(frostpane.errors, ColumnError);
    pyo3::import_exception!(frostpane.errors, ConflictError);
    pyo3::import_exception!(frostpane.errors, EntropyError);
    pyo3::import_exception!(frostpane.errors, FileError);
    pyo3::import_exception!(frostpane.errors, ForkedError);
    pyo3::import_exception!(frostpane.errors, FrostpaneError);
    pyo3::import_exception!(frostpane.errors, InputError);
    pyo3::import_exception!(frostpane.errors, InsufficientBudgetError);
    pyo3::import_exception!(frostpane.errors, MemoryLimitError);
    pyo3::import_exception!(frostpane.errors, PaneError);
    pyo3::import_exception!(frostpane.errors, ParameterError);
    pyo3::import_exception!(frostpane.errors, StateError);
    pyo3::import_exception!(frostpane.errors, WindowError);
}

pub enum CallError {
    Library(frostpane::Error),
    Store(frostpane_store::Error),
    /// A column has a type that cannot be used.
    Input(String),
    Column(String),
    Parameter(String),
    /// The object was closed, or an update was broken.
    Closed(&'static str),
    /// The object belongs to the process that this one was forked from.
    Forked,
    /// An exception: an interrupt, or an error of an object that was passed.
    Python(PyErr),
}

pub type Result<T> = std::result::Result<T, CallError>;

impl From<frostpane::Error> for CallError {
    fn from(cause: frostpane::Error) -> Self {
        Self::Library(cause)
    }
}

impl From<frostpane_store::Error> for CallError {
    fn from(cause: frostpane_store::Error) -> Self {
        match cause {
            frostpane_store::Error::Stream(cause) => Self::Library(cause),
            cause => Self::Store(cause),
        }
    }
}

impl From<frostpane_events::Error> for CallError {
    fn from(cause: frostpane_events::Error) -> Self {
        let message = in_python(&cause.to_string());
        match cause {
            frostpane_events::Error::Column { .. } => Self::Column(message),
            _ => Self::Input(message),
        }
    }
}

impl From<PyErr> for CallError {
    fn from(cause: PyErr) -> Self {
        Self::Python(cause)
    }
}

impl From<CallError> for PyErr {
    fn from(failure: CallError) -> Self {
        match failure {
            CallError::Library(cause) => of_library(&cause),
            CallError::Store(cause) => of_store(&cause),
            CallError::Input(message) => raised::InputError::new_err(message),
            CallError::Column(message) => raised::ColumnError::new_err(message),
            CallError::Parameter(message) => raised::ParameterError::new_err(message),
            CallError::Closed(message) => raised::StateError::new_err(message),
            CallError::Forked => raised::ForkedError::new_err(
                "this process was forked from the one that has it, and its noise and its budget must not \
                 exist twice: use it there, or build a new one here",
            ),
            CallError::Python(cause) => cause,
        }
    }
}

fn of_library(cause: &frostpane::Error) -> PyErr {
    let message = cause.to_string();
    match cause.kind() {
        ErrorKind::Parameter => raised::ParameterError::new_err(message),
        ErrorKind::Window => raised::WindowError::new_err(message),
        ErrorKind::Budget => raised::InsufficientBudgetError::new_err(message),
        ErrorKind::Entropy => raised::EntropyError::new_err(message),
        ErrorKind::Pane => raised::PaneError::new_err(message),
        ErrorKind::Memory => raised::MemoryLimitError::new_err(message),
        ErrorKind::State => raised::StateError::new_err(message),
        _ => raised::FrostpaneError::new_err(message),
    }
}

fn of_store(cause: &frostpane_store::Error) -> PyErr {
    use frostpane_store::Error;
    let message = in_python(&cause.to_string());
    match cause {
        Error::Refused(unaffordable) => {
            raised::InsufficientBudgetError::new_err((message, numbers(unaffordable)))
        }
        Error::Conflict(_) | Error::Clock(_) => raised::ConflictError::new_err(message),
        Error::Stopped(_) => raised::MemoryLimitError::new_err(message),
        Error::Busy(_) => raised::BusyError::new_err(message),
        Error::File(_) => raised::FileError::new_err(message),
        _ => raised::FrostpaneError::new_err(message),
    }
}

/// The amounts of the first that cannot pay, and the moment when the last leaves, as JSON.
fn numbers(unaffordable: &Unaffordable) -> String {
    // A `json!` has no integers of 128 bits.
    #[derive(Serialize)]
    struct RefusalNumbers<'a> {
        asked: Amount,
        spent: Option<Amount>,
        left: Option<Amount>,
        when: Option<&'a String>,
    }
    let Unaffordable { refusal, leave, .. } = unaffordable;
    let first = refusal.unpaid.first();
    let numbers = RefusalNumbers {
        asked: refusal.asked.amount(),
        spent: first.map(|unpaid| unpaid.spent.amount()),
        left: first.map(|unpaid| unpaid.left),
        when: leave.last(),
    };
    serde_json::to_string(&numbers).unwrap_or_default()
}

/// Rewrites a message that names options of the program.
fn in_python(message: &str) -> String {
    message
        .replace("`frostpane restore DIR`", "Store.restore")
        .replace("--accept-clock", "accept_clock=True")
        .replace(" --", " ")
}
