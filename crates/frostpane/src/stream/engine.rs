//! Counting and releasing of a [`Stream`](super::Stream): single windows, or continual release.

use super::one_shot::OneShot;
use super::{Builder, Continual, Outcome};
use crate::codec::{Reader, Writer};
#[cfg(any(test, feature = "testing"))]
use crate::counting::Counter;
use crate::counting::events::intake::ReadPane;
use crate::counting::{Batch, Event, PaneCounter, Tally};
use crate::error::{Error, Result};
use crate::key::Key;
#[cfg(any(test, feature = "testing"))]
use crate::noise::Entropy;
use crate::privacy::ledger::{Grant, Quote};
use crate::release::noise_tree::NodeKey;
use crate::release::noise_tree::node_key::Purpose;
use crate::release::noise_tree::stored::{SecretBytes, SecretId};
use crate::release::{Release, Request};
use crate::spec::Span;

pub(super) enum Engine<K: Key> {
    OneShot(Box<OneShot<K>>),
    Continual(Box<Continual<K>>),
}

impl<K: Key> Engine<K> {
    pub fn new(builder: &Builder<K>, begin: i64, seed: u64) -> Result<Self> {
        let builder = builder.clone().seeded(seed);
        if !builder.spec.continual {
            return Ok(Self::OneShot(Box::new(OneShot::live(&builder, begin)?)));
        }
        let mut continual = builder.continual()?;
        if continual.counter.live().is_some() {
            continual.begin_after(begin, 0)?;
        }
        Ok(Self::Continual(Box::new(continual)))
    }

    #[cfg(any(test, feature = "testing"))]
    pub fn draw_from(&mut self, source: fn() -> Box<dyn Entropy + Send>) {
        match self {
            Self::OneShot(one_shot) => {
                if let Counter::Events(intake) = &mut one_shot.counter {
                    intake.timeline.draw_from(source());
                }
            }
            Self::Continual(continual) => continual.source = source,
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

    pub fn continual(&self) -> Option<&Continual<K>> {
        match self {
            Self::OneShot(_) => None,
            Self::Continual(continual) => Some(continual),
        }
    }

    /// Counts the events of a batch; those of the future are left out one by one, and move nothing.
    pub fn ingest(&mut self, batch: &Batch<K>, present: i64) -> Result<Outcome<K>> {
        let (counter, mut ahead) = (self.counter(), 0);
        // Of users the clock may have come further: it is never told again.
        let latest = if counter.live().is_some() { present.max(counter.now()) } else { present };
        let in_time = |event: &Event<'_, K>| {
            let is_ahead = event.time.is_some_and(|time| time > latest);
            ahead += u64::from(is_ahead);
            !is_ahead
        };
        let events = batch.events().filter(in_time);
        let mut outcome = self.step(|engine, releases| match engine {
            Self::OneShot(one_shot) => one_shot.counter.extend(events, latest),
            Self::Continual(continual) => {
                continual.allow_ahead(latest.saturating_sub(continual.counter.now()));
                continual.extend(events, |continual| releases.push(continual.release()))
            }
        })?;
        outcome.tally.ahead += ahead;
        Ok(outcome)
    }

    pub fn advance(&mut self, now: i64) -> Result<Outcome<K>> {
        let outcome = self.step(|engine, releases| match engine {
            Self::OneShot(one_shot) => one_shot.counter.advance(now),
            Self::Continual(continual) if continual.counter.has_clock() => {
                continual.advance(now, |continual| releases.push(continual.release()))
            }
            Self::Continual(_) => Ok(()),
        })?;
        Ok(Outcome { tally: Tally::default(), ..outcome })
    }

    fn step(
        &mut self,
        step: impl FnOnce(&mut Self, &mut Vec<Result<Release<K>>>) -> Result<()>,
    ) -> Result<Outcome<K>> {
        let (ticks, tally, mut releases) = (self.counter().ticks(), self.counter().tally(), Vec::new());
        step(self, &mut releases)?;
        Ok(Outcome {
            ended: self.counter().ticks() != ticks,
            tally: self.counter().tally() - tally,
            releases: releases.into_iter().collect::<Result<_>>()?,
        })
    }

    /// Begins a new tree of continual release with open keys.
    pub fn begin_new_tree(&mut self) -> Result<()> {
        match self {
            Self::Continual(continual) if continual.releaser.has_open_keys() => continual.begin_new_tree(),
            _ => Ok(()),
        }
    }

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

    pub fn save(&mut self, to: &mut Writer) {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.save(to),
            Self::Continual(continual) => continual.save(to),
        }
    }

    pub fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut ReadPane<'_>,
        secret: impl FnMut(&SecretId) -> Option<SecretBytes>,
        knows_followed: bool,
    ) -> Result<()> {
        match self {
            Self::OneShot(one_shot) => one_shot.counter.load(from, panes),
            Self::Continual(continual) => continual.load(from, panes, secret, knows_followed),
        }
    }
}
