//! The log of events and ticks since the state was written.

use frostpane::{Batch, Key, Stream};

use crate::error::{Error, Result};

const EVENTS: u8 = 0;
const TICK: u8 = 1;
const MOMENT: usize = size_of::<i64>();

pub(crate) enum LogEntry<'a, K> {
    Events(&'a Batch<K>),
    Tick,
}

impl<K: Key> LogEntry<'_, K> {
    pub fn to_bytes(&self, present: i64) -> Vec<u8> {
        let kind = match self {
            Self::Events(_) => EVENTS,
            Self::Tick => TICK,
        };
        [&[kind], present.to_le_bytes().as_slice(), self.events()].concat()
    }

    pub fn len(&self) -> u64 {
        (1 + MOMENT + self.events().len()) as u64
    }

    fn events(&self) -> &[u8] {
        match self {
            Self::Events(batch) => batch.as_bytes(),
            Self::Tick => &[],
        }
    }
}

/// Applies an entry again, at the moment that it records, never at the present one.
pub fn replay<K: Key>(bytes: &[u8], stream: &mut Stream<K>) -> Result<()> {
    let cut = || Error::damaged("an entry of the log ends early");
    let (kind, rest) = bytes.split_first().ok_or_else(cut)?;
    let (moment, events) = rest.split_first_chunk::<MOMENT>().ok_or_else(cut)?;
    let present = i64::from_le_bytes(*moment);
    match *kind {
        EVENTS => stream.replay(&Batch::from_bytes(events.to_vec())?, present)?,
        TICK if events.is_empty() => stream.replay_advance(present)?,
        _ => return Err(Error::damaged("an entry of the log is of no known kind")),
    }
    Ok(())
}
