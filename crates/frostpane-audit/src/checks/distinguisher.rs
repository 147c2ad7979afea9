//! The best distinguisher of one event in a release.

use frostpane::testing::audit::{Audit, Audited, Unnoised};
use frostpane::{Heavy, Release};

use crate::check::{Result, Trial};
use crate::exact::count;
use crate::tally::TrialOutcome;

/// The counts that differ between two neighbours before noise. Under discrete Laplace noise, a count that is
/// one higher shows only in whether the noisy count reaches the higher of the two.
#[derive(Clone, Debug)]
pub struct Distinguisher {
    /// Key, the higher of its two counts, and the direction of the difference.
    moved: Vec<(u64, u64, i64)>,
    /// The higher of the two norms, if they differ.
    norm: Option<u64>,
    /// The higher of the two numbers of events, if they are private and differ.
    total: Option<u64>,
}

impl Distinguisher {
    pub fn between(one: &Unnoised<u64>, other: &Unnoised<u64>) -> Self {
        let mut keys: Vec<u64> = one.counts.iter().chain(&other.counts).map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys.dedup();
        let counts: Vec<_> = keys.into_iter().map(|key| (key, count(one, key), count(other, key))).collect();
        let higher = |of: fn(&Unnoised<u64>) -> Option<u64>| {
            let (one, other) = (of(one), of(other));
            one.max(other).filter(|_| one != other)
        };
        Self {
            norm: higher(|inside| Some(inside.norm?.0)),
            total: higher(|inside| Some(inside.total?.0)),
            ..Self::at(&counts)
        }
    }

    /// Differences of these keys, each with its counts in the two streams.
    pub fn at(counts: &[(u64, u64, u64)]) -> Self {
        let moved = counts.iter().filter(|(_, one, other)| one != other);
        Self {
            moved: moved
                .map(|(key, one, other)| (*key, *one.max(other), if one > other { 1 } else { -1 }))
                .collect(),
            norm: None,
            total: None,
        }
    }

    /// The similarity of a release to one of the first stream.
    pub fn score(&self, release: &Release<u64>) -> i64 {
        let high = |(key, at, way): &(u64, u64, i64)| match noisy(release, *key) {
            Some(noisy) if noisy >= *at => *way,
            _ => 0,
        };
        self.moved.iter().map(high).sum()
    }

    /// Score, norm, number of events, and the first listed key, in one number that rises with the score.
    pub fn label(&self, release: &Release<u64>) -> i64 {
        let way = |heavy: &Heavy<u64>| {
            let moved = self.moved.iter().find(|(key, ..)| *key == heavy.key);
            moved.map(|(.., way)| *way)
        };
        let first = release.heavy.iter().find_map(way).unwrap_or(0) + 1;
        let norm = i64::from(self.norm.is_some_and(|norm| release.norm_estimate >= norm));
        let total = i64::from(self.total.is_some_and(|total| release.window.events >= total));
        ((self.score(release) * 3 + first) * 2 + norm) * 2 + total
    }

    /// The noisy count of the key that differs, or the score if many do.
    pub fn shown(&self, release: &Release<u64>) -> i64 {
        match &self.moved[..] {
            [(key, ..)] | [(key, ..), _] => noisy(release, *key).map_or(0, |noisy| noisy as i64),
            _ => self.score(release),
        }
    }
}

/// The noisy count of a key, if it is listed.
pub fn noisy(release: &Release<u64>, key: u64) -> Option<u64> {
    Some(release.heavy.iter().find(|heavy| heavy.key == key)?.count - release.cut)
}

/// One release at the end of either stream.
pub fn at_the_end<S: Send + Sync + 'static>(
    audit: Audit<u64>,
    streams: [S; 2],
    feed: fn(&mut Audited<u64>, &S) -> Result<()>,
) -> Result<Trial> {
    let fed = move |side: usize| -> Result<Audited<u64>> {
        let mut audited = audit.clone().build()?;
        feed(&mut audited, &streams[side])?;
        Ok(audited)
    };
    let distinguisher = Distinguisher::between(&fed(0)?.inside()?, &fed(1)?.inside()?);
    Ok(Box::new(move |side| {
        let release = fed(side as usize)?.release()?;
        Ok(TrialOutcome { label: distinguisher.label(&release), shown: distinguisher.shown(&release) })
    }))
}
