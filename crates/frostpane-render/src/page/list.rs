//! The lists, each a table with a bar in each row, and its guarantee.

use frostpane::numbers::grouped;
use frostpane::{Heavy, Key, Release};

use super::bar::Bar;
use super::escape::{escaped, key_html};
use super::trend::Trend;
use crate::holds::{holds, why_empty};
use crate::layout::WindowLabel;
use crate::statements::sure;
use crate::table::interval;
use crate::titles::events_and_period;

/// The most rows that are not folded away.
const ROWS: usize = 100;
/// Longer keys are cut.
pub const KEY_COLUMNS: usize = 48;

pub fn by_window<K: Key>(releases: &[Release<K>], windows: &[WindowLabel]) -> String {
    let several = releases.len() > 1;
    let mut html = String::new();
    for (index, release) in releases.iter().enumerate() {
        let heading = match windows.get(index) {
            Some(window) if several => format!("Window of {}", window.spoken()),
            None if several => format!("List {}", index + 1),
            _ => "The list".to_owned(),
        };
        html += &section(release, &heading, several);
    }
    html
}

/// The list of the last release, whose period is in the subtitle.
pub fn latest<K: Key>(trend: &Trend<'_, K>) -> String {
    let (Some(release), Some(label)) = (trend.releases.last(), trend.labels.last()) else {
        return String::new();
    };
    section(release, &format!("The latest list, up to {label}"), false)
}

pub fn earlier<K: Key>(trend: &Trend<'_, K>) -> String {
    let mut html = String::from("<section class=\"past\"><h2>Earlier lists</h2>\n");
    let last = trend.releases.len().saturating_sub(1);
    for (release, label) in trend.releases.iter().zip(&trend.labels).take(last) {
        html += &format!(
            "<details class=\"earlier\"><summary>{}</summary>\n{}</details>\n",
            escaped(&format!("Up to {}: {}", label, listed(release.heavy.len()))),
            body(release, true)
        );
    }
    html + "</section>\n"
}

fn section<K: Key>(release: &Release<K>, heading: &str, titled: bool) -> String {
    format!(
        "<section class=\"release\">\n<h2>{}</h2>\n{}</section>\n",
        escaped(heading),
        body(release, titled)
    )
}

fn body<K: Key>(release: &Release<K>, titled: bool) -> String {
    let title = if titled {
        format!("<p class=\"covers\">{}</p>\n", escaped(&events_and_period(release)))
    } else {
        String::new()
    };
    let list = if release.heavy.is_empty() {
        format!("<p class=\"empty\">{}</p>\n", escaped(&why_empty(release).unwrap_or_default()))
    } else {
        tables(&release.heavy)
    };
    title + &list + &guarantee(release)
}

fn tables<K: Key>(heavy: &[Heavy<K>]) -> String {
    let most = heavy.iter().map(|heavy| heavy.high).max().unwrap_or(0).max(1);
    let (first, rest) = heavy.split_at(heavy.len().min(ROWS));
    let order = if heavy.len() > 1 { ", by falling count" } else { "" };
    let caption = format!("{}{order}. Bars show the count, whiskers the interval.", listed(heavy.len()));
    let html = table(first, 1, most, &caption);
    if rest.is_empty() {
        return html;
    }
    let more = format!("The other {} keys", grouped(rest.len() as u64));
    format!(
        "{html}<details class=\"more\"><summary>{more}</summary>\n{}</details>\n",
        table(rest, ROWS + 1, most, &more)
    )
}

/// The roles repeat what the elements mean: a narrow page rearranges rows, and screen readers may lose it.
fn table<K: Key>(heavy: &[Heavy<K>], first_rank: usize, most: u64, caption: &str) -> String {
    let mut html = format!(
        "<table class=\"list\" role=\"table\"><caption>{caption}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">\
         <th scope=\"col\" role=\"columnheader\" class=\"rank\">Rank</th>\
         <th scope=\"col\" role=\"columnheader\" class=\"name\">Key</th>\
         <th scope=\"col\" role=\"columnheader\" class=\"count\">Count</th>\
         <th scope=\"col\" role=\"columnheader\" class=\"interval\">Between</th>\
         <td class=\"bar\" aria-hidden=\"true\"><span>0</span><span>{}</span></td></tr></thead>\n\
         <tbody role=\"rowgroup\">\n",
        grouped(most)
    );
    for (index, heavy) in heavy.iter().enumerate() {
        html += &format!(
            "<tr role=\"row\" tabindex=\"0\"><td role=\"cell\" class=\"rank\">{}</td>\
             <th scope=\"row\" role=\"rowheader\" class=\"name\">{}</th>\
             <td role=\"cell\" class=\"count\">{}</td><td role=\"cell\" class=\"interval\">{}</td>\
             <td class=\"bar\" aria-hidden=\"true\">{}</td></tr>\n",
            first_rank + index,
            key_html(&heavy.key, KEY_COLUMNS),
            grouped(heavy.count),
            interval(heavy),
            bar(heavy, most)
        );
    }
    html + "</tbody></table>\n"
}

fn bar<K: Key>(heavy: &Heavy<K>, most: u64) -> String {
    let at = |count: u64| 100.0 * count as f64 / most as f64;
    Bar { from: 0.0, to: at(heavy.count), whiskers: (at(heavy.low), at(heavy.high)) }.svg("")
}

fn guarantee<K: Key>(release: &Release<K>) -> String {
    let mut html = format!(
        "<h3>How far it can be trusted</h3>\n<p>{}</p>\n<ul class=\"holds\">\n",
        escaped(&sure(release))
    );
    for sentence in holds(release) {
        html += &format!("<li>{}</li>\n", escaped(&sentence));
    }
    html + "</ul>\n"
}

fn listed(keys: usize) -> String {
    match keys {
        0 => "no key".to_owned(),
        1 => "1 key".to_owned(),
        keys => format!("{} keys", grouped(keys as u64)),
    }
}
