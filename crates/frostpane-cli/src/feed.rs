//! Events, handed from the thread that reads them to one that counts them.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use crate::failure::{Failure, Result};
use crate::input::{Event, Source};

/// Events and bytes of a batch, about, and batches that wait.
const EVENTS: usize = 1 << 12;
const BYTES: usize = 1 << 16;
const WAITING: usize = 10;

/// Reads all events: `admit` sees each as it is read, and says whether it is one; `count` gets them in the same order, many at a time, on
/// another thread.
pub fn feed(
    source: &mut Source,
    mut admit: impl FnMut(Event<'_>) -> bool,
    mut count: impl FnMut(&Batch) -> Result<()> + Send,
) -> Result<()> {
    if source.is_live() {
        return feed_live(source, admit, count);
    }
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
            Ok(())
        });
        let mut batch = Batch::default();
        let send = |batch: &mut Batch| {
            let next = spares.try_recv().unwrap_or_default();
            full.send(mem::replace(batch, next))
                // Counting has failed, and says why itself.
                .map_err(|_| Failure::Entropy(String::new()))
        };
        let mut outcome = source.for_each(|event| {
            if admit(event) {
                batch.push(event);
            }
            if batch.is_full() { send(&mut batch) } else { Ok(()) }
        });
        if outcome.is_ok() {
            outcome = send(&mut batch);
        }
        drop(full);
        match counting.join() {
            Ok(counted) => counted.and(outcome),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The same where events come as time goes by: on one thread, and whatever has come is counted before more is waited for.
fn feed_live(
    source: &mut Source,
    mut admit: impl FnMut(Event<'_>) -> bool,
    count: impl FnMut(&Batch) -> Result<()>,
) -> Result<()> {
    let batch = RefCell::new(Batch::default());
    let (count, failure) = (RefCell::new(count), RefCell::new(None));
    let flush = || -> Result<()> {
        let mut batch = batch.borrow_mut();
        let counted = (count.borrow_mut())(&batch);
        batch.clear();
        counted
    };
    let read = source.for_each_and_pause(
        |event| {
            if admit(event) {
                batch.borrow_mut().push(event);
            }
            let is_full = batch.borrow().is_full();
            if is_full { flush() } else { Ok(()) }
        },
        || {
            flush().map_err(|cause| {
                *failure.borrow_mut() = Some(cause);
                io::Error::other("what was read could not be counted")
            })
        },
    );
    match failure.take() {
        Some(failure) => Err(failure),
        None => read.and_then(|()| flush()),
    }
}

/// Events, with their keys one after the other.
#[derive(Default)]
pub struct Batch {
    keys: Vec<u8>,
    /// Where the key of each event ends, or [`NO_KEY`].
    ends: Vec<u32>,
    /// Of each event; none at all as long as no event has one.
    times: Vec<Option<i64>>,
}

const NO_KEY: u32 = u32::MAX;

impl Batch {
    #[inline]
    fn push(&mut self, event: Event<'_>) {
        if event.time.is_some() || !self.times.is_empty() {
            self.times.resize(self.ends.len(), None);
            self.times.push(event.time);
        }
        self.keys.extend_from_slice(event.key.unwrap_or_default());
        self.ends
            .push(event.key.map_or(NO_KEY, |_| self.keys.len() as u32));
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.ends.len() >= EVENTS || self.keys.len() >= BYTES
    }

    /// The events, in order.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let mut start = 0;
        self.ends.iter().enumerate().map(move |(index, &end)| Event {
            time: self.times.get(index).copied().flatten(),
            key: (end != NO_KEY).then(|| {
                let key = &self.keys[start..end as usize];
                start = end as usize;
                key
            }),
        })
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.ends.clear();
        self.times.clear();
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
