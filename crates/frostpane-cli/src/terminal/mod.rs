//! Messages and progress for the operator, on standard error.

pub mod interrupt;
pub mod progress;

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// Writes a message for the operator to standard error. A reader that has gone is no reason to stop.
pub fn tell(message: impl Display) {
    let _ = writeln!(io::stderr(), "frostpane: {message}");
}

pub fn warn(warning: impl Display) {
    tell(format_args!("warning: {warning}"));
}

/// Writes a value as JSON on one line.
pub fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// Locks a mutex also after a panic: the operator is told of that one.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
