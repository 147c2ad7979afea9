//! Releases as one page for a browser: lists with charts, what holds of them, and what they cost.
//!
//! The page is for whoever reads the lists, not for whoever made them. It stands alone: no script runs in it, and nothing is
//! fetched. Its policy forbids both, so a key that got past the escaping would still be harmless.

mod about;
mod bar;
mod budget;
mod bump;
mod changes;
mod escape;
mod lead;
mod list;
mod period;
mod template;
mod trend;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::mem;
use std::path::Path;

use frostpane::{Key, Release};
use jiff::{Timestamp, Unit};

use crate::draft::Draft;
use crate::failure::Result;
use crate::units::Asked;
pub use about::About;
use escape::json;
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
pub fn save<K: Key>(file: &Path, releases: &[Release<K>], windows: &[Asked], about: &About) -> Result<()> {
    let mut draft = Draft::create(WHAT, file)?;
    let now = Timestamp::now();
    let written = write(
        &mut draft,
        releases,
        windows,
        about,
        now.round(Unit::Minute).unwrap_or(now),
    );
    draft.finish(written)
}

/// Writes the page. `windows` are those asked for, one for each release or one for all of them. Releases whose windows end one after the other are shown over time.
pub fn write<K: Key>(
    out: &mut impl Write,
    releases: &[Release<K>],
    windows: &[Asked],
    about: &About,
    made: Timestamp,
) -> io::Result<()> {
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
        "title" => about.title(releases),
        "subtitle" => lead::subtitle(releases, windows),
        "origin" => about.origin(made),
        "lead" => lead::paragraphs(releases),
        "course" => mem::take(&mut course),
        "lists" => mem::take(&mut lists),
        "privacy" => budget::section(releases),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "data" => mem::take(&mut data),
        _ => String::new(),
    })
}
