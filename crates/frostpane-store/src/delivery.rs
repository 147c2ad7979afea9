//! Batches from many producers, which are kept together and each of which counts once.
//!
#![doc = include_str!("delivery.md")]

use std::collections::BTreeMap;

use frostpane::Batch;
use redb::{ReadableDatabase, TableError, WriteTransaction};

use crate::error::Result;
use crate::header::StoredKey;
use crate::log::Entry;
use crate::store::{List, Store};
use crate::tables::{DELIVERIES, OUTLIVED};

/// How much later than the moment at which it came an event may have been that was taken as of then: an hour.
const AHEAD: i64 = 3_600_000_000;

/// A batch that a producer delivers, perhaps again.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a, K> {
    /// What tells it from others, if it may come again: never what is in it.
    pub id: Option<&'a str>,
    /// A hash of what was delivered: an id stands for that.
    pub digest: [u8; 32],
    /// Its events.
    pub batch: &'a Batch<K>,
    /// Whether the events have the times that their producer gave them. If not, they would never be too late when they come again.
    pub timed: bool,
}

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Its events are there for good.
    Taken,
    /// They had been there before.
    Again,
    /// Something else was delivered under its id: it was not taken.
    Other,
    /// It cannot be taken, whenever it comes.
    Refused(frostpane::Error),
}

/// An id that is new, with its hash and the moment after which it can be forgotten.
struct Known<'a> {
    id: &'a str,
    digest: [u8; 32],
    outlived: Option<i64>,
}

impl<K: StoredKey> Store<K> {
    /// Takes deliveries that came at this moment, all that are new in one transaction with their ids: whatever ends the process, each
    /// counts once. An id is known as long as its events could be counted if they came again; without a clock that is for ever.
    pub fn take_deliveries(
        &mut self,
        deliveries: &[Delivery<'_, K>],
        present: i64,
    ) -> Result<(Vec<Outcome>, Vec<List<K>>)> {
        self.check_whole()?;
        self.check_going()?;
        self.check_not_built()?;
        let mut outcomes = Vec::with_capacity(deliveries.len());
        let mut known = BTreeMap::new();
        let mut batch = Batch::new();
        for delivery in deliveries {
            let outcome = self.judge(delivery, &known)?;
            if outcome == Outcome::Taken {
                batch.append(delivery.batch);
                if let Some(id) = delivery.id {
                    known.insert(id, self.known(id, delivery, present));
                }
            }
            outcomes.push(outcome);
        }
        if batch.is_empty() && known.is_empty() {
            return Ok((outcomes, Vec::new()));
        }
        let taken = self.change(|stream| stream.take(&batch, present))?;
        let now = self.stream.now();
        let entry = (Entry::Events(&batch), present);
        let lists = self.keep(taken, entry, None, |transaction| {
            forget(transaction, now)?;
            known.values().try_for_each(|known| remember(transaction, known))
        })?;
        Ok((outcomes, lists))
    }

    fn judge(&self, delivery: &Delivery<'_, K>, new: &BTreeMap<&str, Known<'_>>) -> Result<Outcome> {
        let before = match delivery.id {
            None => None,
            Some(id) => match new.get(id) {
                Some(known) => Some(known.digest),
                None => self.delivered(id)?,
            },
        };
        Ok(match before {
            Some(digest) if digest == delivery.digest => Outcome::Again,
            Some(_) => Outcome::Other,
            None => self
                .stream
                .check(delivery.batch)
                .map_or_else(Outcome::Refused, |()| Outcome::Taken),
        })
    }

    /// The hash of what was delivered under an id.
    fn delivered(&self, id: &str) -> Result<Option<[u8; 32]>> {
        let table = match self.database.begin_read()?.open_table(DELIVERIES) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            table => table?,
        };
        Ok(table.get(id)?.map(|digest| *digest.value()))
    }

    fn known<'a>(&self, id: &'a str, delivery: &Delivery<'_, K>, present: i64) -> Known<'a> {
        Known {
            id,
            digest: delivery.digest,
            outlived: self.outlived(delivery, present),
        }
    }

    /// The moment after which no window can reach what was delivered; none if there is no such moment. What lies in the future was left out,
    /// and what is empty could hold nothing: both are as if of the present.
    fn outlived(&self, delivery: &Delivery<'_, K>, present: i64) -> Option<i64> {
        if !delivery.timed || self.stream.spec().longest().is_by_count() {
            return None;
        }
        let times = delivery.batch.events().filter_map(|event| event.time);
        let latest = times.max().unwrap_or(present).min(present);
        let spec = self.stream.spec();
        let lateness = i64::try_from(spec.lateness.as_micros()).unwrap_or(i64::MAX);
        let window = i64::try_from(spec.longest().length()).unwrap_or(i64::MAX);
        // Twice, because windows are rounded up to whole slides.
        let reach = window.saturating_mul(2).saturating_add(lateness);
        Some(latest.saturating_add(reach).saturating_add(AHEAD))
    }
}

fn remember(transaction: &WriteTransaction, known: &Known<'_>) -> Result<()> {
    transaction
        .open_table(DELIVERIES)?
        .insert(known.id, &known.digest)?;
    if let Some(outlived) = known.outlived {
        transaction
            .open_table(OUTLIVED)?
            .insert((outlived, known.id), ())?;
    }
    Ok(())
}

/// Forgets ids whose events would all be too late.
fn forget(transaction: &WriteTransaction, now: i64) -> Result<()> {
    let mut outlived = transaction.open_table(OUTLIVED)?;
    let mut deliveries = transaction.open_table(DELIVERIES)?;
    for row in outlived.extract_from_if(..(now, ""), |_, ()| true)? {
        deliveries.remove(row?.0.value().1)?;
    }
    Ok(())
}
