//! The commands, each with its options.

mod audit;
mod budget;
mod check;
mod compact;
mod compare;
mod demo;
mod forget;
mod ingest;
mod init;
mod inspect;
mod list;
mod man;
mod notes;
mod plan;
mod release;
mod restore;
mod state;
mod watch;

use clap::Subcommand;
use frostpane::Bytes;
use frostpane_store::{Header, KeyKind};

use crate::failure::Result;

#[derive(Subcommand)]
pub enum Command {
    Demo(demo::DemoArgs),
    List(list::ListArgs),
    Watch(watch::WatchArgs),
    Plan(plan::PlanArgs),
    Init(init::InitArgs),
    Ingest(ingest::IngestArgs),
    Release(release::ReleaseArgs),
    Budget(budget::BudgetArgs),
    Inspect(inspect::InspectArgs),
    Check(check::CheckArgs),
    Compact(compact::CompactArgs),
    Forget(forget::ForgetArgs),
    Restore(restore::RestoreArgs),
    Compare(compare::CompareArgs),
    Audit(audit::AuditArgs),
    /// Write completions for a shell to standard output.
    Completions {
        shell: clap_complete::Shell,
    },
    /// Write a manual page to standard output.
    Man {
        /// The command that the page is about [default: the whole program]
        command: Option<String>,
    },
}

macro_rules! with_keys_of {
    ($dir:expr, $module:ident::$command:ident($($argument:expr),*)) => {
        match Header::read($dir)?.keys {
            KeyKind::Bytes => $module::$command::<Bytes>($($argument),*),
            KeyKind::Integers => $module::$command::<u64>($($argument),*),
        }
    };
}

impl Command {
    pub fn run(&self) -> Result<()> {
        match self {
            Command::Demo(args) => demo::run(args),
            Command::List(args) => list::run(args),
            Command::Watch(args) => match args.state() {
                Some(dir) => with_keys_of!(&dir, watch::run_state(args, &dir)),
                None => watch::run(args),
            },
            Command::Plan(args) => plan::run(args),
            Command::Init(args) => match &args.like {
                Some(other) => with_keys_of!(other, init::like(args, other)),
                None => init::run(args),
            },
            Command::Ingest(args) => with_keys_of!(&args.dir, ingest::run(args)),
            Command::Release(args) => with_keys_of!(&args.dir, release::run(args)),
            Command::Budget(args) => budget::run(args),
            Command::Inspect(args) => inspect::run(args),
            Command::Check(args) => check::run(args),
            Command::Compact(args) => with_keys_of!(&args.dir, compact::run(args)),
            Command::Forget(args) => with_keys_of!(&args.dir, forget::run(args)),
            Command::Restore(args) => with_keys_of!(&args.dir, restore::run(args)),
            Command::Compare(args) => compare::run(args),
            Command::Audit(args) => audit::run(args),
            Command::Completions { shell } => man::completions(*shell),
            Command::Man { command } => man::run(command.as_deref()),
        }
    }
}
