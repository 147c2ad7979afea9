//! Builder of heavy hitters: a specification, step by step, and its consequences.

use std::io;

use super::continual::Continual;
use super::heavy_hitters::HeavyHitters;
use super::history::History;
use crate::counting::PaneCounter;
use crate::counting::events::WindowSums;
use crate::counting::users::spill::File;
use crate::counting::users::{BatchBounder, Calendar, SpillFactory};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::key::{Footprint, Key, Keys, Universe};
use crate::mechanism::Threshold;
use crate::noise::{DiscreteLaplace, Entropy, Noise, NoiseSum, OsEntropy};
use crate::numbers::{in_megabytes, megabytes, megabytes_below};
use crate::plan::{Forecast, Memory, Plan, Planner, TooSmall};
use crate::privacy::ledger::{Charge, Measurement};
use crate::privacy::{Cost, Delta, Epsilon, Split};
use crate::release::Request;
use crate::release::continual::{ContinualReleaser, ContinualSetup, KEYS_OF_PEOPLE, threshold_of_users};
use crate::release::noise_tree::WindowNoise;
use crate::release::request::{drawn, noise_unit};
use crate::sketch::count_sketch::Dimensions;
use crate::spec::check_windows;
use crate::spec::window::LONGEST;
use crate::spec::{Choice, Edge, KeySpec, Norm, Policy, Size, Span, Spec, Unit, ValidSpec, Window};

/// How to build [`HeavyHitters`] or [`Continual`]: a [`Spec`], step by step. Only the keys have no default. Whatever is wrong with
/// it is said by the first method that returns a result, in a sentence that says what to do.
///
/// ```
/// use frostpane::{HeavyHitters, Keys, Window};
///
/// # fn main() -> frostpane::Result<()> {
/// let builder = HeavyHitters::builder(Keys::range(0..65_536)?)
///     .alpha(0.1)
///     .epsilon(0.5)
///     .window(Window::events(1_000_000));
/// // What will be done and what that costs, before any data.
/// assert_eq!(builder.plan()?.layout.slide, 1_000);
/// assert_eq!(builder.cost()?.epsilon(), 0.5);
/// let mut ports = builder.build()?;
///
/// let refusal = HeavyHitters::<u64>::builder(Keys::open()).epsilon(-1.0).build().err().unwrap();
/// assert!(refusal.to_string().starts_with("epsilon is -1, but must be above 0"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Builder<K: Key> {
    keys: Keys<K>,
    spec: Spec,
    /// Why what was given last for epsilon is none.
    no_epsilon: Option<Error>,
    threads: usize,
    program: u64,
    scratch: Option<SpillFactory>,
    /// A secret one unless a test gives it.
    seed: Option<u64>,
    /// The rest of the memory, unless a test gives less.
    memory_for_users: Option<u64>,
    /// The most keys of people that a list at every slide reckons with.
    keys_of_people: u64,
    fault: Fault,
}

impl<K: Key> Builder<K> {
    pub(super) fn new(keys: Keys<K>) -> Self {
        Self::from_spec(Spec::default(), keys)
    }

    /// What a specification asks for, of these keys: those that it names, where it names any.
    ///
    /// ```
    /// use frostpane::{Builder, Bytes, Keys, Span, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec: Spec = serde_json::from_str(r#"{ "alpha": 0.1, "window": [10000, 100000] }"#)?;
    /// let builder = Builder::<Bytes>::from_spec(spec, Keys::open());
    /// // With all choices made, as it could be stored beside what is released.
    /// let chosen = builder.spec()?;
    /// assert_eq!((chosen.slide, chosen.releases), (Some(Span::Events(157)), Some(2)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_spec(spec: Spec, keys: Keys<K>) -> Self {
        Self {
            keys,
            spec,
            no_epsilon: None,
            threads: 1,
            program: 0,
            scratch: None,
            seed: None,
            memory_for_users: None,
            keys_of_people: KEYS_OF_PEOPLE,
            fault: Fault::default(),
        }
    }

    /// Builds a mechanism that is broken on purpose.
    #[cfg(feature = "mutants")]
    pub(crate) fn broken(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut Spec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// What heavy is relative to: the number of events (L1), or the L2 norm, which finds more. L2 unless
    /// told.
    pub fn norm(self, norm: Norm) -> Self {
        self.with(|spec| spec.norm = norm)
    }

    /// A key is heavy from this share of the norm on; 0.05 unless told.
    pub fn alpha(self, alpha: f64) -> Self {
        self.with(|spec| spec.alpha = alpha)
    }

    /// Lists the `keys` keys with the highest counts, as far as privacy allows, instead of those that are heavy: then all of
    /// epsilon is for the counts, because nothing is relative to a norm.
    ///
    /// ```
    /// # use frostpane::{Bytes, HeavyHitters, Keys};
    /// # fn main() -> frostpane::Result<()> {
    /// let mut pages = HeavyHitters::<Bytes>::builder(Keys::open()).top(2).build()?;
    /// for (page, views) in [("/", 5_000), ("/about", 900), ("/blog", 2_000), ("/rare", 1)] {
    ///     pages.update_batch((0..views).map(|_| page.as_bytes()))?;
    /// }
    /// let release = pages.release()?;
    /// assert_eq!(release.heavy[1].key.as_ref(), b"/blog");
    /// assert_eq!((release.heavy.len(), release.top, release.alpha), (2, Some(2), None));
    /// assert!(release.complete_above < 2_100, "whatever occurred that often is listed");
    /// # Ok(())
    /// # }
    /// ```
    pub fn top(self, keys: u64) -> Self {
        self.with(|spec| spec.top = Some(keys))
    }

    /// Lists every key that privacy allows, instead of those that are heavy.
    pub fn all(self) -> Self {
        self.with(|spec| spec.all = true)
    }

    /// The privacy loss of a release, to the millionth; 1 unless told.
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        match Epsilon::new(epsilon) {
            Ok(epsilon) => (self.spec.epsilon, self.no_epsilon) = (epsilon, None),
            Err(refusal) => self.no_epsilon = Some(refusal),
        }
        self
    }

    /// The chance with which the loss may be larger; 1e-9 unless told. Declared keys need none and spend
    /// none.
    pub fn delta(self, delta: f64) -> Self {
        self.with(|spec| spec.delta = Delta::new(delta))
    }

    /// The longest window; a million events unless told.
    pub fn window(self, window: Window) -> Self {
        self.with(|spec| spec.set_window(window))
    }

    /// Where the window ends, and all shorter ones with it, if that is known before the first event: a moment or, by count, a number of
    /// events. Then a window begins exactly where it was asked to, and its events may come in any order; those before and
    /// after it are not counted. The slide and the lateness have no meaning.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use frostpane::{Edge, HeavyHitters, Keys, Window};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hour = Duration::from_secs(3_600);
    /// let mut ports = HeavyHitters::<u64>::builder(Keys::range(0..1_000)?)
    ///     .window(Window::clock(hour))
    ///     .until(Edge::Instant("1970-01-01T02:30:00Z".parse()?))
    ///     .build()?;
    /// for minute in [149, 31, 90, 29, 150] {
    ///     ports.update_at(minute * 60_000_000, 443)?;
    /// }
    /// // From 1:30 to 2:30, the end not included.
    /// assert_eq!(ports.release()?.window.events, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn until(self, end: Edge) -> Self {
        self.with(|spec| spec.until = Some(end))
    }

    /// How panes are kept as the window moves on; the policy that suits the window unless told ([`choice`](Self::choice)).
    pub fn policy(self, policy: Policy) -> Self {
        self.with(|spec| spec.policy = Some(policy))
    }

    /// With what probability the statements of a release hold together; 0.95 unless told.
    pub fn confidence(self, confidence: f64) -> Self {
        self.with(|spec| spec.confidence = confidence)
    }

    /// In how many releases an event may be; 1 unless told. Each of them costs the epsilon and the delta: an
    /// event loses at most `releases` times these.
    pub fn releases(self, releases: u32) -> Self {
        self.with(|spec| spec.releases = Some(releases))
    }

    /// **A privacy parameter** of a list that is released at every slide with open keys; 1,000,000 unless told. Delta covers
    /// an event in a pane that is given in advance however long this runs, whatever its key is chosen by. Who can also choose by what
    /// was released *when* to have the event is held to delta up to this many releases; after that it grows in proportion
    /// to them, and each release says so. With the defaults a thousand times as many cost a threshold a tenth higher. Declared keys
    /// have no delta.
    pub fn horizon(self, releases: u64) -> Self {
        self.with(|spec| spec.horizon = Some(releases))
    }

    /// Over how many releases of a list at every slide, any so many, the statements hold together with the stated
    /// confidence; 1,000 unless told.
    pub fn together(self, releases: u64) -> Self {
        self.with(|spec| spec.together = Some(releases))
    }

    /// The most memory to take, in bytes; 64 MB unless told. What panes keep follows from it.
    pub fn memory(self, bytes: u64) -> Self {
        self.with(|spec| spec.memory = Size(bytes))
    }

    /// The mean length of keys made of bytes, for the reckoning of memory; 16 unless told.
    pub fn key_bytes(self, bytes: u64) -> Self {
        self.with(|spec| spec.key_bytes = bytes)
    }

    /// The most keys that a pane keeps, instead of as many as the memory allows. Panes of no more events are
    /// exact.
    pub fn entries(self, entries: u32) -> Self {
        self.with(|spec| spec.entries = Some(entries))
    }

    /// The rows and the width of the sketch that gives the L2 norm where panes are not exact, instead of one
    /// that fits the memory.
    pub fn sketch(self, rows: usize, width: usize) -> Self {
        self.with(|spec| spec.sketch = Some(Dimensions { rows, width }))
    }

    /// How many threads count the events, the one that brings them included; 1 unless told. Each takes memory,
    /// which may leave room for fewer keys; with [`entries`](Self::entries) given they change no release.
    /// Integers in windows by count gain most, and a list that is released at every slide nothing.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// What is protected: the key of one event unless told, or all that one user did in an epoch.
    pub fn unit(self, unit: Unit) -> Self {
        self.with(|spec| spec.unit = unit)
    }

    /// Where users go that do not fit into the memory: files that this makes, empty, which nobody else sees and which are gone when
    /// they are dropped or the process ends. Without it more users than fit are an error.
    pub fn scratch(self, create: impl Fn() -> io::Result<Box<dyn File>> + Send + Sync + 'static) -> Self {
        Self { scratch: Some(SpillFactory::new(create)), ..self }
    }

    /// The same.
    pub(crate) fn spilling_to(self, scratch: Option<SpillFactory>) -> Self {
        Self { scratch, ..self }
    }

    pub(super) fn number_of_threads(&self) -> usize {
        self.threads
    }

    /// Files for users that do not fit into the memory, if there are any.
    pub(crate) fn spills_to(&self) -> Option<SpillFactory> {
        self.scratch.clone()
    }

    /// A seed that is known instead of a secret one. For tests: who knows it can foresee which keys of a user are counted.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn with_insecure_seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Less memory for users than is left for them. For tests: more than so many bytes go to disk.
    #[cfg(any(test, feature = "internals"))]
    #[doc(hidden)]
    pub fn with_memory_for_users(self, bytes: u64) -> Self {
        Self { memory_for_users: Some(bytes), ..self }
    }

    /// Fewer keys that other people have than a list at every slide reckons with. For tests: its delta holds where there are no more.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn with_keys_of_others(self, keys: u64) -> Self {
        Self { keys_of_people: keys, ..self }
    }

    /// How much of the memory the program around this takes for itself; none unless told.
    pub fn program(self, bytes: u64) -> Self {
        Self { program: bytes, ..self }
    }

    /// With all choices made, which are then as good as given. What is wrong with the specification is said here.
    pub fn decided(self) -> Result<Self> {
        let norm = self.spec.norm;
        let spec = self.checked()?.spelled_out();
        Ok(Self { spec: Spec { norm, ..spec }, ..self })
    }

    /// The specification so far, with all choices made.
    pub fn spec(&self) -> Result<Spec> {
        let spec = self.checked()?.spelled_out();
        let keys = match (&self.keys, &spec.keys) {
            // Where the keys came from is kept.
            (Keys::Declared(_), KeySpec::File(_)) => spec.keys.clone(),
            (keys, _) => KeySpec::of(keys)?,
        };
        Ok(Spec { keys, norm: self.spec.norm, ..spec })
    }

    /// The cost of a release of each window, all together: [`Cost`] has an example.
    pub fn cost(&self) -> Result<Cost> {
        Ok(self.checked()?.cost(self.spec.windows.len()))
    }

    /// The layout of panes, and the memory that it takes.
    pub fn plan(&self) -> Result<Plan> {
        match self.spec.continual {
            false => self.plan_of(&self.checked()?),
            true => Ok(self.sequence_plan()?.1),
        }
    }

    /// What to expect of a release over a window with so many events; by count, a full window. For L2 also at
    /// a certain norm; without one, at the least norm at which the promises hold. Where the specification asks for a list at
    /// every slide, of any of its lists whose window is full.
    ///
    /// ```
    /// use frostpane::{HeavyHitters, Keys, Norm};
    ///
    /// # fn main() -> frostpane::Result<()> {
    /// let builder = HeavyHitters::<u64>::builder(Keys::open()).norm(Norm::L1).alpha(0.01);
    /// let forecast = builder.forecast(1_000_000, None)?;
    /// assert!(forecast.held, "the three promises will be made");
    /// assert!(forecast.noise < 50 && forecast.least_listed < 10_000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forecast(&self, events: u64, norm: Option<u64>) -> Result<Forecast> {
        if self.spec.continual {
            return self.forecast_of_sequence(events, norm);
        }
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        self.forecast_with(spec, &plan, events, norm)
    }

    /// The same for a release over a shorter window.
    pub fn forecast_over(&self, span: impl Into<Span>, events: u64, norm: Option<u64>) -> Result<Forecast> {
        if self.spec.continual {
            return Err(Error::parameter(
                "a list at every slide has one window: ask for the forecast of that",
            ));
        }
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        let length = spec.window().shorter(span.into(), &spec.grid())?;
        let shorter = Plan { layout: plan.layout.over(length), ..plan };
        self.forecast_with(spec, &shorter, events, norm)
    }

    /// The policy, and why: the one that was given, or the one that suits the windows
    /// ([how it is chosen](crate::proofs::plan#the-policy)).
    pub fn choice(&self) -> Result<Choice> {
        match self.spec.policy {
            None if self.spec.unit.is_user() && !self.spec.continual => return Ok(Choice::known_end()),
            Some(Policy::Fixed) => return Ok(Choice::known_end()),
            Some(policy) => return Ok(Choice::given(policy)),
            None if self.spec.until.is_some() => return Ok(Choice::known_end()),
            None => {}
        }
        check_windows(&self.spec.windows)?;
        if self.spec.continual {
            return Ok(Choice::one_window());
        }
        if self.spec.windows.len() > 1 {
            return Ok(Choice::several_windows());
        }
        let Span::Events(events) = self.spec.longest() else {
            return Ok(Choice::one_window());
        };
        // Where the norm is public, panes that end by it gain nothing.
        if self.spec.norm == Norm::L1 || !self.spec.lists_heavy() {
            return Ok(Choice::one_window());
        }
        let least_norm = |policy| -> Result<_> {
            let forecast = self.clone().policy(policy).forecast(events, None)?;
            Ok::<_, Error>(forecast.least_norm_asked)
        };
        // Memory may be too small for the private histogram alone.
        let smooth = least_norm(Policy::Smooth).unwrap_or(None);
        Ok(Choice::between(events, least_norm(Policy::Uniform)?, smooth))
    }

    /// The least epsilon, to the thousandth, at which every key that occurred `count` times is listed, as far
    /// as noise and memory are concerned: alpha is taken as so small that it asks for nothing more. None if
    /// no epsilon up to 100 does.
    ///
    /// ```
    /// use frostpane::{HeavyHitters, Keys};
    ///
    /// # fn main() -> frostpane::Result<()> {
    /// let builder = HeavyHitters::<u64>::builder(Keys::open());
    /// let rare = builder.epsilon_for(100, 1_000_000)?.unwrap();
    /// let frequent = builder.epsilon_for(1_000, 1_000_000)?.unwrap();
    /// assert!(frequent < rare && rare < 1.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn epsilon_for(&self, count: u64, events: u64) -> Result<Option<f64>> {
        let given = self.clone().policy(self.choice()?.policy);
        let lists = |thousandths: u64| -> Result<bool> {
            let builder = given.clone().epsilon(thousandths as f64 / 1e3);
            Ok(builder.forecast(events, None)?.least_listed_at_floor <= count)
        };
        let (mut low, mut high) = (0, 100_000);
        if !lists(high)? {
            return Ok(None);
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            // An epsilon may be too small for any list at every slide.
            if lists(middle).unwrap_or(false) { high = middle } else { low = middle }
        }
        Ok(Some(high as f64 / 1e3))
    }

    /// Checks everything and starts an empty window.
    pub fn build(self) -> Result<HeavyHitters<K>> {
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        let request = self.request(spec, &plan, self.seed()?)?;
        HeavyHitters::new(&plan, request, self.threads, self.scratch)
    }

    /// Checks everything and starts a list that is released again at every slide, all of them at one epsilon. Its panes
    /// are of equal length, and an event is in as many releases as a window has panes: neither a policy nor a number of
    /// releases can be asked for.
    pub fn continual(self) -> Result<Continual<K>> {
        let (spec, plan, noise) = self.sequence_plan()?;
        let request = self.request(spec, &plan, self.seed()?)?;
        let mut continual = Continual::new(request, self.setup(noise, &plan.memory), &self.footprint())?;
        let users = continual.counter.live_mut();
        users.into_iter().for_each(|users| users.spill_to(self.scratch.clone()));
        Ok(continual)
    }

    /// The same of people, for a time that is over: between two moments at which slides begin.
    pub fn history(self, from: Edge, until: Edge) -> Result<History<K>> {
        let scratch = self.scratch.clone();
        let (spec, plan, noise) = self.sequence_plan()?;
        let Unit::User(bounds) = spec.unit else {
            return Err(Error::parameter(
                "a list at every slide of a time that is over was asked for, but no people are protected: events tell the time, so give \
                 them in its order to a list at every slide",
            ));
        };
        let calendar = Calendar::new(&bounds, spec.grid().slide);
        let panes = calendar.panes_between(from.position(), until.position())?;
        let request = self.request(spec, &plan, self.seed()?)?;
        let setup = self.setup(noise, &plan.memory);
        let bounder = BatchBounder::new(
            request.keys.clone(),
            bounds,
            calendar,
            calendar.periods_of(panes.start).start..calendar.periods_of(panes.end).start,
            request.shape.seed(),
            (setup.people, scratch),
            self.fault,
        );
        let continual = Continual::new(request, setup, &self.footprint())?;
        Ok(History::new(bounder, continual, calendar, panes))
    }

    fn seed(&self) -> Result<u64> {
        match self.seed {
            Some(known) => Ok(known),
            None => OsEntropy::new().word(),
        }
    }

    /// With a seed that was drawn before.
    pub(crate) fn seeded(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// With what panes are made with written down: another version of the program may plan them in another way.
    pub(crate) fn pinned(self) -> Result<Self> {
        if self.spec.unit.is_user() {
            return Ok(self);
        }
        let parameters = match self.spec.continual {
            true => {
                let (spec, plan, _) = self.sequence_plan()?;
                self.request(spec, &plan, 0)?.shape.parameters()
            }
            false => self.requested()?.1.shape.parameters(),
        };
        let entries = u32::try_from(parameters.entries()).ok();
        let spec = Spec {
            entries: self.spec.entries.or(entries),
            sketch: self.spec.sketch.or(parameters.sketch()),
            ..self.decided_spec()?
        };
        Ok(Self { spec, ..self })
    }

    fn decided_spec(&self) -> Result<Spec> {
        Ok(self.clone().decided()?.spec)
    }

    pub(crate) fn is_continual(&self) -> bool {
        self.spec.continual
    }

    pub(crate) fn keys(&self) -> &Keys<K> {
        &self.keys
    }

    /// The request of a single release, and its plan.
    pub(crate) fn requested(&self) -> Result<(Plan, Request<K>)> {
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        let request = self.request(spec, &plan, self.seed()?)?;
        Ok((plan, request))
    }

    /// Charges to everyone before any release, and to those that one covers.
    pub(crate) fn charges(&self) -> Result<Charges> {
        if self.spec.continual {
            let (spec, _) = self.sequence_spec()?;
            let born = Charge::laplace(spec.epsilon, spec.delta());
            return Ok(Charges { born, release: Charge::of(&[], Delta::ZERO) });
        }
        let spec = self.checked()?;
        let split = spec.split(spec.epsilon);
        let boundaries: Vec<Measurement> = split.boundaries.into_iter().map(Measurement::Laplace).collect();
        let measured = [split.total, split.norm].into_iter().flatten().map(Measurement::Laplace);
        let counts = match (*self.floor(&spec).noise(), spec.unit) {
            (Noise::Gaussian(gaussian), Unit::User(bounds)) => Measurement::Gaussian {
                epsilon: split.counts,
                squares: u64::from(bounds.per_user) * u64::from(bounds.per_key).pow(2),
                variance: gaussian.fraction(),
            },
            _ => Measurement::Laplace(split.counts),
        };
        let parts: Vec<Measurement> = measured.chain([counts]).collect();
        Ok(Charges { born: Charge::of(&boundaries, Delta::ZERO), release: Charge::of(&parts, spec.delta()) })
    }

    /// The specification of a list at every slide, with what its noise leaves of the memory.
    fn sequence_spec(&self) -> Result<(ValidSpec, WindowNoise)> {
        let spec = self.clone().with(|spec| spec.continual = true).checked()?;
        let counts = self.split(&spec).counts;
        let (panes, memory) = (spec.panes(), spec.memory.0 / 2);
        let unit = noise_unit(spec.unit, self.fault);
        let noise = match unit {
            Unit::User(bounds) if spec.declared().is_none() => {
                let keys = self.keys_of_people;
                let threshold = |sum: &NoiseSum, delta| threshold_of_users(&spec, (unit, keys), sum, delta);
                let (panes, delta) = ((panes, spec.panes_of_unit()), spec.delta().as_f64());
                WindowNoise::for_open_users(panes, bounds, counts, delta, memory, threshold)?
            }
            unit => WindowNoise::new(panes, unit, counts, memory)?,
        };
        let memory = spec.memory.0 - noise.bytes();
        Ok((spec.with_memory(memory), noise))
    }

    /// With its plan, the noise included.
    fn sequence_plan(&self) -> Result<(ValidSpec, Plan, WindowNoise)> {
        let (spec, noise) = self.sequence_spec()?;
        let mut plan = self.plan_of(&spec)?;
        plan.memory.noise = noise.bytes();
        let left = self.spec.memory.0.saturating_sub(plan.memory.total());
        let keys = spec.panes().saturating_mul(u64::from(plan.entries));
        plan.memory.running = WindowSums::<K>::most_bytes(keys, &self.footprint()).min(left);
        Ok((spec, plan, noise))
    }

    fn setup(&self, noise: WindowNoise, memory: &Memory) -> ContinualSetup {
        ContinualSetup {
            noise,
            keys_of_people: self.keys_of_people,
            memory: memory.total(),
            running: memory.running,
            people: memory.users / 2,
        }
    }

    pub(super) fn checked(&self) -> Result<ValidSpec> {
        if let Some(refusal) = &self.no_epsilon {
            return Err(refusal.clone());
        }
        let declared = self.universe().map(Universe::size);
        // Whatever is wrong with the numbers is said before a policy is chosen by them.
        let first = self.spec.until.map_or(Policy::Uniform, |_| Policy::Fixed);
        ValidSpec::new(self.spec.clone(), first, declared)?;
        let usual = ValidSpec::new(self.spec.clone(), self.choice()?.policy, declared)?;
        let Some(finer) = usual.in_finer_panes(declared)? else {
            return Ok(usual);
        };
        // A window that begins closer to where it was asked to costs nothing, as long as nothing is cut.
        Ok(match self.plan_of(&finer) {
            Ok(plan) if plan.always_exact => finer,
            _ => usual,
        })
    }

    fn universe(&self) -> Option<&dyn Universe<K>> {
        match &self.keys {
            Keys::Open => None,
            Keys::Declared(universe) => Some(universe.as_ref()),
        }
    }

    /// What a key takes: of declared ones it is known how long they are.
    fn footprint(&self) -> Footprint {
        let declared = self.universe().and_then(Universe::key_bytes);
        K::footprint(declared.unwrap_or(self.spec.key_bytes))
    }

    /// The least threshold, of one release with all of epsilon: of a list at every slide it is higher.
    fn floor(&self, spec: &ValidSpec) -> Threshold {
        let counts = self.split(spec).counts;
        let noise = DiscreteLaplace::new(spec.unit.counts(), counts);
        match spec.declared() {
            None if let Unit::User(bounds) = spec.unit => {
                Threshold::for_users(bounds, counts, spec.delta().as_f64())
            }
            None => Threshold::for_open_keys(noise, spec.delta().as_f64()),
            Some(size) => Threshold::for_declared_keys(noise, size),
        }
    }

    pub(super) fn split(&self, spec: &ValidSpec) -> Split {
        spec.split(drawn(spec.epsilon, self.fault))
    }

    fn plan_of(&self, spec: &ValidSpec) -> Result<Plan> {
        let mut plan = self.plan_within(spec)?.map_err(|too_small| self.refusal(spec, too_small))?;
        if let Some(users) = self.memory_for_users {
            plan.memory.users = users;
        }
        Ok(plan)
    }

    /// With the least memory that would do, as it is said.
    fn refusal(&self, spec: &ValidSpec, mut too_small: TooSmall) -> Error {
        let given = self.spec.memory.0;
        let noise = given - spec.memory.0;
        let least = loop {
            let memory = in_megabytes(too_small.needed.saturating_add(noise));
            match self.plan_within(&spec.clone().with_memory(memory - noise)) {
                Ok(Err(more)) if memory < u64::MAX => too_small = more,
                _ => break memory,
            }
        };
        Error::parameter(format!(
            "a memory of {} is too small for this window{}: give at least {}, or slide by more",
            megabytes_below(given),
            if spec.lists_heavy() { " and alpha" } else { "" },
            megabytes(least)
        ))
    }

    /// The plan that foresees the promises from the least norm on, where there is a choice.
    fn plan_within(&self, spec: &ValidSpec) -> Result<std::result::Result<Plan, TooSmall>> {
        let planner = Planner {
            spec,
            boundaries: self.split(spec).boundaries,
            footprint: self.footprint(),
            floor: self.floor(spec),
            keys: self.universe().map_or(0, Universe::bytes),
            program: self.program,
            threads: self.threads as u64,
        };
        let layouts = planner.layouts();
        let mut best = match Plan::new(&planner, layouts[0]) {
            Ok(plan) => plan,
            too_small => return Ok(too_small),
        };
        if layouts.len() > 1 {
            let mut least = self.least_norm_asked(spec, &best)?;
            for plan in layouts[1..].iter().filter_map(|layout| Plan::new(&planner, *layout).ok()) {
                let norm = self.least_norm_asked(spec, &plan)?;
                if norm < least {
                    (best, least) = (plan, norm);
                }
            }
        }
        Ok(Ok(best))
    }

    /// From which norm on a plan foresees the promises for a full window, wherever it begins.
    fn least_norm_asked(&self, spec: &ValidSpec, plan: &Plan) -> Result<u64> {
        let request = self.request(spec.clone(), plan, 0)?;
        let least = Forecast::least_norm_asked(&request, plan, plan.layout.window);
        Ok(least.unwrap_or(u64::MAX))
    }

    fn forecast_with(
        &self,
        spec: ValidSpec,
        plan: &Plan,
        events: u64,
        norm: Option<u64>,
    ) -> Result<Forecast> {
        check_expected(events)?;
        let norm = norm.map(|norm| norm.min(events));
        Ok(Forecast::new(&self.request(spec, plan, 0)?, plan, events, norm))
    }

    fn forecast_of_sequence(&self, events: u64, norm: Option<u64>) -> Result<Forecast> {
        check_expected(events)?;
        let (spec, plan, noise) = self.sequence_plan()?;
        let request = self.request(spec, &plan, 0)?;
        let setup = self.setup(noise, &plan.memory);
        let sequence = ContinualReleaser::new(request, setup, plan.layout.longest_block())?;
        let norm = norm.map(|norm| norm.min(events));
        Ok(Forecast::of_sequence(&sequence, &plan, events, norm))
    }

    fn request(&self, spec: ValidSpec, plan: &Plan, seed: u64) -> Result<Request<K>> {
        let shape = plan.shape(seed)?;
        let keys_at_a_time = plan.memory.keys_at_a_time;
        Ok(Request::new(spec, self.keys.clone(), shape, keys_at_a_time, self.fault))
    }
}

/// Returns an error unless so many events can be expected.
fn check_expected(events: u64) -> Result<()> {
    match events <= LONGEST {
        true => Ok(()),
        false => Err(Error::parameter(format!(
            "{events} events are expected, but at most {LONGEST} can be reckoned with"
        ))),
    }
}

/// Charges of a stream.
pub(crate) struct Charges {
    /// Everyone, before any release.
    pub born: Charge,
    /// Whom a release covers.
    pub release: Charge,
}

#[cfg(test)]
impl<K: Key> Builder<K> {
    /// The request of a release, with this seed.
    pub(crate) fn request_with(&self, seed: u64) -> Result<(Plan, Request<K>)> {
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        Ok((plan, self.request(spec, &plan, seed)?))
    }

    /// The same for a list at every slide.
    pub(crate) fn sequence_request(&self, seed: u64) -> Result<Request<K>> {
        let (spec, _) = self.sequence_spec()?;
        let plan = self.plan_of(&spec)?;
        self.request(spec, &plan, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::count_sketch::{MOST_ROWS, WIDEST};

    #[test]
    fn what_is_not_told_is_what_the_documentation_says() {
        let builder = Builder::<u64>::new(Keys::open());
        let spec = &builder.spec;
        assert_eq!(spec.norm, Norm::L2);
        assert_eq!((spec.alpha, spec.confidence), (0.05, 0.95));
        assert_eq!((spec.epsilon.as_f64(), spec.delta.as_f64()), (1.0, 1e-9));
        assert_eq!((spec.policy, spec.releases()), (None, 1));
        assert_eq!((spec.horizon(), spec.together()), (1_000_000, 1_000));
        assert_eq!((spec.memory, builder.program), (Size(64_000_000), 0));
        assert_eq!((builder.threads, spec.key_bytes), (1, 16));
        assert!(spec.entries.is_none() && spec.sketch.is_none());
        assert_eq!(spec.windows, [Span::Events(1_000_000)]);
    }

    #[test]
    fn a_sketch_may_be_as_large_as_is_said_and_no_larger() {
        let with = |rows, width| {
            Builder::<u64>::new(Keys::open()).sketch(rows, width).policy(Policy::Uniform).checked()
        };
        assert!(with(1, WIDEST).is_ok() && with(1, 2 * WIDEST).is_err());
        assert!(with(MOST_ROWS, 2).is_ok() && with(MOST_ROWS + 2, 2).is_err());
        assert!(with(2, 2).is_err() && with(1, 3).is_err());
    }

    #[test]
    fn the_last_epsilon_that_was_given_counts() {
        let builder = || Builder::<u64>::new(Keys::open()).policy(Policy::Uniform);
        assert!(builder().epsilon(-1.0).epsilon(2.0).checked().is_ok());
        let refused = builder().epsilon(2.0).epsilon(-1.0).checked().unwrap_err();
        assert!(refused.to_string().starts_with("epsilon is -1, but"), "{refused}");
    }

    #[test]
    fn no_more_events_are_foreseen_than_a_window_can_have() {
        let builder = Builder::<u64>::new(Keys::open()).policy(Policy::Uniform);
        assert!(builder.forecast(LONGEST, None).is_ok());
        let refused = builder.forecast(LONGEST + 1, None).unwrap_err();
        assert!(refused.to_string().contains("can be reckoned with"), "{refused}");
    }
}
