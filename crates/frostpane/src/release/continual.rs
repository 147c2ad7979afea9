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
use crate::noise::{DiscreteLaplace, Inversion, Noise, NoiseLaw, NoiseSum};
use crate::pane::Pane;
use crate::release::alternatives::Alternatives;
use crate::release::followed_keys::FollowedKeys;
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
/// The part of the chance of failure for keys that are listed although they are rare: of declared keys and of open ones.
const RARE_DECLARED: f64 = 0.1;
const RARE_OPEN: f64 = 0.5;
/// The windows before a run of releases, in lengths of a window, of which a list may show noise that is in theirs.
const WINDOWS_BACK: u64 = 4;
/// The part of delta for the cap on the noise of keys that are not followed, which a list of the top has.
const SHARE_OF_CAP: f64 = 1.0 / 1024.0;

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
    /// Where the window that was asked for begins.
    pub asked_from: Option<Edge>,
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
    /// The number of declared keys.
    declared: Option<u64>,
    floor: u64,
    /// For open keys.
    margin: Option<ThresholdMargin>,
}

/// How the keys are chosen whose noise is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThresholdMargin {
    /// A key that is not followed is evaluated if its count is at most this much below the threshold.
    below: u64,
    /// For a list of the top: noise of keys that are not followed above this counts as this.
    cap: Option<u64>,
}

/// The window that is released, of those whose lists are known.
pub(crate) struct FollowedWindow<'a, K> {
    pub keys: &'a FollowedKeys<K>,
    /// Its last pane.
    pub pane: i64,
}

impl<K: Key> ContinualReleaser<K> {
    pub fn new(request: Request<K>, setup: ContinualSetup) -> Result<Self> {
        let ContinualSetup { noise, memory, .. } = setup;
        let together = request.spec.together();
        let panes = request.spec.panes();
        // Each release has its share of the chance of an untrue statement.
        let request = Request {
            confidence: 1.0 - (1.0 - request.confidence) / together as f64,
            // A window of a sequence begins with a pane.
            may_leave_out: false,
            ..request
        };
        let unit = request.noise_unit();
        let delta = request.spec.delta().as_f64();
        let declared = match &request.keys {
            Keys::Open => None,
            Keys::Declared(universe) => Some(universe.size()),
        };
        let (floor, margin) = match declared {
            None => {
                let margin =
                    ThresholdMargin::new(&request.spec, unit, &noise.sum, delta * noise.delta_left())?;
                (1 + margin.below, Some(margin))
            }
            Some(keys) if keys > LARGEST_UNIVERSE => {
                return Err(Error::parameter(format!(
                    "{keys} keys are declared, but a list that is released at every slide evaluates each of them and can have at most \
                     {LARGEST_UNIVERSE}: declare fewer, or leave the keys open",
                )));
            }
            Some(keys) => (noise.sum.reach(MOST_EXPECTED_FROM_NOISE as f64 / keys as f64).max(1), None),
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
                together,
                memory,
                reason,
            },
            request,
            panes,
            noise,
            total,
            declared,
            floor,
            margin,
        })
    }

    pub fn request(&self) -> &Request<K> {
        &self.request
    }

    pub fn has_open_keys(&self) -> bool {
        self.margin.is_some()
    }

    /// Parameters of its releases, before there is one.
    pub fn continuity(&self) -> &ContinualInfo {
        &self.continuity
    }

    /// All noise that is drawn, in words that tell it from any other.
    pub fn noise(&self) -> String {
        self.noise_with(self.noise.sum.noise())
    }

    /// The same with the law of noise that was not chosen, if there was a choice.
    pub fn other_noise(&self) -> Option<String> {
        self.noise.other.map(|noise| self.noise_with(noise))
    }

    fn noise_with(&self, noise: Noise) -> String {
        format!("{noise:?} {:?} {:?}", self.total, self.request.norm_epsilon())
    }

    /// The distribution of each noise value.
    pub fn noise_law(&self) -> NoiseLaw {
        self.noise.sum.noise().law()
    }

    /// For the keys of its lists.
    pub fn followed(&self) -> FollowedKeys<K> {
        FollowedKeys::new(self.panes, self.request.shape.seed())
    }

    /// For the secrets of the nodes.
    pub fn nodes(&self) -> Nodes {
        Nodes::new(self.noise.tree, self.panes)
    }

    /// The release of a window, given its turn, its panes and its nodes: the same whenever it is asked for.
    pub fn release(
        &self,
        ReleaseIndex { number, around, asked_from }: ReleaseIndex,
        panes: &[Cow<'_, Pane<K>>],
        running: Option<&WindowSums<K>>,
        nodes: &WindowNodes<'_>,
        followed: &FollowedKeys<K>,
        coverage: Coverage,
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
            Keys::Open => {
                let followed = FollowedWindow { keys: followed, pane: nodes.panes.end - 1 };
                self.select_open(&counts, &nodes.cover, &followed, guarantee.threshold)?
            }
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
            continual: Some(ContinualInfo { number, ..self.continuity.clone() }),
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

    /// What can be said of a window with this norm, from whose counts so much is cut.
    /// Panes whose noise is in that of one window had at most so many events `around`.
    pub fn guarantee(&self, cut: u64, norm: NormEstimate, around: u64) -> Guarantee {
        let asked = self.request.asked_of(&norm).saturating_sub(cut);
        let failure = self.request.counts_failure();
        let of_all = failure / self.most_keys(around);
        let of_frequent = self.frequent(around).map(|keys| (1.0 - self.rare()) * failure / keys);
        let chance = of_frequent.map_or(of_all, |chance| chance.max(of_all));
        let reach = self.noise.sum.reach(chance / 2.0).saturating_sub(1);
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

    /// The most keys whose noise may have shown, among so many events, if but for a small chance no rare key is listed.
    fn frequent(&self, events: u64) -> Option<f64> {
        let (sum, together, events) = (&self.noise.sum, self.continuity.together as f64, events as f64);
        let windows = together + (WINDOWS_BACK * self.panes) as f64;
        let chance = self.request.counts_failure() * self.rare() * together / windows;
        // A key that is not declared and not followed is there by an event.
        let left = match self.declared {
            Some(keys) => chance - keys as f64 * sum.tail(self.floor),
            None if events * sum.tail(self.floor - 1) > chance => return None,
            None => chance,
        };
        let passes = |count: u64| events / count as f64 * sum.tail(self.floor - count) > left;
        let count = first(1, self.floor, passes) - 1;
        (count > 0).then(|| (events / count as f64).max(1.0))
    }

    fn rare(&self) -> f64 {
        if self.declared.is_some() { RARE_DECLARED } else { RARE_OPEN }
    }

    /// The most keys that are evaluated in windows which share noise with one, among so many events.
    fn most_keys(&self, events: u64) -> f64 {
        let followed = 2.0 * events as f64 / (1.0 - self.request.spec.delta().as_f64());
        self.declared.map_or(followed, |keys| keys as f64).max(1.0)
    }

    /// The keys that pass, with their noisy counts, of those that are frequent enough or followed.
    fn select_open(
        &self,
        counts: &CountSource<'_, K>,
        nodes: &[&NodeKey],
        followed: &FollowedWindow<'_, K>,
        threshold: u64,
    ) -> Result<Vec<(K, u64)>> {
        let pane = followed.pane;
        let ThresholdMargin { below, cap } =
            self.margin.unwrap_or(ThresholdMargin { below: u64::MAX, cap: None });
        let mut noises = Noises { cap, ..Noises::new(nodes, &self.noise.sampler) };
        let mut passed = Vec::new();
        let keys = followed.keys.keys_in(pane);
        for (key, count) in keys.iter().zip(counts.counts_of(&keys)?) {
            passed.push((key.clone(), count as i64 + noises.of::<K>(key.borrowed())?));
        }
        let mut least = threshold.saturating_sub(below).max(1);
        let is_followed = |key: K::Ref<'_>| followed.keys.contains(key, pane);
        if let (Some(top), Some(cap)) = (self.request.spec.top, cap) {
            let last = last_of_top(counts, least, top, |key, count| {
                noises.noisy::<K>(key, count, is_followed(key))
            })?;
            least = least.max(u64::try_from(last).unwrap_or(0).saturating_sub(cap));
        }
        counts.for_each(|key, count| {
            if count >= least && !is_followed(key) {
                passed.push((K::owned(key), noises.noisy::<K>(key, count, false)?));
            }
            Ok(())
        })?;
        let passes = |(key, noisy)| (noisy >= threshold as i64).then_some((key, noisy as u64));
        Ok(passed.into_iter().filter_map(passes).collect())
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
    /// The most noise of a key that is not followed.
    cap: Option<u64>,
}

impl<'a> Noises<'a> {
    fn new(nodes: &[&NodeKey], sampler: &'a Inversion) -> Self {
        let functions = nodes.iter().map(|node| node.function()).collect();
        Self { functions, sampler, encoding: Vec::new(), cap: None }
    }

    /// The noisy count of a key.
    fn noisy<K: Key>(&mut self, key: K::Ref<'_>, count: u64, is_followed: bool) -> Result<i64> {
        let noise = self.of::<K>(key)?;
        let cap = self.cap.filter(|_| !is_followed).map_or(i64::MAX, |cap| cap as i64);
        Ok(count as i64 + noise.min(cap))
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

/// A noisy count that `top` of the keys with at least this count reach: the lowest of those with the highest counts. So no key with a
/// lower one is among the `top`. Where there are fewer keys, none is too low.
fn last_of_top<K: Key>(
    counts: &CountSource<'_, K>,
    least: u64,
    top: u64,
    mut noisy: impl FnMut(K::Ref<'_>, u64) -> Result<i64>,
) -> Result<i64> {
    let most = usize::try_from(top).unwrap_or(usize::MAX);
    let mut highest = BinaryHeap::new();
    counts.for_each(|_, count| {
        if count < least {
            return Ok(());
        }
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
    let mut found = Vec::new();
    counts.for_each(|key, count| {
        if count >= lowest {
            found.push(noisy(key, count)?);
        }
        Ok(())
    })?;
    found.sort_unstable();
    Ok(found[found.len() - most])
}

impl ThresholdMargin {
    /// At a delta for the threshold, and for the cap if there is one.
    fn new(spec: &ValidSpec, unit: Unit, sum: &NoiseSum, delta: f64) -> Result<Self> {
        let of_cap = spec.top.map_or(0.0, |_| SHARE_OF_CAP);
        // A count may be moved so far past the least one that is evaluated.
        let moved = u64::from(unit.largest_count() - 1);
        let windows = if moved == 0 { spec.panes() } else { spec.windows_of_unit() };
        let smallest = delta * if spec.top.is_some() { of_cap } else { 1.0 };
        let chances = 2.0 * spec.windows_of_unit() as f64 * f64::from(unit.keys());
        if smallest / chances < LEAST_CHANCE {
            let given = spec.delta().as_f64();
            let least = 10_f64.powf((LEAST_CHANCE * chances * given / smallest).log10().ceil());
            return Err(Error::parameter(format!(
                "delta is {given:e}, which is too small for continual release: take {least:.0e} or more, or declare the keys"
            )));
        }
        let reach = |windows, share: f64| least_reach(sum, unit, windows, delta * share) + moved;
        Ok(Self {
            below: reach(windows, 1.0 - of_cap).max(1 + moved),
            cap: spec.top.map(|_| reach(spec.windows_of_unit(), of_cap)),
        })
    }
}

/// The least threshold of open keys of users with this noise, if there is one.
pub(crate) fn threshold_of_users(spec: &ValidSpec, unit: Unit, sum: &NoiseSum, delta: f64) -> Option<u64> {
    Some(1 + ThresholdMargin::new(spec, unit, sum, delta).ok()?.below)
}

/// The least `d` that the noise of a unit's keys reaches in some of so many windows with a chance of at most `delta`. An event moves one
/// key up and another one down, which needs noise of one more; a user moves all keys in one direction.
fn least_reach(sum: &NoiseSum, unit: Unit, windows: u64, delta: f64) -> u64 {
    let chance = delta / (windows as f64 * f64::from(unit.keys()));
    if unit.is_user() {
        return sum.reach(chance);
    }
    // Between one key in each window and two.
    let [from, to] = [chance, chance / 2.0].map(|chance| sum.reach(chance));
    first(from, to, |d| sum.tail(d) + sum.tail(d + 1) <= chance)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::noise::InsecureSeededEntropy;
    use crate::release::test_oracle::{pane, times};
    use crate::spec::{Bounds, Norm, Unit, Window};
    use crate::stream::{Builder, HeavyHitters};

    fn releaser(builder: Builder<u64>) -> Result<ContinualReleaser<u64>> {
        let request = builder.together(1).sequence_request(0)?;
        let noise = WindowNoise::new(request.spec.panes(), request.unit(), request.split.counts, u64::MAX)?;
        let setup = ContinualSetup { noise, memory: 1, running: 0, people: 0 };
        ContinualReleaser::new(request, setup)
    }

    fn sequence(builder: Builder<u64>, panes: u64) -> Result<ContinualReleaser<u64>> {
        releaser(builder.window(Window::events(1_000 * panes).slide(1_000)))
    }

    fn declared(keys: u64) -> Builder<u64> {
        HeavyHitters::builder(Keys::range(0..keys).unwrap()).norm(Norm::L1)
    }

    /// Noise of scale 2 reaches 5 with a chance of 0.0511, and 4 with one of 0.0842: a million of 2^24 keys is 0.0596.
    #[test]
    fn noise_alone_lists_no_more_than_a_million_declared_keys() {
        let floor = |keys| sequence(declared(keys), 1).unwrap().floor;
        assert_eq!((floor(3), floor(1_000_000)), (1, 1));
        assert_eq!(LARGEST_UNIVERSE, 16_777_216);
        assert_eq!(floor(LARGEST_UNIVERSE), 5);
        assert!(sequence(declared(LARGEST_UNIVERSE + 1), 1).is_err());
        assert_eq!(sequence(declared(3), 1).unwrap().margin, None);
    }

    /// Three panes a window, so five whose noise is in that of one: the most that five in a row had.
    #[test]
    fn around_a_window_are_the_panes_that_share_noise_with_it() {
        let open = HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1);
        let sequence = sequence(open, 3).unwrap();
        assert_eq!(sequence.most_around(&[]), 0);
        assert_eq!(sequence.most_around(&[4, 1]), 5);
        assert_eq!(sequence.most_around(&[9, 1, 1, 1, 1, 5, 1, 1]), 13);
        assert_eq!(sequence.most_around(&[1, 1, 1, 1, 7, 7, 1, 1]), 17);
    }

    /// The tail of the sum of so many noise values of scale `scale`, by convolution.
    fn tails(scale: f64, terms: usize) -> Vec<f64> {
        let q = (-1.0 / scale).exp();
        let reach = (60.0 * scale * (terms as f64).sqrt()) as i64;
        let one = |value: i64| (1.0 - q) / (1.0 + q) * q.powi(value.unsigned_abs() as i32);
        let mut chances: Vec<f64> = (-reach..=reach).map(one).collect();
        for _ in 1..terms {
            let at = |value: i64| usize::try_from(value + reach).ok().and_then(|at| chances.get(at)).copied();
            let sum = |value: i64| (-reach..=reach).map(|z| one(z) * at(value - z).unwrap_or(0.0)).sum();
            chances = (-reach..=reach).map(sum).collect();
        }
        (0..=reach as usize).map(|m| chances[m + reach as usize..].iter().rev().sum()).collect()
    }

    /// `B (t(d) + t(d + 1)) <= delta` and no less; of the top, 1023 parts of delta in 1024, and for the cap the rest.
    #[test]
    fn the_margin_of_events_is_the_least_that_delta_allows_however_many_keys_there_are() {
        let open = || HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1).epsilon(1.0);
        for panes in [1, 2, 3] {
            let tails = tails(2.0, panes);
            let least = |delta: f64| {
                let chance = |d: usize| panes as f64 * (tails[d] + tails[d + 1]);
                (1..).find(|d| chance(*d) <= delta).map(|d| d as u64)
            };
            for step in 0..40 {
                let delta = 0.5 * 0.6_f64.powi(step);
                let margin =
                    |builder: Builder<u64>| sequence(builder.delta(delta), panes as u64).unwrap().margin;
                for entries in [1, 1_000] {
                    let all = margin(open().all().entries(entries));
                    assert_eq!(
                        all.map(|all| (Some(all.below), all.cap)),
                        Some((least(delta), None)),
                        "{delta}"
                    );
                }
                let top = margin(open().top(5)).unwrap();
                assert_eq!(Some(top.below), least(delta * 1023.0 / 1024.0), "{delta}");
                assert_eq!(top.cap, least(delta / 1024.0), "{delta}");
            }
        }
    }

    /// `c (B + E - 1) t(d) <= delta`, with `B` for windows where `m = 1`, and of the cap `t(D - m + 1)`.
    #[test]
    fn the_margin_of_users_is_the_least_that_delta_allows() {
        let hour = Duration::from_secs(3_600);
        for (hours, keys, times, epoch) in
            [(1, 1, 1, 1), (1, 3, 2, 1), (2, 3, 1, 2), (4, 3, 2, 2), (3, 2, 1, 1)]
        {
            let unit = Unit::User(Bounds::new(keys).per_key(times).epoch(epoch * hour));
            let of = |builder: Builder<u64>| {
                let builder = builder.unit(unit).epsilon(1.0).window(Window::clock(hours * hour).slide(hour));
                releaser(builder).unwrap()
            };
            let open = || HeavyHitters::<u64>::builder(Keys::open());
            // The total has a part of epsilon.
            let epsilon = of(open().all()).request.split.counts.as_f64();
            let tails = tails(f64::from(keys * times) / epsilon, hours as usize);
            for step in 0..20 {
                let delta = 1e-3 * 0.5_f64.powi(step);
                let least = |delta: f64, windows: u32| {
                    let chance = delta / f64::from(keys * windows);
                    (1..).find(|d| tails[*d] <= chance).unwrap() as u64 + u64::from(times) - 1
                };
                let all_windows = hours + epoch - 1;
                let windows = if times == 1 { hours } else { all_windows };
                assert_eq!(
                    of(open().all().delta(delta)).margin.unwrap().below,
                    least(delta, windows),
                    "{hours} {keys} {times}"
                );
                let top = of(open().top(5).delta(delta)).margin.unwrap();
                assert_eq!(top.below, least(delta * 1023.0 / 1024.0, windows));
                assert_eq!(top.cap, Some(least(delta / 1024.0, all_windows)));
            }
        }
    }

    #[test]
    fn a_delta_that_is_too_small_is_refused_with_the_least_that_can() {
        let with =
            |delta: f64| sequence(HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1).delta(delta), 50);
        // Fifty windows, twice 1e-50 each.
        let refused = with(0.9e-48).err().unwrap().to_string();
        assert!(refused.contains("delta is 9e-49") && refused.contains("take 1e-48 or more"), "{refused}");
        assert!(with(1.1e-48).is_ok());
    }

    /// Key `k` comes `k` times. It is evaluated from a count of `threshold - margin` on, and if it is followed whatever its count, and is
    /// then listed if its noisy count passes.
    #[test]
    fn open_keys_are_evaluated_from_the_margin_below_the_threshold_on_and_if_followed() {
        let open = HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1).epsilon(1.0);
        let sequence = sequence(open.delta(0.04).entries(1_000), 1).unwrap();
        let below = sequence.margin.unwrap().below;
        let panes = [pane((1..30).flat_map(|key| times(key, key as usize)), sequence.request.shape)];
        let mut seen = [0; 3];
        for (seed, threshold) in (0..400).flat_map(|seed| [(seed, 1 + below), (seed, 20)]) {
            let node = NodeKey::draw(&mut InsecureSeededEntropy::new(seed)).unwrap();
            // Windows of one pane follow nothing: these are as if of two.
            let mut followed = FollowedKeys::new(2, 3);
            let listed: Vec<u64> = (30..40).chain([seed % 30]).collect();
            followed.add(0, listed.iter());
            let mut found = sequence
                .select_open(
                    &CountSource::of_panes(&panes, &sequence.request),
                    &[&node],
                    &FollowedWindow { keys: &followed, pane: 1 },
                    threshold,
                )
                .unwrap();
            let mut function = node.function();
            let mut expected = Vec::new();
            for key in 0..40_u64 {
                let noise = function.noise(&key.to_le_bytes(), &sequence.noise.sampler).unwrap();
                let count = if (1..30).contains(&key) { key } else { 0 };
                let noisy = count as i64 + noise;
                let (is_frequent, is_followed) =
                    (count > 0 && count + below >= threshold, listed.contains(&key));
                if noisy < threshold as i64 {
                    continue;
                }
                if is_frequent || is_followed {
                    expected.push((key, noisy as u64));
                }
                seen[0] += u32::from(is_frequent && count + below == threshold);
                seen[1] += u32::from(is_followed && !is_frequent);
                seen[2] += u32::from(!is_followed && count + below + 1 == threshold);
            }
            found.sort_unstable();
            assert_eq!(found, expected, "seed {seed}");
        }
        assert!(seen.iter().all(|seen| *seen > 3), "{seen:?}");
    }

    /// The list is the one that evaluates every key, with noise of keys that are not followed up to the cap.
    #[test]
    fn passing_over_keys_changes_no_list_of_the_top() {
        let open = HeavyHitters::<u64>::builder(Keys::open()).epsilon(1.0).delta(0.2).entries(1_000);
        let mut capped = 0;
        for top in [1, 3, 8] {
            let sequence = sequence(open.clone().top(top), 1).unwrap();
            let ThresholdMargin { below, cap } = sequence.margin.unwrap();
            // A cap that noise reaches now and then.
            let cap = cap.map(|cap| cap.min(5));
            let sequence = ContinualReleaser { margin: Some(ThresholdMargin { below, cap }), ..sequence };
            let count = |key: u64| 1 + key % 7 + 3 * (key % 5);
            let events = (0..60).flat_map(|key| times(key, count(key) as usize));
            let panes = [pane(events, sequence.request.shape)];
            for seed in 0..300 {
                let node = NodeKey::draw(&mut InsecureSeededEntropy::new(seed)).unwrap();
                let mut followed = FollowedKeys::new(2, 3);
                let listed = [seed % 60, seed % 7, 70 + seed % 2];
                followed.add(0, listed.iter());
                let threshold = 1 + below;
                let source = CountSource::of_panes(&panes, &sequence.request);
                let window = FollowedWindow { keys: &followed, pane: 1 };
                let first = |mut keys: Vec<(u64, u64)>| {
                    keys.sort_unstable_by_key(|(key, noisy)| (Reverse(*noisy), *key));
                    keys.truncate(top as usize);
                    keys
                };
                let found = first(sequence.select_open(&source, &[&node], &window, threshold).unwrap());
                let mut function = node.function();
                let mut expected = Vec::new();
                for key in 0..72_u64 {
                    let count = if key < 60 { count(key) } else { 0 };
                    let mut noise = function.noise(&key.to_le_bytes(), &sequence.noise.sampler).unwrap();
                    if !listed.contains(&key) {
                        capped += u32::from(noise > 5 && count + below >= threshold);
                        noise = noise.min(5);
                    }
                    let is_evaluated = listed.contains(&key) || count > 0 && count + below >= threshold;
                    let noisy = count as i64 + noise;
                    if is_evaluated && noisy >= threshold as i64 {
                        expected.push((key, noisy as u64));
                    }
                }
                assert_eq!(found, first(expected), "top {top}, seed {seed}");
            }
        }
        assert!(capped > 100, "{capped}");
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
        releaser(builder).unwrap()
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
}
