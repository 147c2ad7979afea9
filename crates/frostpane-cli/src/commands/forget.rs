//! `frostpane forget`.

use std::path::PathBuf;

use frostpane_store::Store;

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

pub fn run<K: TextKey>(args: &ForgetArgs) -> Result<()> {
    let clock = args.clock.resolve()?;
    let from = clock.moment("--from", &args.from)?;
    let Some(until) = clock.until else {
        return Err(Failure::from("it was not said up to which time panes are meant: give --until"));
    };
    Store::<K>::open(&args.dir)?.forget(from.as_microsecond()..until.as_microsecond())?;
    tell("the panes are forgotten: later lists are without them, and what they have spent stays spent");
    Ok(())
}
