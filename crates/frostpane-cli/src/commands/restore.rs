//! `frostpane restore`.

use std::path::PathBuf;

use frostpane_store::Store;

use crate::events::TextKey;
use crate::failure::Result;
use crate::terminal::tell;

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

pub fn run<K: TextKey>(args: &RestoreArgs) -> Result<()> {
    Store::<K>::accept_restored(&args.dir, args.force)?;
    tell(
        "the state is gone on with; everything before now is spent, and the budget renews itself as the window slides",
    );
    Ok(())
}
