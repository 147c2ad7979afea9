//! `frostpane budget`: what has been spent, and when there will be more.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use frostpane_store::{Budget, Header, Period, Summary};

use crate::failure::Result;
use crate::table::bar;

/// Columns of a bar.
const WIDE: usize = 30;

/// Show how many more releases fit, and what every pane has spent.
///
/// It is read from what is kept. While another process has the state it is what that process has written down, and says so.
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
    let Summary {
        header,
        budget,
        in_use,
        ..
    } = Summary::read(&args.dir)?;
    if in_use {
        super::tell_in_use();
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match args.json {
        true => {
            serde_json::to_writer(&mut out, &budget).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        false => write(&mut out, &header, &budget)?,
    }
    out.flush()?;
    Ok(())
}

fn write(out: &mut impl Write, header: &Header, budget: &Budget) -> io::Result<()> {
    let what = match header.spec.unit.is_user() {
        true => "epoch",
        false => "pane",
    };
    if budget.continual {
        writeln!(
            out,
            "A list at every slide, for ever: every {what} has paid {} for all of them when it began.",
            budget
                .periods
                .first()
                .map_or(budget.charge, |period| period.spent)
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
            let (releases, fit) = if left == 1 {
                ("release", "fits")
            } else {
                ("releases", "fit")
            };
            writeln!(
                out,
                "{left} more {releases} of {} {fit} now.",
                header.spec.longest()
            )?;
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

/// A bar for everyone who has spent the same, from the oldest on.
fn chart(out: &mut impl Write, budget: &Budget, what: &str) -> io::Result<()> {
    let cap = budget.cap.epsilon.max(1);
    for Period {
        from,
        to,
        panes,
        spent,
        ..
    } in &budget.periods
    {
        let full = spent.epsilon.min(cap);
        let said = match spent.epsilon == u64::MAX {
            true => "all".to_owned(),
            false => format!("{}", spent.epsilon as f64 / 1e6),
        };
        let many = if *panes == 1 {
            what.to_owned()
        } else {
            format!("{what}s")
        };
        writeln!(
            out,
            "{:>20} to {:<20}  {:<WIDE$}  {said} of {} spent, {panes} {many}",
            day(from),
            day(to),
            bar(full, cap, WIDE),
            cap as f64 / 1e6,
        )?;
    }
    Ok(())
}

/// A midnight is said by its day.
fn day(moment: &str) -> &str {
    moment.strip_suffix("T00:00:00Z").unwrap_or(moment)
}
