//! Files that overlap in time, read side by side: their events are put in the order of time.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::mem;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use crate::batch::{Batch, Place};
use crate::failure::{Failure, Result};
use crate::feed::Gathers;
use crate::input::{Event, Found, Part, Source};

/// Batches of a file that wait.
const WAITING: usize = 1;

/// Calls `visit` for the events of all files, always for the earliest of those that are next in their files; of equal times, for that of
/// the first file. What is not admitted holds nothing up: a wrong time at the head of a file would.
pub fn merge(
    source: &mut Source,
    mut admit: impl FnMut(Event<'_>) -> bool,
    mut visit: impl FnMut(Event<'_>) -> Result<()>,
) -> Result<()> {
    let parts = source.take_apart();
    let bytes_read = source.bytes_read();
    let found = thread::scope(|scope| {
        let mut heads: Vec<Head<'_>> = parts
            .into_iter()
            .map(|part| Head::new(scope, part, Rc::clone(&bytes_read)))
            .collect();
        let mut next = BinaryHeap::new();
        for (file, head) in heads.iter_mut().enumerate() {
            next.extend(head.seek(&mut admit)?.map(|time| Reverse((time, file))));
        }
        while let Some(mut first) = next.peek_mut() {
            let Reverse((_, file)) = *first;
            heads[file].take(&mut visit)?;
            match heads[file].seek(&mut admit)? {
                Some(time) => *first = Reverse((time, file)),
                None => drop(PeekMut::pop(first)),
            }
        }
        let found: Vec<Found> = heads.into_iter().filter_map(|head| head.found).collect();
        Ok::<_, Failure>(found)
    })?;
    for event in source.put_together(found)? {
        if admit(event) {
            visit(event)?;
        }
    }
    Ok(())
}

/// A file, as far as it was merged.
struct Head<'scope> {
    batches: Receiver<Batch>,
    /// Until it is at its end.
    reading: Option<ScopedJoinHandle<'scope, Result<Found>>>,
    found: Option<Found>,
    batch: Batch,
    place: Place,
    bytes_read: Rc<Cell<u64>>,
}

impl<'scope> Head<'scope> {
    /// Begins to read it, on a thread of its own.
    fn new(scope: &'scope Scope<'scope, '_>, part: Part, bytes_read: Rc<Cell<u64>>) -> Self {
        let (full, batches) = sync_channel(WAITING);
        Self {
            batches,
            reading: Some(scope.spawn(move || read(part, &full))),
            found: None,
            batch: Batch::default(),
            place: Place::default(),
            bytes_read,
        }
    }

    /// Goes on to the next event that is admitted, and gives its time, unless there is none.
    fn seek(&mut self, admit: &mut impl FnMut(Event<'_>) -> bool) -> Result<Option<i64>> {
        loop {
            while let Some((event, next)) = self.batch.at(self.place) {
                if admit(event) {
                    return Ok(Some(event.time.unwrap_or(i64::MIN)));
                }
                self.place = next;
            }
            let Ok(batch) = self.batches.recv() else {
                self.found = self.reading.take().map(end).transpose()?;
                return Ok(None);
            };
            let before = self.bytes_read.get() - self.batch.bytes_read;
            self.bytes_read.set(before + batch.bytes_read);
            self.batch = batch;
            self.place = Place::default();
        }
    }

    /// Hands over the event that was found.
    fn take(&mut self, visit: &mut impl FnMut(Event<'_>) -> Result<()>) -> Result<()> {
        let Some((event, next)) = self.batch.at(self.place) else {
            return Ok(());
        };
        self.place = next;
        visit(event)
    }
}

fn end(reading: ScopedJoinHandle<'_, Result<Found>>) -> Result<Found> {
    reading.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Reads a file.
fn read(part: Part, full: &SyncSender<Batch>) -> Result<Found> {
    let mut source = part.open();
    let bytes_read = source.bytes_read();
    let mut batch = Batch::default();
    let send = |batch: &mut Batch| {
        batch.bytes_read = bytes_read.get();
        // Whoever takes them has failed, and says why itself.
        full.send(mem::take(batch))
            .map_err(|_| Failure::Entropy(String::new()))
    };
    source.read_all(
        |event| {
            batch.push(event);
            if batch.is_full() { send(&mut batch) } else { Ok(()) }
        },
        || Ok(()),
    )?;
    send(&mut batch)?;
    Ok(source.into_found())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Column, Format, Selection};

    #[test]
    fn users_stay_with_their_events_across_files() {
        let file = |name: &str| std::env::temp_dir().join(format!("frostpane-{}-{name}", std::process::id()));
        let files = [file("merge-1.csv"), file("merge-2.csv")];
        for (first, file) in files.iter().enumerate() {
            let lines = (first..20_000).step_by(2).map(|i| match i % 7 {
                3 => format!("{},,k{i}\n", 1_700_000_000 + i),
                _ => format!("{},u{i},k{i}\n", 1_700_000_000 + i),
            });
            std::fs::write(file, lines.collect::<String>()).unwrap();
        }
        let selection = Selection {
            key: Some(Column::Position(3)),
            time: Some(Column::Position(1)),
            user: Some(Column::Position(2)),
            by_clock: true,
            live: true,
            format: Some(Format::Csv),
            ..Selection::default()
        };
        let mut source = Source::new(&files, selection).unwrap();
        assert!(source.is_read_side_by_side());
        let mut events = 0;
        let visit = |event: Event<'_>| {
            let (key, user) = (format!("k{events}"), format!("u{events}"));
            assert_eq!(event.key, Some(key.as_bytes()));
            assert_eq!(event.user, (events % 7 != 3).then_some(user.as_bytes()));
            events += 1;
            Ok(())
        };
        merge(&mut source, |_| true, visit).unwrap();
        assert_eq!(events, 20_000);
        for file in files {
            std::fs::remove_file(file).unwrap();
        }
    }
}
