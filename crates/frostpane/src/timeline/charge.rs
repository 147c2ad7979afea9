//! Paying for the panes of a window, which opens them.

use std::borrow::Cow;
use std::ops::Range;

use super::Timeline;
use crate::budget::Account;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::pane::Pane;

/// One release that every pane it covers has been charged for. Nothing else opens the panes of a window, and it opens them
/// once; while it is held no event comes, so that what is opened is what was paid for.
#[must_use]
pub struct Charged<'a, K> {
    timeline: &'a Timeline<K>,
    length: i64,
    /// Whether the pane that the window begins within has paid, too.
    pub(super) straddling: bool,
}

/// The panes that a window covers.
pub struct Covered<'a, K: Clone> {
    /// The first position that was asked for.
    pub since: i64,
    /// From this position on.
    pub from: i64,
    /// Up to the latest position, included.
    pub latest: i64,
    /// One past that, where it was known before the first event.
    pub known_end: Option<i64>,
    /// Closed panes, and open ones as they stand.
    pub panes: Vec<Cow<'a, Pane<K>>>,
    /// How many events the pane has that the window begins within, and leaves out.
    pub left_out: u64,
    /// How many events between its ends came too late.
    pub missed: u64,
    /// And since the first position that was asked for.
    pub missed_of_asked: u64,
    /// What that pane is, if it has paid and may be measured.
    pub straddling: Option<Straddling<'a, K>>,
}

/// The pane that a window begins within.
pub enum Straddling<'a, K: Clone> {
    /// It has paid.
    Paid(Cow<'a, Pane<K>>),
    /// It has been in as many releases as it may.
    Spent,
}

impl<K: Key> Timeline<K> {
    /// Charges one release to every pane of the window. Refuses, and charges none, if one that it covers has
    /// been in `most` releases already. The pane that the window begins within is charged if it can pay.
    pub fn charge(&mut self, length: i64, most: u32) -> Result<Charged<'_, K>> {
        self.finish();
        self.seal()?;
        let since = self.since(length);
        let head = self
            .state
            .head
            .iter_mut()
            .map(|(_, block)| (block.start, block.end, &mut block.account));
        let waiting = self
            .state
            .waiting
            .iter_mut()
            .map(|block| (block.start, block.end, &mut block.account));
        let closed = self
            .state
            .closed
            .iter_mut()
            .map(|block| (block.start, block.end, &mut block.account));
        let mut straddling = None;
        let mut covered: Vec<&mut Account> = Vec::new();
        for (start, end, account) in head.chain(waiting).chain(closed) {
            if start >= since {
                covered.push(account);
            } else if end > since {
                straddling = Some(account);
            }
        }
        if !covered.iter().all(|account| account.can_pay(most)) {
            return Err(spent(most));
        }
        covered.into_iter().for_each(Account::charge);
        let paying = straddling.filter(|account| account.can_pay(most));
        let straddling = paying.map(Account::charge).is_some();
        Ok(Charged {
            timeline: self,
            length,
            straddling,
        })
    }

    /// What a window covers, in whole panes up to the latest position, and the pane that it begins within. None if there was no event.
    pub(crate) fn spans(&self, length: i64) -> Option<(Range<i64>, Option<Range<i64>>)> {
        let (latest, since) = (self.latest()?, self.since(length));
        let head = self.state.head.iter().map(|(_, block)| block.start..block.end);
        let waiting = self.state.waiting.iter().map(|block| block.start..block.end);
        let closed = self.state.closed.iter().map(|block| block.start..block.end);
        let mut all = head.chain(waiting).chain(closed);
        let beside = all.find(|bounds| bounds.start < since && bounds.end > since);
        let slide = self.state.grid.slide;
        let from = (since + slide - 1).div_euclid(slide) * slide;
        let from = beside.as_ref().map_or(from, |beside| from.max(beside.end));
        Some((from.min(latest)..latest + 1, beside))
    }

    /// The panes of a window that others have charged.
    pub(crate) fn charged(&mut self, length: i64, straddling: bool) -> Charged<'_, K> {
        self.finish();
        Charged {
            timeline: self,
            length,
            straddling,
        }
    }

    pub(super) fn since(&self, length: i64) -> i64 {
        self.latest().unwrap_or(0) + 1 - length
    }
}

fn spent(most: u32) -> Error {
    let more = most.saturating_add(1);
    Error::new(
        ErrorKind::Budget,
        format!(
            "some events of this window have been in {most} release(s), as many as they may: wait until the \
             window has moved past them, or build with releases({more}), which lets an event lose {more} times epsilon"
        ),
    )
}

impl<'a, K: Key> Charged<'a, K> {
    /// As many of the latest panes as lie within the window; none if there was no event.
    pub fn open(self) -> Option<Covered<'a, K>> {
        let Self { timeline, length, .. } = self;
        let latest = timeline.latest()?;
        let head = timeline.state.head.iter().map(|(_, head)| head);
        let since = timeline.since(length);
        let slide = timeline.state.grid.slide;
        let mut panes = Vec::new();
        let mut straddling = None;
        let mut first = (since + slide - 1).div_euclid(slide) * slide;
        let closed = timeline
            .state
            .closed
            .iter()
            .map(|block| (block.start, block.end, Cow::Borrowed(&block.pane)));
        let open = timeline.state.waiting.iter().chain(head);
        let open = open
            .filter(|block| block.end > since)
            .map(|block| (block.start, block.end, Cow::Owned(block.pane.close())));
        for (start, end, pane) in closed.chain(open) {
            if start >= since {
                panes.push(pane);
            } else if end > since {
                first = first.max(end.min(latest + 1));
                straddling = Some(pane);
            }
        }
        let from = first.max(timeline.state.origin);
        Some(Covered {
            since,
            from,
            known_end: timeline.state.laid.as_ref().map(|laid| laid.end),
            missed: timeline.missed(from..i64::MAX),
            missed_of_asked: timeline.missed(since.div_euclid(slide) * slide..i64::MAX),
            latest,
            panes,
            left_out: straddling.iter().map(|pane| pane.events()).sum(),
            straddling: straddling.map(|pane| match self.straddling {
                true => Straddling::Paid(pane),
                false => Straddling::Spent,
            }),
        })
    }
}
