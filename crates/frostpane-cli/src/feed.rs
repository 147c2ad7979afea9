//! Events, handed from the thread that reads them to one that counts them.

use std::mem;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use crate::failure::{Failure, Result};
use crate::input::{Event, Source};

/// Events and bytes of a batch, about, and batches that wait.
const EVENTS: usize = 1 << 10;
const BYTES: usize = 1 << 14;
const WAITING: usize = 4;

/// Reads all events: `see` sees each as it is read, and what it returns is taken as a fault of the line; `count`
/// gets them in the same order, many at a time, on another thread.
pub fn feed(
    source: &mut Source,
    mut see: impl FnMut(Event<'_>) -> Result<()>,
    mut count: impl FnMut(&Batch) -> frostpane::Result<()> + Send,
) -> Result<()> {
    let (full, batches) = sync_channel::<Batch>(WAITING);
    let (empty, spares) = channel::<Batch>();
    thread::scope(|scope| {
        let counting = scope.spawn(move || {
            for mut batch in batches {
                count(&batch)?;
                batch.clear();
                // Nobody wants it once all events are read.
                let _ = empty.send(batch);
            }
            frostpane::Result::Ok(())
        });
        let mut batch = Batch::default();
        let send = |batch: &mut Batch| {
            let next = spares.try_recv().unwrap_or_default();
            full.send(mem::replace(batch, next))
                // Counting has failed, and says why itself.
                .map_err(|_| Failure::Entropy(String::new()))
        };
        let mut outcome = source.for_each(|event| {
            see(event)?;
            batch.push(event);
            if batch.is_full() { send(&mut batch) } else { Ok(()) }
        });
        if outcome.is_ok() {
            outcome = send(&mut batch);
        }
        drop(full);
        match counting.join() {
            Ok(counted) => counted.map_err(Failure::from).and(outcome),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Events, with their keys one after the other.
#[derive(Default)]
pub struct Batch {
    keys: Vec<u8>,
    events: Vec<Entry>,
}

struct Entry {
    time: Option<i64>,
    /// Where its key ends, if it has one.
    end: Option<u32>,
}

impl Batch {
    fn push(&mut self, event: Event<'_>) {
        self.keys.extend_from_slice(event.key.unwrap_or_default());
        self.events.push(Entry {
            time: event.time,
            end: event.key.map(|_| self.keys.len() as u32),
        });
    }

    fn is_full(&self) -> bool {
        self.events.len() >= EVENTS || self.keys.len() >= BYTES
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let mut start = 0;
        self.events.iter().map(move |entry| Event {
            time: entry.time,
            key: entry.end.map(|end| {
                let key = &self.keys[start..end as usize];
                start = end as usize;
                key
            }),
        })
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_gives_back_its_events() {
        let event = |time, key| Event { time, key };
        let events = [
            event(Some(5), Some(b"elm".as_slice())),
            event(None, None),
            event(Some(-1), Some(b"")),
            event(None, Some(b"oak")),
        ];
        let mut batch = Batch::default();
        for _ in 0..2 {
            events.iter().for_each(|event| batch.push(*event));
            assert!(batch.events().eq(events));
            batch.clear();
        }
    }
}
