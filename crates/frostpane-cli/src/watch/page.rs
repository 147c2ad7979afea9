//! The page of the latest releases, kept up to date beside the reading.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::slice;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use frostpane::Release;

use crate::failure::{Failure, Result};
use crate::list::TextKey;
use crate::report;
use crate::units::Asked;
use crate::warnings::tell;

/// A page looks back over so many releases and shows some of them, evenly spaced.
const LOOKS_BACK: usize = 96;
const SHOWN: usize = 16;
/// It is not written more often.
const PAUSE: Duration = Duration::from_secs(1);

/// Takes releases, and has them written soon.
pub struct Page<K: TextKey> {
    releases: Sender<Release<K>>,
    writer: JoinHandle<Result<()>>,
    file: PathBuf,
}

impl<K: TextKey> Page<K> {
    pub fn new(file: PathBuf, window: Asked) -> Self {
        let (sender, receiver) = channel();
        let writer = Writer {
            file: file.clone(),
            window,
            releases: VecDeque::new(),
        };
        Self {
            releases: sender,
            writer: thread::spawn(move || writer.run(&receiver)),
            file,
        }
    }

    /// The page has a release more.
    pub fn add(&mut self, release: Release<K>) {
        // A writer that has failed says so at the end.
        let _ = self.releases.send(release);
    }

    /// Waits until everything is written.
    pub fn finish(self) -> Result<()> {
        drop(self.releases);
        let written = self.writer.join();
        written.unwrap_or_else(|_| Err(Failure::Message("the page could not be written".to_owned())))?;
        if self.file.is_file() {
            tell(format_args!("the report is in {}", self.file.display()));
        }
        Ok(())
    }
}

struct Writer<K: TextKey> {
    file: PathBuf,
    window: Asked,
    releases: VecDeque<Release<K>>,
}

impl<K: TextKey> Writer<K> {
    /// Writes the page whenever there is something new, until there will be nothing more.
    fn run(mut self, receiver: &Receiver<Release<K>>) -> Result<()> {
        while let Ok(release) = receiver.recv() {
            self.add(release);
            receiver.try_iter().for_each(|release| self.add(release));
            self.save()?;
            let next = Instant::now() + PAUSE;
            loop {
                match receiver.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Ok(release) => self.add(release),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return self.save(),
                }
            }
            self.save()?;
        }
        Ok(())
    }

    fn add(&mut self, release: Release<K>) {
        if self.releases.len() == LOOKS_BACK {
            self.releases.pop_front();
        }
        self.releases.push_back(release);
    }

    fn save(&self) -> Result<()> {
        if self.releases.is_empty() {
            return Ok(());
        }
        let every = self.releases.len().div_ceil(SHOWN);
        let mut shown: Vec<Release<K>> = self.releases.iter().rev().step_by(every).cloned().collect();
        shown.reverse();
        report::save(&self.file, &shown, slice::from_ref(&self.window))
    }
}
