#![doc = include_str!("external_panes.md")]

use std::ops::Range;
use std::time::Duration;

use jiff::Timestamp;

use super::Stream;
use super::engine::Engine;
use super::snapshot::save_parameters;
use crate::codec::{MOST, Reader, Writer, check, damaged};
use crate::counting::PaneCounter;
use crate::counting::users::spill::File;
use crate::counting::users::{BatchBounder, Calendar, SpillFactory};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Fault;
use crate::key::{Key, Keys};
use crate::pane::{Pane, PaneShape, Parameters, PartialPane};
use crate::privacy::ledger::Account;
use crate::sketch::count_sketch::Dimensions;
use crate::spec::{Bounds, Policy, Span};

const VERSION: u64 = 1;
const SEAL: &str = "frostpane 2026-11-17 a pane that was built elsewhere";

/// Recipe of the panes of a stream: all that a machine needs that counts its events elsewhere.
///
/// It has the seed of all hashes, so it is as secret as the events are, and shows itself to nobody.
#[derive(Clone)]
pub struct PaneRecipe<K: Key> {
    fingerprint: [u8; 32],
    made_with: Parameters,
    length: i64,
    offset: i64,
    bounds: Option<Bounds>,
    keys: Keys<K>,
}

impl<K: Key> PaneRecipe<K> {
    /// Length of a pane, in microseconds.
    pub fn length(&self) -> i64 {
        self.length
    }

    /// Start of the pane with the number 0, in microseconds since 1970.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The number of the pane that begins at a moment, in microseconds since 1970.
    pub fn number_at(&self, moment: i64) -> Result<i64> {
        let since = moment.saturating_sub(self.offset);
        match since.rem_euclid(self.length) {
            0 => Ok(since.div_euclid(self.length)),
            _ => Err(Error::window(format!(
                "{} lies within a pane, or an epoch, of {}: give a moment at which one begins",
                Timestamp::from_microsecond(moment)
                    .map_or_else(|_| moment.to_string(), |moment| moment.to_string()),
                Span::Clock(Duration::from_micros(self.length.unsigned_abs())),
            ))),
        }
    }

    /// Returns true if users are protected: their events are [bounded](Self::bounding) before they are counted.
    pub fn is_of_people(&self) -> bool {
        self.bounds.is_some()
    }

    /// Fingerprint of the parameters of panes: those of streams with another one do not add up with them.
    pub fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    /// Bounds what users contribute in some panes. All events that a user has in a pane must come to one of these.
    pub fn bounding(
        &self,
        numbers: Range<i64>,
        memory: u64,
        scratch: fn() -> std::io::Result<Box<dyn File>>,
    ) -> Result<PaneBounder<K>> {
        let bounds = self.bounds.ok_or_else(|| {
            Error::parameter("users are to be bounded, but what is protected is the key of one event: count them as they are")
        })?;
        let calendar = Calendar::of_epochs(&bounds);
        let memory = (memory, Some(SpillFactory::new(scratch)));
        let seed = self.made_with.seed();
        Ok(PaneBounder {
            bounder: BatchBounder::new(
                self.keys.clone(),
                bounds,
                calendar,
                numbers.clone(),
                seed,
                memory,
                Fault::default(),
            ),
            made_with: self.made_with,
            calendar,
            numbers,
        })
    }

    /// A part of a pane, without events. Each key of the pane is to be counted, whole, in one of them.
    pub fn part(&self) -> PartialPane<K> {
        PartialPane::new(self.keys.clone(), self.made_with, self.is_of_people())
    }

    /// The pane that all of its parts are, as bytes: the same bytes however keys were spread over parts.
    pub fn close<'a>(&self, parts: impl Iterator<Item = &'a [u8]>) -> Result<Vec<u8>> {
        let pane = PartialPane::<K>::close(self.made_with, self.is_of_people(), parts)?;
        Ok(Writer::written(|to| pane.save(to)))
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.number(VERSION);
        to.raw(&self.fingerprint);
        save_parameters(&mut to, &self.made_with);
        to.signed(self.length);
        to.signed(self.offset);
        to.maybe(self.bounds, |to, bounds| {
            to.number(bounds.per_user.into());
            to.number(bounds.per_key.into());
            to.maybe(bounds.sample_users, |to, share| to.bytes(share.to_string().as_bytes()));
        });
        to.bytes(&self.keys.to_bytes());
        to.finish()
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        if from.number()? != VERSION {
            return Err(Error::new(
                ErrorKind::State,
                "panes are asked for by another version of the package: install the same one on all machines",
            ));
        }
        let fingerprint = from.array()?;
        let seed = u64::from_le_bytes(from.array()?);
        let entries = from.at_most(u32::MAX.into())? as u32;
        let sketch = from.maybe(|from| {
            let (rows, width) = (from.at_most(u8::MAX.into())? as usize, from.at_most(1 << 24)? as usize);
            check(rows % 2 == 1 && width.is_power_of_two(), "a sketch has no such form")?;
            Ok(Dimensions { rows, width })
        })?;
        let (length, offset) = (from.position()?, from.position()?);
        check(length > 0, "a pane has no length")?;
        let bounds = from.maybe(|from| {
            Ok(Bounds {
                per_user: from.at_most(u32::MAX.into())? as u32,
                per_key: from.at_most(u32::MAX.into())? as u32,
                epoch: Duration::from_micros(length.unsigned_abs()),
                offset: Duration::from_micros(offset.unsigned_abs()),
                sample_users: from.maybe(|from| {
                    let text = std::str::from_utf8(from.bytes()?).ok();
                    text.and_then(|text| text.parse().ok()).ok_or_else(|| damaged("a share of users is none"))
                })?,
            })
        })?;
        let keys = Keys::from_bytes(from.bytes()?)?;
        from.finish()?;
        Ok(Self {
            fingerprint,
            made_with: PaneShape::new(entries, 0, sketch, seed)?.parameters(),
            length,
            offset,
            bounds,
            keys,
        })
    }

    /// Digest of a pane at its place: the same bytes at another place, or made with other parameters, have another one.
    pub fn seal(&self, number: i64, pane: &[u8]) -> [u8; 32] {
        seal(&self.fingerprint, number, pane)
    }
}

fn seal(fingerprint: &[u8; 32], number: i64, pane: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(SEAL);
    hasher.update(fingerprint).update(&number.to_le_bytes()).update(pane);
    *hasher.finalize().as_bytes()
}

/// Bounds users in some panes as the stream itself would: by the same code, with the same seed.
pub struct PaneBounder<K: Key> {
    bounder: BatchBounder<K>,
    made_with: Parameters,
    calendar: Calendar,
    numbers: Range<i64>,
}

impl<K: Key> PaneBounder<K> {
    /// Events: the number of their pane, their user and their key.
    pub fn extend<'a>(
        &mut self,
        events: impl Iterator<Item = (i64, Option<&'a [u8]>, Option<K::Ref<'a>>)>,
    ) -> Result<()> {
        let Self { bounder, calendar, numbers, .. } = self;
        let within = events.filter(|(number, ..)| numbers.contains(number));
        bounder.extend(within.map(|(number, user, key)| (calendar.start_of(number), user, key)))
    }

    /// Visits how often each key counts in each pane, when all events have come.
    pub fn finish(mut self, mut visit: impl FnMut(i64, K::Ref<'_>, u64)) -> Result<()> {
        let first = self.numbers.start;
        let panes = (self.numbers.end - first).max(0) as usize;
        let (panes, _) = self.bounder.close(panes, |number| (number - first) as usize, self.made_with)?;
        for (number, pane) in (first..).zip(&panes) {
            Pane::counts(pane).iter().for_each(|(key, count)| visit(number, key, count));
        }
        Ok(())
    }
}

impl<K: Key> Stream<K> {
    /// How its panes are made, for anyone who counts its events elsewhere. Refused where panes follow from more than their own events: by
    /// count, of continual releases, and under policies that look at panes or merge them.
    pub fn recipe(&self) -> Result<PaneRecipe<K>> {
        self.check_buildable()?;
        let (made_with, length) = self.made_with();
        Ok(PaneRecipe {
            fingerprint: self.fingerprint(),
            made_with,
            length,
            offset: self.begins(0),
            bounds: self.spec.unit.bounds(),
            keys: self.keys().clone(),
        })
    }

    fn check_buildable(&self) -> Result<()> {
        let is_uniform = self.spec.policy == Some(Policy::Uniform);
        let why = match &self.engine {
            Engine::Continual(_) => "continual release has noise for each pane, which is drawn when it ends",
            Engine::OneShot(one_shot) if one_shot.counter.is_by_count() => {
                "a window by the number of events depends on their order"
            }
            Engine::OneShot(one_shot) if one_shot.counter.has_clock() => return Ok(()),
            Engine::OneShot(_) if !is_uniform => {
                "its policy merges panes, or looks at them: build it with the policy uniform"
            }
            Engine::OneShot(one_shot) if !one_shot.counter.has_no_events() => {
                "events have come to it, and it counts them itself"
            }
            Engine::OneShot(_) => return Ok(()),
        };
        Err(Error::window(format!("panes of this stream cannot be built elsewhere: {why}")))
    }

    /// Returns true if none of these panes, or epochs, has been in a release, or may have been: then they can be built again.
    pub fn is_unspent(&self, numbers: Range<i64>) -> bool {
        self.ledger.account(numbers) == Account::default()
    }

    /// Digest of a pane that was built elsewhere, at its place.
    pub fn seal(&self, number: i64, pane: &[u8]) -> [u8; 32] {
        seal(&self.fingerprint(), number, pane)
    }

    /// Takes panes in that were built elsewhere, all from this number on, in the place of those that are there: none of them may have
    /// been in a release. Time has then come to the end of the last.
    pub fn take_built(&mut self, first: i64, panes: &[Vec<u8>]) -> Result<()> {
        self.check_buildable()?;
        let numbers = first..first.saturating_add(panes.len() as i64);
        let (_, length) = self.made_with();
        if first.unsigned_abs().max(numbers.end.unsigned_abs()) > MOST / length as u64
            || !self.is_unspent(numbers.clone())
        {
            return Err(Error::window(
                "a pane was built again that has been in a release, or lies where none can: what was released stays as it was",
            ));
        }
        let Engine::OneShot(one_shot) = &mut self.engine else {
            return Ok(());
        };
        let (counter, lateness) = (&mut one_shot.counter, one_shot.request.spec.grid().lateness);
        counter.advance(counter.begins(numbers.end).saturating_add(lateness))?;
        for (number, bytes) in numbers.zip(panes) {
            counter.rebuild(number, bytes)?;
        }
        self.retire();
        Ok(())
    }
}
