//! What is kept in a folder from one run to the next: events, panes, noise and the budget.

mod budget;
mod check;
mod columns;
mod compact;
mod drain;
mod ingest;
mod init;
mod inspect;
mod release;
mod transfer;
mod watch;

use std::path::{Path, PathBuf};

use frostpane::{Bytes, ErrorKind, Span};
use frostpane_store::{Header, KeyKind, Store};

pub use budget::BudgetArgs;
pub use check::CheckArgs;
pub use compact::CompactArgs;
pub use ingest::IngestArgs;
pub use init::InitArgs;
pub use inspect::InspectArgs;
pub use release::ReleaseArgs;
pub use transfer::{ExportArgs, ForgetArgs, ImportArgs, RestoreArgs};

use crate::args::WatchArgs;
use crate::failure::{Failure, Result};
use crate::list::TextKey;
use crate::warnings::tell;

/// What every state has in its folder.
const FILE: &str = "frostpane.redb";

pub fn init(args: &InitArgs) -> Result<()> {
    init::run(args)
}

pub fn ingest(args: &IngestArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => ingest::run::<Bytes>(args),
        KeyKind::Integers => ingest::run::<u64>(args),
    }
}

pub fn release(args: &ReleaseArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => release::run::<Bytes>(args),
        KeyKind::Integers => release::run::<u64>(args),
    }
}

pub fn budget(args: &BudgetArgs) -> Result<()> {
    budget::run(args)
}

pub fn inspect(args: &InspectArgs) -> Result<()> {
    inspect::run(args)
}

pub fn check(args: &CheckArgs) -> Result<()> {
    check::run(args)
}

pub fn compact(args: &CompactArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => compact::run::<Bytes>(args),
        KeyKind::Integers => compact::run::<u64>(args),
    }
}

pub fn export(args: &ExportArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => transfer::export::<Bytes>(args),
        KeyKind::Integers => transfer::export::<u64>(args),
    }
}

pub fn import(args: &ImportArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => transfer::import::<Bytes>(args),
        KeyKind::Integers => transfer::import::<u64>(args),
    }
}

pub fn forget(args: &ForgetArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => transfer::forget::<Bytes>(args),
        KeyKind::Integers => transfer::forget::<u64>(args),
    }
}

pub fn restore(args: &RestoreArgs) -> Result<()> {
    match kind(&args.dir)? {
        KeyKind::Bytes => transfer::restore::<Bytes>(args),
        KeyKind::Integers => transfer::restore::<u64>(args),
    }
}

/// The folder of a state, if that is what `watch` was given.
pub fn watched(args: &WatchArgs) -> Option<PathBuf> {
    let first = args.input.files.first()?;
    first.join(FILE).exists().then(|| first.clone())
}

pub fn watch(args: &WatchArgs, dir: &Path) -> Result<()> {
    match kind(dir)? {
        KeyKind::Bytes => watch::run::<Bytes>(args, dir),
        KeyKind::Integers => watch::run::<u64>(args, dir),
    }
}

fn kind(dir: &Path) -> Result<KeyKind> {
    Ok(Header::read(dir)?.keys)
}

fn open<K: TextKey>(dir: &Path) -> Result<Store<K>> {
    Ok(Store::open(dir)?)
}

/// That what is shown is not read from what is kept.
fn tell_in_use() {
    tell(
        "another process has this state open: this is what it wrote down when it last changed, and may be a moment old",
    );
}

/// A window as it is asked for, or the longest.
fn window<K: TextKey>(store: &Store<K>, asked: Option<Span>) -> Span {
    asked.unwrap_or_else(|| store.header().spec.longest())
}

impl From<frostpane_store::Error> for Failure {
    fn from(cause: frostpane_store::Error) -> Self {
        use frostpane_store::Error;
        match cause {
            Error::Stream(cause) if cause.kind() == ErrorKind::Memory => Failure::Message(
                "the users of epochs that have not ended do not fit into the memory, and nothing of the last batch was taken: bring in fewer days at a time, each with its --until, or begin the state with more, with --memory"
                    .to_owned(),
            ),
            Error::Stream(cause) => cause.into(),
            cause => Failure::Message(cause.to_string()),
        }
    }
}
