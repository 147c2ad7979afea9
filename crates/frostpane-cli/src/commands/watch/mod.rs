//! `frostpane watch`: continual release.

mod files;
mod follow;
mod frame;
mod output;
mod state;

use std::path::PathBuf;

use frostpane::{Edge, Keys, Span, Spec};
use frostpane_render::Warning;
use jiff::Timestamp;

use super::state::is_state;
use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::output::{OUTPUT, OutputArgs};
use crate::settings::{
    ContinualArgs, InputArgs, ReleaseRequest, RequestArgs, TimeArgs, TimeSettings, check_column, for_keys_of,
};
use crate::terminal::tell;
use follow::{follow_events, follow_users, replay};
use frostpane_events::{Schema, Source};
use output::SharedOutput;
pub use state::run as run_state;

/// Release the heavy hitters again at every slide, all of them at one epsilon.
///
/// This is continual release: one release for each slide, none of them ever revised, which together cost
/// epsilon and delta once. Reads what `list` reads, and follows standard input as it grows.
/// Writes JSON Lines in the shape of `list --json`; on a terminal shows the current list, redrawn in place.
/// The window is a whole number of slides. There is one window: a second one would cost an epsilon of its
/// own, so run a program for each. An interrupt (Ctrl-C) or SIGTERM ends it between two releases, with all
/// files up to date.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  A list of the last million lines after every 31,250 more:
    tail -f searches.txt | frostpane watch --window 1000000
  Every hour, of the last day, of pages that are known in advance, for another program:
    frostpane watch --key page --time at --window 24h --slide 1h --keys pages.txt log.jsonl > lists.jsonl
  Every day, of the last 30, as rows and as a page with the latest list and how ranks went:
    frostpane watch --key 2 --time 1 --window 30d --slide 1d --csv --report page.html log.tsv.zst > lists.csv

By time, a slide ends when an event arrives past its end and past --lateness; a slide without events has its
release too, until there was no event for two windows' time: then releases pause until the next event.

With --user events do not tell the time: for files --until says where the releases end, and for a pipe the clock of this machine ends slides.")]
pub struct WatchArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    #[command(flatten)]
    pub clock: TimeArgs,

    /// With --user and files: where the first slide begins, such as 2025-12-01 [default: a window before
    /// --until]
    #[arg(long, value_name = "TIME", requires = "user")]
    pub from: Option<String>,

    #[command(flatten)]
    pub continual: ContinualArgs,

    /// With the folder of a state: an id of these events, instead of the name of their file
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// With the folder of a state: first write the releases after this number again, as they were
    #[arg(long, value_name = "NUMBER")]
    pub after: Option<u64>,

    /// With the folder of a state of --user: accept the clock of this machine, however far it is ahead of the
    /// state
    #[arg(long)]
    pub accept_clock: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Show at most so many rows on a terminal; JSON and CSV are never cut [default: 25, or as many as --top
    /// asks for]
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub rows: Option<usize>,
}

impl WatchArgs {
    pub fn state(&self) -> Option<PathBuf> {
        self.input.files.first().filter(|file| is_state(file)).cloned()
    }
}

pub fn run(args: &WatchArgs) -> Result<()> {
    if args.id.is_some() || args.after.is_some() || args.accept_clock {
        return Err(Failure::from(
            "--id, --after and --accept-clock are for a state: give its folder first, as in `frostpane watch DIR`",
        ));
    }
    let clock = args.clock.resolve()?;
    let mut request = args.request.resolve(true)?;
    args.continual.apply(&mut request.spec);
    let request = request.of_users(args.input.columns.user.is_some(), &clock)?;
    if request.is_printed()? {
        return Ok(());
    }
    for_keys_of!(request, |keys| watch(args, &clock, &request, keys))
}

fn watch<K: TextKey>(
    args: &WatchArgs,
    clock: &TimeSettings,
    request: &ReleaseRequest,
    keys: Keys<K>,
) -> Result<()> {
    check_column(&request.spec, args.input.has_users())?;
    let builder = request.builder(keys);
    let spec = builder.spec()?;
    let window = request.windows[0].clone();
    if let Span::Events(events) = window.span {
        Warning::of_forecast(&spec, &builder.forecast(events, None)?).into_iter().for_each(tell);
    }
    let schema = Schema { live: true, ..args.input.schema(window.span, &clock.timezone)? };
    let mut source = Source::new(&args.input.files, schema)?;
    source.note_of_order().into_iter().for_each(tell);
    args.output.check(&[source.files(), request.files()].concat())?;
    let output = SharedOutput::new(args, window)?;
    let tally = match (spec.unit.bounds(), clock.until) {
        (None, _) => follow_events(builder.continual()?, &mut source, clock, &spec, &output),
        (Some(_), Some(until)) => {
            let from = first_moment(args, clock, &spec, until)?;
            let history = builder.history(Edge::Instant(from), Edge::Instant(until))?;
            replay(history, &mut source, clock, &spec, &output)
        }
        (Some(_), None) if source.total_bytes.is_some() => Err(Failure::from(
            "users are protected, so events do not say where the lists end: give --until TIME, such as --until 2025-12-01",
        )),
        (Some(_), None) => follow_users(builder.continual()?, &mut source, clock, &spec, &output),
    };
    let releases = output.lock().releases;
    // Files are finished even if nobody reads the rest.
    output.lock().finish()?;
    let tally = tally?;
    if !request.is_of_users() {
        tally.check_events()?;
        if releases == 0 {
            tell("no slide has ended, so there is no release: give more events, or a shorter --slide");
        }
    }
    tally.check_keys(&args.input)
}

/// The beginning of the first slide: as it was given, or a window before the end.
fn first_moment(args: &WatchArgs, clock: &TimeSettings, spec: &Spec, until: Timestamp) -> Result<Timestamp> {
    if let Some(text) = &args.from {
        return clock.moment("--from", text);
    }
    let window = spec.longest().length() as i64;
    Timestamp::from_microsecond(until.as_microsecond().saturating_sub(window))
        .map_err(|_| Failure::from("the window reaches beyond the calendar: give a shorter one, or --from"))
}
