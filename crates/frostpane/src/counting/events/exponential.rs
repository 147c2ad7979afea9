#![doc = include_str!("exponential.md")]

use std::ops::Range;

use crate::codec::{Reader, Writer};
use crate::counting::events::schedule::Outline;
use crate::error::Result;

/// Number of panes that are merged at a time.
pub(crate) const GROWTH: i64 = 4;

#[derive(Debug)]
pub struct Exponential {
    pub slide: i64,
    pub fineness: i64,
    /// The last cell of the first merged length that has passed: nothing grows old enough within one.
    passed: i64,
}

impl Exponential {
    pub fn new(slide: i64, fineness: i64) -> Self {
        Self { slide, fineness, passed: i64::MIN }
    }

    pub fn merges(&mut self, closed: impl Iterator<Item = Outline>, latest: i64) -> Vec<Range<usize>> {
        let passed = (latest + 1).div_euclid(GROWTH * self.slide);
        if passed == self.passed {
            return Vec::new();
        }
        self.passed = passed;
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut cell_end = i64::MIN;
        for (index, pane) in closed.enumerate() {
            match runs.last_mut() {
                Some(run) if pane.end <= cell_end => run.end = index + 1,
                _ => {
                    cell_end = self.cell_end(pane, latest);
                    runs.push(index..index + 1);
                }
            }
        }
        runs.retain(|run| run.len() > 1);
        runs
    }

    pub(super) fn save(&self, to: &mut Writer) {
        to.maybe((self.passed > i64::MIN).then_some(self.passed), Writer::signed);
    }

    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        self.passed = from.maybe(Reader::position)?.unwrap_or(i64::MIN);
        Ok(())
    }

    /// The end of the longest cell around a pane that is old enough for its length.
    fn cell_end(&self, pane: Outline, latest: i64) -> i64 {
        let mut end = pane.end;
        let mut length = self.slide;
        loop {
            let next = pane.start.div_euclid(length) * length + length;
            if (latest + 1 - next) / self.fineness < length {
                return end;
            }
            end = next.max(end);
            length *= GROWTH;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest cell around a position, four times as long as the next, whose end lies at least its length times the
    /// fineness back.
    fn cell(position: i64, slide: i64, fineness: i64, now: i64) -> (i64, i64) {
        let lengths = (0..10).map(|power| slide * 4_i64.pow(power));
        let cells = lengths.map(|length| {
            let start = position.div_euclid(length) * length;
            (start, start + length)
        });
        cells
            .rev()
            .find(|(start, end)| end - start == slide || now - end >= fineness * (end - start))
            .unwrap()
    }

    /// At every fourth slide the panes are the cells, from before position 0 on.
    #[test]
    fn panes_are_the_longest_cells_that_are_old_enough() {
        for (slide, fineness) in [(1, 1), (3, 2), (10, 4)] {
            let mut schedule = Exponential::new(slide, fineness);
            let mut panes: Vec<Outline> = Vec::new();
            let first = -40 * slide;
            for number in 0..600 {
                let start = first + number * slide;
                panes.push(Outline { start, end: start + slide, events: 1, level: 0 });
                let now = start + slide;
                for run in schedule.merges(panes.iter().copied(), now - 1).into_iter().rev() {
                    let merged = Outline { end: panes[run.end - 1].end, ..panes[run.start] };
                    assert!(run.len() > 1);
                    panes.splice(run, [merged]);
                }
                if now % (4 * slide) == 0 {
                    let found = panes.iter().map(|pane| (pane.start, pane.end));
                    let starts = (0..=number).map(|number| first + number * slide);
                    let mut expected: Vec<_> =
                        starts.map(|start| cell(start, slide, fineness, now)).collect();
                    expected.dedup();
                    // A cell around the very first pane may begin before it.
                    expected[0].0 = expected[0].0.max(first);
                    assert!(found.eq(expected), "{slide} {fineness} at {now}");
                }
            }
            assert!(panes.len() < 100, "{}", panes.len());
        }
    }
}
