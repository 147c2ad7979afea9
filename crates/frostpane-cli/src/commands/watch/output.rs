//! Outputs of releases: standard output, the terminal, and files.

use std::io::{self, IsTerminal, Write};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard};

use frostpane::{Continual, Release};
use frostpane_render::{Warning, csv};

use super::WatchArgs;
use super::files::FileWriter;
use super::frame;
use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::screen::{height_of, layout_of, rows_on_a_terminal};
use crate::settings::WindowArg;
use crate::terminal::{interrupt, lock, progress, tell, warn, write_json};

#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputForm {
    Json,
    Csv,
    /// Redrawn in place, with at most so many rows if that is given.
    Terminal(Option<usize>),
}

/// All outputs of releases. While it is locked no release is under way.
pub struct WatchOutput<K: TextKey> {
    form: OutputForm,
    pub releases: u64,
    files: Option<FileWriter<K>>,
    failure: Option<Failure>,
    warned: bool,
    warned_of_order: bool,
}

/// The outputs, shared by the threads that count and the one that waits for an interrupt.
pub struct SharedOutput<K: TextKey>(Arc<Mutex<WatchOutput<K>>>);

impl<K: TextKey> SharedOutput<K> {
    /// An interrupt ends the program from here on.
    pub fn new(args: &WatchArgs, window: WindowArg) -> Result<Self> {
        let shared = Arc::new(Mutex::new(WatchOutput::new(args, window)?));
        let other = Self(Arc::clone(&shared));
        interrupt::on_first(move |code| {
            // Locked until the program has ended: no release follows, and no line is cut.
            let mut output = other.lock();
            progress::erase();
            let finished = output.finish();
            process::exit(match finished {
                Ok(()) => code,
                Err(failure) => {
                    tell(failure);
                    1
                }
            })
        })?;
        Ok(Self(shared))
    }

    pub fn lock(&self) -> MutexGuard<'_, WatchOutput<K>> {
        lock(&self.0)
    }
}

impl<K: TextKey> WatchOutput<K> {
    fn new(args: &WatchArgs, window: WindowArg) -> Result<Self> {
        let form = match (args.output.json, args.output.csv, io::stdout().is_terminal()) {
            (_, true, _) => OutputForm::Csv,
            (false, _, true) => OutputForm::Terminal(args.rows),
            _ => OutputForm::Json,
        };
        let files = FileWriter::new(args, window.label());
        if form == OutputForm::Csv && files.is_none() {
            tell("what these counts can be trusted for is not written: --guarantee FILE does");
        }
        Ok(Self { form, releases: 0, files, failure: None, warned: false, warned_of_order: false })
    }

    /// Makes and shows the release of the slide that has ended, unless something failed before.
    pub fn release(&mut self, continual: &Continual<K>, order: Option<Warning>) {
        if self.failure.is_none() {
            let release = continual.release().map_err(Failure::from);
            self.failure = release.and_then(|release| self.show(release, order)).err();
        }
    }

    pub fn fail(&mut self, cause: Failure) {
        self.failure.get_or_insert(cause);
    }

    pub fn outcome(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    pub fn show(&mut self, release: Release<K>, order: Option<Warning>) -> Result<()> {
        if let Some(warning) = order.filter(|_| !self.warned_of_order) {
            self.warned_of_order = true;
            warn(warning);
        }
        let written = self.write(&release).map_err(Failure::Output);
        self.warn(&release);
        // Also if nobody reads the rest.
        if let Some(files) = &self.files {
            files.add(release);
        }
        written
    }

    /// Writes a release that was made before, as it was.
    pub fn write_json(&mut self, json: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(json)?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    pub fn finish(&mut self) -> Result<()> {
        self.files.take().map_or(Ok(()), FileWriter::finish)
    }

    fn warn(&mut self, release: &Release<K>) {
        if !self.warned {
            let warnings = Warning::of_sequence(release);
            self.warned = !warnings.is_empty();
            warnings.into_iter().for_each(warn);
        }
    }

    /// Writes a release at once, because a reader may wait for it.
    fn write(&mut self, release: &Release<K>) -> io::Result<()> {
        self.releases += 1;
        let mut text = Vec::new();
        match self.form {
            OutputForm::Json => write_json(&mut text, release)?,
            OutputForm::Csv => csv::write_next(&mut text, release, self.releases == 1)?,
            OutputForm::Terminal(rows) => {
                let screen = (&layout_of(&io::stdout()), height_of(&io::stdout()));
                let rows = rows.unwrap_or_else(|| rows_on_a_terminal(release));
                frame::write(&mut text, release, self.releases, screen, rows)?;
            }
        }
        let mut out = io::stdout().lock();
        out.write_all(&text)?;
        out.flush()
    }
}
