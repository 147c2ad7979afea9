//! The guarantees of a release, as readers of the list see them: without advice to its operator.

use frostpane::numbers::grouped;
use frostpane::{Edge, Key, Note, Release, RequestedWindow};

use crate::numbers::times;
use crate::statements::{complete, earlier, fewer_than_asked};
use crate::titles::moment;
use crate::unit::UnitWords;

fn words<K: Key>(release: &Release<K>) -> &'static UnitWords {
    UnitWords::of(release.unit)
}

/// All that holds at once, with the confidence of the release: a sentence each.
pub fn holds<K: Key>(release: &Release<K>) -> Vec<String> {
    [
        intervals(release),
        Some(sentence(&complete(release))),
        Some(nothing_below(release)),
        fewer_than_asked(release).map(|why| sentence(&why)),
        promises(release),
        left_out(release),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn intervals<K: Key>(release: &Release<K>) -> Option<String> {
    let off = release.heavy.iter();
    let off = off.map(|heavy| (heavy.high - heavy.count).max(heavy.count - heavy.low)).max()?;
    Some(sentence(&format!(
        "{} lies between the two numbers beside it: no count is off by more than {}",
        words(release).counts,
        grouped(off)
    )))
}

fn nothing_below<K: Key>(release: &Release<K>) -> String {
    let UnitWords { never, occurred, .. } = words(release);
    match release.nothing_below {
        0 => format!("A key may be listed because of its noise alone, even if it {never}."),
        1 => format!("No key that {never} is listed."),
        least => format!("No key that {occurred} fewer than {} is listed.", times(least)),
    }
}

fn sentence(clause: &str) -> String {
    let (first, rest) = clause.split_at(1);
    first.to_uppercase() + rest + "."
}

/// The alpha at which the promises hold, where it is not the one asked for.
fn promises<K: Key>(release: &Release<K>) -> Option<String> {
    let promises = release.promises.as_ref()?;
    let alpha = promises.alpha?;
    let kept = match promises.reason.and_then(|reason| reason.holds) {
        None => format!("The three promises hold at alpha {alpha}"),
        Some((_, least)) => {
            format!("From a count of {} on, the three promises hold at alpha {alpha}", grouped(least))
        }
    };
    Some(format!(
        "{kept}: every key that {} alpha times the norm (about {}) is listed, none with half of that, and \
         counts are right to a quarter of it.",
        words(release).occurred,
        grouped((alpha * release.norm_estimate as f64).round() as u64)
    ))
}

/// The part of the window asked for that is not covered, and what is known of it.
fn left_out<K: Key>(release: &Release<K>) -> Option<String> {
    let RequestedWindow { slack, promises, .. } = &release.asked;
    let begins = match earlier(release)? {
        Edge::Event(number) => format!("number {}", grouped(number)),
        Edge::Instant(at) => format!("{} (UTC)", moment(at)),
    };
    let begins = format!("The window asked for begins earlier, at {begins}");
    let there_too = release.held() && promises.as_ref().is_some_and(|promises| promises.held);
    match slack {
        // No pane lies there, or nothing in it.
        Some(0) => None,
        Some(slack) => Some(format!(
            "{begins}: in the part that is left out no key occurred more than {}, so over the whole of it a \
             count is at most so much higher{}.",
            times(*slack),
            if there_too { ", and the three promises hold there too" } else { "" }
        )),
        None => Some(format!("{begins}: how often keys occurred in the part that is left out is not known.")),
    }
}

/// The reason for which nothing is listed, if nothing is.
pub fn why_empty<K: Key>(release: &Release<K>) -> Option<String> {
    Some(match release.note? {
        Note::NoEvents => "Nothing is listed, because there were no events.".to_owned(),
        Note::WithinOnePane => {
            "Nothing is listed: events are counted in stretches, and none begins within the window."
                .to_owned()
        }
        Note::BelowFloor { threshold } => format!(
            "Nothing is listed: no key was frequent enough. A key may be shown only if its count, with its \
             noise, reaches {}: a lower one could give a single {} away.",
            grouped(threshold),
            words(release).individual
        ),
        Note::BelowThreshold { complete_above, .. } => format!(
            "Nothing is listed: no key was frequent enough. One that {} {} or more would be here.",
            words(release).had_occurred,
            times(complete_above)
        ),
    })
}
