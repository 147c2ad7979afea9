//! The error type. A message says what was given, what is allowed and what to do.

use std::fmt;

/// The kind of an error, for code that has to tell errors apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A parameter lies outside of what is allowed.
    Parameter,
    /// An event or a query does not fit the kind of window.
    Window,
    /// The events of the window have been in as many releases as they may.
    Budget,
    /// The operating system gave no entropy.
    Entropy,
    /// Panes with different parameters cannot be added.
    Pane,
    /// Users' contributions fit neither into the memory nor onto the disk.
    Memory,
    /// Stored state cannot be read, or belongs to something else.
    State,
}

/// An error with a message for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parameter, message)
    }

    pub(crate) fn window(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Window, message)
    }

    /// The kind of this error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
