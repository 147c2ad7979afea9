//! Which check sees which mutant.

use std::fmt::Write;

use frostpane_audit::Mutant;
use frostpane_audit::check::Whose;

/// A table in Markdown.
pub fn of_mutants() -> String {
    let names = Mutant::ALL.map(Mutant::name);
    let mut table = format!("| check | {} |\n|---|", names.join(" | "));
    table += &"---|".repeat(names.len());
    table += "\n";
    let checks = frostpane_audit::all();
    for check in checks.iter().filter(|check| check.whose == Whose::Frostpane) {
        let cells = Mutant::ALL.map(|mutant| match check.catches.contains(&mutant) {
            true => "caught",
            false => "",
        });
        let _ = writeln!(table, "| `{}` | {} |", check.name, cells.join(" | "));
    }
    table
}
