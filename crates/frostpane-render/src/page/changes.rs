//! The keys that rose and those that fell, from the first release to the last.

use std::collections::BTreeMap;

use frostpane::numbers::grouped;
use frostpane::{Heavy, Key, Release};

use super::bar::{Bar, percent};
use super::escape::{escaped, key_html};
use super::trend::Trend;
use crate::numbers;

const MOST: usize = 10;
/// Longer keys are cut.
const KEY_COLUMNS: usize = 32;

pub fn section<K: Key>(trend: &Trend<'_, K>) -> String {
    let (Some(first), Some(last)) = (trend.releases.first(), trend.releases.last()) else {
        return String::new();
    };
    let mut changes = between(first, last);
    changes.sort_by_key(|change| (std::cmp::Reverse(change.shift().unsigned_abs()), change.key));
    let (risers, fallers): (Vec<_>, Vec<_>) =
        changes.into_iter().filter(|change| change.shift() != 0).partition(|change| change.shift() > 0);
    let scale = Scale::of(risers.iter().take(MOST).chain(fallers.iter().take(MOST)));
    format!(
        "<section class=\"changes\">\n<h2>Risers and fallers</h2>\n<p>{}</p>\n{}{}</section>\n",
        escaped(&about(trend, first, last)),
        table("Risers", &risers, trend, &scale),
        table("Fallers", &fallers, trend, &scale)
    )
}

fn about<K: Key>(trend: &Trend<'_, K>, first: &Release<K>, last: &Release<K>) -> String {
    format!(
        "From the list up to {} to the one up to {}, by the noisy counts. Bars show the change, whiskers how \
         large it can be without the noise, with {} % confidence; where the two intervals of a key overlap, \
         its change may be noise, and is marked so.",
        trend.labels[0],
        trend.labels[trend.labels.len() - 1],
        numbers::percent(confidence(first, last))
    )
}

/// The confidence that both lists are right. Those of a continual release are right together.
fn confidence<K: Key>(first: &Release<K>, last: &Release<K>) -> f64 {
    let both = (first.confidence + last.confidence - 1.0).max(0.0);
    if last.continual.is_some() { last.confidence } else { both }
}

#[derive(Clone, Copy)]
struct ReleasedCount {
    /// None if it is not listed.
    count: Option<u64>,
    low: u64,
    high: u64,
}

impl ReleasedCount {
    /// A key that is not listed has fewer than the count from which on all are.
    fn of<K: Key>(release: &Release<K>, heavy: Option<&Heavy<K>>) -> Self {
        match heavy {
            Some(heavy) => Self { count: Some(heavy.count), low: heavy.low, high: heavy.high },
            None => Self { count: None, low: 0, high: release.complete_above.saturating_sub(1) },
        }
    }

    fn html(&self) -> String {
        match self.count {
            Some(count) => grouped(count),
            None => format!("<span class=\"small\">not listed, at most {}</span>", grouped(self.high)),
        }
    }
}

struct CountChange<'a, K: Key> {
    key: &'a K,
    before: ReleasedCount,
    after: ReleasedCount,
}

impl<K: Key> CountChange<'_, K> {
    /// The change by the counts; of a side that is not listed, no more than is certain.
    fn shift(&self) -> i128 {
        let minus = |a: u64, b: u64| i128::from(a) - i128::from(b);
        match (self.before.count, self.after.count) {
            (Some(before), Some(after)) => minus(after, before),
            (None, Some(after)) => minus(after, self.before.high).max(0),
            (Some(before), None) => minus(self.after.high, before).min(0),
            (None, None) => 0,
        }
    }

    fn bounds(&self) -> (i128, i128) {
        (
            i128::from(self.after.low) - i128::from(self.before.high),
            i128::from(self.after.high) - i128::from(self.before.low),
        )
    }

    fn may_be_noise(&self) -> bool {
        let (least, most) = self.bounds();
        least <= 0 && most >= 0
    }

    fn spoken(&self) -> String {
        let shift = self.shift();
        let sign = if shift < 0 { "\u{2212}" } else { "+" };
        let more = match (self.before.count, self.after.count) {
            (Some(_), Some(_)) => "",
            _ => " or more",
        };
        format!("{sign}{}{more}", grouped(u64::try_from(shift.unsigned_abs()).unwrap_or(u64::MAX)))
    }
}

fn between<'a, K: Key>(first: &'a Release<K>, last: &'a Release<K>) -> Vec<CountChange<'a, K>> {
    let mut keys: BTreeMap<&K, [Option<&Heavy<K>>; 2]> = BTreeMap::new();
    for (side, release) in [first, last].into_iter().enumerate() {
        for heavy in &release.heavy {
            keys.entry(&heavy.key).or_default()[side] = Some(heavy);
        }
    }
    keys.into_iter()
        .map(|(key, [before, after])| CountChange {
            key,
            before: ReleasedCount::of(first, before),
            after: ReleasedCount::of(last, after),
        })
        .collect()
}

/// The scale of the whiskers of all rows.
struct Scale {
    least: i128,
    most: i128,
}

impl Scale {
    fn of<'a, K: Key>(changes: impl Iterator<Item = &'a CountChange<'a, K>>) -> Self {
        changes.fold(Self { least: 0, most: 0 }, |scale, change| {
            let (least, most) = change.bounds();
            Self { least: scale.least.min(least), most: scale.most.max(most) }
        })
    }

    /// The position in percent, with a margin at both ends.
    fn at(&self, shift: i128) -> f64 {
        2.0 + 96.0 * (shift - self.least) as f64 / (self.most - self.least).max(1) as f64
    }

    fn axis(&self) -> String {
        let none = percent(self.at(0));
        format!("<svg width=\"100%\" height=\"16\"><text x=\"{none}\" y=\"13\">0</text></svg>")
    }
}

/// The roles have the same reason as in the lists.
fn table<K: Key>(
    heading: &str,
    changes: &[CountChange<'_, K>],
    trend: &Trend<'_, K>,
    scale: &Scale,
) -> String {
    if changes.is_empty() {
        return format!("<h3>{heading}</h3>\n<p class=\"empty\">None.</p>\n");
    }
    let head = |class: &str, text: &str| {
        format!("<th scope=\"col\" role=\"columnheader\" class=\"{class}\">{}</th>", escaped(text))
    };
    let mut html = format!(
        "<h3>{heading}</h3>\n<table class=\"shifts\" role=\"table\"><caption>{}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">{}{}{}{}\
         <td class=\"bar\" aria-hidden=\"true\">{}</td></tr></thead>\n\
         <tbody role=\"rowgroup\">\n",
        caption(changes.len()),
        head("name", "Key"),
        head("first", &trend.labels[0]),
        head("last", &trend.labels[trend.labels.len() - 1]),
        head("count", "Change"),
        scale.axis()
    );
    changes.iter().take(MOST).for_each(|change| html += &row(change, scale));
    html + "</tbody></table>\n"
}

fn row<K: Key>(change: &CountChange<'_, K>, scale: &Scale) -> String {
    let noise = if change.may_be_noise() { " <span class=\"noise\">may be noise</span>" } else { "" };
    format!(
        "<tr role=\"row\" tabindex=\"0\"><th scope=\"row\" role=\"rowheader\" class=\"name\">{}</th>\
         <td role=\"cell\" class=\"first\">{}</td><td role=\"cell\" class=\"last\">{}</td>\
         <td role=\"cell\" class=\"count\"><b>{}</b>{noise}</td>\
         <td class=\"bar\" aria-hidden=\"true\">{}</td></tr>\n",
        key_html(change.key, KEY_COLUMNS),
        change.before.html(),
        change.after.html(),
        change.spoken(),
        bar(change, scale)
    )
}

fn caption(changes: usize) -> String {
    match changes {
        1 => "1 key".to_owned(),
        changes if changes <= MOST => format!("{changes} keys, the largest change first"),
        changes => format!("The {MOST} largest changes of {}", grouped(changes as u64)),
    }
}

/// The change from none, and its bounds.
fn bar<K: Key>(change: &CountChange<'_, K>, scale: &Scale) -> String {
    let shift = change.shift();
    let (least, most) = change.bounds();
    let none = percent(scale.at(0));
    let bar = Bar {
        from: scale.at(shift.min(0)),
        to: scale.at(shift.max(0)),
        whiskers: (scale.at(least), scale.at(most)),
    };
    bar.svg(&format!("<line class=\"none\" x1=\"{none}\" x2=\"{none}\" y1=\"-6\" y2=\"22\"/>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: (Option<u64>, u64, u64), after: (Option<u64>, u64, u64)) -> CountChange<'static, u64> {
        let side = |(count, low, high)| ReleasedCount { count, low, high };
        CountChange { key: &7, before: side(before), after: side(after) }
    }

    #[test]
    fn overlapping_intervals_may_be_noise() {
        let sure = change((Some(100), 90, 110), (Some(150), 140, 160));
        assert_eq!((sure.spoken().as_str(), sure.may_be_noise()), ("+50", false));
        let unsure = change((Some(100), 90, 110), (Some(85), 75, 95));
        assert_eq!((unsure.spoken().as_str(), unsure.may_be_noise()), ("\u{2212}15", true));
    }

    #[test]
    fn a_key_that_is_not_listed_is_at_most_so_frequent() {
        let new = change((None, 0, 49), (Some(100), 90, 110));
        assert_eq!((new.spoken().as_str(), new.may_be_noise()), ("+51 or more", false));
        let near = change((None, 0, 49), (Some(45), 35, 55));
        assert_eq!((near.shift(), near.may_be_noise()), (0, true));
        let gone = change((Some(100), 90, 110), (None, 0, 49));
        assert_eq!((gone.spoken().as_str(), gone.may_be_noise()), ("\u{2212}51 or more", false));
    }
}
