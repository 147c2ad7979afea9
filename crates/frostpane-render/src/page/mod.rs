//! Releases as one HTML page: lists with charts, their guarantees, and their cost.
//!
//! The page is for readers of the lists, not for their operator. No script runs in it and nothing is fetched:
//! its content security policy forbids both, so a key that got past the escaping would still be harmless.

mod bar;
mod bump;
mod changes;
mod escape;
mod lead;
mod list;
mod protection;
mod trend;

#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::mem;

use frostpane::numbers::grouped;
use frostpane::{Key, Release};
use jiff::Timestamp;

use crate::layout::WindowLabel;
use crate::text::printable;
use crate::titles::moment;
use escape::{escaped, json};
use trend::Trend;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// Facts about a page that its publisher alone knows.
#[derive(Clone, Default)]
pub struct PageInfo {
    /// The title; by default one that fits the list.
    pub title: Option<String>,
    /// The source of the events; by default none is named.
    pub source: Option<String>,
}

impl PageInfo {
    fn title<K: Key>(&self, releases: &[Release<K>]) -> String {
        let top = releases.first().and_then(|release| release.top);
        escaped(&match (&self.title, top) {
            (Some(title), _) => printable(title),
            (None, Some(1)) => "The most frequent key".to_owned(),
            (None, Some(top)) => format!("The {} most frequent keys", grouped(top)),
            (None, None) => "The most frequent keys".to_owned(),
        })
    }

    fn origin(&self, made: Timestamp) -> String {
        let source = self
            .source
            .as_deref()
            .map_or(String::new(), |source| format!("Source: {}<br>\n", escaped(&printable(source))));
        format!("{source}Made on {} (UTC)", moment(made))
    }
}

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
    let mut lists = trend.as_ref().map_or_else(|| list::by_window(releases, windows), list::latest);
    let mut course = trend
        .map(|trend| bump::section(&trend) + &changes::section(&trend) + &list::earlier(&trend))
        .unwrap_or_default();
    let mut data = json(releases)?;
    fill(out, PAGE, |name| match name {
        "style" => STYLE.to_owned() + &rules,
        "title" => info.title(releases),
        "subtitle" => lead::subtitle(releases, windows),
        "origin" => info.origin(made),
        "lead" => lead::paragraphs(releases),
        "course" => mem::take(&mut course),
        "lists" => mem::take(&mut lists),
        "privacy" => protection::section(releases),
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "data" => mem::take(&mut data),
        _ => String::new(),
    })
}

/// Writes the page with the meaning of each `{{name}}` in its place. A meaning is not searched for names.
fn fill(out: &mut impl Write, page: &str, mut meaning: impl FnMut(&str) -> String) -> io::Result<()> {
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else {
            break;
        };
        out.write_all(before.as_bytes())?;
        out.write_all(meaning(name).as_bytes())?;
        rest = behind;
    }
    out.write_all(rest.as_bytes())
}
