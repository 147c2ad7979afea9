//! Options that say how releases are written, and the files that are written beside standard output.

use std::path::{Path, PathBuf};

use frostpane::{Key, Release};
use frostpane_render::page::{self, PageInfo};
use frostpane_render::{TextLayout, WindowLabel, guarantee};
use jiff::{Timestamp, Unit};

use crate::failure::Result;
use crate::output_file::OutputFile;

pub const OUTPUT: &str = "What to write";

const GUARANTEE: &str = "guarantee";
const REPORT: &str = "report";

/// Options on output that commands share.
#[derive(clap::Args, Clone)]
pub struct OutputArgs {
    /// Write each release as one JSON object on one line, also on a terminal
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write the listed keys as comma-separated values, for which --guarantee says what they are good for; of
    /// several releases, each row begins with its window
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub csv: bool,

    /// Also write what the lists can be trusted for and what they cost, as text to be published with them
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub guarantee: Option<PathBuf>,

    /// Also write one page of HTML for a browser: the lists with charts, the guarantee and the budget
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    /// The title of the page [default: as fits the list]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = OUTPUT)]
    pub title: Option<String>,

    /// Where the events come from, as the page is to say it [default: nothing is said]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = OUTPUT)]
    pub source: Option<String>,
}

impl OutputArgs {
    /// Refuses files that cannot be written, before any budget is spent, and those that are read.
    pub fn check(&self, inputs: &[&Path]) -> Result<()> {
        self.report.as_deref().map(|file| OutputFile::check(REPORT, file)).transpose()?;
        self.guarantee.as_deref().map(|file| OutputFile::check(GUARANTEE, file)).transpose()?;
        let files = [&self.report, &self.guarantee].into_iter().flatten();
        OutputFile::check_apart(&files.map(PathBuf::as_path).collect::<Vec<_>>(), inputs)
    }

    /// The files that were asked for, each with its name in messages.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [(GUARANTEE, &self.guarantee), (REPORT, &self.report)];
        files.into_iter().filter_map(|(what, file)| Some((what, file.as_deref()?)))
    }

    pub fn page_info(&self) -> PageInfo {
        PageInfo { title: self.title.clone(), source: self.source.clone() }
    }

    pub fn save_guarantee<K: Key>(&self, releases: &[(WindowLabel, Release<K>)]) -> Result<()> {
        let Some(file) = &self.guarantee else { return Ok(()) };
        OutputFile::write(GUARANTEE, file, |out| guarantee::write(out, releases, &TextLayout::default()))
    }

    pub fn save_report<K: Key>(&self, releases: &[Release<K>], windows: &[WindowLabel]) -> Result<()> {
        let Some(file) = &self.report else { return Ok(()) };
        OutputFile::write(REPORT, file, |out| {
            page::write(out, releases, windows, &self.page_info(), this_minute())
        })
    }
}

/// The present time as pages state it.
pub fn this_minute() -> Timestamp {
    let now = Timestamp::now();
    now.round(Unit::Minute).unwrap_or(now)
}
