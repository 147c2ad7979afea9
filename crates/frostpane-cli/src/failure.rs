//! Why a command ended without a result.

use std::fmt;
use std::io;
use std::process::ExitCode;

use frostpane::ErrorKind;

/// A message for the person at the terminal, or an output that nobody reads any more.
#[derive(Debug)]
pub enum Failure {
    Message(String),
    /// The operating system gave no entropy, which no line of the input is to blame for.
    Entropy(String),
    Output(io::Error),
    /// The list was written, but no event had a key that counts.
    NoKeys(String),
    /// An audit found that a claim does not hold.
    Violated(String),
}

/// What an audit ends with that found a claim violated.
const VIOLATED: u8 = 3;
/// What a list ends with that no event had a key for.
const NO_KEYS: u8 = 4;

/// A result whose error is [`Failure`].
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Whether the reader of our output has gone, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl Failure {
    /// What the program ends with.
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
            Failure::Message(message)
            | Failure::Entropy(message)
            | Failure::NoKeys(message)
            | Failure::Violated(message) => f.write_str(message),
            Failure::Output(cause) => write!(f, "cannot write the result: {cause}"),
        }
    }
}

impl From<frostpane::Error> for Failure {
    fn from(error: frostpane::Error) -> Self {
        match error.kind() {
            ErrorKind::Entropy => Failure::Entropy(error.to_string()),
            _ => Failure::Message(error.to_string()),
        }
    }
}

impl From<frostpane_paper::Refusal> for Failure {
    fn from(refusal: frostpane_paper::Refusal) -> Self {
        Failure::Message(format!("the published algorithm cannot run: {refusal}"))
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Message(message)
    }
}

impl From<io::Error> for Failure {
    fn from(cause: io::Error) -> Self {
        Failure::Output(cause)
    }
}
