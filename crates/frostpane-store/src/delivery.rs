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
use crate::tables::{DELIVERIES, OUTLIVED, RECEIPTS};

/// How much later than the moment at which it came an event may have been that was taken as of then: an hour.
const AHEAD: i64 = 3_600_000_000;

/// A batch that a producer delivers, perhaps again.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a, K> {
    /// What tells it from others, if it may come again: never what is in it.
    pub id: Option<&'a str>,
    /// A hash of what was delivered: an id stands for that.
    pub digest: [u8; 32],
    /// How it is to be read: an id stands for that too.
    pub terms: &'a str,
    /// What its producer is answered, to be answered again when it comes again.
    pub receipt: &'a str,
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
    /// The same was delivered under its id, to be read in another way: it was not taken again.
    OtherTerms,
    /// It cannot be taken, whenever it comes.
    Refused(frostpane::Error),
}

/// An id that is new, with the moment after which it can be forgotten.
struct Known<'a> {
    id: &'a str,
    digest: [u8; 32],
    terms: &'a str,
    receipt: &'a str,
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
        let Delivery { digest, terms, .. } = *delivery;
        let before = match delivery.id {
            None => None,
            Some(id) => match new.get(id) {
                Some(known) => Some(compare((known.digest, digest), (Some(known.terms), terms))),
                None => self.delivered(id, digest, terms)?,
            },
        };
        Ok(before.unwrap_or_else(|| {
            self.stream
                .check(delivery.batch)
                .map_or_else(Outcome::Refused, |()| Outcome::Taken)
        }))
    }

    /// What would become of a delivery whose id is known; none if it is not. Nothing else about the state or the delivery matters.
    pub fn delivered(&self, id: &str, digest: [u8; 32], terms: &str) -> Result<Option<Outcome>> {
        let transaction = self.database.begin_read()?;
        let table = match transaction.open_table(DELIVERIES) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            table => table?,
        };
        let Some(known) = table.get(id)?.map(|digest| *digest.value()) else {
            return Ok(None);
        };
        let receipt = self.kept_receipt(id)?;
        let known_terms = receipt.as_ref().map(|(terms, _)| terms.as_str());
        Ok(Some(compare((known, digest), (known_terms, terms))))
    }

    /// The receipt of a delivery that was taken; none if it is not known, or earlier programs took it, which kept none.
    pub fn receipt(&self, id: &str) -> Result<Option<String>> {
        Ok(self.kept_receipt(id)?.map(|(_, receipt)| receipt))
    }

    fn kept_receipt(&self, id: &str) -> Result<Option<(String, String)>> {
        let table = match self.database.begin_read()?.open_table(RECEIPTS) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(None),
            table => table?,
        };
        Ok(table.get(id)?.map(|row| {
            let (terms, receipt) = row.value();
            (terms.to_owned(), receipt.to_owned())
        }))
    }

    fn known<'a>(&self, id: &'a str, delivery: &Delivery<'a, K>, present: i64) -> Known<'a> {
        Known {
            id,
            digest: delivery.digest,
            terms: delivery.terms,
            receipt: delivery.receipt,
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

/// What becomes of a delivery under an id that is known, by both hashes and both terms; those of earlier programs are not known.
fn compare(digests: ([u8; 32], [u8; 32]), terms: (Option<&str>, &str)) -> Outcome {
    match terms.0.is_none_or(|known| known == terms.1) {
        _ if digests.0 != digests.1 => Outcome::Other,
        true => Outcome::Again,
        false => Outcome::OtherTerms,
    }
}

fn remember(transaction: &WriteTransaction, known: &Known<'_>) -> Result<()> {
    transaction
        .open_table(DELIVERIES)?
        .insert(known.id, &known.digest)?;
    transaction
        .open_table(RECEIPTS)?
        .insert(known.id, (known.terms, known.receipt))?;
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
    let mut receipts = transaction.open_table(RECEIPTS)?;
    for row in outlived.extract_from_if(..(now, ""), |_, ()| true)? {
        let row = row?;
        deliveries.remove(row.0.value().1)?;
        receipts.remove(row.0.value().1)?;
    }
    Ok(())
}
