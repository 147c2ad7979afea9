//! A fence around the parquet crate, which panics on some damaged files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use parquet::errors::{ParquetError, Result};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}
static QUIET: Once = Once::new();

/// Runs something that may panic; then it is an error. What it was working on must not be used again.
pub fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
    GUARDED.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(false);
    outcome.unwrap_or_else(|_| Err(damaged()))
}

pub fn damaged() -> ParquetError {
    ParquetError::General("it is damaged".to_owned())
}
