//! The releases of a stream: made, published, and read again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use frostpane::Span;
use frostpane_render::ReaderSummary;
use frostpane_store::{Action, ContinualRelease, DryRun, Record, Renderings, Store};

use super::{StreamActor, not_open};
use crate::key::ServedKey;
use crate::problem::{Problem, Result};
use crate::stream::release_cache::{HELD, HELD_BYTES, Most, Published};
use crate::sync;

/// The rendering of a release that has its sentences.
const WORDS: &str = "words";

impl<K: ServedKey> StreamActor<K> {
    pub(super) fn recall(&mut self) -> Result<()> {
        let latest = self.shared.cache.latest().map_or(0, |latest| latest.number);
        let continual = self.shared.spec.continual;
        if !continual {
            self.charged = self.with(|store| charged(store))?;
        }
        self.numbers = (1..).zip(&self.charged).map(|(number, id)| (id.clone(), number)).collect();
        let last = if continual {
            self.with(|store| Ok(store.stream().lists()))?
        } else {
            self.charged.len() as u64
        };
        let after = self.latest_after(latest, last)?;
        let words = self.with(|store| Ok(store.stream().latest()))?;
        for published in after {
            let mut published = Arc::unwrap_or_clone(published);
            if let Some(release) = words.as_ref().filter(|_| published.number == last)
                && serde_json::to_vec(release).is_ok_and(|json| *json == *published.json)
            {
                published.words = Some(Arc::new(ReaderSummary::of(release)));
            }
            self.shared.cache.put(published);
        }
        self.publish_progress();
        Ok(())
    }

    /// The releases after a number that fit into memory, oldest first; read from the latest back.
    fn latest_after(&mut self, number: u64, latest: u64) -> Result<Vec<Arc<Published>>> {
        let (mut found, mut left) = (Vec::new(), Most::new(HELD, HELD_BYTES));
        for before in (number..latest).rev().take(HELD) {
            // One that was given up is followed by another.
            let Some(next) = self.next_after(before)?.filter(|next| next.number == before + 1) else {
                continue;
            };
            if !left.take(&next) {
                break;
            }
            found.push(next);
            if left.is_used() {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    pub(super) fn publish(&mut self, lists: Vec<ContinualRelease<K>>) {
        for ContinualRelease { number, json, release } in lists {
            let words = release.as_ref().map(ReaderSummary::of);
            self.shared.cache.put(Published::new(number, None, json, words));
            self.shared.metrics.releases.inc();
        }
        self.publish_progress();
    }

    /// Publishes progress to requests.
    fn publish_progress(&mut self) {
        let Some(store) = &self.store else { return };
        self.shared.clock.store(store.stream().now(), Ordering::Relaxed);
        self.shared.dropped.store(store.stream().tally().late, Ordering::Relaxed);
        let budget_of = (store.stream().numbers(), self.charged.len());
        if self.budget_of.as_ref() != Some(&budget_of)
            && let Ok(budget) = store.budget()
        {
            *sync::write(&self.shared.budget) = Some(budget);
            self.budget_of = Some(budget_of);
        }
    }

    pub(super) fn dry_run(&mut self, window: Option<Span>) -> Result<(DryRun, [String; 2])> {
        self.check_ended()?;
        self.with(|store| {
            let dry = store.dry_run(window.unwrap_or_else(|| store.header().spec.longest()))?;
            let ends = [dry.from, dry.to].map(|number| store.moment(store.stream().begins(number)));
            Ok((dry, ends))
        })
    }

    /// Fails if no epoch of users has ended since the stream began: a release would spend budget for nothing.
    /// An empty result cannot show that, because the number of events is hidden.
    fn check_ended(&mut self) -> Result<()> {
        // The clock says which epochs have ended.
        if !self.shared.wall.is_draining() {
            self.step();
        }
        self.check_caught_up()?;
        let Some((store, began)) = self.store.as_ref().zip(self.began_at) else {
            return Ok(());
        };
        let stream = store.stream();
        if stream.begins(stream.end_of_window()) > began {
            return Ok(());
        }
        Err(Problem::conflict(
            "no epoch has ended since the stream was begun: there is nothing to release, and nothing was charged",
            format!("ask again after {}", store.moment(stream.begins(stream.end_of_window() + 1))),
        ))
    }

    pub(super) fn release(&mut self, id: &str, window: Option<Span>) -> Result<(Arc<Published>, bool)> {
        self.check_room()?;
        self.check_ended()?;
        let released = self.with(|store| {
            let window = window.unwrap_or_else(|| store.header().spec.longest());
            store.release_in_forms(id, window, |release| {
                let words = serde_json::to_string(&ReaderSummary::of(release)).unwrap_or_default();
                Renderings::from([(WORDS.to_owned(), words)])
            })
        })?;
        let again = released.again;
        if !self.numbers.contains_key(id) {
            self.charged.push(id.to_owned());
            self.numbers.insert(id.to_owned(), self.charged.len() as u64);
        }
        self.publish_progress();
        let published = match self.shared.cache.of(id) {
            Some(published) => published,
            None => {
                let published = self.find(id)?.ok_or_else(not_open)?;
                if !again {
                    self.shared.cache.put((*published).clone());
                    self.shared.metrics.releases.inc();
                }
                published
            }
        };
        Ok((published, again))
    }

    /// The release of an id; its number is its place among all that were charged.
    pub(super) fn find(&mut self, id: &str) -> Result<Option<Arc<Published>>> {
        let Some(number) = self.numbers.get(id).copied() else {
            return Ok(None);
        };
        // A release that was charged may have been given up when the state was restored.
        let released = self.with(|store| match store.released(id) {
            Err(frostpane_store::Error::Conflict(_)) => Ok(None),
            released => released,
        })?;
        Ok(released.map(|released| {
            let words = released.forms.get(WORDS);
            let words = words.and_then(|words| serde_json::from_str(words).ok());
            Arc::new(Published::new(number, Some(id.to_owned()), released.json, words))
        }))
    }

    /// Releases after a number, read one by one until no more fit.
    pub(super) fn after(&mut self, number: u64, most: Most) -> Result<Vec<Arc<Published>>> {
        let (mut found, mut left, mut number) = (Vec::new(), most, number);
        while !left.is_used()
            && let Some(next) = self.next_after(number)?
        {
            number = next.number;
            if !left.take(&next) {
                break;
            }
            found.push(next);
        }
        Ok(found)
    }

    fn next_after(&mut self, number: u64) -> Result<Option<Arc<Published>>> {
        if self.shared.spec.continual {
            let next = self.with(|store| Ok(store.some_lists_after(number, 1)?.pop()))?;
            return Ok(next.map(|list| Arc::new(Published::new(list.number, None, list.json, None))));
        }
        // Some that were charged may have been given up.
        for place in usize::try_from(number).unwrap_or(usize::MAX)..self.charged.len() {
            let id = self.charged[place].clone();
            if let Some(found) = self.find(&id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The ids of releases, in the order in which they were charged.
fn charged<K: ServedKey>(store: &Store<K>) -> frostpane_store::Result<Vec<String>> {
    let id = |record: Record| match record.what {
        Action::Charged { id, .. } => Some(id),
        _ => None,
    };
    Ok(store.history(1)?.into_iter().filter_map(id).collect())
}
