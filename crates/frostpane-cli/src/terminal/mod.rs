//! Messages and progress for the operator, on standard error.

pub mod interrupt;
pub mod progress;

use std::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use frostpane_render::TextLayout;
use serde::Serialize;

use crate::failure::Result;
use crate::screen::layout_of;

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

/// Writes to standard output: a value as JSON, or a text.
pub fn print(
    as_json: bool,
    value: &impl Serialize,
    text: impl FnOnce(&mut BufWriter<StdoutLock<'static>>, &TextLayout) -> Result<()>,
) -> Result<()> {
    let stdout = io::stdout().lock();
    let screen = layout_of(&stdout);
    let mut out = BufWriter::new(stdout);
    if as_json {
        write_json(&mut out, value)?;
    } else {
        text(&mut out, &screen)?;
    }
    Ok(out.flush()?)
}

/// Locks a mutex also after a panic: the operator is told of that one.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
