//! Hands events from the thread that reads them to one that counts them.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use super::merge::merge;
use crate::failure::{Failure, Result};
use frostpane_events::{EventRef, Source};

pub trait Gather: Default + Send {
    const WAITING: usize;

    fn push(&mut self, event: EventRef<'_>);
    fn is_full(&self) -> bool;
    fn clear(&mut self);
}

/// Reads all events: those that `admit` admits go to `count`, in order, many at a time, on another thread.
pub fn feed<B: Gather>(
    source: &mut Source,
    mut admit: impl FnMut(EventRef<'_>) -> bool,
    mut count: impl FnMut(&B) -> Result<()> + Send,
) -> Result<()> {
    if source.is_live() {
        return feed_live(source, admit, count);
    }
    let (full, batches) = sync_channel::<B>(B::WAITING);
    let (empty, spares) = channel::<B>();
    thread::scope(|scope| {
        let counting = scope.spawn(move || {
            for mut batch in batches {
                count(&batch)?;
                batch.clear();
                // There is no receiver once all events are read.
                let _ = empty.send(batch);
            }
            Ok(())
        });
        let mut batch = B::default();
        let send = |batch: &mut B| {
            let next = spares.try_recv().unwrap_or_default();
            full.send(mem::replace(batch, next))
                // Counting has failed, and its own error is returned below.
                .map_err(|_| Failure::from(""))
        };
        let mut take = |event: EventRef<'_>| {
            batch.push(event);
            if batch.is_full() { send(&mut batch) } else { Ok(()) }
        };
        let mut outcome = if source.is_read_side_by_side() {
            merge(source, admit, take)
        } else {
            source.for_each(|event| if admit(event) { take(event) } else { Ok(()) })
        };
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

/// The same for a live stream: on one thread, and all that has come is counted before more is waited for.
fn feed_live<B: Gather>(
    source: &mut Source,
    mut admit: impl FnMut(EventRef<'_>) -> bool,
    count: impl FnMut(&B) -> Result<()>,
) -> Result<()> {
    let batch = RefCell::new(B::default());
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
