//! Continual release in memory.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

use crate::codec::{Reader, Writer};
use crate::counting::continual::ContinualCounter;
use crate::counting::events::WindowSums;
use crate::counting::events::intake::ReadPane;
use crate::counting::{Event, PaneCounter, Tally};
use crate::error::{Error, Result};
use crate::fault::Mutant;
use crate::key::{Footprint, Key};
use crate::noise::{Entropy, OsEntropy};
use crate::pane::{Pane, Parameters};
use crate::release::continual::{ContinualReleaser, ContinualSetup, ReleaseIndex};
use crate::release::followed_keys::FollowedKeys;
use crate::release::noise_tree::nodes::NodeSecrets;
use crate::release::noise_tree::stored::{SecretBytes, SecretId};
use crate::release::noise_tree::{NodeKey, Nodes, WindowNodes};
use crate::release::window::edge;
use crate::release::{Coverage, Release, Request};

/// The heavy hitters of a sliding window, released at the end of every pane, at one epsilon and delta for all releases together,
/// however long it runs.
///
/// **An error means that the event was not counted**: it can be given again. What can fail is drawn before the event is
/// counted, and a release of a pane that has ended draws nothing more.
///
/// By the clock a pane without events is released like any other, until there was no event for two windows' time: then
/// releases pause until the next event, with whose pane the window begins anew. So a gap brings a few releases, however
/// long it is. A time far in the future moves the clock there: what comes after it at an earlier time is late, and dropped.
///
/// ```
/// use frostpane::{HeavyHitters, Keys, Norm, Window};
///
/// # fn main() -> frostpane::Result<()> {
/// let mut ports = HeavyHitters::<u64>::builder(Keys::range(0..1_000)?)
///     .norm(Norm::L1)
///     .alpha(0.05)
///     .window(Window::events(32_000).slide(1_000))
///     .continual()?;
/// let mut releases = Vec::new();
/// for i in 0..100_000 {
///     releases.extend(ports.update(if i % 3 == 0 { 22 } else { 443 })?);
/// }
/// assert_eq!(releases.len(), 100);
/// assert_eq!(releases[99].heavy[0].key, 443);
/// assert_eq!(ports.release()?, releases[99]);
/// # Ok(())
/// # }
/// ```
pub struct Continual<K: Key> {
    pub(super) counter: ContinualCounter<K>,
    pub(super) releaser: ContinualReleaser<K>,
    pub(super) nodes: Nodes,
    pub(super) source: EntropySource,
    /// Public numbers of events of the latest panes or windows, as far back as noise may matter: four times a window.
    events: VecDeque<u64>,
    followed: FollowedKeys<K>,
    /// The latest release, unless it has to be made again.
    latest: Option<Release<K>>,
}

/// Source of the secrets of nodes. A new one for each pane: what it has read ahead must not outlive the pane, or a copy of the
/// process would draw the same.
type EntropySource = fn() -> Box<dyn Entropy + Send>;

impl<K: Key> Continual<K> {
    pub(super) fn new(request: Request<K>, setup: ContinualSetup, key: &Footprint) -> Result<Self> {
        let (shape, given) = (request.shape, (&request.spec, &request.keys));
        let sums = WindowSums::new(setup.running, key, shape.seed());
        let counter = ContinualCounter::new(given, shape, sums, setup.people, request.fault);
        let releaser = ContinualReleaser::new(request, setup)?;
        Ok(Self {
            nodes: releaser.nodes(),
            followed: releaser.followed(),
            latest: None,
            counter,
            releaser,
            source: || Box::new(OsEntropy::new()),
            events: VecDeque::new(),
        })
    }

    /// One event of a window by count. Returns the release that it brings about, if it ends a pane.
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(Event::of(key), due))
    }

    /// One event of a window by the clock, at a time in microseconds since 1970. Returns the releases that are
    /// due by then, one for each pane that has ended, with events or without.
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(Event::at(time, key), due))
    }

    /// The time has come to this moment, without an event. Returns the releases that are due. Where users are protected only this
    /// moves the clock, and it must be told before the first event; where several slides make up an epoch the first list is of the next
    /// epoch that begins, because another run may have shown a part of the running one.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use frostpane::{HeavyHitters, Keys, Window};
    /// # fn main() -> frostpane::Result<()> {
    /// let hour = Duration::from_secs(3_600);
    /// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?)
    ///     .window(Window::clock(24 * hour).slide(hour))
    ///     .continual()?;
    /// assert!(ports.update_at(0, 443)?.is_empty(), "the first hour has not ended");
    /// // Nothing more came for three hours: three lists, of which the latest covers all three.
    /// let due = ports.advance_to(3 * 3_600_000_000)?;
    /// assert_eq!((due.len(), due[2].window.events), (3, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn advance_to(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        collect(|due| self.advance(time, due))
    }

    /// The same, and calls back for each pane that has ended by then, as [`push`](Self::push) does.
    pub fn advance(&mut self, time: i64, due: impl FnMut(&Self)) -> Result<()> {
        self.counter.move_clock(time)?;
        self.end_due(due)
    }

    /// One event, with its key or without. Calls back for each pane that has ended by then; anyone who wants
    /// the release then reads it with [`release`](Self::release). After an error the event has not been counted; panes that ended
    /// before the error have ended.
    #[inline]
    pub fn push(&mut self, event: Event<'_, K>, due: impl FnMut(&Self)) -> Result<()> {
        let next = self.draw_for_next()?;
        self.take(event, next, due)
    }

    /// Many events, in the order of their arrival: the same as one by one, sooner. After an error all events that were taken
    /// from the iterator have been counted, but for one that the error is about.
    ///
    /// ```
    /// # use frostpane::{Event, HeavyHitters, Keys, Norm, Window};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?)
    ///     .norm(Norm::L1)
    ///     .alpha(0.1)
    ///     .window(Window::events(8_000).slide(1_000))
    ///     .continual()?;
    /// let mut lists = Vec::new();
    /// let events = (0..2_500).map(|i| Event::of(if i < 1_500 { 443 } else { 22 }));
    /// ports.extend(events, |ports| lists.push(ports.release()))?;
    /// let lists = lists.into_iter().collect::<frostpane::Result<Vec<_>>>()?;
    /// assert_eq!(lists.len(), 2, "the third slide goes on");
    /// assert_eq!((lists[0].heavy.len(), lists[1].heavy.len()), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn extend<'a>(
        &mut self,
        events: impl IntoIterator<Item = Event<'a, K>>,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        let mut events = events.into_iter();
        loop {
            let next = self.draw_for_next()?;
            let Some(first) = events.next() else {
                return Ok(());
            };
            self.take(first, next, &mut due)?;
            self.counter.fill(&mut events)?;
        }
    }

    /// Where users are protected, events may be so many microseconds ahead of the clock before they are dropped; by default none.
    pub fn allow_ahead(&mut self, micros: i64) {
        self.counter.ahead = micros.max(0);
    }

    /// With secrets of nodes from another source of entropy. For tests: the privacy of releases is no better than it.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        Self { source, ..self }
    }

    /// The latest release again: the same, however often it is asked for.
    pub fn release(&self) -> Result<Release<K>> {
        let is_kept = !self.releaser.request().fault.is(Mutant::RedrawnNoise);
        match self.latest.as_ref().filter(|_| is_kept) {
            Some(release) => Ok(release.clone()),
            None => self.make_release(),
        }
    }

    fn make_release(&self) -> Result<Release<K>> {
        let Some(nodes) = self.nodes.window() else {
            return Err(Error::window("no pane has ended so far: wait for the first"));
        };
        let (counter, Range { start, end }) = (&self.counter, nodes.panes.clone());
        let timeline = &counter.intake.timeline;
        let (panes, running) = (nodes.panes_in(timeline), nodes.sums_in(timeline));
        let redrawn = self.redrawn_keys(&nodes);
        let nodes = WindowNodes {
            cover: redrawn.as_ref().map_or(nodes.cover, |keys| keys.iter().collect()),
            ..nodes
        };
        let begins = |pane| Some(edge(counter.begins(pane), counter.is_by_count()));
        let coverage = Coverage {
            // Said by the release, with noise where it has to have some.
            events: 0,
            between: None,
            from: begins(start),
            to: begins(end),
            missed: counter.missed,
        };
        let (before, latest) = self.events.as_slices();
        let around = self.releaser.most_around(&[before, latest].concat());
        let asked_from = begins(end - counter.panes_of_window());
        let index = ReleaseIndex { number: counter.ended, around, asked_from };
        self.releaser.release(index, &panes, running, &nodes, &self.followed, coverage)
    }

    pub(crate) fn made_with(&self) -> Parameters {
        self.releaser.request().shape.parameters()
    }

    pub(super) fn end_counted(
        &mut self,
        panes: Range<i64>,
        counted: Vec<Pane<K>>,
        tally: Tally,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        self.counter.take_counted(panes.start, counted, tally);
        for pane in panes {
            self.end(self.draw(pane)?)?;
            due(self);
        }
        Ok(())
    }

    /// Number of events by their outcome. For the operator: **it must not be published**.
    pub fn tally(&self) -> Tally {
        self.counter.tally()
    }

    /// Number of late events in a row, up to the latest event: if there are many, the clock is ahead.
    pub fn late_in_a_row(&self) -> u64 {
        self.counter.intake.late_in_a_row
    }

    /// About how much memory the window takes, in bytes. For the operator: **it must not be published**.
    pub fn bytes(&self) -> u64 {
        self.counter.bytes() + self.nodes.bytes() + self.followed.bytes()
    }

    /// Begins with the next pane that nobody can have seen anything of, after so many releases.
    pub(super) fn begin_after(&mut self, now: i64, releases: u64) -> Result<()> {
        self.counter.begin_after(now)?;
        self.end_due(|_| ())?;
        self.counter.ended = releases;
        Ok(())
    }

    /// Other keys than those of the nodes, if noise is to be drawn again.
    fn redrawn_keys(&self, nodes: &WindowNodes<'_>) -> Option<Vec<NodeKey>> {
        if !self.releaser.request().fault.is(Mutant::RedrawnNoise) {
            return None;
        }
        let draw = |_| NodeKey::draw(&mut OsEntropy::new()).ok();
        (0..nodes.cover.len()).map(draw).collect()
    }

    /// Draws what the end of a pane needs, which can fail: before anything else is done.
    fn draw(&self, pane: i64) -> Result<NodeSecrets> {
        self.nodes.draw(pane, &mut *(self.source)())
    }

    /// What the next event needs if it ends a pane.
    #[inline]
    fn draw_for_next(&self) -> Result<Option<NodeSecrets>> {
        self.counter.ends_with_next().map(|pane| self.draw(pane)).transpose()
    }

    #[inline]
    fn take(
        &mut self,
        event: Event<'_, K>,
        ending: Option<NodeSecrets>,
        mut due: impl FnMut(&Self),
    ) -> Result<()> {
        // Panes that are due by then are released first, before they are forgotten.
        if self.counter.arrive(&event)? {
            self.end_due(&mut due)?;
        }
        self.counter.push(event)?;
        if let Some(ending) = ending {
            self.end(ending)?;
            due(self);
        }
        Ok(())
    }

    fn end_due(&mut self, mut due: impl FnMut(&Self)) -> Result<()> {
        while let Some(pane) = self.counter.next_due() {
            self.end(self.draw(pane)?)?;
            due(self);
        }
        Ok(())
    }

    #[cold]
    fn end(&mut self, ending: NodeSecrets) -> Result<()> {
        self.settle()?;
        let window = self.nodes.window_with(ending.pane());
        self.counter.end(&window, self.made_with())?;
        self.latest = None;
        if self.nodes.complete(ending) {
            self.followed.clear();
        }
        if let Some(nodes) = self.nodes.window() {
            let events = self.releaser.public_events(&self.counter.intake.timeline, &nodes)?;
            self.events.push_back(events);
        }
        if self.events.len() as i64 > 4 * self.counter.panes_of_window() {
            self.events.pop_front();
        }
        self.settle()
    }

    /// Makes the release of the latest window, whether anybody reads it or not: later ones follow the keys that it lists. If that fails
    /// it is made before the next pane ends.
    fn settle(&mut self) -> Result<()> {
        let Some(pane) = self.nodes.window().map(|nodes| nodes.panes.end - 1) else {
            return Ok(());
        };
        if self.releaser.has_open_keys() && !self.followed.knows(pane) {
            let release = self.make_release()?;
            self.followed.add(pane, release.heavy.iter().map(|heavy| &heavy.key));
            self.latest = Some(release);
        }
        Ok(())
    }

    /// Begins a new tree, of which no window has a unit of privacy that was in a window before. Where an epoch has
    /// several panes, the rest of the open one is left out.
    pub(super) fn begin_new_tree(&mut self) -> Result<()> {
        self.nodes = self.releaser.nodes();
        self.followed.clear();
        self.events.clear();
        self.latest = None;
        self.counter.skip_to_next_epoch(self.made_with())
    }

    /// Writes everything but the closed panes and the secrets of nodes, of which the marks are written.
    pub(crate) fn save(&mut self, to: &mut Writer) {
        let (events, nodes, followed) = (&self.events, &self.nodes, &self.followed);
        self.counter.save(to, |to| {
            to.each(events.iter(), |to, events| to.number(*events));
            nodes.save(to);
            followed.save(to);
        });
    }

    pub(crate) fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut ReadPane<'_>,
        secret: impl FnMut(&SecretId) -> Option<SecretBytes>,
        knows_followed: bool,
    ) -> Result<()> {
        let has_open_keys = self.releaser.has_open_keys();
        let (events, nodes, followed) = (&mut self.events, &mut self.nodes, &mut self.followed);
        self.counter.load(from, panes, |from| {
            *events = from.each(Reader::count_of_pane)?;
            match knows_followed || !has_open_keys {
                true => nodes.load(from, secret)?,
                // They are not used any more, and may be gone.
                false => drop(nodes.load_ended(from)?),
            }
            if knows_followed {
                followed.load(from)?;
            }
            Ok([nodes.ended().cloned(), nodes.window().map(|nodes| nodes.panes)])
        })
    }
}

fn collect<K: Key>(
    push: impl FnOnce(&mut dyn FnMut(&Continual<K>)) -> Result<()>,
) -> Result<Vec<Release<K>>> {
    let mut releases = Vec::new();
    push(&mut |continual| releases.push(continual.release()))?;
    releases.into_iter().collect()
}
