//! Keys of either type, and batches of events with such keys.

use frostpane::{Batch, Bytes, Event, KeySpec, Keys, Spec};
use frostpane_store::StoredKey;

use crate::problem::{Problem, Result};

/// A type of keys that a stream may have.
pub trait ServedKey: StoredKey + Send + Sync {
    fn parse(text: &[u8]) -> Option<Self::Ref<'_>>;
    fn batch(any: &AnyBatch) -> Option<&Batch<Self>>;
    fn any(batch: Batch<Self>) -> AnyBatch;
}

impl ServedKey for Bytes {
    #[inline]
    fn parse(text: &[u8]) -> Option<&[u8]> {
        Some(text)
    }

    fn batch(any: &AnyBatch) -> Option<&Batch<Self>> {
        match any {
            AnyBatch::Bytes(batch) => Some(batch),
            AnyBatch::Integers(_) => None,
        }
    }

    fn any(batch: Batch<Self>) -> AnyBatch {
        AnyBatch::Bytes(batch)
    }
}

impl ServedKey for u64 {
    #[inline]
    fn parse(text: &[u8]) -> Option<u64> {
        str::from_utf8(text).ok()?.parse().ok()
    }

    fn batch(any: &AnyBatch) -> Option<&Batch<Self>> {
        match any {
            AnyBatch::Integers(batch) => Some(batch),
            AnyBatch::Bytes(_) => None,
        }
    }

    fn any(batch: Batch<Self>) -> AnyBatch {
        AnyBatch::Integers(batch)
    }
}

#[derive(Debug)]
pub enum AnyBatch {
    Bytes(Batch<Bytes>),
    Integers(Batch<u64>),
}

impl AnyBatch {
    pub fn bytes(&self) -> usize {
        match self {
            Self::Bytes(batch) => batch.as_bytes().len(),
            Self::Integers(batch) => batch.as_bytes().len(),
        }
    }

    /// Gives all events this time; they have none of their own.
    pub fn stamp(&mut self, at: i64) {
        match self {
            Self::Bytes(batch) => stamp(batch, at),
            Self::Integers(batch) => stamp(batch, at),
        }
    }

    pub fn is_ahead_of(&self, moment: i64) -> bool {
        let is_later = |time: Option<i64>| time.is_some_and(|time| time > moment);
        match self {
            Self::Bytes(batch) => batch.events().any(|event| is_later(event.time)),
            Self::Integers(batch) => batch.events().any(|event| is_later(event.time)),
        }
    }
}

fn stamp<K: ServedKey>(batch: &mut Batch<K>, at: i64) {
    let mut stamped = Batch::new();
    for event in batch.events() {
        stamped.push(Event { time: Some(at), ..event });
    }
    *batch = stamped;
}

pub enum SpecKeys {
    Bytes(Keys<Bytes>),
    Integers(Keys<u64>),
}

impl SpecKeys {
    /// The keys of a specification that came over the network, which may name no file of this machine.
    pub fn of(spec: &Spec) -> Result<Self> {
        Ok(match &spec.keys {
            KeySpec::Range(range) => Self::Integers(Keys::range(range.clone())?),
            KeySpec::List(keys) => {
                Self::Bytes(Keys::list(keys.iter().map(|key| Bytes::from(key.as_bytes())))?)
            }
            KeySpec::Open => Self::Bytes(Keys::open()),
            _ => {
                return Err(Problem::invalid(
                    "the keys are said to be in a file, but the service reads no file that a request names",
                    "give them as a list, or a range, in the specification",
                ));
            }
        })
    }
}
