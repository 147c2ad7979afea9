//! Builder of heavy hitters: a specification, step by step.

mod planning;

use std::io;

use super::continual::Continual;
use super::heavy_hitters::HeavyHitters;
use super::history::History;
use super::one_shot::OneShot;
use crate::counting::PaneCounter;
use crate::counting::users::spill::File;
use crate::counting::users::{BatchBounder, Calendar, SpillFactory};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::key::{Key, Keys};
use crate::noise::{Entropy, OsEntropy};
use crate::privacy::{Cost, Delta, Epsilon};
use crate::sketch::count_sketch::Dimensions;
use crate::spec::{Edge, KeySpec, Norm, Policy, Size, Spec, Unit, Window};
pub(crate) use planning::Charges;

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
    pub(super) keys: Keys<K>,
    pub(super) spec: Spec,
    /// Why what was given last for epsilon is none.
    no_epsilon: Option<Error>,
    pub(super) threads: usize,
    program: u64,
    pub(super) scratch: Option<SpillFactory>,
    /// A secret one unless a test gives it.
    seed: Option<u64>,
    /// The rest of the memory, unless a test gives less.
    memory_for_users: Option<u64>,
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
            fault: Fault::default(),
        }
    }

    #[cfg(feature = "mutants")]
    pub(crate) fn broken(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut Spec)) -> Self {
        change(&mut self.spec);
        self
    }

    /// What heavy is relative to: the number of events (L1), or the L2 norm, which finds more; L2 by default.
    pub fn norm(self, norm: Norm) -> Self {
        self.with(|spec| spec.norm = norm)
    }

    /// A key is heavy from this share of the norm on; 0.05 by default.
    pub fn alpha(self, alpha: f64) -> Self {
        self.with(|spec| spec.alpha = alpha)
    }

    /// Lists the `keys` keys with the highest counts, as far as privacy allows, instead of those that are heavy: then all of
    /// epsilon is for the counts, because nothing is relative to a norm.
    pub fn top(self, keys: u64) -> Self {
        self.with(|spec| spec.top = Some(keys))
    }

    /// Lists every key that privacy allows, instead of those that are heavy.
    pub fn all(self) -> Self {
        self.with(|spec| spec.all = true)
    }

    /// The privacy loss of a release, to the millionth; 1 by default.
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        match Epsilon::new(epsilon) {
            Ok(epsilon) => (self.spec.epsilon, self.no_epsilon) = (epsilon, None),
            Err(refusal) => self.no_epsilon = Some(refusal),
        }
        self
    }

    /// The chance with which the loss may be larger; 1e-9 by default. Declared keys need none and spend none.
    pub fn delta(self, delta: f64) -> Self {
        self.with(|spec| spec.delta = Delta::new(delta))
    }

    /// The longest window; a million events by default.
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

    /// How panes are kept as the window moves on; the policy that suits the window by default ([`choice`](Self::choice)).
    pub fn policy(self, policy: Policy) -> Self {
        self.with(|spec| spec.policy = Some(policy))
    }

    /// With what probability the statements of a release hold together; 0.95 by default.
    pub fn confidence(self, confidence: f64) -> Self {
        self.with(|spec| spec.confidence = confidence)
    }

    /// In how many releases an event may be; 1 by default. Each of them costs the epsilon and the delta: an
    /// event loses at most `releases` times these.
    pub fn releases(self, releases: u32) -> Self {
        self.with(|spec| spec.releases = Some(releases))
    }

    /// The number of continual releases over which the statements hold together with the stated confidence; 1,000 by default.
    pub fn together(self, releases: u64) -> Self {
        self.with(|spec| spec.together = Some(releases))
    }

    /// The most memory to take, in bytes; 64 MB by default. What panes keep follows from it.
    pub fn memory(self, bytes: u64) -> Self {
        self.with(|spec| spec.memory = Size(bytes))
    }

    /// The mean length of keys made of bytes, to plan memory; 16 by default.
    pub fn key_bytes(self, bytes: u64) -> Self {
        self.with(|spec| spec.key_bytes = bytes)
    }

    /// The most keys that a pane keeps, instead of as many as the memory allows. Panes of no more events are exact.
    pub fn entries(self, entries: u32) -> Self {
        self.with(|spec| spec.entries = Some(entries))
    }

    /// The rows and the width of the sketch that gives the L2 norm where panes are not exact, instead of one that fits the memory.
    pub fn sketch(self, rows: usize, width: usize) -> Self {
        self.with(|spec| spec.sketch = Some(Dimensions { rows, width }))
    }

    /// How many threads count the events, the one that brings them included; 1 by default. Each takes memory,
    /// which may leave room for fewer keys; with [`entries`](Self::entries) given they change no release.
    /// Integers in windows by count gain most, and a list that is released at every slide nothing.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// What is protected: the key of one event by default, or all that one user did in an epoch.
    pub fn unit(self, unit: Unit) -> Self {
        self.with(|spec| spec.unit = unit)
    }

    /// Where users go that do not fit into the memory: files that this makes, empty, which nobody else sees and which are gone when
    /// they are dropped or the process ends. Without it more users than fit are an error.
    pub fn scratch(self, create: impl Fn() -> io::Result<Box<dyn File>> + Send + Sync + 'static) -> Self {
        Self { scratch: Some(SpillFactory::new(create)), ..self }
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

    /// How much of the memory the program around this takes for itself; none by default.
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

    /// Checks everything and starts an empty window.
    pub fn build(self) -> Result<HeavyHitters<K>> {
        let (plan, request) = self.requested()?;
        Ok(HeavyHitters::new(OneShot::new(&plan, request, self.threads, self.scratch)?))
    }

    /// Checks everything and starts a list that is released again at every slide, all of them at one epsilon. Its panes
    /// are of equal length, and an event is in as many releases as a window has panes: neither a policy nor a number of
    /// releases can be asked for.
    pub fn continual(self) -> Result<Continual<K>> {
        let (spec, plan, noise) = self.sequence_plan()?;
        let request = self.request(spec, &plan, self.seed()?)?;
        let mut continual = Continual::new(request, self.setup(noise, &plan.memory), &self.footprint())?;
        if let Some(users) = continual.counter.live_mut() {
            users.scratch = self.scratch;
        }
        Ok(continual)
    }

    /// The same of people, for a time that is over: between two moments at which slides begin.
    pub fn history(self, from: Edge, until: Edge) -> Result<History<K>> {
        let scratch = self.scratch.clone();
        let (spec, plan, noise) = self.sequence_plan()?;
        let Unit::User(bounds) = spec.unit else {
            return Err(Error::parameter(
                "continual release of a time that is over was asked for, but no users are protected: events tell the time, so give \
                 them in its order to continual release",
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
        Ok(History { bounder, continual, calendar, panes })
    }

    fn seed(&self) -> Result<u64> {
        self.seed.map_or_else(|| OsEntropy::new().word(), Ok)
    }

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
            ..self.clone().decided()?.spec
        };
        Ok(Self { spec, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::count_sketch::{MOST_ROWS, WIDEST};
    use crate::spec::window::LONGEST;

    /// The others are written out in every specification.
    #[test]
    fn what_is_not_told_is_what_the_documentation_says() {
        let builder = Builder::<u64>::new(Keys::open());
        let spec = &builder.spec;
        assert_eq!((spec.releases(), spec.together()), (1, 1_000));
        assert_eq!((builder.threads, builder.program), (1, 0));
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
        assert!(refused.to_string().contains("can be planned for"), "{refused}");
    }
}
