//! The panes that a release reads.

use std::borrow::Cow;
use std::ops::Range;

use crate::key::Key;
use crate::pane::Pane;

pub struct WindowView<'a, K: Clone> {
    pub since: i64,
    pub from: i64,
    pub latest: i64,
    /// One past that, where it was known before the first event.
    pub known_end: Option<i64>,
    pub panes: Vec<Cow<'a, Pane<K>>>,
    pub left_out: u64,
    pub missed: u64,
    /// And since the first position that was asked for.
    pub missed_of_asked: u64,
    /// What that pane is, if it has paid and may be measured.
    pub boundary: Option<BoundaryPane<'a, K>>,
}

impl<'a, K: Key> WindowView<'a, K> {
    pub fn of_epochs(panes: Vec<Cow<'a, Pane<K>>>, moments: Range<i64>) -> Self {
        Self {
            since: moments.start,
            from: moments.start,
            latest: moments.end - 1,
            known_end: Some(moments.end),
            panes,
            left_out: 0,
            missed: 0,
            missed_of_asked: 0,
            boundary: None,
        }
    }
}

pub enum BoundaryPane<'a, K: Clone> {
    Paid(Cow<'a, Pane<K>>),
    /// It has been in as many releases as it may.
    Spent,
}
