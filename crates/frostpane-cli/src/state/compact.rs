//! `frostpane compact`: gives back space on disk.

use std::path::PathBuf;

use crate::clock::ClockArgs;
use crate::failure::Result;
use crate::list::TextKey;
use crate::units::grouped;
use crate::warnings::tell;

/// Give back space on disk that a state does not need.
///
/// What was released, charged and taken stays. With --drop-before also the texts of releases from before a time go, and the lists at every slide: their
/// ids stay, what they were charged stays charged, and none of them is drawn again.
#[derive(clap::Args)]
pub struct CompactArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Also drop the texts of releases, and the lists at every slide, that were made before this time, such as 2025-12-01
    #[arg(long, value_name = "TIME")]
    pub drop_before: Option<String>,
}

pub fn run<K: TextKey>(args: &CompactArgs) -> Result<()> {
    let mut store = super::open::<K>(&args.dir)?;
    if let Some(before) = &args.drop_before {
        let moment = ClockArgs::default().resolve()?.moment("--drop-before", before)?;
        let dropped = store.drop_before(moment.as_microsecond())?;
        tell(format_args!(
            "the texts of {} releases and {} lists at every slide were dropped; what they were charged stays charged",
            grouped(dropped.releases),
            grouped(dropped.lists)
        ));
    }
    store.compact()?;
    Ok(())
}
