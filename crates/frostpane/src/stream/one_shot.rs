//! Single releases of windows that are asked for.

use super::builder::Builder;
use crate::codec::check;
use crate::counting::events::Timeline;
use crate::counting::events::intake::Intake;
use crate::counting::users::{
    AskedEpochs, Calendar, EpochPanes, FixedWindow, SpillFactory, StreamingBounder,
};
use crate::counting::{Counter, PaneCounter};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::noise::Entropy;
use crate::plan::Plan;
use crate::privacy::ledger::Grant;
use crate::release::window::ReleaseWindow;
use crate::release::{Release, Request, one_shot};
use crate::spec::window::Grid;
use crate::spec::{Policy, Span, Unit};

/// A counter, and what a release of it is asked to be. A [`Grant`] opens its windows, and nothing else does.
pub(super) struct OneShot<K: Key> {
    pub counter: Counter<K>,
    pub request: Request<K>,
}

impl<K: Key> OneShot<K> {
    /// In memory; of users for windows whose end is known.
    pub fn new(
        plan: &Plan,
        request: Request<K>,
        threads: usize,
        scratch: Option<SpillFactory>,
    ) -> Result<Self> {
        let counter = match request.spec.unit {
            Unit::Event => Counter::Events(intake(plan, &request, threads)?),
            Unit::User(bounds) => Counter::FixedUsers(Box::new(FixedWindow::new(
                request.keys.clone(),
                bounds,
                AskedEpochs::of(&request.spec, &bounds)?,
                request.shape.parameters(),
                (plan.memory.users, scratch),
                request.fault,
            ))),
        };
        Ok(Self { counter, request })
    }

    /// For a stream that goes on; of users from this moment on.
    pub fn live(builder: &Builder<K>, begin: i64) -> Result<Self> {
        let scratch = builder.scratch.clone();
        let (plan, request) = builder.requested()?;
        let Unit::User(bounds) = request.spec.unit else {
            return Self::new(&plan, request, builder.threads, scratch);
        };
        let calendar = Calendar::of_epochs(&bounds);
        let made_with = request.shape.parameters();
        let mut live = StreamingBounder::new(
            request.keys.clone(),
            bounds,
            calendar,
            made_with.seed(),
            plan.memory.users,
            request.fault,
        );
        live.scratch = scratch;
        let Grid { length, lateness, .. } = request.spec.grid();
        let panes = EpochPanes::new(live, made_with, (length, lateness), begin);
        Ok(Self { counter: Counter::Users(Box::new(panes)), request })
    }

    pub fn length_of(&self, span: Span) -> Result<i64> {
        let (spec, has_epochs) = (&self.request.spec, self.counter.has_clock());
        let mut grid = spec.grid();
        if has_epochs {
            grid.slide = self.counter.slide();
        }
        let length = spec.window().shorter(span, &grid)? as i64;
        if has_epochs && length % grid.slide != 0 {
            return Err(Error::window(format!(
                "a window of {span} was asked for, which is no whole number of epochs: ask for whole ones"
            )));
        }
        Ok(length)
    }

    pub fn release(&mut self, grant: Grant, entropy: &mut impl Entropy) -> Result<Release<K>> {
        let view = view(&mut self.counter, &self.request, &grant)?;
        one_shot::release(&self.request, view, entropy)
    }

    #[cfg(feature = "internals")]
    pub fn unnoised(&mut self, grant: Grant) -> Result<crate::release::Unnoised<K>> {
        let view = view(&mut self.counter, &self.request, &grant)?;
        one_shot::unnoised(&self.request, &view)
    }
}

fn view<'a, K: Key>(
    counter: &'a mut Counter<K>,
    request: &Request<K>,
    grant: &Grant,
) -> Result<ReleaseWindow<'a, K>> {
    let longest = request.spec.window().longest().length() as i64;
    check(!counter.has_clock() || grant.length() <= longest, "a window is longer than the longest")?;
    let window = counter.window(grant.length(), grant.boundary_paid())?;
    Ok(ReleaseWindow::of(request, window))
}

fn intake<K: Key>(plan: &Plan, request: &Request<K>, threads: usize) -> Result<Intake<K>> {
    let (shape, grid, spec) = (request.shape, request.spec.grid(), &request.spec);
    let by_count = spec.window().is_by_count();
    let timeline = if spec.policy() == Policy::Fixed {
        // Many panes are open at a time: each takes as much as its keys do, and no more.
        let shape = if by_count { shape } else { shape.for_blocks_of(0) };
        Timeline::fixed(shape, grid, spec.laid()?, by_count, plan.memory.panes())
    } else {
        let (schedule, levels) = plan.layout.schedule(shape.sketch(), shape.seed());
        Timeline::new(grid, shape, schedule, levels).with_threads(threads)
    };
    Ok(Intake::new(timeline, request.keys.clone(), by_count))
}
