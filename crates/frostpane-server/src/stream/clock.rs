//! The wall clock. The state decides if it can be believed.

use jiff::Timestamp;

/// Microseconds since 1970.
pub fn now() -> i64 {
    Timestamp::now().as_microsecond()
}
