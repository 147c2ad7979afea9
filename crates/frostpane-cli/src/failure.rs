//! Errors of commands, and their exit codes.

use std::fmt;
use std::io;
use std::process::ExitCode;

#[derive(Debug)]
pub enum Failure {
    Message(String),
    Output(io::Error),
    /// The list was written, but no event had a key that counts.
    NoKeys(String),
    /// An audit found that a claim does not hold.
    Violated(String),
}

/// Exit code of an audit that found a claim violated.
const VIOLATED: u8 = 3;
/// Exit code of a list for which no event had a key.
const NO_KEYS: u8 = 4;

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// True if the reader of the output has gone, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }

    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Violated(_) => ExitCode::from(VIOLATED),
            Failure::NoKeys(_) => ExitCode::from(NO_KEYS),
            _ => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Message(message) | Failure::NoKeys(message) | Failure::Violated(message) => {
                f.write_str(message)
            }
            Failure::Output(cause) => write!(f, "cannot write the result: {cause}"),
        }
    }
}

macro_rules! as_messages {
    ($($cause:ty),*) => {
        $(impl From<$cause> for Failure {
            fn from(cause: $cause) -> Self {
                Failure::Message(cause.to_string())
            }
        })*
    };
}

as_messages!(&str, String, frostpane::Error, frostpane_events::Error, toml::ser::Error);

impl From<frostpane_paper::PresetRefusal> for Failure {
    fn from(refusal: frostpane_paper::PresetRefusal) -> Self {
        Failure::Message(format!("the published algorithm cannot run: {refusal}"))
    }
}

impl From<io::Error> for Failure {
    fn from(cause: io::Error) -> Self {
        Failure::Output(cause)
    }
}
