//! Events.

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::key::Key;

/// One event: when it took place, for windows by the clock, and its key, if it has one that counts. Also without a key it
/// is an event: the window moves on.
///
/// ```
/// use frostpane::{Bytes, Event};
///
/// let by_count: Event<'_, Bytes> = Event::of("snow tomorrow".as_bytes());
/// let by_the_clock: Event<'_, u64> = Event::at(1_767_225_600_000_000, 443);
/// let without_key: Event<'_, u64> = Event { time: None, key: None, user: None };
/// // Where users are protected: who it is of, compared whole.
/// let of_someone: Event<'_, u64> = Event::by(b"u-17", 1_767_225_600_000_000, 443);
/// ```
pub struct Event<'a, K: Key> {
    /// In microseconds since 1970; none in windows by count.
    pub time: Option<i64>,
    /// Its key.
    pub key: Option<K::Ref<'a>>,
    /// Whose it is, where [users](crate::Unit::User) are protected: an event of nobody is not counted there.
    pub user: Option<&'a [u8]>,
}

impl<K: Key> Clone for Event<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Key> Copy for Event<'_, K> {}

impl<'a, K: Key> Event<'a, K> {
    /// An event of a window by count.
    #[inline]
    pub fn of(key: K::Ref<'a>) -> Self {
        Self { time: None, key: Some(key), user: None }
    }

    /// An event of a window by the clock, at a time in microseconds since 1970.
    #[inline]
    pub fn at(time: i64, key: K::Ref<'a>) -> Self {
        Self { time: Some(time), key: Some(key), user: None }
    }

    /// An event of a user.
    #[inline]
    pub fn by(user: &'a [u8], time: i64, key: K::Ref<'a>) -> Self {
        Self { time: Some(time), key: Some(key), user: Some(user) }
    }
}

pub(crate) fn check_time(time: i64) -> Result<()> {
    match Timestamp::from_microsecond(time) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::window(format!(
            "the time {time} lies outside the calendar: give microseconds since 1970"
        ))),
    }
}
