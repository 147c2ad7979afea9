//! The present moment. Whether the clock of the machine can be believed is judged by the state.

use jiff::Timestamp;

/// Microseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
