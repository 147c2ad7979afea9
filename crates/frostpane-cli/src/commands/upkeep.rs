//! `frostpane check`, `compact`, `forget` and `restore`: what a state needs now and then.

use std::path::PathBuf;

use frostpane_store::{CheckReport, Store};

use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::settings::TimeArgs;
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

pub fn check(args: &CheckArgs) -> Result<()> {
    let checked = CheckReport::of(&args.dir)?;
    tell(format_args!(
        "all pages are as they were written: {} in the history, {} and {}",
        count_of(checked.records, "record", "records"),
        count_of(checked.releases, "release", "releases"),
        count_of(checked.lists, "list at every slide", "lists at every slide")
    ));
    Ok(())
}

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

pub fn compact<K: TextKey>(args: &CompactArgs) -> Result<()> {
    let mut store = Store::<K>::open(&args.dir)?;
    if let Some(before) = &args.drop_before {
        let moment = TimeArgs::default().resolve()?.moment("--drop-before", before)?;
        let dropped = store.drop_before(moment.as_microsecond())?;
        tell(format_args!(
            "the texts of {} and {} were dropped; what they were charged stays charged",
            count_of(dropped.releases, "release", "releases"),
            count_of(dropped.lists, "list at every slide", "lists at every slide")
        ));
    }
    store.compact()?;
    Ok(())
}

/// Forget closed panes: later lists are without them.
///
/// For when a user has to be erased: a single one cannot be taken out of counts. What the panes have spent
/// stays spent, and what was published stays published.
#[derive(clap::Args)]
pub struct ForgetArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// From this time on
    #[arg(long, value_name = "TIME")]
    pub from: String,

    #[command(flatten)]
    pub clock: TimeArgs,
}

pub fn forget<K: TextKey>(args: &ForgetArgs) -> Result<()> {
    let clock = args.clock.resolve()?;
    let from = clock.moment("--from", &args.from)?;
    let Some(until) = clock.until else {
        return Err(Failure::from("it was not said up to which time panes are meant: give --until"));
    };
    Store::<K>::open(&args.dir)?.forget(from.as_microsecond()..until.as_microsecond())?;
    tell("the panes are forgotten: later lists are without them, and what they have spent stays spent");
    Ok(())
}

/// Go on with a state that was restored from a copy.
///
/// Nobody knows what was released since the copy was made, so everything up to now is marked as spent;
/// continual release goes on with the next whole epoch. A state that is the latest that its witness knows of
/// is refused. Without a witness a restored copy looks like the state itself: then only you know that this is
/// needed, and say so with --force.
#[derive(clap::Args)]
pub struct RestoreArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Mark all of its past as spent although nothing shows that it is a copy
    #[arg(long)]
    pub force: bool,
}

pub fn restore<K: TextKey>(args: &RestoreArgs) -> Result<()> {
    Store::<K>::accept_restored(&args.dir, args.force)?;
    tell(
        "the state is gone on with; everything before now is spent, and the budget renews itself as the window slides",
    );
    Ok(())
}
