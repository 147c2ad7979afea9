//! What the service tells its operator. No request is logged: how many there were, and how large, would tell how many events there
//! were. Nothing that came in is ever a part of a line.

use std::fmt;

use jiff::Timestamp;

use crate::problem::Problem;

/// A line.
pub fn tell(what: impl fmt::Display) {
    eprintln!("{:.3} {what}", Timestamp::now());
}

/// That something failed which nobody can be told.
pub fn failed(stream: &str, problem: &Problem) {
    tell(format_args!("stream {stream}: {problem}"));
}
