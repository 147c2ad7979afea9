//! The privacy of releases, and its cost, in a sentence.

use frostpane::{Cost, Key, Release, Unit};

use crate::numbers::plain;
use crate::unit::{UnitWords, bounded, not_hidden};

/// The protection of a release and its cost; of a continual release, for all of its lists.
pub fn privacy<K: Key>(release: &Release<K>) -> String {
    sentence(release, "", if release.continual.is_some() { ", once for all lists" } else { "" })
}

/// The protection of several releases of one stream, and their cost each and together.
pub fn privacy_of_all<K: Key>(releases: &[&Release<K>]) -> String {
    match releases {
        [] => String::new(),
        [release] => privacy(release),
        [release, ..] => sentence(release, " a list", &format!("; {}", together(releases.iter().copied()))),
    }
}

fn sentence<K: Key>(release: &Release<K>, each: &str, lists: &str) -> String {
    let boundaries = match release.boundaries_epsilon {
        0.0 => String::new(),
        boundaries => format!(" ({} of it for where panes end)", plain(boundaries)),
    };
    format!(
        "Privacy: epsilon {}{boundaries}, {}{each}, for {}{lists}. {}",
        release.epsilon,
        delta_words(release.delta),
        release.unit,
        limits(release.unit)
    )
}

fn limits(unit: Unit) -> String {
    let not_hidden = format!("Not hidden: {}.", not_hidden(unit));
    match unit.bounds() {
        None => format!("{not_hidden}{}", UnitWords::of(unit).several),
        Some(bounds) => format!("{} {not_hidden}", bounded(&bounds)),
    }
}

pub(crate) fn delta_words(delta: f64) -> String {
    match delta {
        0.0 => "pure (delta 0)".to_owned(),
        delta => format!("delta {delta:e}"),
    }
}

/// The cost of several releases of one stream together.
pub fn together<'a, K: Key>(releases: impl IntoIterator<Item = &'a Release<K>>) -> String {
    let releases: Vec<&Release<K>> = releases.into_iter().collect();
    let cost = Cost::of(releases.iter().copied());
    format!(
        "the {} lists together cost epsilon {}, {}",
        releases.len(),
        cost.epsilon(),
        delta_words(cost.delta())
    )
}
