//! Events, handed from the thread that reads them to one that counts them.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use crate::failure::{Failure, Result};
use crate::input::{Event, Source};
use crate::merge::merge;

/// Events that are handed over together.
pub trait Gathers: Default + Send {
    /// How many of them may wait.
    const WAITING: usize;

    fn push(&mut self, event: Event<'_>);
    fn is_full(&self) -> bool;
    fn clear(&mut self);
}

/// Reads all events: `admit` sees each as it is read, and says whether it is one; `count` gets them in order, many at a time, on
/// another thread.
pub fn feed<B: Gathers>(
    source: &mut Source,
    mut admit: impl FnMut(Event<'_>) -> bool,
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
                // Nobody wants it once all events are read.
                let _ = empty.send(batch);
            }
            Ok(())
        });
        let mut batch = B::default();
        let send = |batch: &mut B| {
            let next = spares.try_recv().unwrap_or_default();
            full.send(mem::replace(batch, next))
                // Counting has failed, and says why itself.
                .map_err(|_| Failure::Entropy(String::new()))
        };
        let mut take = |event: Event<'_>| {
            batch.push(event);
            if batch.is_full() { send(&mut batch) } else { Ok(()) }
        };
        let mut outcome = match source.is_read_side_by_side() {
            true => merge(source, admit, take),
            false => source.for_each(|event| if admit(event) { take(event) } else { Ok(()) }),
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

/// The same where events come as time goes by: on one thread, and whatever has come is counted before more is waited for.
fn feed_live<B: Gathers>(
    source: &mut Source,
    mut admit: impl FnMut(Event<'_>) -> bool,
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
