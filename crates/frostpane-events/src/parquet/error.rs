//! Errors of Parquet files.

use parquet::errors::{ParquetError, Result};

use crate::guard;

/// The message of an error, and what to do. The words of the parquet crate may hold a part of the file, so
/// they are shown only if the operator has asked for that.
pub fn unreadable(cause: &ParquetError, show_input: bool) -> String {
    let why = match cause {
        ParquetError::NYI(what) => what,
        ParquetError::General(what) if what.starts_with("Invalid Parquet file") => {
            "it does not end as Parquet files do, so it is none, or was cut off: copy or write it again, or give its --format"
        }
        ParquetError::EOF(_) | ParquetError::NeedMoreData(_) | ParquetError::NeedMoreDataRange(_) => {
            "it is cut off: copy or write it again"
        }
        _ => "it is damaged: copy or write it again",
    };
    if show_input {
        format!("this cannot be read as Parquet: {why} ({cause})")
    } else {
        format!("this cannot be read as Parquet: {why}")
    }
}

/// Runs a part of the parquet crate, whose panic is an error.
pub fn guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    guard::guarded(run).unwrap_or_else(|| Err(damaged()))
}

pub fn damaged() -> ParquetError {
    ParquetError::General("it is damaged".to_owned())
}
