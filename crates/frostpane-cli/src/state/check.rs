//! `frostpane check`: whether everything that a state has on disk is as it was written.

use std::path::PathBuf;

use frostpane_store::Checked;

use crate::failure::Result;
use crate::units::grouped;
use crate::warnings::tell;

/// Check that everything a state has on disk is as it was written.
///
/// Every page is compared with its checksum, every record of the history with those before it, and every release is read. It takes as long as
/// there is to read; other commands check what they read and no more. No other process may have the state meanwhile.
#[derive(clap::Args)]
pub struct CheckArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

pub fn run(args: &CheckArgs) -> Result<()> {
    let checked = Checked::of(&args.dir)?;
    tell(format_args!(
        "all pages are as they were written: {} records in the history, {} releases and {} lists at every slide",
        grouped(checked.records),
        grouped(checked.releases),
        grouped(checked.lists)
    ));
    Ok(())
}
