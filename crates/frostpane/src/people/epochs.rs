//! Windows of people whose end is known: an account for every epoch, with events or without.

use std::borrow::Cow;
use std::ops::Range;

use super::at_rest::AtRest;
use super::{Calendar, Scratch, Tally};
use crate::budget::Account;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{Fault, Mutant};
use crate::key::{Key, Keys};
use crate::pane::{Pane, Parameters};
use crate::spec::{Bounds, Checked, Span};

/// What is counted between the starts of windows that all end at one moment.
pub struct Epochs<K: Key> {
    calendar: Calendar,
    /// All epochs of the longest window.
    epochs: Range<i64>,
    /// Where windows begin, rising.
    starts: Vec<i64>,
    accounts: Vec<Account>,
    made_with: Parameters,
    events: Events<K>,
    fault: Fault,
}

/// While they come in, and when all have come.
enum Events<K: Key> {
    Open(Box<AtRest<K>>),
    /// From each start to the next.
    Closed(Vec<Pane<K>>, Tally),
    /// Some of them are gone: what is left is not to be released.
    Lost(Error, Tally),
}

/// Windows in epochs, as they were asked for.
pub struct Asked {
    pub epochs: Range<i64>,
    /// Where each window begins.
    pub starts: Vec<i64>,
}

impl Asked {
    /// The windows end where that was said: never where events do.
    pub fn of(spec: &Checked, bounds: &Bounds) -> Result<Self> {
        let Some(until) = spec.until else {
            return Err(Error::parameter(
                "it was not said where the windows end, and where people are protected events do not say: give until, a moment such as \
                 2026-03-02T00:00:00Z",
            ));
        };
        let calendar = Calendar::of_epochs(bounds);
        let end = calendar.period_at(until.position());
        let start = |window: &Span| end - calendar.epochs_in(window.length() as i64);
        let starts: Vec<i64> = spec.windows.iter().map(start).collect();
        let first = starts.iter().copied().min().unwrap_or(end);
        Ok(Self {
            epochs: first..end,
            starts,
        })
    }
}

impl<K: Key> Epochs<K> {
    pub fn new(
        keys: Keys<K>,
        bounds: Bounds,
        asked: Asked,
        made_with: Parameters,
        memory: (u64, Option<Scratch>),
        fault: Fault,
    ) -> Self {
        let Asked { epochs, mut starts } = asked;
        starts.sort_unstable();
        starts.dedup();
        let calendar = Calendar::of_epochs(&bounds);
        let at_rest = AtRest::new(
            keys,
            bounds,
            calendar,
            epochs.clone(),
            made_with.seed(),
            memory,
            fault,
        );
        Self {
            calendar,
            accounts: vec![Account::default(); (epochs.end - epochs.start) as usize],
            epochs,
            starts,
            made_with,
            events: Events::Open(Box::new(at_rest)),
            fault,
        }
    }

    /// Many events: their time, user and key.
    pub fn extend<'a>(
        &mut self,
        events: impl Iterator<Item = (i64, Option<&'a [u8]>, Option<K::Ref<'a>>)>,
    ) -> Result<()> {
        match &mut self.events {
            Events::Open(at_rest) => at_rest.extend(events),
            Events::Closed(..) => Err(Error::window(
                "the window was released, and takes no more events: build another one",
            )),
            Events::Lost(why, _) => Err(why.clone()),
        }
    }

    /// What became of the events, for the operator alone.
    pub fn tally(&self) -> &Tally {
        match &self.events {
            Events::Open(at_rest) => at_rest.tally(),
            Events::Closed(_, tally) | Events::Lost(_, tally) => tally,
        }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> u64 {
        match &self.events {
            Events::Open(at_rest) => at_rest.bytes(),
            Events::Closed(panes, _) => panes.iter().map(Pane::bytes).sum(),
            Events::Lost(..) => 0,
        }
    }

    /// All events have come: their panes.
    fn seal(&mut self) -> Result<()> {
        if let Events::Open(at_rest) = &mut self.events {
            let starts = &self.starts;
            let pane_of = |epoch| starts.partition_point(|start| *start <= epoch) - 1;
            self.events = match at_rest.close(starts.len(), pane_of, self.made_with) {
                Ok((panes, tally)) => Events::Closed(panes, tally),
                Err(why) => Events::Lost(why, *at_rest.tally()),
            };
        }
        match &self.events {
            Events::Lost(why, _) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    /// Charges one release to every epoch of a window, and opens it. Refuses, and charges none, if one of them has been in `most`
    /// releases: which that is follows from earlier releases alone, because all of its epochs have an account.
    pub fn charge(&mut self, length: i64, most: u32) -> Result<Window<'_, K>> {
        let start = self.epochs.end - self.calendar.epochs_in(length);
        let Ok(first) = self.starts.binary_search(&start) else {
            return Err(Error::window(
                "a window was asked for that was not said to be: windows of people are given before the first event, all of them",
            ));
        };
        self.seal()?;
        let Events::Closed(panes, _) = &self.events else {
            return Err(Error::window("the window is still open: nothing was charged"));
        };
        let forgets =
            self.fault.is(Mutant::NoEmptyEpochs) && panes[first..].iter().all(|pane| pane.events() == 0);
        let accounts = &mut self.accounts[(start - self.epochs.start) as usize..];
        if !forgets {
            if !accounts.iter().all(|account| account.can_pay(most)) {
                return Err(spent(most));
            }
            accounts.iter_mut().for_each(Account::charge);
        }
        Ok(Window {
            panes: panes[first..].iter().map(Cow::Borrowed).collect(),
            from: self.calendar.start_of(start),
            to: self.calendar.start_of(self.epochs.end),
        })
    }
}

/// A window that all of its epochs have paid for.
pub struct Window<'a, K: Key> {
    pub panes: Vec<Cow<'a, Pane<K>>>,
    /// From this moment on, in microseconds.
    pub from: i64,
    /// Up to this one.
    pub to: i64,
}

fn spent(most: u32) -> Error {
    let more = most.saturating_add(1);
    Error::new(
        ErrorKind::Budget,
        format!(
            "some epochs of this window have been in {most} release(s), as many as they may: wait until the window has moved past them, or \
             build with releases({more}), which lets what a user does in an epoch lose {more} times epsilon"
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pane::PaneShape;

    /// Of three epochs the longest window has all, the next the last two, the shortest the last.
    #[test]
    fn every_epoch_of_a_window_pays_the_first_and_the_last_included() {
        let asked = Asked {
            epochs: 0..3,
            starts: vec![0, 1, 2],
        };
        let bounds = Bounds::new(1).epoch(Duration::from_micros(1));
        let made_with = PaneShape::new(u32::MAX, 0, None, 7).unwrap().parameters();
        let memory = (u64::MAX, None);
        let mut epochs = Epochs::<u64>::new(Keys::Open, bounds, asked, made_with, memory, Fault::default());
        for (length, paid) in [(3, [1, 1, 1]), (2, [1, 2, 2]), (1, [1, 2, 3])] {
            epochs.charge(length, 3).unwrap();
            let releases: Vec<u32> = epochs.accounts.iter().map(|account| account.releases()).collect();
            assert_eq!(releases, paid, "after a window of {length}");
        }
        assert!(epochs.charge(1, 3).is_err(), "its only epoch has been in three");
    }
}
