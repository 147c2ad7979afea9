use std::fmt;

use crate::sink::FaultPlace;

/// Why input cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input as a whole: what is wrong, where, and what to do.
    Input(String),
    /// The input has no such column.
    Column {
        /// The column as it was asked for.
        column: String,
        /// The message: what is wrong, where, and what to do.
        message: String,
    },
    /// An event, where [those that are invalid refuse the input](crate::OnInvalid::Refuse), or the frame
    /// around all events.
    Invalid(FaultPlace),
    /// There are more events than [`Schema::most_events`](crate::Schema::most_events).
    TooMany(u64),
    /// The values of an Arrow stream have more bytes of text than this.
    TooLarge(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(message) | Error::Column { message, .. } => f.write_str(message),
            Error::Invalid(place) => write!(f, "{place}"),
            Error::TooMany(most) => write!(f, "there are more than {most} events"),
            Error::TooLarge(most) => write!(f, "there are more than {most} bytes of text"),
        }
    }
}

impl std::error::Error for Error {}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Error::Input(message)
    }
}

#[derive(Debug)]
pub enum Halt {
    Error(Error),
    /// The visitor of events has failed, and keeps the reason.
    Visitor,
}

pub type Result<T, E = Halt> = std::result::Result<T, E>;

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Halt::Error(error)
    }
}

impl From<String> for Halt {
    fn from(message: String) -> Self {
        Halt::Error(Error::Input(message))
    }
}

/// Runs `read` with a visitor that keeps the failure of `visit`, which is the result then.
pub fn visiting<E: From<Error>, T>(
    mut visit: impl FnMut(crate::EventRef<'_>) -> Result<(), E>,
    read: impl FnOnce(&mut dyn FnMut(crate::EventRef<'_>) -> Result<()>) -> Result<T>,
) -> Result<T, E> {
    let mut failure = None;
    let outcome = read(&mut |event| {
        visit(event).map_err(|cause| {
            failure = Some(cause);
            Halt::Visitor
        })
    });
    match (outcome, failure) {
        (Ok(read), _) => Ok(read),
        (Err(_), Some(cause)) => Err(cause),
        (Err(Halt::Error(error)), None) => Err(error.into()),
        // No visitor has failed without a cause.
        (Err(Halt::Visitor), None) => Err(Error::Input("the events were not taken".to_owned()).into()),
    }
}
