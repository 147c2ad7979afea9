//! Encoding of panes, closed and open.

use std::marker::PhantomData;

use super::closed::Pane;
use super::open::OpenPane;
use super::packed::PackedCounts;
use super::shape::{PaneShape, Parameters};
use crate::codec::{Reader, Writer, check, damaged, unpack_number};
use crate::error::Result;
use crate::key::Key;
use crate::sketch::CountSketch;

const WORD: usize = size_of::<u64>();

impl<K: Key> PackedCounts<K> {
    pub(super) fn save(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        to.bytes(&self.bytes);
    }

    /// Returns the counts and their sum.
    pub(super) fn load(from: &mut Reader<'_>) -> Result<(Self, u64)> {
        let (entries, bytes) = (from.number()?, from.bytes()?);
        let (mut rest, mut sum) = (bytes, 0_u64);
        for _ in 0..entries {
            let key = K::unpack(&mut rest).filter(|key| K::fits(*key));
            let count = unpack_number(&mut rest).filter(|count| *count > 0);
            sum = match (key, count) {
                (Some(_), Some(count)) => sum.checked_add(count),
                _ => None,
            }
            .ok_or_else(|| damaged("a count cannot be read"))?;
        }
        check(rest.is_empty(), "counts follow the last")?;
        Ok((Self { bytes: bytes.into(), entries: entries as usize, keys: PhantomData }, sum))
    }
}

impl<K: Key> Pane<K> {
    /// Writes the pane without its parameters.
    pub(crate) fn save(&self, to: &mut Writer) {
        to.number(self.events);
        to.number(self.cut);
        to.number(self.mass);
        self.counts.save(to);
        to.maybe(self.sketch.as_ref(), |to, sketch| sketch.save(to));
    }

    /// Reads a pane with these parameters.
    pub(crate) fn load(from: &mut Reader<'_>, made_with: Parameters) -> Result<Self> {
        let [events, cut, mass] = [from.count_of_pane()?, from.count()?, from.count()?];
        let (counts, sum) = PackedCounts::load(from)?;
        let fit = cut <= events && mass <= events && sum <= mass;
        check(fit, "the numbers of a pane contradict each other")?;
        let sketch = from.maybe(|from| load_sketch(from, made_with, events))?;
        Ok(Self { made_with, events, cut, mass, counts, sketch })
    }
}

pub(super) fn load_sketch(from: &mut Reader<'_>, made_with: Parameters, events: u64) -> Result<CountSketch> {
    let dimensions =
        made_with.sketch().ok_or_else(|| damaged("a pane has a sketch that none was to have"))?;
    CountSketch::load(from, dimensions, made_with.seed(), events)
}

impl<K: Key> OpenPane<K> {
    /// Writes the full state of the block: when read, it continues as if it had stayed open.
    pub(crate) fn save(&self, to: &mut Writer) {
        to.number(self.events);
        to.flag(self.list.is_some());
        if let Some(list) = &self.list {
            to.each(list.iter(), |to, word| to.raw(&word.to_le_bytes()));
            return;
        }
        to.number(self.counts.decrements());
        PackedCounts::<K>::collect(self.counts.iter()).save(to);
        to.maybe(self.sketch.as_ref(), |to, sketch| sketch.save(to));
    }

    pub(crate) fn load(from: &mut Reader<'_>, shape: PaneShape) -> Result<Self> {
        let mut open = Self::new(shape);
        open.events = from.count_of_pane()?;
        check(from.flag()? == open.list.is_some(), "an open pane is of another kind")?;
        if let Some(list) = &mut open.list {
            *list = from.each(|from| from.array::<WORD>().map(u64::from_le_bytes))?;
            check(list.len() as u64 <= open.events, "an open pane has more keys than events")?;
            return Ok(open);
        }
        let decrements = from.count()?;
        let (counts, sum) = PackedCounts::<K>::load(from)?;
        let counted = sum.checked_add(decrements);
        let fits = counted.is_some_and(|counted| counted <= open.events) && counts.len() <= shape.capacity;
        check(fits, "an open pane counts more than it has")?;
        open.counts.restore(counts.iter(), decrements);
        open.sketch = from.maybe(|from| load_sketch(from, shape.parameters(), open.events))?;
        Ok(open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::key::Bytes;
    use crate::pane::tests::sorted;
    use crate::sketch::count_sketch::Dimensions;

    fn shapes() -> impl Iterator<Item = PaneShape> {
        let sketch = Some(Dimensions { rows: 3, width: 64 });
        [8, 60, 500].into_iter().flat_map(move |entries| {
            let shape = PaneShape::new(entries, 0, sketch, 5).unwrap();
            [shape, shape.listing(2_000)]
        })
    }

    fn again<K: Key>(open: &OpenPane<K>, shape: PaneShape) -> OpenPane<K> {
        let bytes = Writer::written(|to| open.save(to));
        Reader::read_all(&bytes, |from| OpenPane::load(from, shape)).unwrap()
    }

    /// Tables that hold all keys, full ones and lists: the same pane, up to the order of its keys.
    #[test]
    fn an_open_pane_goes_on_as_if_it_had_stayed_open() {
        for shape in shapes() {
            let (mut stayed, mut moved) = (OpenPane::<u64>::new(shape), OpenPane::<u64>::new(shape));
            for event in 0..2_000_u64 {
                let key = event * event % 197;
                stayed.update(Some(key));
                moved.update(Some(key));
                if event % 271 == 0 {
                    moved = again(&moved, shape);
                }
            }
            assert_eq!(sorted(&moved.close()), sorted(&stayed.close()));
        }
    }

    #[test]
    fn a_closed_pane_is_the_same_again_and_half_of_one_is_refused() {
        for shape in shapes() {
            let mut open = OpenPane::<Bytes>::new(shape);
            (0..900_u32).for_each(|event| open.update(Some(&(event % 97).to_be_bytes())));
            let saved = |pane: &Pane<Bytes>| Writer::written(|to| pane.save(to));
            let bytes = saved(&open.close());
            let read =
                |bytes: &[u8]| Reader::read_all(bytes, |from| Pane::<Bytes>::load(from, shape.parameters()));
            assert_eq!(saved(&read(&bytes).unwrap()), bytes);
            for length in 0..bytes.len() {
                assert_eq!(read(&bytes[..length]).unwrap_err().kind(), ErrorKind::State);
            }
        }
    }
}
