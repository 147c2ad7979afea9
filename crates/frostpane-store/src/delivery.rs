//! Deliveries: batches of many producers that are committed together, each of which counts once.
//!
#![doc = include_str!("delivery.md")]

use std::collections::BTreeMap;

use frostpane::stream::Outcome;
use frostpane::{Batch, Tally};
use redb::WriteTransaction;

use crate::error::Result;
use crate::header::StoredKey;
use crate::log::LogEntry;
use crate::store::{ContinualRelease, Store};
use crate::tables::{DELIVERIES, OUTLIVED, RECEIPTS, open_existing};

/// An event that counts may be later than its arrival by this much: an hour, in microseconds.
const AHEAD: i64 = 3_600_000_000;

/// A batch of a producer, which may come again.
#[derive(Clone, Copy)]
pub struct Delivery<'a, K> {
    /// The identity of the delivery if it may come again: never derived from its contents.
    pub id: Option<&'a str>,
    /// A hash of the contents, which the id stands for.
    pub digest: [u8; 32],
    /// The terms under which the contents are read, which the id stands for too.
    pub terms: &'a str,
    /// The answer to the producer, which is given again when the delivery comes again.
    pub receipt: &'a dyn Fn(&Tally) -> String,
    /// The events.
    pub batch: &'a Batch<K>,
    /// True if the times are the producer's; others would never be too late when they come again.
    pub timed: bool,
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryOutcome {
    /// Its events are stored.
    Taken(Tally),
    /// Its events had been stored before.
    Again,
    /// Other contents were delivered under its id: nothing was ingested.
    Other,
    /// The same contents were delivered under its id with other terms: nothing was ingested.
    OtherTerms,
    /// It is refused whenever it comes.
    Refused(frostpane::Error),
}

/// The new deliveries of one transaction by id, with the moments after which the ids can be forgotten.
type NewDeliveries<'a, K> = BTreeMap<&'a str, (&'a Delivery<'a, K>, Option<i64>)>;

impl<K: StoredKey> Store<K> {
    /// Ingests deliveries that arrived at this moment: all that are new in one transaction with their ids, so
    /// that each counts once even if the process ends. An id is known as long as its events could count
    /// again; without a clock that is for ever.
    pub fn take_deliveries(
        &mut self,
        deliveries: &[Delivery<'_, K>],
        present: i64,
    ) -> Result<(Vec<DeliveryOutcome>, Vec<ContinualRelease<K>>)> {
        self.check_usable()?;
        self.check_not_stopped()?;
        self.check_takes_events()?;
        let mut outcomes = Vec::with_capacity(deliveries.len());
        let mut new = NewDeliveries::new();
        let mut batch = Batch::new();
        for delivery in deliveries {
            let outcome = self.judge(delivery, &new)?;
            if let DeliveryOutcome::Taken(_) = outcome {
                batch.append(delivery.batch);
                if let Some(id) = delivery.id {
                    new.insert(id, (delivery, self.outlived(delivery, present)));
                }
            }
            outcomes.push(outcome);
        }
        if batch.is_empty() && new.is_empty() {
            return Ok((outcomes, Vec::new()));
        }
        let mut receipts = BTreeMap::new();
        let taken = self.change(|stream| {
            let mut all = Outcome::default();
            for (delivery, outcome) in deliveries.iter().zip(&mut outcomes) {
                if let DeliveryOutcome::Taken(tally) = outcome {
                    let taken = stream.ingest(delivery.batch, present)?;
                    *tally = taken.tally;
                    receipts.extend(delivery.id.map(|id| (id, (delivery.receipt)(tally))));
                    all += taken;
                }
            }
            Ok(all)
        })?;
        let now = self.stream.now();
        let entry = (LogEntry::Events(&batch), present);
        let lists = self.persist(taken, entry, None, |transaction| {
            forget(transaction, now)?;
            for (&id, (delivery, outlived)) in &new {
                transaction.open_table(DELIVERIES)?.insert(id, &delivery.digest)?;
                transaction.open_table(RECEIPTS)?.insert(id, (delivery.terms, receipts[id].as_str()))?;
                if let Some(outlived) = *outlived {
                    transaction.open_table(OUTLIVED)?.insert((outlived, id), ())?;
                }
            }
            Ok(())
        })?;
        Ok((outcomes, lists))
    }

    /// The outcome of a delivery; the tally of one that is taken is not known yet.
    fn judge(&self, delivery: &Delivery<'_, K>, new: &NewDeliveries<'_, K>) -> Result<DeliveryOutcome> {
        let Delivery { digest, terms, .. } = *delivery;
        let before = match delivery.id {
            None => None,
            Some(id) => match new.get(id) {
                Some((known, _)) => Some(compare((known.digest, digest), (Some(known.terms), terms))),
                None => self.delivered(id, digest, terms)?,
            },
        };
        let taken = || DeliveryOutcome::Taken(Tally::default());
        Ok(before.unwrap_or_else(|| {
            self.stream.check(delivery.batch).map_or_else(DeliveryOutcome::Refused, |()| taken())
        }))
    }

    /// The outcome of a delivery whose id is known; none if it is new. It depends on the id's delivery alone.
    pub fn delivered(&self, id: &str, digest: [u8; 32], terms: &str) -> Result<Option<DeliveryOutcome>> {
        let table = open_existing(&self.database, DELIVERIES)?;
        let Some(known) = table.map(|table| table.get(id)).transpose()?.flatten() else {
            return Ok(None);
        };
        let receipt = self.terms_and_receipt(id)?;
        let known_terms = receipt.as_ref().map(|(terms, _)| terms.as_str());
        Ok(Some(compare((*known.value(), digest), (known_terms, terms))))
    }

    /// The receipt of a delivery; none if its id is unknown, or of a program without receipts.
    pub fn receipt(&self, id: &str) -> Result<Option<String>> {
        Ok(self.terms_and_receipt(id)?.map(|(_, receipt)| receipt))
    }

    fn terms_and_receipt(&self, id: &str) -> Result<Option<(String, String)>> {
        let table = open_existing(&self.database, RECEIPTS)?;
        let row = table.map(|table| table.get(id)).transpose()?.flatten();
        Ok(row.map(|row| {
            let (terms, receipt) = row.value();
            (terms.to_owned(), receipt.to_owned())
        }))
    }

    /// The moment after which no window can reach the events; none if there is no such moment. Events of the
    /// future were left out, and a batch without events has no time: both are as if of the present.
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

/// The outcome from the known and the new digest, and the known and the new terms. Early programs had none.
fn compare(digests: ([u8; 32], [u8; 32]), terms: (Option<&str>, &str)) -> DeliveryOutcome {
    if digests.0 != digests.1 {
        DeliveryOutcome::Other
    } else if terms.0.is_none_or(|known| known == terms.1) {
        DeliveryOutcome::Again
    } else {
        DeliveryOutcome::OtherTerms
    }
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
