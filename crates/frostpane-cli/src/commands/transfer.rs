//! `frostpane forget` and `restore`: forgets panes, and goes on with a restored copy.

use std::ops::Range;
use std::path::PathBuf;

use frostpane_store::Store;

use super::state;
use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::settings::TimeArgs;
use crate::terminal::tell;

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

fn positions(clock: &TimeArgs, from: &str) -> Result<Range<i64>> {
    let clock = clock.resolve()?;
    let from = clock.moment("--from", from)?;
    match clock.until {
        Some(until) => Ok(from.as_microsecond()..until.as_microsecond()),
        None => Err(Failure::from("it was not said up to which time panes are meant: give --until")),
    }
}

pub fn forget<K: TextKey>(args: &ForgetArgs) -> Result<()> {
    let positions = positions(&args.clock, &args.from)?;
    state::open::<K>(&args.dir)?.forget(positions)?;
    tell("the panes are forgotten: later lists are without them, and what they have spent stays spent");
    Ok(())
}

pub fn restore<K: TextKey>(args: &RestoreArgs) -> Result<()> {
    Store::<K>::accept_restored(&args.dir, args.force)?;
    tell(
        "the state is gone on with; everything before now is spent, and the budget renews itself as the window slides",
    );
    Ok(())
}
