//! Releases as one HTML page: lists with charts, their guarantees, and their cost.
//!
//! The page is for readers of the lists, not for their operator. No script runs in it and nothing is fetched:
//! its content security policy forbids both, so a key that got past the escaping would still be harmless.

mod bar;
mod budget;
mod bump;
mod changes;
mod escape;
mod info;
mod lead;
mod list;
mod period;
mod template;
mod trend;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::mem;

use frostpane::{Key, Release};
use jiff::Timestamp;

use crate::layout::WindowLabel;
use escape::json;
pub use info::PageInfo;
use trend::Trend;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// Writes the page. `windows` are those asked for, one for each release or one for all of them. Releases
/// whose windows end one after the other are shown over time.
pub fn write<K: Key>(
    out: &mut impl Write,
    releases: &[Release<K>],
    windows: &[WindowLabel],
    info: &PageInfo,
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
        "title" => info.title(releases),
        "subtitle" => lead::subtitle(releases, windows),
        "origin" => info.origin(made),
        "lead" => lead::paragraphs(releases),
        "course" => mem::take(&mut course),
        "lists" => mem::take(&mut lists),
        "privacy" => budget::section(releases),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "data" => mem::take(&mut data),
        _ => String::new(),
    })
}
