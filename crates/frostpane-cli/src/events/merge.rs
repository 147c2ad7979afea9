//! Reads files that overlap in time side by side, and merges their events by time.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::mem;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::batch::{BatchCursor, EventBatch};
use super::feed::Gather;
use crate::failure::{Failure, Result};
use frostpane_events::{EventRef, FilePart, ReadReport, Source};

/// Batches of a file that may wait to be merged.
const WAITING: usize = 1;

/// Calls `visit` for the events of all files, always for the earliest of those that are next in their files;
/// of equal times, for that of the first file. Events that are not admitted are passed over, so that a wrong
/// time at the head of a file holds nothing up.
pub fn merge(
    source: &mut Source,
    mut admit: impl FnMut(EventRef<'_>) -> bool,
    mut visit: impl FnMut(EventRef<'_>) -> Result<()>,
) -> Result<()> {
    let parts = source.take_apart();
    let bytes_read = source.bytes_read();
    let found = thread::scope(|scope| {
        let mut heads: Vec<FileHead<'_>> =
            parts.into_iter().map(|part| FileHead::new(scope, part, Rc::clone(&bytes_read))).collect();
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
        let found: Vec<ReadReport> = heads.into_iter().filter_map(|head| head.found).collect();
        Ok::<_, Failure>(found)
    })?;
    for event in source.put_together(found)? {
        if admit(event) {
            visit(event)?;
        }
    }
    Ok(())
}

struct FileHead<'scope> {
    batches: Receiver<EventBatch>,
    /// `None` at the end of the file.
    reading: Option<ScopedJoinHandle<'scope, Result<ReadReport>>>,
    found: Option<ReadReport>,
    batch: EventBatch,
    cursor: BatchCursor,
    bytes_read: Rc<Cell<u64>>,
}

impl<'scope> FileHead<'scope> {
    /// Begins to read a file, on a thread of its own.
    fn new(scope: &'scope Scope<'scope, '_>, part: FilePart, bytes_read: Rc<Cell<u64>>) -> Self {
        let (full, batches) = sync_channel(WAITING);
        Self {
            batches,
            reading: Some(scope.spawn(move || read(part, &full))),
            found: None,
            batch: EventBatch::default(),
            cursor: BatchCursor::default(),
            bytes_read,
        }
    }

    /// Moves on to the next event that is admitted, and returns its time.
    fn seek(&mut self, admit: &mut impl FnMut(EventRef<'_>) -> bool) -> Result<Option<i64>> {
        loop {
            while let Some((event, next)) = self.batch.at(self.cursor) {
                if admit(event) {
                    return Ok(Some(event.time.unwrap_or(i64::MIN)));
                }
                self.cursor = next;
            }
            let Ok(batch) = self.batches.recv() else {
                let found = self.reading.take().map(ScopedJoinHandle::join);
                self.found =
                    found.map(|found| found.unwrap_or_else(|panic| resume_unwind(panic))).transpose()?;
                return Ok(None);
            };
            let before = self.bytes_read.get() - self.batch.bytes_read;
            self.bytes_read.set(before + batch.bytes_read);
            self.batch = batch;
            self.cursor = BatchCursor::default();
        }
    }

    /// Hands over the event at the cursor.
    fn take(&mut self, visit: &mut impl FnMut(EventRef<'_>) -> Result<()>) -> Result<()> {
        let Some((event, next)) = self.batch.at(self.cursor) else {
            return Ok(());
        };
        self.cursor = next;
        visit(event)
    }
}

fn read(part: FilePart, full: &SyncSender<EventBatch>) -> Result<ReadReport> {
    let mut source = part.open();
    let bytes_read = source.bytes_read();
    let mut batch = EventBatch::default();
    let send = |batch: &mut EventBatch| {
        batch.bytes_read = bytes_read.get();
        // The receiver has failed, and its own error is returned.
        full.send(mem::take(batch)).map_err(|_| Failure::from(""))
    };
    source.read_all(
        |event| {
            batch.push(event);
            if batch.is_full() { send(&mut batch) } else { Ok(()) }
        },
        || Ok(()),
    )?;
    send(&mut batch)?;
    Ok(source.report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use frostpane_events::{Column, Format, Schema};

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
        let schema = Schema {
            key: Some(Column::Position(3)),
            time: Some(Column::Position(1)),
            user: Some(Column::Position(2)),
            by_clock: true,
            live: true,
            format: Some(Format::Csv),
            ..Schema::default()
        };
        let mut source = Source::new(&files, schema).unwrap();
        assert!(source.is_read_side_by_side());
        let mut events = 0;
        let visit = |event: EventRef<'_>| {
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
