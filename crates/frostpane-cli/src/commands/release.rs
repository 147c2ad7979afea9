//! `frostpane release`: a private list of a state, charged to every pane that it covers.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use frostpane::Span;
use frostpane_render::{UnitWords, renderings};
use frostpane_store::{DryRun, Renderings, Store};
use jiff::Timestamp;

use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::output::{OutputArgs, this_minute};
use crate::output_file::OutputFile;
use crate::terminal::tell;

/// Release the frequent keys of a window that ends where the state has come to.
///
/// The release is charged to every pane, or epoch of users, that it covers, and kept, before anything is
/// written. The same --id writes the same bytes again and charges nothing, so a job that failed can run again. If a
/// pane cannot pay, nothing is released and nothing is charged: it says which, and when it will have left the window.
#[derive(clap::Args)]
pub struct ReleaseArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// How far back to look: a number of events, or a time such as 7d [default: the longest window of the
    /// state]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub window: Option<Span>,

    /// An id of the release; the same one gives the same bytes [default: the present time]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Say what it would cost and what would be left, and release nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn run<K: TextKey>(args: &ReleaseArgs) -> Result<()> {
    let mut store = Store::<K>::open(&args.dir)?;
    let window = args.window.unwrap_or_else(|| store.header().spec.longest());
    if args.dry_run {
        return dry_run(&store, window);
    }
    let output = &args.output;
    output.check(&[])?;
    let id = args.id.clone().unwrap_or_else(|| Timestamp::now().to_string());
    let mut failure = None;
    let released = store.release_in_forms(&id, window, |release| {
        renderings(window, release, &output.page_info(), this_minute()).unwrap_or_else(|cause| {
            failure = Some(cause);
            Renderings::new()
        })
    })?;
    failure.map_or(Ok(()), Err).map_err(Failure::Output)?;
    let left = store.budget()?.left;
    tell(format_args!(
        "the release {id} {}; {} more {}",
        if released.again {
            "was made before: these are the same bytes, and nothing was charged"
        } else {
            "was charged and kept"
        },
        left,
        if left == 1 { "fits" } else { "fit" }
    ));
    if released.forms.is_empty() && !output.json {
        tell(
            "the process that made it ended before it was written in other forms: it can be had as JSON, with --json",
        );
    }
    for (form, file) in output.files() {
        if let Some(text) = released.forms.get(form) {
            OutputFile::write(form, file, |out| out.write_all(text.as_bytes()))?;
            tell(format_args!("the {form} is in {}", file.display()));
        }
    }
    let form = if output.csv { "csv" } else { "table" };
    let mut out = BufWriter::new(io::stdout().lock());
    match (output.json, released.forms.get(form)) {
        (false, Some(text)) => out.write_all(text.as_bytes())?,
        _ => {
            out.write_all(&released.json)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn dry_run<K: TextKey>(store: &Store<K>, window: Span) -> Result<()> {
    let DryRun { from, to, charge, left, .. } = store.dry_run(window)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "A release of {window} would charge {charge} to {} {}s from {} on. {left} more would fit after it.",
        to - from,
        UnitWords::of(store.header().spec.unit).pane,
        store.moment(store.stream().begins(from)),
    )?;
    Ok(())
}
