//! The beginning of a page: the events that it covers, the keys that are listed, and the noise.

use frostpane::numbers::grouped;
use frostpane::{Key, Norm, Release, Unit};

use super::escape::escaped;
use crate::layout::WindowLabel;
use crate::numbers::percent;
use crate::titles::{events_and_period, up_to};
use crate::unit::{UnitWords, bounded, meaning, things};

pub fn subtitle<K: Key>(releases: &[Release<K>], windows: &[WindowLabel]) -> String {
    let spoken = windows.iter().map(WindowLabel::spoken).collect::<Vec<_>>().join(", ");
    escaped(&match (releases, windows.len()) {
        ([], _) => "no lists".to_owned(),
        ([release], _) => events_and_period(release),
        ([.., last], 1) => format!(
            "{} lists, each of a window of {spoken}; the latest: {}",
            releases.len(),
            events_and_period(last)
        ),
        ([.., last], _) => format!("{} lists, of windows of {spoken}{}", releases.len(), up_to(&last.window)),
    })
}

/// An introduction for readers who have never heard of any of this.
pub fn paragraphs<K: Key>(releases: &[Release<K>]) -> String {
    let Some(release) = releases.first() else {
        return String::new();
    };
    let confidence = percent(release.confidence);
    let counts = counts(release.unit);
    format!(
        "<p>{}</p>\n{counts}<p>The counts are not exact, and that is on purpose: before they were shown, \
         random noise was added to each, to protect {}. That is called differential privacy; how far it \
         goes is said at the end of the page. Beside each count are two numbers between which {} lies, with \
         {confidence} % confidence for a whole list at once.</p>\n",
        escaped(&which_keys(release)),
        escaped(&purpose(release.unit)),
        UnitWords::of(release.unit).count,
    )
}

fn counts(unit: Unit) -> String {
    match (unit.bounds(), meaning(unit)) {
        (Some(bounds), Some(meaning)) => {
            format!("<p>{} {}</p>\n", escaped(&bounded(&bounds)), escaped(&meaning))
        }
        _ => String::new(),
    }
}

fn purpose(unit: Unit) -> String {
    match unit {
        Unit::Event => "what any single event was about".to_owned(),
        unit => unit.to_string(),
    }
}

fn which_keys<K: Key>(release: &Release<K>) -> String {
    match (release.alpha, release.top, release.norm) {
        (Some(alpha), _, Norm::L1) => format!(
            "Listed are the keys that make up a good part of all {things}. From alpha ({alpha}) times the \
             number of {things} on, a key is called heavy.",
            things = things(release.unit)
        ),
        (Some(alpha), _, Norm::L2) => format!(
            "Listed are the keys that stand out from the others. From alpha ({alpha}) times the norm on, a \
             key is called heavy; the norm is the root of the sum of all squared counts (L2)."
        ),
        (None, Some(1), _) => "Listed is the key with the highest count, noise included.".to_owned(),
        (None, Some(top), _) => format!(
            "Listed are the keys with the highest counts, noise included: {} at the most.",
            grouped(top)
        ),
        (None, None, _) => format!(
            "Listed is every key whose count, noise included, was high enough to be shown without giving a \
             single {} away.",
            UnitWords::of(release.unit).individual
        ),
    }
}
