//! `frostpane list`: private lists of the end of a stream, one for each window.

use std::io::{self, BufWriter, IsTerminal, Write};

use frostpane::{HeavyHitters, Key, Keys, Release};
use frostpane_render::{WindowLabel, csv, table, together};

use super::notes::{self, EventTally};
use crate::events::TextKey;
use crate::events::batch::EventBatch;
use crate::events::feed::feed;
use crate::events::order_check::OrderCheck;
use crate::events::time_filter::TimeFilter;
use crate::events::window_end::WindowEnd;
use crate::failure::Result;
use crate::output::{OUTPUT, OutputArgs};
use crate::screen::{layout_of, rows_on_a_terminal};
use crate::settings::values::{Days, WindowArg};
use crate::settings::{
    InputArgs, ReleaseRequest, RequestArgs, TimeArgs, TimeSettings, check_column, for_keys_of,
};
use crate::terminal::progress::Progress;
use crate::terminal::{tell, warn, write_json};
use frostpane_events::{EventRef, Source};

/// List the heavy hitters at the end of a stream.
///
/// Reads text (the whole line is the key), CSV and TSV, JSON Lines and Parquet, also packed with gzip or
/// zstd. What a file is follows from its name, unless --format and --packing say; where neither tells, it is
/// text. Without files, or for `-`, reads standard input; patterns in quotes such as 'logs/*.csv.gz' are
/// taken too. What is written to standard output and to files may be published; standard error is for you
/// alone.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  The last million lines of a file, each a key:
    frostpane list searches.txt
  The last 30 days of a log, with times in column 1 and keys in 2:
    frostpane list --key 2 --time 1 --window 30d --slide 1d log.tsv.zst
  A list of the last day, one of the week and one of the month, in one pass:
    frostpane list --key 2 --time 1 --window 1d --window 7d --window 30d log.tsv.zst
  What was asked of a web server in the last week, from its log:
    frostpane list --pattern combined --window 7d access.log
  A field of JSON Lines, of many files, by time:
    frostpane list --key user.country --time at --window 7d 'logs/*.jsonl.gz'
  Pages that are known in advance, from a pipe, for another program:
    cut -f3 visits.tsv | frostpane list --keys pages.txt --json
  Columns from a pipe, as rows to be published with their guarantee:
    zcat log.gz | frostpane list --format tsv --key 2 --csv --guarantee guarantee.txt > list.csv
  A page to look at, beside the table:
    frostpane list --report searches.html searches.txt
  The top 20 by people and not by events: of each person and day up to 4 keys are counted, each once:
    frostpane list --user user --key search --time time --window 7d --until 2025-12-01 --per-user 4 --top 20 log.tsv

Columns: a name means that the first line names the columns (CSV, TSV), a path of fields (JSON Lines), a column (Parquet) or a group (--pattern); or a part of the path such as country=DE/. A number is a position from 1, and then the first line is an event, unless --header says that it names the columns.

Times: Unix seconds, milliseconds, microseconds or nanoseconds, told apart by their size (below 100 billion they are seconds), with decimals or not; dates as in RFC 3339, also with a zone in brackets; 20251001, 20251001120000; 01/Oct/2025:12:00:00 +0200. In UTC unless they say.

Every line is an event, a row in Parquet. One whose key is missing, empty or null, or that cannot be read, is an event without a key.

Privacy protects the key of each single event or, with --user, all that one person did in one epoch (a day, see --epoch): whether, when, how often and in what. How many events there are and when is then hidden too, so --until has to say where windows end. Releasing the same events again costs epsilon again, and so does each further window.")]
pub struct ListArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    #[command(flatten)]
    pub clock: TimeArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Show at most so many rows of the table; JSON and CSV are never cut [default: 25 on a terminal, or
    /// as many as --top asks for; else all]
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    pub rows: Option<usize>,
}

pub fn run(args: &ListArgs) -> Result<()> {
    let clock = args.clock.resolve()?;
    let request = args.request.resolve(false)?;
    let request = request.of_users(args.input.columns.user.is_some(), &clock)?;
    if request.is_printed()? {
        let by_days = request.windows.iter().any(|window| window.days != Days::None);
        if by_days && clock.timezone.to_fixed_offset().is_err() {
            tell(
                "in a specification a day has 24 hours, also where clocks change: for days of --timezone give --window \
                 beside --spec",
            );
        }
        return Ok(());
    }
    for_keys_of!(request, |keys| list(args, clock, &request, keys))
}

fn list<K: TextKey>(
    args: &ListArgs,
    clock: TimeSettings,
    request: &ReleaseRequest,
    keys: Keys<K>,
) -> Result<()> {
    check_column(&request.spec, args.input.has_users())?;
    let schema = args.input.schema(request.longest(), &clock.timezone)?;
    let source = || Ok(Source::new(&args.input.files, schema.clone())?);
    args.output.check(&[source()?.files(), request.files()].concat())?;
    let end = WindowEnd::find(request, &keys, clock, source)?;
    let request = &end.request;
    let builder = request.builder(keys).decided()?;
    let mut hitters = builder.clone().build()?;
    for window in &request.windows {
        hitters.check_window(window.span)?;
    }
    let counted = count(&mut hitters, &end, source()?)?;
    let release = |window: &WindowArg| Ok((window.label(), hitters.release_over(window.span)?));
    let releases: Vec<_> = request.windows.iter().map(release).collect::<Result<_>>()?;
    if request.is_of_users() {
        notes::tell_of_bounds(hitters.tally());
        if hitters.tally().offered == 0 {
            notes::tell_of_empty_window(&counted.filter);
        }
    } else if releases.iter().all(|(_, release)| release.window.events == 0) {
        counted.tally.check_events()?;
        return Err(notes::empty_window(&counted.filter));
    }
    let length = notes::length_warning(request, &builder, counted.key_bytes);
    let warnings = notes::warnings_of(request, &releases, counted.filter.first);
    length.into_iter().chain(warnings).for_each(warn);
    publish(args, &releases)?;
    counted.tally.check_keys(&args.input)
}

struct CountedEvents {
    tally: EventTally,
    filter: TimeFilter,
    key_bytes: u64,
}

fn count<K: TextKey>(
    hitters: &mut HeavyHitters<K>,
    end: &WindowEnd,
    mut source: Source,
) -> Result<CountedEvents> {
    let (window, by_clock) = (end.request.longest(), end.request.by_clock());
    let mut progress = Progress::new(&source);
    let mut order = OrderCheck::of(window);
    let mut filter = TimeFilter::new(&end.clock, window);
    let (mut keys, mut bytes) = (0, 0);
    let admit = |event: EventRef<'_>| {
        if let Some(key) = event.key {
            keys += 1;
            bytes += key.len() as u64;
        }
        if let Some(order) = &mut order {
            order.see(event);
        }
        progress.step();
        filter.admits(event.time)
    };
    feed(&mut source, admit, |batch: &EventBatch| {
        Ok(hitters.extend(batch.events().map(|event| event.timed(by_clock)).map(K::event))?)
    })?;
    let events = progress.finish();
    end.check(events)?;
    order.and_then(|order| order.warning()).into_iter().for_each(warn);
    let tally = EventTally::new(end.request.spec.unit, events, &filter, hitters.tally());
    tally.tell(&source, &filter);
    Ok(CountedEvents { tally, filter, key_bytes: bytes.div_ceil(u64::max(keys, 1)) })
}

/// Writes the releases to all outputs. Files are written even if nobody reads the rest: the budget is spent.
fn publish<K: Key>(args: &ListArgs, releases: &[(WindowLabel, Release<K>)]) -> Result<()> {
    let written = write(args, releases);
    args.output.save_guarantee(releases)?;
    let (windows, lists): (Vec<_>, Vec<_>) = releases.iter().cloned().unzip();
    args.output.save_report(&lists, &windows)?;
    for (what, file) in args.output.files() {
        tell(format_args!("the {what} is in {}", file.display()));
    }
    written
}

fn write<K: Key>(args: &ListArgs, releases: &[(WindowLabel, Release<K>)]) -> Result<()> {
    let stdout = io::stdout().lock();
    let screen = layout_of(&stdout);
    let mut out = BufWriter::new(stdout);
    if args.output.json {
        for (_, release) in releases {
            write_json(&mut out, release)?;
        }
    } else if args.output.csv {
        csv::write(&mut out, releases)?;
    } else {
        let on_a_terminal = || Some(rows_on_a_terminal(&releases.first()?.1));
        let usual = io::stdout().is_terminal().then(on_a_terminal).flatten();
        table::write(&mut out, releases, &screen, args.rows.or(usual))?;
    }
    out.flush()?;
    if args.output.csv && args.output.guarantee.is_none() && args.output.report.is_none() {
        tell("what these counts can be trusted for was not written: --guarantee FILE does");
    } else if args.output.json && releases.len() > 1 {
        tell(together(releases.iter().map(|(_, release)| release)));
    }
    Ok(())
}
