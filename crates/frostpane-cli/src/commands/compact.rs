//! `frostpane compact`.

use std::path::PathBuf;

use frostpane_store::Store;

use crate::events::TextKey;
use crate::failure::Result;
use crate::settings::TimeArgs;
use crate::settings::values::count_of;
use crate::terminal::tell;

/// Give back space on disk that a state does not need.
///
/// What was released, charged and taken stays. With --drop-before the texts of releases from before a time go
/// too: their ids stay, what they were charged stays charged, and none of them is drawn again.
#[derive(clap::Args)]
pub struct CompactArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Also drop the texts of releases that were made before this time, such as 2025-12-01
    #[arg(long, value_name = "TIME")]
    pub drop_before: Option<String>,
}

pub fn run<K: TextKey>(args: &CompactArgs) -> Result<()> {
    let mut store = Store::<K>::open(&args.dir)?;
    if let Some(before) = &args.drop_before {
        let moment = TimeArgs::default().resolve()?.moment("--drop-before", before)?;
        let dropped = store.drop_before(moment.as_microsecond())?;
        tell(format_args!(
            "the texts of {} and {} were dropped; what they were charged stays charged",
            count_of(dropped.releases, "release", "releases"),
            count_of(dropped.lists, "continual release", "continual releases")
        ));
    }
    store.compact()?;
    Ok(())
}
