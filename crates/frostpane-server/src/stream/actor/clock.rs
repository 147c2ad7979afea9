//! The clock of a stream: it ends slides, and says what time it is.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use frostpane_store::ClockError;

use super::{PATIENCE, StreamActor, not_open};
use crate::key::ServedKey;
use crate::log;
use crate::problem::Result;
use crate::stream::{Status, catching_up, now};

/// Slides that one transaction ends, at most.
pub(super) const SLIDES: i64 = 64;
/// After a transaction that takes longer, the next one ends fewer slides, so that no request waits for long.
const LONG_STEP: Duration = Duration::from_millis(250);
/// The longest wait without a command.
const IDLE: Duration = Duration::from_secs(3_600);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepOutcome {
    Done,
    /// More slides have to end.
    Partial,
    Failed,
}

impl<K: ServedKey> StreamActor<K> {
    pub(super) fn wait(&self) -> Duration {
        match (&self.store, self.shared.slide) {
            (None, _) => PATIENCE,
            (_, None) => IDLE,
            _ if self.shared.wall.is_draining() => PATIENCE,
            _ => Duration::from_micros(u64::try_from(self.due - now()).unwrap_or(0)).min(IDLE),
        }
    }

    pub(super) fn tick_if_due(&mut self) {
        if self.store.is_none() {
            self.reopen();
        }
        let Some((slide, offset)) = self.shared.slide else {
            return;
        };
        let now = now();
        // A moment further away than a slide came from a clock that was wrong.
        let is_early = now < self.due && self.due - now <= slide;
        if self.shared.wall.is_draining() || is_early || self.store.is_none() {
            return;
        }
        self.due = match self.step() {
            StepOutcome::Done => offset + ((now - offset).div_euclid(slide) + 1).saturating_mul(slide),
            StepOutcome::Partial => now,
            StepOutcome::Failed => now + PATIENCE.as_micros() as i64,
        };
    }

    /// Advances the clock by a few slides in one transaction, so that commands come between two of them.
    pub(super) fn step(&mut self) -> StepOutcome {
        let step = self.step_on();
        if step != StepOutcome::Failed {
            self.shared.behind.store(step == StepOutcome::Partial, Ordering::Relaxed);
        }
        step
    }

    fn step_on(&mut self) -> StepOutcome {
        let Some((slide, _)) = self.shared.slide.filter(|_| !self.is_full) else {
            return StepOutcome::Done;
        };
        if !self.has_disk() {
            return StepOutcome::Done;
        }
        let Ok(present) = self.present() else {
            return StepOutcome::Failed;
        };
        let Some(store) = &self.store else {
            return StepOutcome::Failed;
        };
        let reached = store.stream().clock();
        let stride = slide.saturating_mul(self.slides);
        let until = if reached > 0 { reached.saturating_add(stride).min(present) } else { present };
        let began = Instant::now();
        match self.with(|store| store.tick(until)) {
            Ok(lists) => self.publish(lists),
            Err(problem) => {
                log::of_stream(&self.shared.name, &problem);
                return StepOutcome::Failed;
            }
        }
        self.slides = if began.elapsed() > LONG_STEP {
            (self.slides / 2).max(1)
        } else {
            (self.slides * 2).min(SLIDES)
        };
        let moved = self.store.as_ref().is_some_and(|store| store.stream().clock() > reached);
        if until == present || !moved { StepOutcome::Done } else { StepOutcome::Partial }
    }

    /// Returns true if more slides have to end than one transaction ends.
    pub(super) fn is_far_behind(&self) -> bool {
        let reached = self.store.as_ref().map_or(0, |store| store.stream().clock());
        self.shared.slide.is_some_and(|(slide, _)| reached > 0 && (now() - reached) / slide > SLIDES)
    }

    /// Fails while the clock is behind: a batch would end all slides up to it at once. A source that is
    /// drained is exempt.
    pub(super) fn check_caught_up(&self) -> Result<()> {
        if !self.shared.behind.load(Ordering::Relaxed) || self.shared.wall.is_draining() {
            return Ok(());
        }
        let present = self.shared.present();
        Err(present.map_or_else(|cause| self.shared.clock_problem(cause), |_| catching_up()))
    }

    /// The present time, if it is known; sets the status that follows from it.
    pub(super) fn present(&mut self) -> Result<i64> {
        if self.store.is_none() {
            return Err(not_open());
        }
        let present = self.shared.present();
        let status = match present {
            Ok(_) => Status::Ready,
            Err(ClockError::Behind) if self.is_restored => Status::Waiting,
            Err(_) => Status::Clock,
        };
        let is_new = self.shared.set_status_by_clock(status);
        present.map_err(|cause| {
            if is_new {
                log::of_stream(&self.shared.name, cause);
            }
            self.shared.clock_problem(cause)
        })
    }
}
