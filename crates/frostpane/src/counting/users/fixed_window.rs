//! Windows of users whose end is known: an account for every epoch, with events or without.

use std::borrow::Cow;
use std::ops::Range;

use super::batch_bounder::BatchBounder;
use super::{Calendar, SpillFactory};
use crate::counting::Tally;
use crate::counting::window::WindowView;
use crate::error::{Error, Result};
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::pane::{Pane, Parameters};
use crate::privacy::ledger::WindowNumbers;
use crate::spec::{Bounds, Span, ValidSpec};

pub struct FixedWindow<K: Key> {
    pub calendar: Calendar,
    epochs: Range<i64>,
    starts: Vec<i64>,
    made_with: Parameters,
    events: Events<K>,
    fault: Fault,
}

enum Events<K: Key> {
    Open(Box<BatchBounder<K>>),
    /// From each start to the next.
    Closed(Vec<Pane<K>>, Tally),
    /// Some of them are gone: what is left is not to be released.
    Lost(Error, Tally),
}

pub struct AskedEpochs {
    pub epochs: Range<i64>,
    pub starts: Vec<i64>,
}

impl AskedEpochs {
    /// The windows end where that was said: never where events do.
    pub fn of(spec: &ValidSpec, bounds: &Bounds) -> Result<Self> {
        let Some(until) = spec.until else {
            return Err(Error::parameter(
                "it was not said where the windows end, and where users are protected events do not say: give until, a moment such as \
                 2026-03-02T00:00:00Z",
            ));
        };
        let calendar = Calendar::of_epochs(bounds);
        let end = calendar.period_at(until.position());
        let start = |window: &Span| end - calendar.epochs_in(window.length() as i64);
        let starts: Vec<i64> = spec.windows.iter().map(start).collect();
        let first = starts.iter().copied().min().unwrap_or(end);
        Ok(Self { epochs: first..end, starts })
    }
}

impl<K: Key> FixedWindow<K> {
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        asked: AskedEpochs,
        made_with: Parameters,
        memory: (u64, Option<SpillFactory>),
        fault: Fault,
    ) -> Self {
        let AskedEpochs { epochs, mut starts } = asked;
        starts.sort_unstable();
        starts.dedup();
        let calendar = Calendar::of_epochs(&bounds);
        let bounder =
            BatchBounder::new(keys, bounds, calendar, epochs.clone(), made_with.seed(), memory, fault);
        Self { calendar, epochs, starts, made_with, events: Events::Open(Box::new(bounder)), fault }
    }

    pub fn extend<'a>(
        &mut self,
        events: impl Iterator<Item = (i64, Option<&'a [u8]>, Option<K::Ref<'a>>)>,
    ) -> Result<()> {
        match &mut self.events {
            Events::Open(bounder) => bounder.extend(events),
            Events::Closed(..) => {
                Err(Error::window("the window was released, and takes no more events: build another one"))
            }
            Events::Lost(why, _) => Err(why.clone()),
        }
    }

    pub fn tally(&self) -> &Tally {
        match &self.events {
            Events::Open(bounder) => bounder.tally(),
            Events::Closed(_, tally) | Events::Lost(_, tally) => tally,
        }
    }

    pub fn bytes(&self) -> u64 {
        match &self.events {
            Events::Open(bounder) => bounder.bytes(),
            Events::Closed(panes, _) => panes.iter().map(Pane::bytes).sum(),
            Events::Lost(..) => 0,
        }
    }

    pub fn seal(&mut self) -> Result<()> {
        if let Events::Open(bounder) = &mut self.events {
            let starts = &self.starts;
            let pane_of = |epoch| starts.partition_point(|start| *start <= epoch) - 1;
            self.events = match bounder.close(starts.len(), pane_of, self.made_with) {
                Ok((panes, tally)) => Events::Closed(panes, tally),
                Err(why) => Events::Lost(why, *bounder.tally()),
            };
        }
        match &self.events {
            Events::Lost(why, _) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    /// The epochs that a window covers: all of its epochs, with events or without.
    pub fn numbers_of_window(&self, length: i64) -> Result<WindowNumbers> {
        let first = self.first_pane(length)?;
        let start = self.epochs.end - self.calendar.epochs_in(length);
        let forgets = self.fault.is(Mutant::NoEmptyEpochs)
            && self.closed().iter().skip(first).all(|pane| pane.events() == 0);
        Ok(WindowNumbers { covered: if forgets { 0..0 } else { start..self.epochs.end }, boundary: None })
    }

    pub fn window(&self, length: i64) -> Result<WindowView<'_, K>> {
        let panes = self.closed().iter().skip(self.first_pane(length)?).map(Cow::Borrowed);
        let start = self.epochs.end - self.calendar.epochs_in(length);
        let moments = self.calendar.start_of(start)..self.calendar.start_of(self.epochs.end);
        Ok(WindowView::of_epochs(panes.collect(), moments))
    }

    fn closed(&self) -> &[Pane<K>] {
        match &self.events {
            Events::Closed(panes, _) => panes,
            _ => &[],
        }
    }

    fn first_pane(&self, length: i64) -> Result<usize> {
        let start = self.epochs.end - self.calendar.epochs_in(length);
        self.starts.binary_search(&start).map_err(|_| {
            Error::window(
                "a window was asked for that was not said to be: windows of users are given before the first event, all of them",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pane::PaneShape;

    /// Of three epochs the longest window has all, the next the last two, the shortest the last.
    #[test]
    fn every_epoch_of_a_window_pays_the_first_and_the_last_included() {
        let asked = AskedEpochs { epochs: 0..3, starts: vec![0, 1, 2] };
        let bounds = Bounds::new(1).epoch(Duration::from_micros(1));
        let made_with = PaneShape::new(u32::MAX, 0, None, 7).unwrap().parameters();
        let memory = (u64::MAX, None);
        let mut epochs =
            FixedWindow::<u64>::new(Keys::Open, bounds, asked, made_with, memory, Fault::default());
        epochs.seal().unwrap();
        for (length, covered) in [(3, 0..3), (2, 1..3), (1, 2..3)] {
            let numbers = epochs.numbers_of_window(length).unwrap();
            assert_eq!((numbers.covered, numbers.boundary), (covered, None));
        }
    }
}
