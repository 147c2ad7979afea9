//! `frostpane budget`: the budget spent, and when there will be more.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use frostpane::Spec;
use frostpane_store::{Budget, BudgetPeriod, Header, Summary};

use super::state::tell_in_use;
use crate::failure::Result;
use crate::settings::values::count_of;
use crate::terminal::write_json;
use frostpane_render::table::bar;

/// Columns of a bar.
const WIDE: usize = 30;

/// Show how many more releases fit, and what every pane has spent.
///
/// Reads the files of the state alone. While another process has the state open it shows what that process
/// has written down, and says so.
#[derive(clap::Args)]
pub struct BudgetArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Write it as one JSON object
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &BudgetArgs) -> Result<()> {
    let Summary { header, budget, in_use, .. } = Summary::read(&args.dir)?;
    if in_use {
        tell_in_use();
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        write_json(&mut out, &budget)?;
    } else {
        write(&mut out, &header, &budget)?;
    }
    out.flush()?;
    Ok(())
}

fn write(out: &mut impl Write, header: &Header, budget: &Budget) -> io::Result<()> {
    let what = pane_of(&header.spec);
    if budget.continual {
        writeln!(
            out,
            "A list at every slide, for ever: every {what} has paid {} for all of them when it began.",
            budget.periods.first().map_or(budget.charge, |period| period.spent)
        )?;
        return Ok(());
    }
    match (budget.left, &budget.more) {
        (0, Some((when, more))) => writeln!(
            out,
            "No release of {} fits now. {more} will from {} on.",
            header.spec.longest(),
            day(when)
        )?,
        (0, None) => writeln!(out, "No release of {} fits, now or later.", header.spec.longest())?,
        (left, more) => {
            let (releases, fit) = if left == 1 { ("release", "fits") } else { ("releases", "fit") };
            writeln!(out, "{left} more {releases} of {} {fit} now.", header.spec.longest())?;
            if let Some((when, more)) = more {
                writeln!(out, "{more} will from {} on.", day(when))?;
            }
        }
    }
    let (epsilon, delta) = match &header.spec.budget {
        Some(budget) => (budget.epsilon.as_f64(), budget.delta.as_f64()),
        None => (budget.cap.epsilon as f64 / 1e6, budget.cap.delta as f64 / 1e36),
    };
    writeln!(
        out,
        "Each costs every {what} it covers {}. No {what} may lose more than epsilon {epsilon}, delta {delta:e}.",
        budget.charge
    )?;
    writeln!(out)?;
    chart(out, budget, what)
}

/// The name of a pane in messages: an epoch where users are protected.
pub fn pane_of(spec: &Spec) -> &'static str {
    if spec.unit.is_user() { "epoch" } else { "pane" }
}

/// A bar for each range of panes that have spent the same, from the oldest on.
fn chart(out: &mut impl Write, budget: &Budget, what: &str) -> io::Result<()> {
    let cap = budget.cap.epsilon.max(1);
    for BudgetPeriod { from, to, panes, spent, .. } in &budget.periods {
        let full = spent.epsilon.min(cap);
        let spent = if spent.epsilon == u64::MAX {
            "all".to_owned()
        } else {
            (spent.epsilon as f64 / 1e6).to_string()
        };
        writeln!(
            out,
            "{:>20} to {:<20}  {:<WIDE$}  {spent} of {} spent, {}",
            day(from),
            day(to),
            bar(full, cap, WIDE),
            cap as f64 / 1e6,
            count_of(*panes, what, &format!("{what}s"))
        )?;
    }
    Ok(())
}

/// The day of a midnight, and other moments in full.
fn day(moment: &str) -> &str {
    moment.strip_suffix("T00:00:00Z").unwrap_or(moment)
}
