#![doc = include_str!("continual.md")]

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use crate::counting::events::{Timeline, WindowSums};
use crate::error::{Error, Result};
use crate::fault::Mutant;
use crate::key::{Key, Keys, Universe};
use crate::mechanism::threshold::MOST_EXPECTED_FROM_NOISE;
use crate::noise::laplace_sum::LEAST_CHANCE;
use crate::noise::{DiscreteLaplace, Inversion, NoiseLaw, NoiseSum};
use crate::pane::Pane;
use crate::release::alternatives::Alternatives;
use crate::release::guarantee::Guarantee;
use crate::release::noise_bounds::NoiseBounds;
use crate::release::noise_tree::node_key::{Keyed, KeyedEntropy, Purpose};
use crate::release::noise_tree::{NodeKey, Nodes, WindowNodes, WindowNoise};
use crate::release::norm::NormEstimate;
use crate::release::one_shot::{Findings, measure_norm};
use crate::release::published::{Coverage, Estimator, Release, RequestedWindow};
use crate::release::request::Request;
use crate::release::total::Total;
use crate::release::window_counts::CountSource;
use crate::search::first;
use crate::spec::{Edge, Unit, ValidSpec};

/// Every key of the universe is evaluated at every slide, so it must not be larger than this.
pub const LARGEST_UNIVERSE: u64 = 1 << 24;
/// The part of the chance of failure for keys that pass although they were not frequent, and in how many times the windows of an event.
const RARE: f64 = 0.1;
const WINDOWS_BACK: u64 = 4;
/// The number of users' keys is not public: this is more than any machine has seen.
pub const KEYS_OF_PEOPLE: u64 = 1 << 48;
/// Where keys that are passed over need a part of delta of their own: they cost time, and not a higher threshold.
const SHARE_OF_TOP: f64 = 1.0 / 1024.0;

/// Parameters of continual release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContinualInfo {
    /// Number of panes of a window.
    pub panes: u64,
    /// In how many nodes, each with noise of its own, a pane is: itself, the group that it is in, and so on.
    pub levels: u32,
    /// The most noise values that a count of a window has in it.
    pub nodes: u64,
    /// The scale of each of them.
    pub scale: f64,
    /// The standard deviation of their sum.
    pub deviation: f64,
    /// Which release of the sequence this is, from 1.
    pub number: u64,
    /// **A privacy parameter** of open keys: delta covers events that someone timed by looking at earlier releases in the first so
    /// many panes. Events that were not timed so are covered however long this runs.
    pub horizon: u64,
    /// Past the horizon: what delta has grown to for an event whose place was chosen by what releases had shown.
    pub delta_past_horizon: Option<f64>,
    /// Over how many releases the statements hold together with the stated confidence: any so many.
    pub together: u64,
    /// The most memory that it takes, in bytes.
    pub memory: u64,
    /// Results of the other ways to do it.
    pub reason: Alternatives,
}

/// Parameters that continual release is set up with.
pub(crate) struct ContinualSetup {
    pub noise: WindowNoise,
    /// The most keys that people can have near a window.
    pub keys_of_people: u64,
    /// The most that it takes, in bytes.
    pub memory: u64,
    /// The part of it for sums that are carried on to the next window.
    pub running: u64,
    /// And for what users did, where they are protected.
    pub people: u64,
}

/// Which release of a sequence it is.
pub(crate) struct ReleaseIndex {
    /// From 1.
    pub number: u64,
    /// The most events in panes whose noise is in that of one window, as far as is public.
    pub around: u64,
}

/// The parts that all releases have in common.
pub(crate) struct ContinualReleaser<K: Key> {
    /// With the confidence of a single release.
    request: Request<K>,
    panes: u64,
    continuity: ContinualInfo,
    noise: WindowNoise,
    /// Where the number of events is private: the noise of each node, and how far that of a window goes.
    total: Option<(DiscreteLaplace, u64)>,
    /// At most so many keys have noise that matters to a window and that earlier releases may have shown.
    live: u64,
    floor: u64,
    /// For open keys.
    lift: Option<ThresholdMargin>,
}

/// Noise never lifts a count by this much, but for a part of delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThresholdMargin {
    /// A count that only one of two neighbours looks at.
    past_threshold: u64,
    /// Any count.
    into_top: u64,
}

impl<K: Key> ContinualReleaser<K> {
    /// A sequence of windows of panes of at most so many events each, if that is known.
    pub fn new(request: Request<K>, setup: ContinualSetup, longest_pane: Option<u64>) -> Result<Self> {
        let ContinualSetup { noise, memory, keys_of_people, .. } = setup;
        let (horizon, together) = (request.spec.horizon(), request.spec.together());
        let panes = request.spec.panes();
        // Each release has its share of the chance of an untrue statement.
        let request = Request {
            confidence: 1.0 - (1.0 - request.confidence) / together as f64,
            // A window of a sequence begins with a pane.
            may_leave_out: false,
            ..request
        };
        let entries = request.shape.most_entries(longest_pane.unwrap_or(u64::MAX));
        let unit = request.noise_unit();
        let live = match &request.keys {
            Keys::Open if unit.is_user() => keys_of_people,
            Keys::Open => (2 * panes - 1).saturating_mul(entries),
            Keys::Declared(universe) => universe.size(),
        };
        let delta = request.spec.delta().as_f64();
        let (floor, lift) = match &request.keys {
            Keys::Open => {
                // Of two keys that move, each may bring it about; those of a user move in one direction.
                let share = if unit.is_user() { noise.delta_left() } else { 0.5 };
                let lift = lift(&request.spec, (unit, live), &noise.sum, (delta, share))?;
                (1 + lift.past_threshold, Some(lift))
            }
            Keys::Declared(universe) if universe.size() > LARGEST_UNIVERSE => {
                return Err(Error::parameter(format!(
                    "{} keys are declared, but a list that is released at every slide evaluates each of them and can have at most \
                     {LARGEST_UNIVERSE}: declare fewer, or leave the keys open",
                    universe.size()
                )));
            }
            Keys::Declared(universe) => {
                let chance = MOST_EXPECTED_FROM_NOISE as f64 / universe.size() as f64;
                (noise.sum.reach(chance).max(1), None)
            }
        };
        let total = request.split.total.map(|epsilon| {
            let levels = noise.tree.levels();
            let laplace = DiscreteLaplace::new(unit.total().saturating_mul(levels), epsilon);
            // What is said of a window may rest on what was said of those before.
            let windows = together as f64 / (together as f64 + (WINDOWS_BACK + 1) as f64 * panes as f64);
            let failure = request.total_failure() * windows;
            (laplace, laplace.sum_within(noise.sum.terms(), failure))
        });
        let claimed = request.spec.split(request.spec.epsilon).counts;
        let reason = Alternatives::new(&noise, panes, request.unit(), claimed, delta);
        Ok(Self {
            continuity: ContinualInfo {
                panes,
                levels: noise.tree.levels(),
                nodes: noise.sum.terms(),
                scale: noise.sum.scale(),
                deviation: noise.sum.deviation(),
                number: 0,
                horizon,
                delta_past_horizon: None,
                together,
                memory,
                reason,
            },
            request,
            panes,
            noise,
            total,
            live,
            floor,
            lift,
        })
    }

    pub fn request(&self) -> &Request<K> {
        &self.request
    }

    /// Parameters of its releases, before there is one.
    pub fn continuity(&self) -> &ContinualInfo {
        &self.continuity
    }

    /// All noise that is drawn, in words that tell it from any other.
    pub fn noise(&self) -> String {
        format!("{:?} {:?} {:?}", self.noise.sum.noise(), self.total, self.request.norm_epsilon())
    }

    /// The distribution of each noise value.
    pub fn noise_law(&self) -> NoiseLaw {
        self.noise.sum.noise().law()
    }

    /// For the secrets of the nodes.
    pub fn nodes(&self) -> Nodes {
        Nodes::new(self.noise.tree, self.panes)
    }

    /// The release of a window, given its turn, its panes and its nodes: the same whenever it is asked for.
    pub fn release(
        &self,
        ReleaseIndex { number, around }: ReleaseIndex,
        panes: &[Cow<'_, Pane<K>>],
        running: Option<&WindowSums<K>>,
        nodes: &WindowNodes<'_>,
        coverage: Coverage,
        asked_from: Option<Edge>,
    ) -> Result<Release<K>> {
        self.request.check(panes)?;
        let total = self.total(panes, nodes)?;
        let counts = match running {
            Some(sums) => CountSource::WindowSums(sums),
            None => CountSource::of_panes(panes, &self.request),
        };
        let norm =
            measure_norm(&self.request, panes, &counts, &total, &mut nodes.latest.entropy(Purpose::Norm))?;
        let cut = panes.iter().map(|pane| pane.cut()).sum();
        let guarantee = self.guarantee(cut, norm, around);
        let noisy = match &self.request.keys {
            Keys::Open => self.select_open(&counts, &nodes.cover, guarantee.threshold)?,
            Keys::Declared(universe) => {
                self.select_declared(universe.as_ref(), &counts, &nodes.cover, guarantee.threshold)?
            }
        };
        let promises = guarantee.state().promises;
        let promises = promises.map(|promises| promises.without(coverage.missed));
        let findings = Findings {
            coverage,
            total,
            norm,
            guarantee,
            estimator: Estimator::Counts,
            deviation: Some(self.continuity.deviation),
            asked_events: total.value,
            asked: RequestedWindow { from: asked_from, slack: Some(0), promises },
        };
        Ok(Release {
            confidence: self.request.spec.confidence,
            continual: Some(ContinualInfo {
                number,
                delta_past_horizon: self.delta_past_horizon(number),
                ..self.continuity.clone()
            }),
            ..findings.into_release(&self.request, noisy)
        })
    }

    /// How many events a window has: of people with noise that each node draws once, so that it is the same whenever it is asked for.
    pub fn total(&self, panes: &[Cow<'_, Pane<K>>], nodes: &WindowNodes<'_>) -> Result<Total> {
        let events = panes.iter().map(|pane| pane.events()).sum();
        let Some((laplace, spread)) = &self.total else {
            return Ok(Total::public(events));
        };
        let mut noisy = events as i64;
        if !self.request.fault.is(Mutant::TrueTotal) {
            for node in &nodes.cover {
                noisy += laplace.sample(&mut node.entropy(Purpose::Total))?;
            }
        }
        Ok(Total::around(noisy, *spread))
    }

    /// What the chance of a bad event has grown to with more windows than were assumed.
    fn delta_past_horizon(&self, number: u64) -> Option<f64> {
        let horizon = self.continuity.horizon;
        let of_unit = self.request.spec.windows_of_unit().max(self.panes);
        let windows = |panes_with_events| windows_with(panes_with_events, of_unit) as f64;
        let waiting_helps = !shows_no_noise_before(&self.request.spec, self.request.noise_unit());
        let is_past = number > horizon && self.lift.is_some() && waiting_helps;
        is_past.then(|| self.request.spec.delta().as_f64() * (windows(number) / windows(horizon)))
    }

    /// What can be said of a window with this norm, from whose counts so much is cut.
    /// Panes whose noise is in that of one window had at most so many events `around`.
    pub fn guarantee(&self, cut: u64, norm: NormEstimate, around: u64) -> Guarantee {
        let asked = self.request.asked_of(&norm).saturating_sub(cut);
        let half = self.request.counts_failure() * (1.0 - RARE) / 2.0;
        let reach = self.noise.sum.reach(half / self.frequent(around)).saturating_sub(1);
        Guarantee {
            alpha: self.request.alpha(),
            cut,
            slack: 0,
            norm,
            threshold: self.floor.max(asked),
            floor: self.floor,
            bounds: NoiseBounds::Alike { over: reach, under: reach },
        }
    }

    /// What is public of the events of a window whose last pane has ended: how many that pane has or, of users, how many the window has
    /// at the most, as its release says.
    pub fn public_events(&self, timeline: &Timeline<K>, nodes: &WindowNodes<'_>) -> Result<u64> {
        let (end, slide) = (nodes.panes.end, timeline.slide());
        match &self.total {
            Some(_) => Ok(self.total(&nodes.panes_in(timeline), nodes)?.high),
            None => Ok(timeline.events_within((end - 1) * slide..end * slide)),
        }
    }

    /// The most events in panes whose noise is in the noise of one window, from what is public of the latest.
    pub fn most_around(&self, latest: &[u64]) -> u64 {
        match &self.total {
            Some(_) => self.most_around_of_windows(latest),
            None => self.most_around_of_panes(latest),
        }
    }

    fn most_around_of_panes(&self, events: &[u64]) -> u64 {
        let panes = 2 * self.panes as usize - 1;
        let (mut around, mut most) = (0, 0);
        for (end, new) in events.iter().enumerate() {
            around += new;
            if end >= panes {
                around -= events[end - panes];
            }
            most = most.max(around);
        }
        most
    }

    /// The same of people, from what was said of the latest windows: two of them cover it, as both say at most.
    fn most_around_of_windows(&self, most: &[u64]) -> u64 {
        let before = self.panes as usize - 1;
        let around = |(window, most_now): (usize, &u64)| {
            let earlier = window.checked_sub(before.max(1)).map_or(0, |earlier| most[earlier]);
            most_now.saturating_add(earlier)
        };
        most.iter().enumerate().map(around).max().unwrap_or(0)
    }

    /// The same if every window had so many.
    pub fn around(&self, events: u64) -> u64 {
        (2 * events).saturating_sub(events / self.panes)
    }

    /// How many keys, among so many events, can have been frequent enough to be listed, but for a small chance.
    fn frequent(&self, events: u64) -> f64 {
        // Each key of people is there by an event.
        let live = match self.request.noise_unit().is_user() {
            true => self.live.min(events),
            false => self.live,
        };
        let (sum, live) = (&self.noise.sum, live as f64);
        let windows = (WINDOWS_BACK * self.panes) as f64;
        let chance = self.request.counts_failure() * RARE / windows - live * sum.tail(self.floor);
        let passes = |count: u64| events as f64 / count as f64 * sum.tail(self.floor - count) > chance;
        let count = first(1, self.floor, passes) - 1;
        live.min(events as f64 / count as f64).max(1.0)
    }

    /// The keys that occur and pass, with their noisy counts.
    fn select_open(
        &self,
        counts: &CountSource<'_, K>,
        nodes: &[&NodeKey],
        threshold: u64,
    ) -> Result<Vec<(K, u64)>> {
        let mut noises = Noises::new(nodes, &self.noise.sampler);
        let below = |noisy: u64, lift: fn(ThresholdMargin) -> u64| {
            noisy.saturating_sub(self.lift.map_or(noisy, lift))
        };
        let mut least = below(threshold, |lift| lift.past_threshold);
        if let Some(top) = self.request.spec.top {
            let last = last_of_top(counts, &mut noises, top)?;
            least = least.max(below(last.max(0) as u64, |lift| lift.into_top));
        }
        let mut passed = Vec::new();
        counts.for_each(|key, count| {
            if count < least {
                return Ok(());
            }
            let noisy = count as i64 + noises.of::<K>(key)?;
            if noisy >= threshold as i64 {
                passed.push((K::owned(key), noisy as u64));
            }
            Ok(())
        })?;
        Ok(passed)
    }

    /// All keys of the universe that pass, with their noisy counts.
    fn select_declared(
        &self,
        universe: &dyn Universe<K>,
        counts: &CountSource<'_, K>,
        nodes: &[&NodeKey],
        threshold: u64,
    ) -> Result<Vec<(K, u64)>> {
        let mut present = Vec::new();
        counts.for_each(|key, count| {
            present.extend(universe.rank(key).map(|rank| (rank, count)));
            Ok(())
        })?;
        present.sort_unstable();
        let mut present = present.into_iter().peekable();
        let mut streams: Vec<KeyedEntropy> = nodes.iter().map(|node| node.entropy(Purpose::Counts)).collect();
        let mut passed = Vec::new();
        for rank in 0..universe.size() {
            let count = present.next_if(|(at, _)| *at == rank).map_or(0, |(_, count)| count);
            let mut noisy = count as i64;
            for stream in &mut streams {
                noisy += self.noise.sampler.sample(stream)?;
            }
            if count == 0 && self.request.fault.is(Mutant::SilentAbsentKeys) {
                continue;
            }
            if noisy >= threshold as i64 {
                passed.push((universe.key(rank), noisy as u64));
            }
        }
        Ok(passed)
    }
}

/// The noise of open keys in a window.
struct Noises<'a> {
    functions: Vec<Keyed>,
    sampler: &'a Inversion,
    encoding: Vec<u8>,
}

impl<'a> Noises<'a> {
    fn new(nodes: &[&NodeKey], sampler: &'a Inversion) -> Self {
        Self { functions: nodes.iter().map(|node| node.function()).collect(), sampler, encoding: Vec::new() }
    }

    /// Noise of all nodes together.
    fn of<K: Key>(&mut self, key: K::Ref<'_>) -> Result<i64> {
        self.encoding.clear();
        K::pack(key, &mut self.encoding);
        let mut sum = 0;
        for node in &mut self.functions {
            sum += node.noise(&self.encoding, self.sampler)?;
        }
        Ok(sum)
    }
}

/// A noisy count that `top` keys reach: the lowest of those with the highest counts. So no key with a lower one is among the `top`.
/// Where there are fewer keys, none is too low.
fn last_of_top<K: Key>(counts: &CountSource<'_, K>, noises: &mut Noises<'_>, top: u64) -> Result<i64> {
    let most = usize::try_from(top).unwrap_or(usize::MAX);
    let mut highest = BinaryHeap::new();
    counts.for_each(|_, count| {
        if highest.len() < most {
            highest.push(Reverse(count));
        } else if let Some(mut lowest) = highest.peek_mut().filter(|lowest| lowest.0 < count) {
            *lowest = Reverse(count);
        }
        Ok(())
    })?;
    let Some(Reverse(lowest)) = highest.peek().copied().filter(|_| highest.len() == most) else {
        return Ok(i64::MIN);
    };
    let mut noisy = Vec::new();
    counts.for_each(|key, count| {
        if count >= lowest {
            noisy.push(count as i64 + noises.of::<K>(key)?);
        }
        Ok(())
    })?;
    noisy.sort_unstable();
    Ok(noisy[noisy.len() - most])
}

/// How many windows have something in them that begins in one of the first so many panes and is in `each` windows.
fn windows_with(first: u64, each: u64) -> u64 {
    first.saturating_add(each - 1)
}

/// Returns true if a key of a user is chosen before any of the noise that it meets has shown: where a window is one pane.
fn shows_no_noise_before(spec: &ValidSpec, unit: Unit) -> bool {
    unit.is_user() && spec.panes() == 1
}

/// How far below a threshold counts are looked at, with so many keys that may have shown their noise: no noise lifts one that only one
/// of two neighbours looks at, but for this share of delta.
fn lift(
    spec: &ValidSpec,
    (unit, live): (Unit, u64),
    sum: &NoiseSum,
    (delta, share): (f64, f64),
) -> Result<ThresholdMargin> {
    let keys = live as f64 + f64::from(unit.keys());
    let reach = |part: f64, chances: f64| reach_of_none(sum, (delta, share * part), chances);
    let [past_threshold, into_top] = if shows_no_noise_before(spec, unit) {
        let of_top = spec.top.map_or(0.0, |_| SHARE_OF_TOP);
        let past = reach(1.0 - of_top, f64::from(unit.keys()))?;
        let of_any = spec.top.map(|_| reach(of_top, keys));
        [past, of_any.transpose()?.unwrap_or(past)]
    } else {
        let windows = windows_with(spec.horizon(), spec.windows_of_unit().max(spec.panes()));
        [reach(1.0, keys * windows as f64)?; 2]
    };
    // A count may be moved so far past the least one that is looked at.
    let moved = u64::from(unit.largest_count() - 1);
    Ok(ThresholdMargin { past_threshold: past_threshold + moved, into_top: into_top + moved })
}

/// The least threshold of open keys of users with this noise, where others have so many keys, if there is one.
pub(crate) fn threshold_of_users(
    spec: &ValidSpec,
    unit: (Unit, u64),
    sum: &NoiseSum,
    delta: f64,
) -> Option<u64> {
    Some(1 + lift(spec, unit, sum, (delta, 1.0)).ok()?.past_threshold)
}

/// The least `d` that no noise reaches which has so many chances to, one for each key and window, but for this share of delta.
fn reach_of_none(sum: &NoiseSum, (delta, share): (f64, f64), chances: f64) -> Result<u64> {
    let chance = delta * share / chances;
    if chance < LEAST_CHANCE {
        let least = 10_f64.powf((LEAST_CHANCE / share * chances).log10().ceil());
        return Err(Error::parameter(format!(
            "delta is {delta:e}, which is too small for continual release: take {least:.0e} or more, a shorter \
             horizon, or declare the keys"
        )));
    }
    Ok(sum.reach(chance))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::noise::InsecureSeededEntropy;
    use crate::privacy::Epsilon;
    use crate::release::test_oracle::{pane, times};
    use crate::spec::{Bounds, Norm, Unit, Window};
    use crate::stream::{Builder, HeavyHitters};

    fn releaser(builder: Builder<u64>, longest_pane: Option<u64>) -> Result<ContinualReleaser<u64>> {
        let request = builder.together(1).sequence_request(0)?;
        let noise = WindowNoise::new(request.spec.panes(), request.unit(), request.split.counts, u64::MAX)?;
        let setup =
            ContinualSetup { noise, keys_of_people: KEYS_OF_PEOPLE, memory: 1, running: 0, people: 0 };
        ContinualReleaser::new(request, setup, longest_pane)
    }

    fn sequence(
        builder: Builder<u64>,
        panes: u64,
        longest_pane: Option<u64>,
    ) -> Result<ContinualReleaser<u64>> {
        let window = Window::events(1_000 * panes).slide(1_000);
        releaser(builder.window(window).horizon(5), longest_pane)
    }

    fn declared(keys: u64) -> Builder<u64> {
        HeavyHitters::builder(Keys::range(0..keys).unwrap()).norm(Norm::L1)
    }

    /// Noise of scale 2 reaches 5 with a chance of 0.0511, and 4 with one of 0.0842: a million of 2^24 keys is 0.0596.
    #[test]
    fn noise_alone_lists_no_more_than_a_million_declared_keys() {
        let floor = |keys| sequence(declared(keys), 1, Some(10)).unwrap().floor;
        assert_eq!((floor(3), floor(1_000_000)), (1, 1));
        assert_eq!(LARGEST_UNIVERSE, 16_777_216);
        assert_eq!(floor(LARGEST_UNIVERSE), 5);
        assert!(sequence(declared(LARGEST_UNIVERSE + 1), 1, Some(10)).is_err());
        assert_eq!(sequence(declared(3), 1, Some(10)).unwrap().lift, None);
    }

    /// As many as `2B - 1` panes keep: each no more than its events, where their number is known.
    #[test]
    fn live_keys_are_those_that_panes_near_a_window_keep() {
        let open = || HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1).entries(50);
        let live = |longest_pane| sequence(open(), 4, longest_pane).unwrap().live;
        assert_eq!([Some(10), Some(50), Some(51), None].map(live), [70, 350, 350, 350]);
        assert_eq!(sequence(declared(9), 4, None).unwrap().live, 9);
    }

    /// An event in one of the first panes is in their windows and in the `B - 1` that follow.
    #[test]
    fn windows_go_on_after_the_last_pane_that_counts() {
        assert_eq!(
            [(1, 1), (1, 8), (5, 1), (5, 8)].map(|(first, panes)| windows_with(first, panes)),
            [1, 8, 5, 12]
        );
        assert_eq!(windows_with(u64::MAX, 9), u64::MAX);
    }

    /// Three panes a window, so five whose noise is in that of one: the most that five in a row had.
    #[test]
    fn around_a_window_are_the_panes_that_share_noise_with_it() {
        let open = HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1);
        let sequence = sequence(open, 3, Some(1)).unwrap();
        assert_eq!(sequence.most_around(&[]), 0);
        assert_eq!(sequence.most_around(&[4, 1]), 5);
        assert_eq!(sequence.most_around(&[9, 1, 1, 1, 1, 5, 1, 1]), 13);
        assert_eq!(sequence.most_around(&[1, 1, 1, 1, 7, 7, 1, 1]), 17);
    }

    /// Of one noise value, of scale 2: half of delta for each key that is live, one more, and each window.
    #[test]
    fn the_lift_is_the_least_that_half_of_delta_allows() {
        let sum = WindowNoise::new(1, Unit::Event, Epsilon::new(1.0).unwrap(), u64::MAX).unwrap().sum;
        let q = (-0.5_f64).exp();
        for step in 0..100 {
            let delta = 0.1 * 0.9_f64.powi(step);
            for (live, windows) in [(0, 1), (1, 1), (1, 2), (2, 1), (3, 2), (7, 5)] {
                let chance = delta / 2.0 / ((live + 1) * windows) as f64;
                let least = (0..).find(|m| q.powi(*m) / (1.0 + q) <= chance);
                let lift = reach_of_none(&sum, (delta, 0.5), (live as f64 + 1.0) * windows as f64).unwrap();
                assert_eq!(Some(lift as i32), least, "{delta} {live} {windows}");
            }
        }
    }

    /// In windows of one pane. What is passed over for the top may be any key, and has a thousandth of delta.
    #[test]
    fn noise_that_has_not_shown_is_assumed_for_the_keys_of_a_user_alone() {
        let (epsilon, delta, live) = (Epsilon::new(1.0).unwrap(), 1e-6, 1 << 48);
        let day = Duration::from_secs(86_400);
        for (keys, times) in [(1, 1), (3, 1), (3, 2)] {
            let unit = Unit::User(Bounds::new(keys).per_key(times));
            let spec = |builder: Builder<u64>| {
                let builder = builder.unit(unit).window(Window::clock(day).slide(day));
                builder.sequence_request(0).unwrap().spec
            };
            let sum = WindowNoise::new(1, unit, epsilon, u64::MAX).unwrap().sum;
            let least = |chance: f64| {
                let reach = (0..).find(|d| sum.tail(*d) <= chance).unwrap();
                reach + u64::from(times) - 1
            };
            let of = |spec: &ValidSpec| lift(spec, (unit, live), &sum, (delta, 1.0)).unwrap();
            let open = || HeavyHitters::<u64>::builder(Keys::open());
            let all = of(&spec(open().all()));
            assert_eq!(all.past_threshold, least(delta / f64::from(keys)));
            let top = of(&spec(open().top(5)));
            let left = delta * (1.0 - SHARE_OF_TOP);
            assert_eq!(top.past_threshold, least(left / f64::from(keys)));
            let anybody = (live + u64::from(keys)) as f64;
            assert_eq!(top.into_top, least(delta * SHARE_OF_TOP / anybody));
        }
    }

    #[test]
    fn a_delta_that_is_too_small_is_refused_with_the_least_that_can() {
        let sum = WindowNoise::new(1, Unit::Event, Epsilon::new(1.0).unwrap(), u64::MAX).unwrap().sum;
        // Ten keys in a hundred windows, twice 1e-50 each.
        let refused = reach_of_none(&sum, (1.9e-47, 0.5), (9.0 + 1.0) * 100.0).unwrap_err().to_string();
        assert!(refused.contains("delta is 1.9e-47") && refused.contains("take 1e-46 or more"), "{refused}");
        assert!(reach_of_none(&sum, (2.1e-47, 0.5), (9.0 + 1.0) * 100.0).is_ok());
        assert!(
            reach_of_none(&sum, (2.0 * LEAST_CHANCE, 0.5), (0.0 + 1.0) * 1.0).is_ok(),
            "the least is not too small"
        );
    }

    /// Key `k` comes `k` times, and noise of scale 2 reaches the lift, 7, once in 53 times. A key is looked at from a count
    /// of `threshold - lift` on, and is then listed if its noisy count passes: never from one less, however high its noise.
    #[test]
    fn open_keys_are_looked_at_from_the_lift_below_the_threshold_on() {
        let open = HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1);
        let sequence = sequence(open.delta(0.5).entries(1_000), 1, Some(1)).unwrap();
        let lift = sequence.lift.unwrap().past_threshold;
        assert_eq!((sequence.live, lift, sequence.floor), (1, 7, 8));
        let panes = [pane((1..30).flat_map(|key| times(key, key as usize)), sequence.request.shape)];
        let (mut at_the_edge, mut below) = (0, 0);
        for (seed, threshold) in (0..400).flat_map(|seed| [(seed, 8), (seed, 9), (seed, 20)]) {
            let node = NodeKey::draw(&mut InsecureSeededEntropy::new(seed)).unwrap();
            let mut found = sequence
                .select_open(&CountSource::of_panes(&panes, &sequence.request), &[&node], threshold)
                .unwrap();
            let mut function = node.function();
            let mut expected = Vec::new();
            for key in 1..30_u64 {
                let noise = function.noise(&key.to_le_bytes(), &sequence.noise.sampler).unwrap();
                let noisy = key as i64 + noise;
                if noisy >= threshold as i64 && key + lift >= threshold {
                    expected.push((key, noisy as u64));
                    at_the_edge += u64::from(key + lift == threshold);
                }
                below += u64::from(noisy >= threshold as i64 && key + lift + 1 == threshold);
            }
            found.sort_unstable();
            assert_eq!(found, expected, "seed {seed}");
        }
        assert!(at_the_edge > 5 && below > 5, "{at_the_edge} {below}");
    }

    /// Hourly lists of so many hours, of users who are protected by four hours and name three keys twice.
    fn hourly_of_users(hours: u32, delta: f64) -> ContinualReleaser<u64> {
        let hour = Duration::from_secs(3_600);
        let unit = Unit::User(Bounds::new(3).per_key(2).epoch(4 * hour));
        let builder = HeavyHitters::<u64>::builder(Keys::open())
            .unit(unit)
            .norm(Norm::L1)
            .delta(delta)
            .window(Window::clock(hours * hour).slide(hour));
        releaser(builder.horizon(50), None).unwrap()
    }

    /// What a user does in an epoch moves the total of a node on every level by six.
    #[test]
    fn the_total_of_users_has_the_noise_of_every_node_of_its_window_and_of_every_level() {
        let sequence = hourly_of_users(100, 1e-9);
        let levels = sequence.noise.tree.levels();
        assert!(levels > 1);
        let epsilon = sequence.request.split.total.unwrap();
        let laplace = DiscreteLaplace::new(6 * levels, epsilon);
        let mut nodes = sequence.nodes();
        let panes = [pane(times(1, 5_000), sequence.request.shape)];
        for number in 0..120 {
            let ending = nodes.draw(number, &mut InsecureSeededEntropy::new(number as u64)).unwrap();
            nodes.complete(ending);
            let window = nodes.window().unwrap();
            let noise =
                window.cover.iter().map(|node| laplace.sample(&mut node.entropy(Purpose::Total)).unwrap());
            let noisy = 5_000 + noise.sum::<i64>();
            let total = sequence.total(&panes, &window).unwrap();
            assert_eq!(total.value, noisy as u64, "{} nodes", window.cover.len());
        }
    }

    /// Of the first 50 panes, those of an epoch of four are in up to `50 + 8 + 4 - 2` windows: a threshold of any fewer is too low.
    #[test]
    fn the_lift_of_users_is_over_the_windows_of_all_panes_of_an_epoch() {
        let windows = |panes: u64| (panes + 8 + 4 - 2) as f64;
        let mut lower = 0;
        for step in 0..60 {
            let delta = 1e-6 * 0.9_f64.powi(step);
            let sequence = hourly_of_users(8, delta);
            let (sum, keys) = (&sequence.noise.sum, KEYS_OF_PEOPLE as f64 + 3.0);
            let least = |windows: f64| {
                let chance = delta / (keys * windows);
                1 + (0..).find(|reach| sum.tail(*reach) <= chance).unwrap()
            };
            let lift = sequence.lift.unwrap().past_threshold;
            assert_eq!(lift, least(windows(50)), "{delta}");
            lower += u32::from(least(windows(50) - 3.0) < lift);
            let grown = sequence.delta_past_horizon(200).unwrap();
            assert!((grown / delta - windows(200) / windows(50)).abs() < 1e-9);
        }
        assert!(lower > 0, "a union over fewer windows would show");
    }
}
