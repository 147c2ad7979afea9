//! Events of a reader, collected.

use crate::error::Result;
use crate::schema::Schema;
use crate::sink::{EventSink, Tally};

/// Time, key and user.
pub type Owned = (Option<i64>, Option<Vec<u8>>, Option<Vec<u8>>);

/// The events that `read` hands over, and their numbers.
pub fn events(
    schema: &Schema,
    read: impl FnOnce(&mut EventSink<'_>) -> Result<()>,
) -> (Result<Vec<Owned>>, Tally) {
    let (mut tally, mut events) = (Tally::default(), Vec::new());
    let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
    let outcome = read(&mut EventSink::new("events", "line", schema, &mut tally, &mut |event| {
        events.push((event.time, owned(event.key), owned(event.user)));
        Ok(())
    }));
    (outcome.map(|()| events), tally)
}

/// Bytes as text.
pub fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
