//! Parts of a pane that several machines build.

use super::closed::Pane;
use super::packed::{PackedCounts, Packer};
use super::shape::Parameters;
use crate::codec::{Reader, Writer, check};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Keys};
use crate::sketch::CountSketch;

/// Entries below the cut are removed whenever their number has doubled, and only from this many on.
const FEW: usize = 1 << 12;

/// Some keys of a pane with their whole counts: no other part of the pane has the same keys.
///
/// The cut of a pane of `n` events is `floor(n / (k + 1))`, and a part has no more events than its pane. So
/// the cut of the part's own events is a lower bound on the final one, and no part keeps more than `k` keys.
pub struct PartialPane<K: Key> {
    keys: Keys<K>,
    made_with: Parameters,
    /// True if nothing is ever cut.
    exact: bool,
    events: u64,
    counts: Packer<K>,
    next_look: usize,
    /// A sketch of all events with a key, from when something may have been cut.
    sketch: Option<CountSketch>,
}

impl<K: Key> PartialPane<K> {
    /// An empty part. With user-level privacy, counts are exact and nothing is cut.
    pub(crate) fn new(keys: Keys<K>, made_with: Parameters, exact: bool) -> Self {
        Self { keys, made_with, exact, events: 0, counts: Packer::default(), next_look: FEW, sketch: None }
    }

    /// Adds all events with a key, or some without one.
    pub fn add(&mut self, key: Option<K::Ref<'_>>, count: u64) {
        self.events += count;
        let counts = |key: &K::Ref<'_>| count > 0 && self.keys.may_name(*key);
        let Some(key) = key.filter(counts) else {
            return;
        };
        let cut = self.begin_cut();
        if let Some(sketch) = &mut self.sketch {
            sketch.add(K::hash(key, self.made_with.seed()), count as i64);
        }
        if count > cut {
            self.counts.push(key, count);
            if self.counts.len() >= self.next_look {
                self.counts = kept::<K>(self.counts.finish().iter(), cut);
                self.next_look = FEW.max(2 * self.counts.len());
            }
        }
    }

    /// A lower bound on the cut. Creates the sketch before the first count is cut.
    fn begin_cut(&mut self) -> u64 {
        if self.exact {
            return 0;
        }
        let cut = self.made_with.cut(self.events);
        if cut > 0 && self.sketch.is_none() && self.made_with.sketch().is_some() {
            let counts = self.counts.finish();
            self.sketch = self.made_with.sketch_of::<K>(counts.iter());
            self.counts = kept::<K>(counts.iter(), 0);
        }
        cut
    }

    /// Encodes the part.
    pub fn finish(mut self) -> Vec<u8> {
        let cut = self.begin_cut();
        let mut to = Writer::default();
        to.number(self.events);
        kept::<K>(self.counts.finish().iter(), cut).finish().save(&mut to);
        to.maybe(self.sketch.as_ref(), |to, sketch| sketch.save(to));
        to.finish()
    }

    fn load(bytes: &[u8], made_with: Parameters) -> Result<(u64, PackedCounts<K>, Option<CountSketch>)> {
        let mut from = Reader::new(bytes);
        let events = from.count_of_pane()?;
        let (counts, sum) = PackedCounts::load(&mut from)?;
        let sketch = from.maybe(|from| super::stored::load_sketch(from, made_with, events))?;
        from.finish()?;
        check(sum <= events, "a share of a pane counts more than it has")?;
        Ok((events, counts, sketch))
    }

    /// The pane of all its parts, with sorted keys: the same however its keys were distributed.
    pub(crate) fn close<'a>(
        made_with: Parameters,
        exact: bool,
        shares: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Pane<K>> {
        let shares = shares.map(|bytes| Self::load(bytes, made_with)).collect::<Result<Vec<_>>>()?;
        let events = shares.iter().map(|(events, ..)| events).sum();
        let cut = if exact { 0 } else { made_with.cut(events) };
        let mut entries: Vec<_> = shares.iter().flat_map(|(_, counts, _)| counts.iter()).collect();
        entries.sort_unstable();
        if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::new(
                ErrorKind::Pane,
                "a key of a pane was counted in two places apart: nothing was made of them",
            ));
        }
        entries.retain(|(_, count)| *count > cut);
        let counts = PackedCounts::collect(entries.iter().map(|(key, count)| (*key, count - cut)));
        if exact {
            return Ok(Pane::exact(made_with, counts));
        }
        let mut sketch = (cut > 0).then(|| made_with.empty_sketch()).flatten();
        if let Some(sum) = &mut sketch {
            for (_, counts, sketch) in &shares {
                match sketch {
                    Some(sketch) => sum.merge(sketch)?,
                    None => {
                        sum.extend(counts.iter().map(|(key, count)| (K::hash(key, made_with.seed()), count)))
                    }
                }
            }
        }
        Ok(Pane::new(made_with, events, counts, sketch))
    }
}

fn kept<'a, K: Key>(counts: impl Iterator<Item = (K::Ref<'a>, u64)>, cut: u64) -> Packer<K> {
    let mut kept = Packer::default();
    counts.filter(|(_, count)| *count > cut).for_each(|(key, count)| kept.push(key, count));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Bytes;
    use crate::pane::tests::sorted;
    use crate::pane::{OpenPane, PaneShape};
    use crate::sketch::count_sketch::Dimensions;

    /// Without a cut and with a deep one, however keys are distributed: the pane of a block counted in one place.
    #[test]
    fn a_pane_of_shares_is_the_pane_of_the_block() {
        let sketch = Some(Dimensions { rows: 3, width: 64 });
        for (entries, sketch) in [(3_000, sketch), (200, sketch), (7, sketch), (7, None)] {
            let shape = PaneShape::new(entries, 5_000, sketch, 5).unwrap();
            let mut open = OpenPane::<Bytes>::new(shape);
            let mut counts = std::collections::BTreeMap::<Vec<u8>, u64>::new();
            for event in 0..30_000_u64 {
                let key = format!("key {}", event * event % 1_009 % (1 + event % 700)).into_bytes();
                open.update(Some(&key));
                *counts.entry(key).or_default() += 1;
            }
            (0..40).for_each(|_| open.update(None));
            let expected = sorted(&open.close());
            assert_eq!(expected.3.is_some(), expected.1 > 0 && sketch.is_some());
            let mut bytes = Vec::new();
            for spread in [1_usize, 2, 7, 64] {
                let new = || PartialPane::<Bytes>::new(Keys::open(), shape.parameters(), false);
                let mut shares: Vec<_> = (0..spread).map(|_| new()).collect();
                for (number, (key, count)) in counts.iter().enumerate() {
                    shares[number * number % spread].add(Some(key), *count);
                }
                shares[spread / 2].add(None, 40);
                let shares: Vec<_> = shares.into_iter().rev().map(PartialPane::finish).collect();
                let all = shares.iter().map(Vec::as_slice);
                let pane = PartialPane::<Bytes>::close(shape.parameters(), false, all).unwrap();
                assert_eq!(sorted(&pane), expected, "{entries} entries, {spread} shares");
                bytes.push(Writer::written(|to| pane.save(to)));
            }
            assert!(bytes.iter().all(|other| *other == bytes[0]));
        }
    }

    /// More keys come than are kept, so some are removed before all have come.
    #[test]
    fn a_share_keeps_no_more_than_its_pane_could() {
        let made_with = PaneShape::new(10, 0, None, 5).unwrap().parameters();
        let mut share = PartialPane::<u64>::new(Keys::open(), made_with, false);
        (0..200_000).for_each(|key| share.add(Some(key), 1 + key % 3));
        assert!(share.counts.len() <= FEW);
        assert!(share.finish().len() < 20);
    }

    /// With user-level privacy: far more keys than a pane has entries, and many events, cut nothing.
    #[test]
    fn of_people_nothing_is_cut_however_many_there_are() {
        let sketch = Some(Dimensions { rows: 3, width: 64 });
        let made_with = PaneShape::new(10, 0, sketch, 5).unwrap().parameters();
        let mut share = PartialPane::<u64>::new(Keys::open(), made_with, true);
        (0..2 * FEW as u64).for_each(|key| share.add(Some(key), 1 + key % 3));
        assert!(made_with.cut(share.events) > 3, "events would be cut");
        let bytes = share.finish();
        let pane = PartialPane::<u64>::close(made_with, true, [bytes.as_slice()].into_iter()).unwrap();
        assert_eq!((pane.cut(), pane.sketch().is_none()), (0, true));
        let counts: Vec<_> = pane.counts().iter().collect();
        assert_eq!(counts, (0..2 * FEW as u64).map(|key| (key, 1 + key % 3)).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_counted_apart_is_not_added_up() {
        let made_with = PaneShape::new(10, 0, None, 5).unwrap().parameters();
        let share = |key| {
            let mut share = PartialPane::<u64>::new(Keys::open(), made_with, true);
            share.add(Some(key), 1);
            share.finish()
        };
        let close = |shares: &[Vec<u8>]| {
            PartialPane::<u64>::close(made_with, true, shares.iter().map(Vec::as_slice))
                .map(|pane| pane.events())
        };
        assert_eq!(close(&[share(3), share(4)]).unwrap(), 2);
        assert_eq!(close(&[share(3), share(3)]).unwrap_err().kind(), ErrorKind::Pane);
        assert_eq!(close(&[]).unwrap(), 0);
        let whole = share(3);
        for length in 0..whole.len() {
            assert_eq!(close(&[whole[..length].to_vec()]).unwrap_err().kind(), ErrorKind::State);
        }
    }
}
