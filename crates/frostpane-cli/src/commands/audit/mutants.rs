//! Options that break the mechanism on purpose.

use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use frostpane_audit::{Mutant, caught_by};

#[derive(clap::Args)]
pub struct MutantArgs {
    /// Break the mechanism on purpose, to see it caught
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Mutant::ALL.map(Mutant::name)), conflicts_with = "mutants")]
    mutant: Option<String>,

    /// Write which check sees which mutant, as a table in Markdown, and run nothing
    #[arg(long)]
    pub mutants: bool,
}

impl MutantArgs {
    pub fn mutant(&self) -> Option<Mutant> {
        let name = self.mutant.as_deref()?;
        Mutant::ALL.into_iter().find(|mutant| mutant.name() == name)
    }
}

pub fn table() -> String {
    let names = Mutant::ALL.map(Mutant::name);
    let mut table = format!("| check | {} |\n|---|", names.join(" | "));
    table += &"---|".repeat(names.len());
    table += "\n";
    let checks = frostpane_audit::all();
    for check in checks.iter().filter(|check| !check.is_published) {
        let cells =
            Mutant::ALL.map(|mutant| if caught_by(mutant).contains(&check.name) { "caught" } else { "" });
        let _ = writeln!(table, "| `{}` | {} |", check.name, cells.join(" | "));
    }
    table
}
