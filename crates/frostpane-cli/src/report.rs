//! The page of releases as a file.

use std::path::Path;

use frostpane::{Key, Release};
use frostpane_render::WindowLabel;
use frostpane_render::page::{self, PageInfo};
use jiff::{Timestamp, Unit};

use crate::args::OUTPUT;
use crate::atomic_file::AtomicFile;
use crate::failure::Result;

/// The name of the file in messages.
const WHAT: &str = "report";

/// Facts about the page that its publisher alone knows.
#[derive(clap::Args, Clone, Default)]
pub struct About {
    /// The title of the page [default: as fits the list]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = OUTPUT)]
    pub title: Option<String>,

    /// Where the events come from, as the page is to say it [default: nothing is said]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = OUTPUT)]
    pub source: Option<String>,
}

impl About {
    pub fn info(&self) -> PageInfo {
        PageInfo { title: self.title.clone(), source: self.source.clone() }
    }
}

/// Fails if the page cannot be written there: called before any budget is spent.
pub fn check(file: &Path) -> Result<()> {
    AtomicFile::check(WHAT, file)
}

/// Writes the page to a file, as a whole or not at all.
pub fn save<K: Key>(
    file: &Path,
    releases: &[Release<K>],
    windows: &[WindowLabel],
    about: &About,
) -> Result<()> {
    let mut draft = AtomicFile::create(WHAT, file)?;
    let written = page::write(&mut draft, releases, windows, &about.info(), this_minute());
    draft.finish(written)
}

/// The present time as pages state it.
pub fn this_minute() -> Timestamp {
    let now = Timestamp::now();
    now.round(Unit::Minute).unwrap_or(now)
}
