//! Blocks that become panes, here or on other threads.

use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::{PendingPane, PlacedPane, Timeline};
use crate::error::Result;
use crate::key::Key;
use crate::pane::{Closer, OpenPane, Pane};

impl<K: Key> Timeline<K> {
    pub(super) fn close(&mut self, mut block: PlacedPane<OpenPane<K>>) -> Result<()> {
        if self.workers.is_some() {
            self.hand_over(block);
            return Ok(());
        }
        let pane = block.pane.end(&mut self.closer);
        if let Some(levels) = &mut self.state.levels {
            levels.add(&block.pane, &pane)?;
        }
        self.state.closed.push_back(PlacedPane::new(block.start, block.end, pane));
        block.pane.clear();
        self.spares.push(block.pane);
        // The pane is there already: a failure costs its end the level, and nothing else.
        if let (Some(levels), Some(closed)) = (&mut self.state.levels, self.state.closed.back_mut()) {
            closed.level = self.state.schedule.level(levels, &mut *self.draws)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, block: PlacedPane<OpenPane<K>>) {
        let Some(workers) = &self.workers else { return };
        let events = block.pane.events();
        let number = self.handed_back + self.closing.len() as u64;
        let pane = workers.hand_over(number, block.pane).map(|mut open| {
            let pane = open.close_with(&mut self.closer);
            open.clear();
            self.spares.push(open);
            pane
        });
        self.closing.push_back(PlacedPane::new(block.start, block.end, PendingPane { events, pane }));
        while let Some((number, pane, open)) = self.workers.as_ref().and_then(Workers::done) {
            self.take_back(number, pane, open);
        }
    }

    pub(super) fn finish(&mut self) {
        while !self.closing.is_empty()
            && let Some(workers) = &self.workers
        {
            let (number, pane, open) = workers.next();
            self.take_back(number, pane, open);
        }
    }

    fn take_back(&mut self, number: u64, pane: Pane<K>, open: OpenPane<K>) {
        self.spares.push(open);
        self.closing[(number - self.handed_back) as usize].pane.pane = Some(pane);
        while let Some(block) = self.closing.pop_front_if(|block| block.pane.pane.is_some()) {
            self.handed_back += 1;
            let pane = block.pane.pane.map(|pane| PlacedPane::new(block.start, block.end, pane));
            self.state.closed.extend(pane);
        }
    }
}

/// Blocks that wait for each thread, so that none is idle while another block fills.
const WAITING: usize = 2;

type ClosingJob<K> = (u64, OpenPane<K>);
type Done<K> = (u64, Pane<K>, OpenPane<K>);

/// Threads that close panes. What a pane becomes does not depend on who closes it.
pub struct Workers<K> {
    jobs: Option<SyncSender<ClosingJob<K>>>,
    done: Receiver<Done<K>>,
    threads: Vec<JoinHandle<()>>,
}

impl<K: Key> Workers<K> {
    /// So many threads beside the one that asks; none if the system gives none.
    pub fn new(threads: NonZeroUsize) -> Option<Self> {
        let (jobs, waiting) = sync_channel(WAITING * threads.get());
        let (sender, done) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let threads: Vec<JoinHandle<()>> = (0..threads.get())
            .map_while(|_| {
                let (waiting, sender) = (Arc::clone(&waiting), sender.clone());
                thread::Builder::new()
                    .name("frostpane-close".to_owned())
                    .spawn(move || work(&waiting, &sender))
                    .ok()
            })
            .collect();
        (!threads.is_empty()).then_some(Self { jobs: Some(jobs), done, threads })
    }

    /// Hands over a block, or gives it back if enough of them wait already.
    pub fn hand_over(&self, number: u64, block: OpenPane<K>) -> Option<OpenPane<K>> {
        let Some(jobs) = &self.jobs else {
            return Some(block);
        };
        match jobs.try_send((number, block)) {
            Ok(()) => None,
            Err(TrySendError::Full((_, block)) | TrySendError::Disconnected((_, block))) => Some(block),
        }
    }

    pub fn done(&self) -> Option<Done<K>> {
        self.done.try_recv().ok()
    }

    pub fn next(&self) -> Done<K> {
        self.done.recv().expect("a thread that closes panes ended early")
    }
}

impl<K> Drop for Workers<K> {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // A panic has been shown already.
            let _ = thread.join();
        }
    }
}

fn work<K: Key>(waiting: &Mutex<Receiver<ClosingJob<K>>>, done: &Sender<Done<K>>) {
    let mut closer = Closer::default();
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, mut block)) = job else { return };
        let pane = block.close_with(&mut closer);
        block.clear();
        if done.send((number, pane, block)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pane::PaneShape;

    /// And one is at work: before the first is done, no more than these have been taken. For as many there is memory.
    #[test]
    fn two_blocks_wait_for_each_thread() {
        let shape = PaneShape::new(100, 0, None, 1).unwrap();
        let mut block = OpenPane::<u64>::new(shape.listing(400_000));
        (0..400_000).for_each(|key| block.update(Some(key)));
        for threads in 1..=2 {
            let mut blocks = vec![block.clone(); 3 * threads + 1];
            let crew = Workers::new(NonZeroUsize::new(threads).unwrap()).unwrap();
            let mut hand_over = || {
                let refused = blocks.pop().and_then(|block| crew.hand_over(0, block));
                blocks.extend(refused);
                blocks.len()
            };
            let mut left = (0..2 * threads).map(|_| hand_over()).last();
            assert_eq!(left, Some(threads + 1));
            while crew.done().is_none() {
                assert!(left > Some(0), "{threads} threads");
                left = Some(hand_over());
            }
        }
    }
}
