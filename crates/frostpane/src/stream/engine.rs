//! Counting and releasing of a [`Stream`](super::Stream): single windows, or continual release.

use std::ops::Range;

use super::one_shot::OneShot;
use super::{Builder, Continual, Outcome};
use crate::codec::{Reader, Writer};
use crate::counting::events::intake::Panes;
use crate::counting::grant::{Grant, Quote};
use crate::counting::{Batch, Event, PaneCounter, Tally};
use crate::error::{Error, Result};
use crate::key::Key;
#[cfg(any(test, feature = "testing"))]
use crate::noise::Entropy;
use crate::release::noise_tree::NodeKey;
use crate::release::noise_tree::node_key::Purpose;
use crate::release::noise_tree::stored::{Mark, SecretBytes};
use crate::release::{Release, Request};
use crate::spec::Span;

pub(super) enum Engine<K: Key> {
    OneShot(Box<OneShot<K>>),
    Continual(Box<Continual<K>>),
}

impl<K: Key> Engine<K> {
    pub fn new(builder: &Builder<K>, begin: i64, seed: u64) -> Result<Self> {
        let builder = builder.clone().seeded(seed);
        if !builder.is_continual() {
            return Ok(Self::OneShot(Box::new(OneShot::live(&builder, begin)?)));
        }
        let mut continual = builder.continual()?;
        if continual.counter.live().is_some() {
            continual.begin_after(begin, 0)?;
        }
        Ok(Self::Continual(Box::new(continual)))
    }

    /// With noise from another source than the operating system's.
    #[cfg(any(test, feature = "testing"))]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        match self {
            Self::OneShot(one_shot) => Self::OneShot(Box::new(one_shot.drawing_from(source()))),
            Self::Continual(continual) => Self::Continual(Box::new(continual.drawing_from(source))),
        }
    }

    pub fn counter(&self) -> &dyn PaneCounter<K> {
        match self {
            Self::OneShot(one_shot) => &one_shot.counter,
            Self::Continual(continual) => &continual.counter,
        }
    }

    pub fn counter_mut(&mut self) -> &mut dyn PaneCounter<K> {
        match self {
            Self::OneShot(one_shot) => &mut one_shot.counter,
            Self::Continual(continual) => &mut continual.counter,
        }
    }

    pub fn request(&self) -> &Request<K> {
        match self {
            Self::OneShot(one_shot) => &one_shot.request,
            Self::Continual(continual) => continual.releaser.request(),
        }
    }

    /// Counts the events of a batch; those of the future are left out one by one, and move nothing.
    pub fn ingest(&mut self, batch: &Batch<K>, present: i64) -> Result<Outcome<K>> {
        let (latest, before, mut ahead) = (self.counter().latest(present), self.counter().tally(), 0);
        let in_time = |event: &Event<'_, K>| {
            let is_ahead = event.time.is_some_and(|time| time > latest);
            ahead += u64::from(is_ahead);
            !is_ahead
        };
        let (ended, releases) = self.extend(batch.events().filter(in_time), latest)?;
        let tally = self.counter().tally() - before;
        Ok(Outcome { ended, tally: Tally { ahead: tally.ahead + ahead, ..tally }, releases })
    }

    /// Returns true if a pane may have ended, and the releases that are due.
    fn extend<'a>(
        &mut self,
        events: impl Iterator<Item = Event<'a, K>>,
        latest: i64,
    ) -> Result<(bool, Vec<Release<K>>)> {
        let mut releases = Vec::new();
        let ended = match self {
            Self::OneShot(one_shot) => {
                let before = one_shot.counter.ticks();
                one_shot.counter.extend(events, latest)?;
                one_shot.counter.ticks() != before
            }
            Self::Continual(continual) => {
                let (before, now) = (continual.counter.ticks(), continual.counter.now());
                continual.allow_ahead(latest.saturating_sub(now));
                continual.extend(events, |continual| releases.push(continual.release()))?;
                continual.counter.ticks() != before
            }
        };
        Ok((ended, releases.into_iter().collect::<Result<_>>()?))
    }

    /// Time has come to this moment.
    pub fn advance(&mut self, now: i64) -> Result<Outcome<K>> {
        let mut releases = Vec::new();
        let ended = match self {
            Self::OneShot(one_shot) => one_shot.counter.advance(now)?,
            Self::Continual(continual) if !continual.counter.has_clock() => false,
            Self::Continual(continual) => {
                let before = continual.counter.ticks();
                continual.advance(now, |continual| releases.push(continual.release()))?;
                continual.counter.ticks() != before
            }
        };
        let releases = releases.into_iter().collect::<Result<_>>()?;
        Ok(Outcome { ended, tally: Tally::default(), releases })
    }

    /// Whom a release of a window would be charged to.
    pub fn quote(&self, span: Span) -> Result<Quote> {
        match self {
            Self::OneShot(one_shot) => {
                let length = one_shot.length_of(span)?;
                let numbers = one_shot.counter.numbers_of_window(length)?;
                Ok(Quote { length, numbers })
            }
            Self::Continual(_) => Err(Error::window(
                "a single list was asked for, but this stream has one at every slide, which has its whole budget: read the latest of those",
            )),
        }
    }

    pub fn release(&mut self, grant: Grant, secret: &SecretBytes) -> Result<Release<K>> {
        let mut entropy = NodeKey::from_secret(secret.clone()).entropy(Purpose::Release);
        match self {
            Self::OneShot(one_shot) => one_shot.release(grant, &mut entropy),
            Self::Continual(continual) => continual.release(),
        }
    }

    /// The latest continual release.
    pub fn latest(&self) -> Option<Release<K>> {
        match self {
            Self::OneShot(_) => None,
            Self::Continual(continual) => continual.release().ok(),
        }
    }

    /// Number of continual releases so far.
    pub fn lists(&self) -> u64 {
        match self {
            Self::OneShot(_) => 0,
            Self::Continual(continual) => continual.counter.ended(),
        }
    }

    /// Number of panes, or epochs, of the longest window.
    pub fn panes_of_window(&self) -> i64 {
        self.request().spec.window().longest().length() as i64 / self.counter().slide()
    }

    /// The numbers of panes, or epochs, from the oldest that a window can reach up to the one that goes on.
    pub fn numbers(&self) -> Range<i64> {
        let open = self.counter().open();
        open - self.panes_of_window()..open + 1
    }

    /// The oldest number that a pane has, or a window can reach.
    pub fn oldest_number(&self) -> i64 {
        let oldest = self.numbers().start;
        self.counter().oldest_number().map_or(oldest, |number| number.min(oldest))
    }

    /// The noise of continual release, in words that tell it from any other.
    pub fn noise(&self) -> String {
        match self {
            Self::OneShot(_) => String::new(),
            Self::Continual(continual) => continual.releaser.noise(),
        }
    }

    /// Forgets what has noise that another copy may have shown, up to a moment and a number of releases.
    pub fn distrust_past(&mut self, builder: Builder<K>, (until, releases): (i64, u64)) -> Result<()> {
        if let Self::Continual(continual) = self {
            let until = until.max(continual.counter.now());
            let releases = releases.max(continual.counter.ended());
            let mut fresh = builder.continual()?;
            fresh.begin_after(until, releases)?;
            **continual = fresh;
        }
        Ok(())
    }

    /// The secrets of noise that may still be asked for.
    pub fn secrets(&self) -> Vec<&[u8; 32]> {
        match self {
            Self::OneShot(_) => Vec::new(),
            Self::Continual(continual) => continual.secrets().collect(),
        }
    }

    pub fn save(&mut self, to: &mut Writer) {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.save(to),
            Self::Continual(continual) => continual.save(to),
        }
    }

    pub fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut Panes<'_>,
        secret: impl FnMut(&Mark) -> Option<SecretBytes>,
    ) -> Result<()> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.load(from, panes),
            Self::Continual(continual) => continual.load(from, panes, secret),
        }
    }
}
