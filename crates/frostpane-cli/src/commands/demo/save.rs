//! `frostpane demo --save`: the made-up searches as a file, each with a time and a user.

use std::io::{self, Write};
use std::path::Path;

use super::searches::{EVENTS, searches};
use crate::failure::{Failure, Result};
use crate::output_file::OutputFile;
use crate::settings::values::grouped;
use crate::terminal::tell;

pub fn run(file: &Path) -> Result<()> {
    let separator = separator(file)?;
    if file.exists() {
        return Err(Failure::Message(format!(
            "{} is there already, and is not replaced by made-up searches: give another name, or remove it first",
            file.display()
        )));
    }
    OutputFile::write("searches", file, |out| write(out, separator))?;
    tell(format_args!(
        "{} made-up searches of November 2025 are in {name}, with their times and users; \
         next: frostpane list --key search --time time --window 7d --until 2025-12-01 --top 20 {name}",
        grouped(EVENTS),
        name = file.display()
    ));
    Ok(())
}

fn separator(file: &Path) -> Result<char> {
    match file.extension().and_then(|end| end.to_str()) {
        Some("tsv") => Ok('\t'),
        Some("csv") => Ok(','),
        _ => Err(Failure::Message(format!(
            "cannot tell from the name {} what to write: let it end with .tsv or .csv",
            file.display()
        ))),
    }
}

fn write(out: &mut impl Write, separator: char) -> io::Result<()> {
    writeln!(out, "time{separator}user{separator}search")?;
    for made in searches() {
        writeln!(out, "{}{separator}u{:06}{separator}{}", made.time(), made.user, made.search)?;
    }
    Ok(())
}
