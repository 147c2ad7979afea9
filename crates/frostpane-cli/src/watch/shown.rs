//! Where the releases of a sequence go.

use std::io::{self, IsTerminal, Write};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frostpane::Release;
use frostpane::words::Warning;

use super::files::Files;
use super::frame;
use super::interrupt;
use crate::args::WatchArgs;
use crate::csv;
use crate::failure::{Failure, Result};
use crate::list::TextKey;
use crate::progress;
use crate::screen::Screen;
use crate::table::rows_on_a_terminal;
use crate::units::Asked;
use crate::warnings::tell;

/// How releases are written to standard output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Csv,
    /// Redrawn in place, with so many rows at the most, if that is given.
    Terminal(Option<usize>),
}

/// All places that releases go to. Whoever holds it has it between two releases.
pub struct Shown<K: TextKey> {
    form: Form,
    releases: u64,
    files: Option<Files<K>>,
    warned: bool,
    warned_of_order: bool,
}

/// The same for two threads: the one that counts, and the one that waits for an interrupt.
pub struct Shared<K: TextKey>(Arc<Mutex<Shown<K>>>);

impl<K: TextKey> Shared<K> {
    /// An interrupt ends the program from here on.
    pub fn new(args: &WatchArgs, window: Asked) -> Result<Self> {
        let shared = Arc::new(Mutex::new(Shown::new(args, window)?));
        let other = Self(Arc::clone(&shared));
        interrupt::on_first(move |code| {
            // Held until the program has ended: no release follows, and no line is cut.
            let mut shown = other.lock();
            progress::erase();
            let finished = shown.finish();
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

    pub fn lock(&self) -> MutexGuard<'_, Shown<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: TextKey> Shown<K> {
    fn new(args: &WatchArgs, window: Asked) -> Result<Self> {
        let form = match (args.json, args.csv, io::stdout().is_terminal()) {
            (_, true, _) => Form::Csv,
            (false, _, true) => Form::Terminal(args.rows),
            _ => Form::Json,
        };
        let files = Files::new(args, window)?;
        if form == Form::Csv && files.is_none() {
            tell("what these counts can be trusted for is not written: --guarantee FILE does");
        }
        Ok(Self {
            form,
            releases: 0,
            files,
            warned: false,
            warned_of_order: false,
        })
    }

    pub fn show(&mut self, release: Release<K>, order: Option<Warning>) -> Result<()> {
        if let Some(warning) = order.filter(|_| !self.warned_of_order) {
            self.warned_of_order = true;
            tell(format_args!("warning: {warning}"));
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

    /// How many releases there were.
    pub fn releases(&self) -> u64 {
        self.releases
    }

    /// Waits until all files are written.
    pub fn finish(&mut self) -> Result<()> {
        self.files.take().map_or(Ok(()), Files::finish)
    }

    fn warn(&mut self, release: &Release<K>) {
        if !self.warned {
            let warnings = Warning::of_sequence(release);
            self.warned = !warnings.is_empty();
            for warning in warnings {
                tell(format_args!("warning: {warning}"));
            }
        }
        if let Some(warning) = Warning::of_horizon(release) {
            tell(format_args!("warning: {warning}"));
        }
    }

    /// Writes a release, at once: someone may be waiting for it.
    fn write(&mut self, release: &Release<K>) -> io::Result<()> {
        self.releases += 1;
        let mut text = Vec::new();
        match self.form {
            Form::Json => {
                serde_json::to_writer(&mut text, release)?;
                writeln!(text)?;
            }
            Form::Csv => csv::write_one_of_many(&mut text, release, self.releases == 1)?,
            Form::Terminal(rows) => {
                let screen = Screen::of(&io::stdout());
                let rows = rows.unwrap_or_else(|| rows_on_a_terminal(release));
                frame::write(&mut text, release, self.releases, &screen, rows)?;
            }
        }
        let mut out = io::stdout().lock();
        out.write_all(&text)?;
        out.flush()
    }
}
