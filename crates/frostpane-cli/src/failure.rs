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

pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// True if the reader of the output has gone, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The code to exit with, which [`EXIT_CODES`](crate::args::EXIT_CODES) explains.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Violated(_) => ExitCode::from(3),
            Failure::NoKeys(_) => ExitCode::from(4),
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
