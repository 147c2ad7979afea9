//! The counts of a window.

use std::borrow::Cow;

use crate::counting::events::WindowSums;
use crate::error::Result;
use crate::key::Key;
use crate::pane::Pane;
use crate::release::request::Request;
use crate::release::window_counts::WindowCounts;
use crate::sketch::count_sketch::sum_of_squares;

/// Every key of a window once, with its count.
pub(crate) enum CountSource<'a, K: Key> {
    /// Carried over from the previous window.
    WindowSums(&'a WindowSums<K>),
    /// Panes to be added up.
    Panes(WindowCounts<'a, K>),
}

impl<'a, K: Key> CountSource<'a, K> {
    pub fn of_panes(panes: &'a [Cow<'a, Pane<K>>], request: &Request<K>) -> Self {
        CountSource::Panes(WindowCounts::new(panes, request))
    }

    /// Visits every key.
    pub fn for_each(&self, mut visit: impl FnMut(K::Ref<'_>, u64) -> Result<()>) -> Result<()> {
        match self {
            CountSource::WindowSums(sums) => sums.iter().try_for_each(|(key, sum)| visit(key, sum)),
            CountSource::Panes(panes) => {
                panes.for_each_table(|table| table.iter().try_for_each(|(key, sum)| visit(*key, *sum)))
            }
        }
    }

    /// The sum of all squared counts.
    pub fn squares(&self) -> Result<u128> {
        match self {
            CountSource::WindowSums(sums) => Ok(sums.squares()),
            CountSource::Panes(panes) => {
                let mut squares = 0;
                panes.for_each_table(|table| {
                    squares += sum_of_squares(table.iter().map(|(_, sum)| *sum));
                    Ok(())
                })?;
                Ok(squares)
            }
        }
    }
}
