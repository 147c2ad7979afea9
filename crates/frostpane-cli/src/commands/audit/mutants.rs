//! Options that break the mechanism on purpose.

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

/// The checks that catch each mutant.
pub fn table() -> String {
    let row = |mutant: Mutant| {
        let checks: Vec<String> = caught_by(mutant).iter().map(|check| format!("`{check}`")).collect();
        format!("| `{}` | {} |\n", mutant.name(), checks.join(", "))
    };
    let rows: String = Mutant::ALL.into_iter().map(row).collect();
    format!("| mutant | caught by |\n|---|---|\n{rows}")
}
