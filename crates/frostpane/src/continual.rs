//! The door to a list that is released again at every slide.

use crate::error::{Error, Result};
use crate::fault::Mutant;
use crate::hitters::{check_time, counted, fill, instant};
use crate::key::Key;
use crate::noise::{NodeKey, Nodes, OsEntropy, WindowNodes, WindowNoise};
use crate::release::continual::Sequence;
use crate::release::one_shot::{Coverage, Edge, Release};
use crate::release::terms::Terms;
use crate::timeline::uniform::Uniform;
use crate::timeline::window::Grid;
use crate::timeline::{Timeline, Window};

/// One release for each of them is due at once.
const MOST_SLIDES_AT_ONCE: i64 = 1_000_000;

/// The heavy hitters of a sliding window, released at the end of every pane, for ever, at one epsilon.
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
    timeline: Timeline<K>,
    sequence: Sequence<K>,
    window: Window,
    grid: Grid,
    nodes: Nodes,
    /// The oldest pane that has not ended: panes are numbered by where they lie.
    open: Option<i64>,
    /// Events so far, by count; the latest time, by the clock.
    now: i64,
    dropped: u64,
    without_key: u64,
}

impl<K: Key> Continual<K> {
    pub(crate) fn new(
        window: Window,
        grid: Grid,
        terms: Terms<K>,
        noise: WindowNoise,
        horizon: u64,
        memory: u64,
    ) -> Result<Self> {
        let panes = grid.length / grid.slide;
        let longest_pane = matches!(window, Window::Events(_)).then_some(grid.slide as u64);
        // Panes wait for late events and must outlive them: until the next pane ends, a release can be read again.
        let kept = Grid {
            length: grid.length + grid.lateness + 1,
            ..grid
        };
        let shape = terms.shape;
        let sequence = Sequence::new(terms, noise, panes as u64, longest_pane, horizon, memory)?;
        Ok(Self {
            timeline: Timeline::new(kept, shape, Box::new(Uniform), None),
            nodes: sequence.nodes(),
            sequence,
            window,
            grid,
            open: None,
            now: 0,
            dropped: 0,
            without_key: 0,
        })
    }

    /// One event of a window by count. Returns the release that it brings about, if it ends a pane.
    pub fn update(&mut self, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(Some(key), due))
    }

    /// One event without a key.
    pub fn update_without_key(&mut self) -> Result<Vec<Release<K>>> {
        collect(|due| self.push(None, due))
    }

    /// One event of a window by the clock, at a time in microseconds since 1970. Returns the releases that are
    /// due by then, one for each pane that has ended, with events or without.
    pub fn update_at(&mut self, time: i64, key: K::Ref<'_>) -> Result<Vec<Release<K>>> {
        collect(|due| self.push_at(time, Some(key), due))
    }

    /// One event without a key of a window by the clock.
    pub fn update_without_key_at(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        collect(|due| self.push_at(time, None, due))
    }

    /// The time has come to this moment, without an event. Returns the releases that are due.
    pub fn advance_to(&mut self, time: i64) -> Result<Vec<Release<K>>> {
        self.by_clock()?;
        if self.open.is_none() {
            return Ok(Vec::new());
        }
        self.check_time(time)?;
        self.now = self.now.max(time);
        collect(|due| self.complete(self.now, due))
    }

    /// The latest release again: the same, however often it is asked for.
    pub fn release(&self) -> Result<Release<K>> {
        let slide = self.grid.slide;
        let Some(nodes) = self.nodes.window() else {
            return Err(Error::window("no pane has ended so far: wait for the first"));
        };
        let (from, end) = (nodes.panes.start * slide, nodes.panes.end * slide);
        let panes = self.timeline.between(from, end);
        let fresh = self.fresh_keys(&nodes)?;
        let nodes = WindowNodes {
            cover: fresh.as_ref().map_or(nodes.cover, |fresh| fresh.iter().collect()),
            ..nodes
        };
        let edge = |position: i64| match self.window {
            Window::Events(_) => Edge::Event(position.max(0) as u64),
            Window::Clock(_) => instant(position),
        };
        let coverage = Coverage {
            events: panes.iter().map(|pane| pane.events()).sum(),
            from: Some(edge(from)),
            to: Some(edge(end)),
        };
        let asked = edge(end - self.panes() * slide);
        self.sequence.release(&panes, &nodes, coverage, Some(asked))
    }

    /// How many events came too late and were dropped. For the operator: it is not part of a release.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many events had no key that is counted. For the operator: **it must not be published**.
    pub fn without_key(&self) -> u64 {
        self.without_key
    }

    /// About how much memory the window takes, in bytes. For the operator: **it must not be published**.
    pub fn bytes(&self) -> u64 {
        self.timeline.bytes() + self.nodes.bytes()
    }

    /// Other keys than those of the nodes, if noise is to be drawn again.
    fn fresh_keys(&self, nodes: &WindowNodes<'_>) -> Result<Option<Vec<NodeKey>>> {
        if !self.sequence.terms().fault.is(Mutant::RedrawnNoise) {
            return Ok(None);
        }
        let draw = |_| NodeKey::draw(&mut OsEntropy::new());
        (0..nodes.cover.len()).map(draw).collect::<Result<_>>().map(Some)
    }

    /// How many panes a window has.
    fn panes(&self) -> i64 {
        self.grid.length / self.grid.slide
    }

    /// One event of a window by count, with its key or without. Calls back when it ends a pane; whoever wants
    /// the release then reads it with [`release`](Self::release).
    #[inline]
    pub fn push(&mut self, key: Option<K::Ref<'_>>, due: impl FnMut(&Self) -> Result<()>) -> Result<()> {
        if let Window::Clock(_) = self.window {
            return Err(Error::window(
                "this window goes by the clock: give the time of the event with update_at",
            ));
        }
        self.begin(self.now);
        let key = counted(&self.sequence.terms().keys, key, &mut self.without_key);
        self.timeline.update(self.now, key)?;
        self.now += 1;
        self.complete(self.now, due)
    }

    /// Many events of a window by count, in order: the same as one by one, sooner.
    pub fn push_all<'a>(
        &mut self,
        keys: impl IntoIterator<Item = Option<K::Ref<'a>>>,
        mut due: impl FnMut(&Self) -> Result<()>,
    ) -> Result<()> {
        let mut keys = keys.into_iter();
        while let Some(first) = keys.next() {
            self.push(first, &mut due)?;
            self.now = fill(
                &mut self.timeline,
                &self.sequence.terms().keys,
                self.now,
                &mut keys,
                &mut self.without_key,
            );
            self.complete(self.now, &mut due)?;
        }
        Ok(())
    }

    /// One event of a window by the clock, with its key or without. Calls back for each pane that has ended by
    /// then.
    pub fn push_at(
        &mut self,
        time: i64,
        key: Option<K::Ref<'_>>,
        due: impl FnMut(&Self) -> Result<()>,
    ) -> Result<()> {
        self.by_clock()?;
        self.check_time(time)?;
        self.begin(time);
        self.now = self.now.max(time);
        // What is due by then is released first, before its panes are forgotten.
        self.complete(self.now, due)?;
        // A pane that has been released never changes again.
        if self.open.is_some_and(|open| time < open * self.grid.slide) {
            self.dropped += 1;
            return Ok(());
        }
        let key = counted(&self.sequence.terms().keys, key, &mut self.without_key);
        if !self.timeline.update(time, key)? {
            self.dropped += 1;
        }
        Ok(())
    }

    fn by_clock(&self) -> Result<()> {
        match self.window {
            Window::Clock(_) => Ok(()),
            Window::Events(_) => Err(Error::window(
                "this window goes by the number of events: give the event without a time, with update",
            )),
        }
    }

    /// That a time is one, and not so far on that slides without events would never come to an end.
    fn check_time(&self, time: i64) -> Result<()> {
        check_time(time)?;
        let ahead = |open: i64| time.div_euclid(self.grid.slide) - open;
        match self.open.map(ahead) {
            Some(slides) if slides > MOST_SLIDES_AT_ONCE => Err(Error::window(format!(
                "the time {time} is {slides} slides after the one before, but can be at most {MOST_SLIDES_AT_ONCE}: leave the \
                 event out if the time is wrong, or slide by more"
            ))),
            _ => Ok(()),
        }
    }

    /// Notes where the first pane begins.
    fn begin(&mut self, position: i64) {
        if self.open.is_none() {
            self.open = Some(position.div_euclid(self.grid.slide));
            self.now = position;
        }
    }

    /// Completes every pane that has ended before `now` and need not wait any longer.
    #[inline]
    fn complete(&mut self, now: i64, mut due: impl FnMut(&Self) -> Result<()>) -> Result<()> {
        while let Some(open) = self.open
            && (open + 1) * self.grid.slide + self.grid.lateness <= now
        {
            self.complete_one(open)?;
            due(self)?;
        }
        Ok(())
    }

    #[cold]
    fn complete_one(&mut self, pane: i64) -> Result<()> {
        self.nodes.complete(pane)?;
        self.timeline
            .settle((pane + 1) * self.grid.slide + self.grid.lateness)?;
        self.open = Some(pane + 1);
        Ok(())
    }
}

/// The releases that are due.
fn collect<K: Key>(
    push: impl FnOnce(&mut dyn FnMut(&Continual<K>) -> Result<()>) -> Result<()>,
) -> Result<Vec<Release<K>>> {
    let mut releases = Vec::new();
    push(&mut |continual| {
        releases.push(continual.release()?);
        Ok(())
    })?;
    Ok(releases)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::hitters::HeavyHitters;
    use crate::noise::Tree;
    use crate::release::norm::Norm;
    use crate::universe::Keys;

    /// Where and when each node's count of each key is: the noise-free vector that noise is added to.
    type Vector = HashMap<(u32, i64, u64), i64>;

    /// A window of 150 panes of two events each.
    fn continual(entries: u32) -> Continual<u64> {
        HeavyHitters::builder(Keys::range(0..3).unwrap())
            .norm(Norm::L1)
            .alpha(0.1)
            .entries(entries)
            .window(Window::events(300).slide(2))
            .continual()
            .unwrap()
    }

    fn vector(entries: u32, tree: Tree, stream: &[Option<u64>]) -> Vector {
        let mut continual = continual(entries);
        let mut vector = Vector::new();
        for key in stream {
            let add_nodes = |continual: &Continual<u64>| {
                for span in tree.ending_with(continual.open.unwrap() - 1) {
                    for pane in continual.timeline.between(2 * span.start, 2 * span.end) {
                        for (key, count) in pane.counts().iter() {
                            *vector.entry((span.level, span.start, key)).or_default() += count as i64;
                        }
                    }
                }
                Ok(())
            };
            continual.push(*key, add_nodes).unwrap();
        }
        vector
    }

    /// All streams of six events of two keys or none across the border of two nodes, and all their neighbours, with exact
    /// panes and with panes that are cut: noise is drawn for exactly as much as the vector of all nodes moves.
    #[test]
    fn noise_is_for_as_much_as_all_nodes_move() {
        let sequence = &continual(2).sequence;
        let tree = Tree::for_window(150);
        assert_eq!(tree.levels(), 2);
        let branching = tree.branching() as usize;
        let keys = [None, Some(0), Some(1)];
        let mut streams = vec![vec![None; 2 * branching - 4]];
        for _ in 0..6 {
            let grown = |stream: &Vec<Option<u64>>| keys.map(|key| [&stream[..], &[key]].concat());
            streams = streams.iter().flat_map(grown).collect();
        }
        streams
            .iter_mut()
            .for_each(|stream| stream.resize(4 * branching, None));
        for entries in [1, 2] {
            let vectors: Vec<Vector> = streams
                .iter()
                .map(|stream| vector(entries, tree, stream))
                .collect();
            let mut most = 0;
            for (a, one) in streams.iter().zip(&vectors) {
                for (b, other) in streams.iter().zip(&vectors) {
                    if a.iter().zip(b).filter(|(x, y)| x != y).count() == 1 {
                        most = most.max(distance(one, other));
                    }
                }
            }
            let epsilon = sequence.terms().epsilon.as_f64();
            // A pane of two events that keeps one key loses one of each in the cut.
            let claimed = sequence.scale() * epsilon;
            assert!(
                most as f64 <= claimed && (entries == 1 || most as f64 == claimed),
                "{entries} {most}"
            );
        }
    }

    fn distance(one: &Vector, other: &Vector) -> i64 {
        let places = one
            .keys()
            .chain(other.keys().filter(|place| !one.contains_key(place)));
        let at = |vector: &Vector, place| vector.get(place).copied().unwrap_or(0);
        places
            .map(|place| (at(one, place) - at(other, place)).abs())
            .sum()
    }
}
