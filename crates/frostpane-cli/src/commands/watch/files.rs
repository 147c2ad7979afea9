//! Keeps the files of the latest releases up to date, on a thread of its own.

use std::collections::VecDeque;
use std::slice;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use frostpane::Release;
use frostpane_render::WindowLabel;

use super::WatchArgs;
use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::output::OutputArgs;
use crate::terminal::tell;

/// A page looks back over so many releases and shows some of them, evenly spaced.
const LOOKS_BACK: usize = 96;
const SHOWN: usize = 16;
/// Files are not written more often.
const PAUSE: Duration = Duration::from_secs(1);

pub struct FileWriter<K: TextKey> {
    releases: Sender<Release<K>>,
    writing: JoinHandle<Result<()>>,
    output: OutputArgs,
}

impl<K: TextKey> FileWriter<K> {
    pub fn new(args: &WatchArgs, window: WindowLabel) -> Option<Self> {
        let output = args.output.clone();
        output.files().next()?;
        let (releases, receiver) = channel();
        let files = ReleaseFiles { output: output.clone(), window, releases: VecDeque::new() };
        Some(Self { releases, writing: thread::spawn(move || files.write(&receiver)), output })
    }

    pub fn add(&self, release: Release<K>) {
        // A writer that has failed says so at the end.
        let _ = self.releases.send(release);
    }

    pub fn finish(self) -> Result<()> {
        drop(self.releases);
        let written = self.writing.join();
        written.unwrap_or_else(|_| Err(Failure::from("the page could not be written")))?;
        for (what, file) in self.output.files().filter(|(_, file)| file.is_file()) {
            tell(format_args!("the {what} is in {}", file.display()));
        }
        Ok(())
    }
}

struct ReleaseFiles<K: TextKey> {
    output: OutputArgs,
    window: WindowLabel,
    releases: VecDeque<Release<K>>,
}

impl<K: TextKey> ReleaseFiles<K> {
    /// Writes whenever there is a new release, until the sender is dropped.
    fn write(mut self, receiver: &Receiver<Release<K>>) -> Result<()> {
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
        let Some(latest) = self.releases.back() else {
            return Ok(());
        };
        self.output.save_guarantee(&[(self.window.clone(), latest.clone())])?;
        self.output.save_report(&self.spaced(), slice::from_ref(&self.window))
    }

    /// The releases that the page shows, the latest last.
    fn spaced(&self) -> Vec<Release<K>> {
        let every = self.releases.len().div_ceil(SHOWN);
        let mut spaced: Vec<Release<K>> = self.releases.iter().rev().step_by(every).cloned().collect();
        spaced.reverse();
        spaced
    }
}
