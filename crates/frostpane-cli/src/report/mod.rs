//! Releases as one page for a browser: lists with charts, what holds of them, and what they cost.
//!
//! The page stands alone: no script runs in it, and nothing is fetched. Its policy forbids both, so a key
//! that got past the escaping would still be harmless.

mod bar;
mod budget;
mod bump;
mod changes;
mod escape;
mod list;
mod template;
mod trend;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::mem;
use std::path::Path;

use frostpane::{Key, Norm, Release};

use crate::draft::Draft;
use crate::failure::Result;
use crate::table::title;
use crate::units::Asked;
use escape::{escaped, json};
use trend::Trend;

/// What the page is called in a message.
const WHAT: &str = "report";
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// Whether a page can be written there: asked before any budget is spent.
pub fn check(file: &Path) -> Result<()> {
    Draft::check(WHAT, file)
}

/// Writes the page to a file, as a whole or not at all.
pub fn save<K: Key>(file: &Path, releases: &[Release<K>], windows: &[Asked]) -> Result<()> {
    let mut draft = Draft::create(WHAT, file)?;
    let written = write(&mut draft, releases, windows);
    draft.finish(written)
}

/// Writes the page. `windows` are those asked for, one for each release or one for all of them. Releases whose windows end one after the other are shown over time.
pub fn write<K: Key>(out: &mut impl Write, releases: &[Release<K>], windows: &[Asked]) -> io::Result<()> {
    let trend = Trend::of(releases);
    let rules = trend.as_ref().map(bump::rules).unwrap_or_default();
    let mut lists = match &trend {
        Some(trend) => list::latest(trend),
        None => list::by_window(releases, windows),
    };
    let mut course = trend
        .map(|trend| bump::section(&trend) + &changes::section(&trend) + &list::earlier(&trend))
        .unwrap_or_default();
    let mut data = json(releases)?;
    template::fill(out, PAGE, |name| match name {
        "style" => STYLE.to_owned() + &rules,
        "subtitle" => subtitle(releases, windows),
        "lead" => lead(releases),
        "course" => mem::take(&mut course),
        "lists" => mem::take(&mut lists),
        "budget" => budget::section(releases),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "data" => mem::take(&mut data),
        _ => String::new(),
    })
}

/// Which lists these are.
fn subtitle<K: Key>(releases: &[Release<K>], windows: &[Asked]) -> String {
    let spoken = windows.iter().map(Asked::spoken).collect::<Vec<_>>().join(", ");
    escaped(&match (releases, windows.len()) {
        ([], _) => "no lists".to_owned(),
        ([release], _) => title(release),
        (_, 1) => format!("{} lists, each of a window of {spoken}", releases.len()),
        _ => format!("{} lists, of windows of {spoken}", releases.len()),
    })
}

/// What it is, and what heavy means.
fn lead<K: Key>(releases: &[Release<K>]) -> String {
    let Some(release) = releases.first() else {
        return String::new();
    };
    let norm = match release.norm {
        Norm::L1 => "the number of events (the L1 norm)",
        Norm::L2 => "the root of the sum of all squared counts (the L2 norm)",
    };
    let heavy = release.alpha.map_or(String::new(), |alpha| {
        format!(" A key is heavy if it occurs at least alpha ({alpha}) times {norm}.")
    });
    escaped(&format!(
        "The keys that were frequent in a window of an event stream, under differential privacy: every count \
         has noise in it, so that whoever reads this page learns almost nothing about {}.{heavy}",
        release.unit
    ))
}
