//! `frostpane export`, `import`, `forget` and `restore`: moves panes between states, and goes on with a restored copy.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use frostpane_store::{Header, PaneTransfer, Store};

use super::state;
use crate::atomic_file::AtomicFile;
use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::settings::TimeArgs;
use crate::terminal::tell;

/// Take closed panes out of a state, with what they have spent, to bring them into another one.
///
/// They are spent where they come from, because a pane is in one state only. The same range writes the same
/// file again, in case it was lost.
#[derive(clap::Args)]
pub struct ExportArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// The file to write, which holds what users did: keep it as safe as the events
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// From this time on
    #[arg(long, value_name = "TIME")]
    pub from: String,

    /// The folder of the state that they go to, or its name in `frostpane inspect`: no other state takes them
    #[arg(long, value_name = "DIR|STATE")]
    pub to: String,

    #[command(flatten)]
    pub clock: TimeArgs,
}

/// Forget closed panes: later lists are without them.
///
/// For when a user has to be erased: a single one cannot be taken out of counts. What the panes have spent
/// stays spent, and what was published stays published. Panes that were exported are forgotten here too.
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

/// Bring panes of another state into a state.
///
/// The state must make the same panes (`frostpane init --like`), and have none where these come from.
#[derive(clap::Args)]
pub struct ImportArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// The file that `frostpane export` wrote
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
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

pub fn export<K: TextKey>(args: &ExportArgs) -> Result<()> {
    let positions = positions(&args.clock, &args.from)?;
    let folder = Path::new(&args.to);
    let to = if folder.is_dir() { Header::read(folder)?.store } else { args.to.clone() };
    let mut store = state::open::<K>(&args.dir)?;
    let panes = store.export(positions, &to)?;
    AtomicFile::write_private("panes", &args.file, &panes.to_bytes()?)?;
    tell(format_args!(
        "the panes are in {}, and spent here: bring them into another state with frostpane import DIR {}",
        args.file.display(),
        args.file.display()
    ));
    Ok(())
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

pub fn import<K: TextKey>(args: &ImportArgs) -> Result<()> {
    let bytes = fs::read(&args.file)
        .map_err(|cause| Failure::Message(format!("{}: {cause}", args.file.display())))?;
    let panes = PaneTransfer::from_bytes(&bytes)?;
    state::open::<K>(&args.dir)?.import(&panes)?;
    tell("the panes are in the state, with what they had spent: delete the file");
    Ok(())
}

pub fn restore<K: TextKey>(args: &RestoreArgs) -> Result<()> {
    Store::<K>::accept_restored(&args.dir, args.force)?;
    tell(
        "the state is gone on with; everything before now is spent, and the budget renews itself as the window slides",
    );
    Ok(())
}
