//! `frostpane check`.

use std::path::PathBuf;

use frostpane_store::CheckReport;

use crate::failure::Result;
use crate::settings::values::count_of;
use crate::terminal::tell;

/// Check that everything a state has on disk is as it was written.
///
/// Every page is compared with its checksum, every record of the history with those before it, and every
/// release is read. Other commands check only what they read. No other process may have the state open
/// meanwhile.
#[derive(clap::Args)]
pub struct CheckArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

pub fn run(args: &CheckArgs) -> Result<()> {
    let checked = CheckReport::of(&args.dir)?;
    tell(format_args!(
        "all pages are as they were written: {} in the history, {} and {}",
        count_of(checked.records, "record", "records"),
        count_of(checked.releases, "release", "releases"),
        count_of(checked.lists, "continual release", "continual releases")
    ));
    Ok(())
}
