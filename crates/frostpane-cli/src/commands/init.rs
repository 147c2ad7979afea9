//! `frostpane init`: begins a state.

use std::path::{Path, PathBuf};

use frostpane::{Budget, Delta, Epsilon, Keys, Span};
use frostpane_store::{Begin, Store};

use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::settings::{
    ColumnArgs, NO_TIME_COLUMN, ReleaseRequest, RequestArgs, TimeArgs, check_column, for_keys_of,
};
use crate::terminal::tell;

const DELTA: f64 = 1e-6;

/// Begin a state: a folder that keeps events, panes and the privacy budget from one run to the next.
///
/// Its settings are fixed from then on: they decide what is kept. Every pane, or every epoch of users, has an
/// account, which each release charges that covers it; one that cannot pay refuses the release. As the window
/// slides, panes leave it and others come whose accounts are empty: the budget renews itself.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  A list every day of the last 30, by users, each of whose epochs may lose an epsilon of 3 in all:
    frostpane init searches --key search --time time --user user --per-user 4 --window 30d --top 20 \\
      --epsilon 0.1 --budget 3 --from 2025-11-01
    frostpane ingest searches monday.tsv --until 2025-11-02
    frostpane release searches --id 2025-11-02
  Continual release every hour, of the last day, all at one epsilon, also across restarts:
    frostpane init trending --watch --key page --time at --window 24h --slide 1h --top 10
    tail -n +1 -F log.jsonl | frostpane watch trending --format jsonl --id log")]
pub struct InitArgs {
    /// The folder, which must be new or empty
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// For continual release with `frostpane watch DIR`: a release at every slide, all of them at one epsilon
    #[arg(long)]
    pub watch: bool,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// Where users are protected: count events from this time on, such as 2025-12-01 [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,

    /// The number of releases that an event may be in, each at epsilon and delta [default: 1, or as many as
    /// windows]
    #[arg(long, value_name = "N", conflicts_with = "budget")]
    pub releases: Option<u32>,

    /// The epsilon that a pane, or an epoch of users, may lose by all releases together; many small ones may
    /// fit by their rho although their epsilons add up to more
    #[arg(long, value_name = "EPSILON", allow_negative_numbers = true)]
    pub budget: Option<f64>,

    /// The delta of that [default: 1e-6]
    #[arg(long, value_name = "DELTA", requires = "budget", allow_negative_numbers = true)]
    pub budget_delta: Option<f64>,

    /// A file outside of the folder, on another disk if possible, that knows how far the state has come: a
    /// restored copy is then noticed, and of two copies one goes on
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,

    /// Begin a state that makes the same panes as this one, with the same hashes of keys
    #[arg(long, value_name = "DIR")]
    pub like: Option<PathBuf>,

    #[command(flatten)]
    pub request: RequestArgs,

    #[command(flatten)]
    pub clock: TimeArgs,
}

pub fn run(args: &InitArgs) -> Result<()> {
    let clock = args.clock.resolve()?;
    let file_is_continual = args.request.spec.is_some() && args.request.resolve(true).is_ok();
    let request = args.request.resolve(args.watch || file_is_continual)?;
    let mut request = request.of_users(args.columns.user.is_some(), &clock)?;
    check_column(&request.spec, args.columns.user.is_some())?;
    if clock.until.is_some() {
        return Err(Failure::from(
            "--until is where a window ends, but a state goes on: leave it out, and give it to `frostpane ingest`",
        ));
    }
    request.spec.releases = args.releases.or(request.spec.releases);
    request.spec.budget = budget(args)?.or(request.spec.budget);
    if request.is_printed()? {
        return Ok(());
    }
    for_keys_of!(request, |keys| create(args, &request, keys))
}

fn budget(args: &InitArgs) -> Result<Option<Budget>> {
    let delta = Delta::new(args.budget_delta.unwrap_or(DELTA));
    let budget = |epsilon| Ok(Budget { epsilon: Epsilon::new(epsilon)?, delta });
    args.budget.map(budget).transpose()
}

fn begin(args: &InitArgs) -> Result<Begin> {
    let clock = args.clock.resolve()?;
    let from = args.from.as_deref().map(|text| clock.moment("--from", text)).transpose()?;
    let mut begin = Begin::default();
    begin.from = from.map(|from| from.as_microsecond());
    begin.witness.clone_from(&args.witness);
    begin.input = (args.columns != ColumnArgs::default())
        .then(|| serde_json::to_string(&args.columns).map_err(|cause| Failure::Message(cause.to_string())))
        .transpose()?;
    Ok(begin)
}

fn create<K: TextKey>(args: &InitArgs, request: &ReleaseRequest, keys: Keys<K>) -> Result<()> {
    if let (Span::Clock(_), None) = (request.longest(), &args.columns.time) {
        return Err(Failure::Message(NO_TIME_COLUMN.to_owned()));
    }
    let spec = request.builder(keys.clone()).spec()?;
    tell_next(args, &Store::create(&args.dir, spec, keys, begin(args)?)?)
}

pub fn like<K: TextKey>(args: &InitArgs, other: &Path) -> Result<()> {
    let other = Store::<K>::open(other)?;
    let mut begin = begin(args)?;
    begin.input = begin.input.or_else(|| other.header().input.clone());
    tell_next(args, &Store::create_like(&args.dir, &other, begin)?)
}

fn tell_next<K: TextKey>(args: &InitArgs, store: &Store<K>) -> Result<()> {
    let dir = args.dir.display();
    let spec = &store.header().spec;
    tell(format_args!(
        "a state was begun in {dir}: it keeps what happened, so keep it as safe as the events themselves"
    ));
    if spec.continual {
        tell(format_args!(
            "next: frostpane watch {dir} FILE..., for continual release; all releases cost {} once",
            store.stream().ledger().account(0..1)
        ));
    } else {
        tell(format_args!(
            "next: frostpane ingest {dir} FILE..., and then frostpane release {dir}; one release costs {}, and {} fit",
            store.stream().charge(),
            store.budget()?.left
        ));
    }
    if args.witness.is_none() {
        tell("a restored backup would bring back budget that was spent: --witness FILE notices that");
    }
    Ok(())
}
