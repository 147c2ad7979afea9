//! Releases whose windows end one after the other, and the rank of keys over them.

use std::collections::BTreeMap;

use frostpane::numbers::grouped;
use frostpane::{Edge, Key, Release};

/// The lowest rank with which a key has a line.
pub const TOP: usize = 10;

pub struct Trend<'a, K: Key> {
    pub releases: &'a [Release<K>],
    pub labels: Vec<String>,
    /// The lines of keys that were ever in the top 10: first those that are highest in the last release.
    pub lines: Vec<RankLine<'a, K>>,
}

/// A key, and its rank from 1 in each release that lists it.
pub struct RankLine<'a, K: Key> {
    pub key: &'a K,
    pub ranks: Vec<Option<usize>>,
}

impl<'a, K: Key> Trend<'a, K> {
    /// Returns none if the releases are not in the order of time, as with several windows of one stream.
    pub fn of(releases: &'a [Release<K>]) -> Option<Self> {
        let ends: Vec<Edge> = releases.iter().map(|release| release.window.to).collect::<Option<_>>()?;
        let ordered = ends.windows(2).all(|pair| is_before(pair[0], pair[1]));
        (ends.len() >= 2 && ordered).then(|| Self { releases, labels: labels(&ends), lines: lines(releases) })
    }
}

fn is_before(a: Edge, b: Edge) -> bool {
    match (a, b) {
        (Edge::Event(a), Edge::Event(b)) => a < b,
        (Edge::Instant(a), Edge::Instant(b)) => a < b,
        _ => false,
    }
}

fn lines<K: Key>(releases: &[Release<K>]) -> Vec<RankLine<'_, K>> {
    let mut ranks: BTreeMap<&K, Vec<Option<usize>>> = BTreeMap::new();
    for (index, release) in releases.iter().enumerate() {
        for (rank, heavy) in release.heavy.iter().enumerate() {
            ranks.entry(&heavy.key).or_insert_with(|| vec![None; releases.len()])[index] = Some(rank + 1);
        }
    }
    let mut lines: Vec<RankLine<'_, K>> = ranks
        .into_iter()
        .filter(|(_, ranks)| ranks.iter().flatten().any(|rank| *rank <= TOP))
        .map(|(key, ranks)| RankLine { key, ranks })
        .collect();
    lines.sort_by_key(|line| {
        line.ranks.iter().rev().map(|rank| rank.unwrap_or(usize::MAX)).collect::<Vec<_>>()
    });
    lines
}

/// The ends, as short as they can be told apart.
fn labels(ends: &[Edge]) -> Vec<String> {
    let all = |step: i64| {
        ends.iter().all(|end| match end {
            Edge::Instant(at) => at.as_nanosecond() % (i128::from(step) * 1_000_000_000) == 0,
            Edge::Event(_) => true,
        })
    };
    let length = match () {
        () if all(86_400) => "2026-03-02".len(),
        () if all(60) => "2026-03-02T12:30".len(),
        () if all(1) => "2026-03-02T12:30:00".len(),
        () => usize::MAX,
    };
    ends.iter().map(|end| label(*end, length)).collect()
}

fn label(end: Edge, length: usize) -> String {
    match end {
        Edge::Event(number) => format!("event {}", grouped(number)),
        Edge::Instant(at) => {
            let text = at.to_string();
            text.get(..length).unwrap_or(&text).replace('T', " ")
        }
    }
}
