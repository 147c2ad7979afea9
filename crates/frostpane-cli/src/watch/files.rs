//! The files of the latest releases, kept up to date beside the reading.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use frostpane::Release;

use crate::args::WatchArgs;
use crate::failure::{Failure, Result};
use crate::guarantee;
use crate::list::TextKey;
use crate::report::{self, About};
use crate::units::Asked;
use crate::warnings::tell;

/// A page looks back over so many releases and shows some of them, evenly spaced.
const LOOKS_BACK: usize = 96;
const SHOWN: usize = 16;
/// Files are not written more often.
const PAUSE: Duration = Duration::from_secs(1);

/// Takes releases, and has them written soon.
pub struct Files<K: TextKey> {
    releases: Sender<Release<K>>,
    writer: JoinHandle<Result<()>>,
    places: Places,
}

/// What is kept up to date.
#[derive(Clone)]
struct Places {
    report: Option<PathBuf>,
    guarantee: Option<PathBuf>,
}

impl<K: TextKey> Files<K> {
    /// Those that were asked for, if any: refused here if they cannot be written.
    pub fn new(args: &WatchArgs, window: Asked) -> Result<Option<Self>> {
        let places = Places {
            report: args.report.clone(),
            guarantee: args.guarantee.clone(),
        };
        places.report.as_deref().map(report::check).transpose()?;
        places.guarantee.as_deref().map(guarantee::check).transpose()?;
        if places.report.is_none() && places.guarantee.is_none() {
            return Ok(None);
        }
        let (sender, receiver) = channel();
        let writer = Writer {
            places: places.clone(),
            about: args.about.clone(),
            window,
            releases: VecDeque::new(),
        };
        Ok(Some(Self {
            releases: sender,
            writer: thread::spawn(move || writer.run(&receiver)),
            places,
        }))
    }

    /// There is a release more.
    pub fn add(&self, release: Release<K>) {
        // A writer that has failed says so at the end.
        let _ = self.releases.send(release);
    }

    /// Waits until everything is written.
    pub fn finish(self) -> Result<()> {
        drop(self.releases);
        let written = self.writer.join();
        written.unwrap_or_else(|_| Err(Failure::Message("the page could not be written".to_owned())))?;
        let where_it_is = |what: &str, file: Option<&Path>| {
            if let Some(file) = file.filter(|file| file.is_file()) {
                tell(format_args!("the {what} is in {}", file.display()));
            }
        };
        where_it_is("guarantee", self.places.guarantee.as_deref());
        where_it_is("report", self.places.report.as_deref());
        Ok(())
    }
}

struct Writer<K: TextKey> {
    places: Places,
    about: About,
    window: Asked,
    releases: VecDeque<Release<K>>,
}

impl<K: TextKey> Writer<K> {
    /// Writes whenever there is something new, until there will be nothing more.
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
        let Some(latest) = self.releases.back() else {
            return Ok(());
        };
        if let Some(file) = &self.places.guarantee {
            guarantee::save(file, &[(self.window.clone(), latest.clone())])?;
        }
        match &self.places.report {
            None => Ok(()),
            Some(file) => report::save(file, &self.spaced(), slice::from_ref(&self.window), &self.about),
        }
    }

    /// Those that the page shows, the latest last.
    fn spaced(&self) -> Vec<Release<K>> {
        let every = self.releases.len().div_ceil(SHOWN);
        let mut spaced: Vec<Release<K>> = self.releases.iter().rev().step_by(every).cloned().collect();
        spaced.reverse();
        spaced
    }
}
