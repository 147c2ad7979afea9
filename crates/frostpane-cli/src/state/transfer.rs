//! `frostpane export`, `import` and `restore`: panes that go from one state to another, and states that come back from a copy.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use frostpane_store::{Header, Panes, Store};

use crate::clock::ClockArgs;
use crate::draft::Draft;
use crate::failure::{Failure, Result};
use crate::list::TextKey;
use crate::warnings::tell;

/// Take closed panes out of a state, with what they have spent, to bring them into another one.
///
/// They are spent where they come from: a pane is in one place. The same range writes the same file again, in case it was lost on its way.
#[derive(clap::Args)]
pub struct ExportArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// The file to write, which holds what people did: keep it as safe as the events
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// From this time on
    #[arg(long, value_name = "TIME")]
    pub from: String,

    /// The folder of the state that they go to, or what `frostpane inspect` calls it: no other one takes them
    #[arg(long, value_name = "DIR|STATE")]
    pub to: String,

    #[command(flatten)]
    pub clock: ClockArgs,
}

/// Forget closed panes: later lists are without them.
///
/// For when someone has to be erased: a single person cannot be taken out of counts. What the panes have spent stays spent, and what was published stays
/// published. Also panes that were exported are forgotten here.
#[derive(clap::Args)]
pub struct ForgetArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// From this time on
    #[arg(long, value_name = "TIME")]
    pub from: String,

    #[command(flatten)]
    pub clock: ClockArgs,
}

/// Bring panes into a state that were taken out of another one.
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
/// Nobody knows what was released since the copy was made, so everything up to now is marked as spent; lists at every slide go on with the next
/// whole epoch. A state that is the latest that its witness knows of is refused. Without a witness a copy that was restored looks like the state
/// itself: then only you know that this is needed, and say so with --force.
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
    let to = match Path::new(&args.to).is_dir() {
        true => Header::read(Path::new(&args.to))?.store,
        false => args.to.clone(),
    };
    let mut store = super::open::<K>(&args.dir)?;
    let panes = store.export(positions, &to)?;
    Draft::write_private("panes", &args.file, &panes.to_bytes()?)?;
    tell(format_args!(
        "the panes are in {}, and spent here: bring them into another state with frostpane import DIR {}",
        args.file.display(),
        args.file.display()
    ));
    Ok(())
}

/// From one time to another.
fn positions(clock: &ClockArgs, from: &str) -> Result<Range<i64>> {
    let clock = clock.resolve()?;
    let from = clock.moment("--from", from)?;
    match clock.until {
        Some(until) => Ok(from.as_microsecond()..until.as_microsecond()),
        None => Err(Failure::Message(
            "it was not said up to which time panes are meant: give --until".to_owned(),
        )),
    }
}

pub fn forget<K: TextKey>(args: &ForgetArgs) -> Result<()> {
    let positions = positions(&args.clock, &args.from)?;
    super::open::<K>(&args.dir)?.forget(positions)?;
    tell("the panes are forgotten: later lists are without them, and what they have spent stays spent");
    Ok(())
}

pub fn import<K: TextKey>(args: &ImportArgs) -> Result<()> {
    let bytes = fs::read(&args.file)
        .map_err(|cause| Failure::Message(format!("{}: {cause}", args.file.display())))?;
    let panes = Panes::from_bytes(&bytes)?;
    super::open::<K>(&args.dir)?.import(&panes)?;
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
