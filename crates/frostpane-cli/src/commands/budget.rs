//! `frostpane budget`: the budget spent, and when there will be more.

use std::io::{self, Write};
use std::path::PathBuf;

use frostpane_render::UnitWords;
use frostpane_store::{BudgetPeriod, BudgetReport, Header, Summary};

use super::state::tell_in_use;
use crate::failure::Result;
use crate::settings::values::{count_of, plain};
use crate::terminal::print;
use frostpane_render::table::bar;

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
    print(args.json, &budget, |out, _| Ok(write(out, &header, &budget)?))
}

fn write(out: &mut impl Write, header: &Header, budget: &BudgetReport) -> io::Result<()> {
    let what = UnitWords::of(header.spec.unit).pane;
    if budget.continual {
        writeln!(
            out,
            "Continual release: every {what} has paid {} for all releases when it began.",
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
        None => (budget.cap.epsilon as f64 / 1e6, plain(budget.cap.delta as f64 / 1e36)),
    };
    writeln!(
        out,
        "Each costs every {what} it covers {}. No {what} may lose more than epsilon {epsilon}, delta {delta:e}.",
        budget.charge
    )?;
    writeln!(out)?;
    chart(out, budget, what)
}

/// A bar for each range of panes that have spent the same, from the oldest on.
fn chart(out: &mut impl Write, budget: &BudgetReport, what: &str) -> io::Result<()> {
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
