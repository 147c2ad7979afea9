//! Epochs and panes of the clock.

use std::ops::Range;
use std::time::Duration;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::spec::users::MOST_EPOCHS;
use crate::spec::{Bounds, Span};

/// Periods of the clock, alike for everybody and before any event: so many are an epoch, and so many a pane; one number is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// In microseconds.
    period: i64,
    an_epoch: i64,
    a_pane: i64,
    offset: i64,
}

impl Calendar {
    /// With panes of this length, which is a whole number of epochs or a whole part of one.
    pub fn new(bounds: &Bounds, pane: i64) -> Self {
        let epoch = bounds.epoch.as_micros() as i64;
        let period = pane.min(epoch);
        Self {
            period,
            an_epoch: epoch / period,
            a_pane: pane / period,
            offset: bounds.offset.as_micros() as i64,
        }
    }

    /// With an epoch a pane.
    pub fn of_epochs(bounds: &Bounds) -> Self {
        Self::new(bounds, bounds.epoch.as_micros() as i64)
    }

    pub fn length_of_epoch(&self) -> i64 {
        self.period * self.an_epoch
    }

    pub fn epochs_in(&self, length: i64) -> i64 {
        length / (self.period * self.an_epoch)
    }

    pub fn panes_between(&self, from: i64, until: i64) -> Result<Range<i64>> {
        for moment in [from, until] {
            if (moment - self.offset).rem_euclid(self.period * self.a_pane) != 0 {
                return Err(Error::window(format!(
                    "continual release was asked for from or up to {}, where no slide of {} begins: take a moment at which one does",
                    Timestamp::from_microsecond(moment)
                        .map_or_else(|_| moment.to_string(), |at| at.to_string()),
                    Span::Clock(Duration::from_micros((self.period * self.a_pane) as u64)),
                )));
            }
        }
        if self.start_of_epoch(self.period_at(from)) != self.period_at(from) {
            return Err(Error::window(
                "continual release was asked for from within an epoch of users, which another run may have counted: begin where an \
                 epoch does",
            ));
        }
        let panes = self.pane_of(self.period_at(from))..self.pane_of(self.period_at(until));
        if panes.is_empty() {
            return Err(Error::window(
                "continual release was asked for that ends before it begins: give an earlier start",
            ));
        }
        if (self.periods_of(panes.end).start - self.periods_of(panes.start).start) as u64 > MOST_EPOCHS {
            return Err(Error::window(
                "continual release was asked for a time of too many slides: give a later start, or a longer slide",
            ));
        }
        Ok(panes)
    }

    pub fn start_of(&self, period: i64) -> i64 {
        period * self.period + self.offset
    }

    /// By how much later periods begin than at multiples of their length since 1970.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    #[inline]
    pub fn period_at(&self, time: i64) -> i64 {
        time.saturating_sub(self.offset).div_euclid(self.period)
    }

    pub fn epoch_of(&self, period: i64) -> i64 {
        period.div_euclid(self.an_epoch)
    }

    pub fn pane_of(&self, period: i64) -> i64 {
        period.div_euclid(self.a_pane)
    }

    pub fn pane_at(&self, time: i64) -> i64 {
        self.pane_of(self.period_at(time))
    }

    pub fn periods_of(&self, pane: i64) -> Range<i64> {
        pane * self.a_pane..(pane + 1) * self.a_pane
    }

    fn start_of_epoch(&self, period: i64) -> i64 {
        self.epoch_of(period) * self.an_epoch
    }

    /// The first pane from a moment on, of those whose epochs have not begun: what was counted of the running one before is not known,
    /// and a run that ended may have shown it. Where an epoch has one pane, that pane was not shown.
    pub fn first_pane_from(&self, time: i64) -> i64 {
        let period = self.period_at(time);
        let begins = self.start_of_epoch(period) == period && self.start_of(period) == time;
        match self.splits_epochs() && !begins {
            true => self.pane_of((self.epoch_of(period) + 1) * self.an_epoch),
            false => self.pane_of(period),
        }
    }

    pub fn ends_epoch(&self, period: i64) -> bool {
        self.epoch_of(period + 1) != self.epoch_of(period)
    }

    /// Returns true if a user's epoch may be spread over several periods.
    pub fn splits_epochs(&self) -> bool {
        self.an_epoch > 1
    }
}
