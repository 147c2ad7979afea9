//! `frostpane release`: a private list of a state, charged to everyone it covers.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use frostpane::{Release, Span};
use frostpane_store::{DryRun, Forms, Store};
use jiff::{Timestamp, Unit};

use crate::args::OUTPUT;
use crate::draft::Draft;
use crate::failure::{Failure, Result};
use crate::list::TextKey;
use crate::report::{self, About};
use crate::screen::Screen;
use crate::units::Asked;
use crate::warnings::tell;
use crate::{csv, guarantee, table};

/// Release the frequent keys of a window that ends where the state has come to.
///
/// The release is charged to every pane, or epoch of people, that it covers, and kept, before anything is written. The same --id
/// writes the same bytes again and charges nothing, so a job that failed can run again. If someone cannot pay, nothing is released and nothing
/// is charged: it says who, and when they will have left the window.
#[derive(clap::Args)]
pub struct ReleaseArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// How far back to look: a number of events, or a time such as 7d [default: the longest window of the state]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub window: Option<Span>,

    /// What the release is known by; the same one gives the same bytes [default: the present time]
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Say what it would cost and what would be left, and release nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Write the release as one JSON object on one line
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write the listed keys as comma-separated values
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub csv: bool,

    /// Also write what the list can be trusted for and what it costs, as text to be published with it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub guarantee: Option<PathBuf>,

    /// Also write one page of HTML for a browser
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub about: About,
}

pub fn run<K: TextKey>(args: &ReleaseArgs) -> Result<()> {
    let mut store = super::open::<K>(&args.dir)?;
    let window = super::window(&store, args.window);
    if args.dry_run {
        return dry_run(&store, window);
    }
    let outputs: Vec<_> = [&args.report, &args.guarantee]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    Draft::check_apart(&outputs, &[])?;
    args.report.as_deref().map(report::check).transpose()?;
    args.guarantee.as_deref().map(guarantee::check).transpose()?;
    let id = args.id.clone().unwrap_or_else(|| Timestamp::now().to_string());
    let mut failure = None;
    let released = store.release_in_forms(&id, window, |release| {
        forms(window, release, &args.about).unwrap_or_else(|cause| {
            failure = Some(cause);
            Forms::new()
        })
    })?;
    failure.map_or(Ok(()), Err)?;
    tell(format_args!(
        "the release {id} {}; {} more fit",
        match released.again {
            true => "was made before: these are the same bytes, and nothing was charged",
            false => "was charged and kept",
        },
        store.budget()?.left
    ));
    if released.forms.is_empty() && !args.json {
        tell(
            "the process that made it ended before it was written in other forms: it can be had as JSON, with --json",
        );
    }
    for (file, form) in [(&args.guarantee, "guarantee"), (&args.report, "report")] {
        if let (Some(file), Some(text)) = (file, released.forms.get(form)) {
            Draft::write_all(form, file, text.as_bytes())?;
            tell(format_args!("the {form} is in {}", file.display()));
        }
    }
    let form = if args.csv { "csv" } else { "table" };
    let mut out = BufWriter::new(io::stdout().lock());
    match (args.json, released.forms.get(form)) {
        (false, Some(text)) => out.write_all(text.as_bytes())?,
        _ => {
            out.write_all(&released.json)?;
            writeln!(out)?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Everything that a release is written as, so that it is the same whenever it is asked for.
fn forms<K: TextKey>(window: Span, release: &Release<K>, about: &About) -> Result<Forms> {
    let releases = [(Asked::from(window), release.clone())];
    let text = |write: &dyn Fn(&mut Vec<u8>) -> Result<()>| -> Result<String> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        String::from_utf8(bytes).map_err(|cause| Failure::Message(cause.to_string()))
    };
    let (screen, now) = (Screen::of_files(), Timestamp::now());
    let made = now.round(Unit::Minute).unwrap_or(now);
    Ok(Forms::from([
        (
            "table".to_owned(),
            text(&|out| Ok(table::write_releases(out, &releases, &screen, None)?))?,
        ),
        (
            "csv".to_owned(),
            text(&|out| Ok(csv::write_releases(out, &releases)?))?,
        ),
        (
            "guarantee".to_owned(),
            text(&|out| Ok(guarantee::write_guarantees(out, &releases, &screen)?))?,
        ),
        (
            "report".to_owned(),
            text(&|out| {
                Ok(report::write(
                    out,
                    std::slice::from_ref(release),
                    &[Asked::from(window)],
                    about,
                    made,
                )?)
            })?,
        ),
    ]))
}

fn dry_run<K: TextKey>(store: &Store<K>, window: Span) -> Result<()> {
    let DryRun {
        from,
        to,
        charge,
        left,
        ..
    } = store.dry_run(window)?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "A release of {window} would charge {charge} to {} {} from {} on. {left} more would fit after it.",
        to - from,
        match store.header().spec.unit.is_user() {
            true => "epochs",
            false => "panes",
        },
        store.moment(store.stream().begins(from)),
    )?;
    Ok(())
}
