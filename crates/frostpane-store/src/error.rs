//! Errors of a store.

use std::fmt;
use std::io;
use std::path::Path;

use frostpane::Refusal;

use crate::clock::ClockError;

/// An error of a store. Nothing was charged and nothing was ingested, unless the message says so.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The library refused the input.
    Stream(frostpane::Error),
    /// A pane or epoch that a release would cover cannot pay for it.
    Refused(Box<Unaffordable>),
    /// The request contradicts what is stored.
    Conflict(String),
    /// The clock of the machine is implausible.
    Clock(ClockError),
    /// Users fitted neither into the memory nor onto the disk, so nothing is ingested and nothing is
    /// released. The message does not depend on the users.
    Stopped(&'static str),
    /// Another process has the store open.
    Busy(String),
    /// A file is damaged, or cannot be read or written now: the message says which.
    File(String),
}

/// A release that cannot be paid for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unaffordable {
    /// The panes or epochs that cannot pay, with the amounts that are asked, spent and left.
    pub refusal: Refusal,
    /// When they leave the window, as a moment or a number of events, in the order of the refusal.
    pub leave: Vec<String>,
    /// The refusal as a sentence.
    pub(crate) words: String,
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict(message.into())
    }

    pub(crate) fn file(path: &Path, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::StorageFull => Self::full(),
            _ => Self::File(format!("{}: {cause}", path.display())),
        }
    }

    fn full() -> Self {
        Self::File("the disk is full: make room, then go on from what was kept".to_owned())
    }

    /// The disk cannot be read or written, which says nothing about its contents.
    fn unread(cause: impl fmt::Display) -> Self {
        Self::File(format!(
            "the state could not be read or written ({cause}), which is no damage to it: try again, and look \
             at the disk if it happens again"
        ))
    }

    pub(crate) fn broken() -> Self {
        Self::conflict(
            "something failed before, and what is in memory may not be what is kept: open the state again",
        )
    }

    pub(crate) fn damaged(what: impl fmt::Display) -> Self {
        Self::File(format!("the state is damaged ({what}): restore a copy, whose budget will count as spent"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(cause) => cause.fmt(f),
            Self::Refused(unaffordable) => unaffordable.fmt(f),
            Self::Clock(cause) => cause.fmt(f),
            Self::Stopped(message) => f.write_str(message),
            Self::Conflict(message) | Self::Busy(message) | Self::File(message) => f.write_str(message),
        }
    }
}

impl fmt::Display for Unaffordable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Error {}

impl From<frostpane::Error> for Error {
    fn from(cause: frostpane::Error) -> Self {
        Self::Stream(cause)
    }
}

impl From<redb::Error> for Error {
    fn from(cause: redb::Error) -> Self {
        match cause {
            redb::Error::DatabaseAlreadyOpen => Self::Busy(
                "another process has this state open: wait until it has ended (budget and inspect can look \
                 at it meanwhile)"
                    .to_owned(),
            ),
            redb::Error::Io(cause) if cause.kind() == io::ErrorKind::StorageFull => Self::full(),
            redb::Error::Io(cause) if !is_of_content(&cause) => Self::unread(cause),
            redb::Error::PreviousIo => Self::broken(),
            cause => Self::damaged(cause),
        }
    }
}

/// Returns true if an error is about the bytes that were read, not about reading them.
fn is_of_content(cause: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(cause.kind(), InvalidData | InvalidInput | UnexpectedEof)
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for Error {
            fn from(cause: $error) -> Self {
                redb::Error::from(cause).into()
            }
        })*
    };
}

from_redb!(
    redb::DatabaseError,
    redb::TransactionError,
    redb::TableError,
    redb::StorageError,
    redb::CommitError,
    redb::SetDurabilityError
);

impl From<serde_json::Error> for Error {
    fn from(cause: serde_json::Error) -> Self {
        Self::damaged(cause)
    }
}
