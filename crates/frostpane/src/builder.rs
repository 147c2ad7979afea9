//! How to build heavy hitters: parameters, their checks, and what they will do.

use crate::continual::Continual;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::hitters::HeavyHitters;
use crate::key::Key;
use crate::noise::{Entropy, Epsilon, OsEntropy, WindowNoise};
use crate::plan::{Choice, Forecast, Plan, Wishes};
use crate::release::Norm;
use crate::release::continual::{Setup, counts_epsilon};
use crate::release::terms::{Terms, boundaries_epsilon, drawn};
use crate::sketch::count_sketch::{Dimensions, MOST_ROWS, WIDEST};
use crate::timeline::window::LONGEST;
use crate::timeline::{Policy, Span, Window};
use crate::universe::Keys;

/// Memory unless told: 64 MB.
pub const DEFAULT_MEMORY: u64 = 64_000_000;
/// The mean length of keys made of bytes unless told.
pub const DEFAULT_KEY_BYTES: u64 = 16;

/// Panes of a window that is released at every slide, unless the slide is given: more would add noise, fewer
/// would leave more of the window stale.
const CONTINUAL_PANES: u64 = 32;

/// The horizon unless told: almost two years by the minute. With the defaults, ten times as far costs a threshold 3 % higher.
const HORIZON: u64 = 1_000_000;
/// How many releases of a list at every slide are right together, unless told.
const TOGETHER: u64 = 1_000;

/// How to build [`HeavyHitters`]. Only the keys have no default.
#[derive(Clone)]
pub struct Builder<K: Key> {
    keys: Keys<K>,
    norm: Norm,
    alpha: f64,
    epsilon: f64,
    delta: f64,
    window: Window,
    confidence: f64,
    policy: Policy,
    releases: u32,
    horizon: u64,
    together: u64,
    threads: usize,
    memory: u64,
    program: u64,
    key_bytes: u64,
    entries: Option<u32>,
    sketch: Option<Dimensions>,
    fault: Fault,
}

impl<K: Key> Builder<K> {
    pub(crate) fn new(keys: Keys<K>) -> Self {
        Self {
            keys,
            norm: Norm::L2,
            alpha: 0.05,
            epsilon: 1.0,
            delta: 1e-9,
            window: Window::events(1_000_000).into(),
            confidence: 0.95,
            policy: Policy::Uniform,
            releases: 1,
            horizon: HORIZON,
            together: TOGETHER,
            threads: 1,
            memory: DEFAULT_MEMORY,
            program: 0,
            key_bytes: DEFAULT_KEY_BYTES,
            entries: None,
            sketch: None,
            fault: Fault::default(),
        }
    }

    /// Builds a mechanism that is broken on purpose.
    #[cfg(feature = "audit")]
    pub(crate) fn broken(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// What heavy is relative to: the number of events (L1), or the L2 norm, which finds more. L2 unless
    /// told.
    pub fn norm(self, norm: Norm) -> Self {
        Self { norm, ..self }
    }

    /// A key is heavy from this share of the norm on; 0.05 unless told.
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// The privacy loss of a release; 1 unless told.
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// The chance with which the loss may be larger; 1e-9 unless told. Declared keys need none and spend
    /// none.
    pub fn delta(self, delta: f64) -> Self {
        Self { delta, ..self }
    }

    /// The longest window; a million events unless told.
    pub fn window(self, window: impl Into<Window>) -> Self {
        let window = window.into();
        Self { window, ..self }
    }

    /// How panes are kept as the window moves on; uniform unless told.
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// With what probability the statements of a release hold together; 0.95 unless told.
    pub fn confidence(self, confidence: f64) -> Self {
        Self { confidence, ..self }
    }

    /// In how many releases an event may be; 1 unless told. Each of them costs the epsilon and the delta: an
    /// event loses at most `releases` times these.
    pub fn releases(self, releases: u32) -> Self {
        Self { releases, ..self }
    }

    /// **A privacy parameter** of a list that is released at every slide with open keys; 1,000,000 unless told. Delta covers
    /// an event in a pane that is given in advance however long this runs, whatever its key is chosen by. Who can also choose by what
    /// was released *when* to have the event is held to delta up to this many releases; after that it grows in proportion
    /// to them, and each release says so. With the defaults a thousand times as many cost a threshold a tenth higher. Declared keys
    /// have no delta.
    pub fn horizon(self, releases: u64) -> Self {
        Self {
            horizon: releases,
            ..self
        }
    }

    /// Over how many releases of a list at every slide, any so many, the statements hold together with the stated
    /// confidence; 1,000 unless told.
    pub fn together(self, releases: u64) -> Self {
        Self {
            together: releases,
            ..self
        }
    }

    /// How many threads count the events, the one that brings them included; 1 unless told. Each takes memory,
    /// which may leave room for fewer keys; with [`entries`](Self::entries) given they change no release.
    /// Integers in windows by count gain most, and a list that is released at every slide nothing.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The most memory to take, in bytes; 64 MB unless told. What panes keep follows from it.
    pub fn memory(self, bytes: u64) -> Self {
        Self {
            memory: bytes,
            ..self
        }
    }

    /// How much of that memory the program around this takes for itself; none unless told.
    pub fn program(self, bytes: u64) -> Self {
        Self {
            program: bytes,
            ..self
        }
    }

    /// The mean length of keys made of bytes, for the reckoning of memory; 16 unless told.
    pub fn key_bytes(self, bytes: u64) -> Self {
        Self {
            key_bytes: bytes,
            ..self
        }
    }

    /// The most keys that a pane keeps, instead of as many as the memory allows. Panes of no more events are
    /// exact.
    pub fn entries(self, entries: u32) -> Self {
        Self {
            entries: Some(entries),
            ..self
        }
    }

    /// The rows and the width of the sketch that gives the L2 norm where panes are not exact, instead of one
    /// that fits the memory.
    pub fn sketch(self, rows: usize, width: usize) -> Self {
        Self {
            sketch: Some(Dimensions { rows, width }),
            ..self
        }
    }

    /// How the window will be cut into panes, and the memory that takes.
    pub fn plan(&self) -> Result<Plan> {
        self.checked()?;
        let wishes = Wishes {
            grid: self.window.grid(self.policy)?,
            by_count: matches!(self.window, Window::Events(_)),
            policy: self.policy,
            boundaries: boundaries_epsilon(drawn(Epsilon::new(self.epsilon)?, self.fault), self.policy),
            alpha: self.alpha,
            confidence: self.confidence,
            l2: self.norm == Norm::L2,
            universe: match &self.keys {
                Keys::Open => None,
                Keys::Declared(universe) => Some(universe.size()),
            },
            footprint: K::footprint(self.key_bytes),
            memory: self.memory,
            program: self.program,
            threads: self.threads as u64,
            entries: self.entries,
            sketch: self.sketch,
        };
        let layouts = wishes.layouts();
        let mut best = Plan::new(&wishes, layouts[0])?;
        if layouts.len() > 1 {
            let mut least = self.least_norm_asked(&best)?;
            for plan in layouts[1..]
                .iter()
                .filter_map(|layout| Plan::new(&wishes, *layout).ok())
            {
                let norm = self.least_norm_asked(&plan)?;
                if norm < least {
                    (best, least) = (plan, norm);
                }
            }
        }
        Ok(best)
    }

    /// From which norm on a plan foresees the promises for a full window, wherever it begins.
    fn least_norm_asked(&self, plan: &Plan) -> Result<u64> {
        let terms = self.terms(plan, 0)?;
        let least = Forecast::least_norm_asked(&terms, plan, plan.layout.window);
        Ok(least.unwrap_or(u64::MAX))
    }

    /// What to expect of a release over a window with so many events; by count, a full window. For L2 also at
    /// a certain norm; without one, at the least norm at which the promises hold.
    pub fn forecast(&self, events: u64, norm: Option<u64>) -> Result<Forecast> {
        self.forecast_with(&self.plan()?, events, norm)
    }

    /// The same for a release over a shorter window.
    pub fn forecast_over(&self, span: impl Into<Span>, events: u64, norm: Option<u64>) -> Result<Forecast> {
        let plan = self.plan()?;
        let length = self
            .window
            .shorter(span.into(), &self.window.grid(self.policy)?)?;
        let shorter = Plan {
            layout: plan.layout.over(length),
            ..plan
        };
        self.forecast_with(&shorter, events, norm)
    }

    fn forecast_with(&self, plan: &Plan, events: u64, norm: Option<u64>) -> Result<Forecast> {
        if events > LONGEST {
            return Err(Error::parameter(format!(
                "{events} events are expected, but at most {LONGEST} can be reckoned with"
            )));
        }
        let norm = norm.map(|norm| norm.min(events));
        Ok(Forecast::new(&self.terms(plan, 0)?, plan, events, norm))
    }

    /// The policy that suits releases over these windows, the longest of which is the one to build with
    /// ([`plan`](crate::plan#the-policy)).
    pub fn choose(&self, windows: &[Span]) -> Result<Choice> {
        if windows.iter().any(|window| *window != windows[0]) {
            return Ok(Choice::several_windows());
        }
        let Window::Events(window) = self.window else {
            return Ok(Choice::one_window());
        };
        let events = window.length();
        let least_norm = |policy| {
            let forecast = self.clone().policy(policy).forecast(events, None)?;
            Ok(forecast.least_norm_asked)
        };
        // Memory may be too small for the private histogram alone.
        let smooth = least_norm(Policy::Smooth).unwrap_or(None);
        Ok(Choice::between(events, least_norm(Policy::Uniform)?, smooth))
    }

    /// The least epsilon, to the thousandth, at which every key that occurred `count` times is listed, as far
    /// as noise and memory are concerned: alpha is taken as so small that it asks for nothing more. None if
    /// no epsilon up to 100 does.
    pub fn epsilon_for(&self, count: u64, events: u64) -> Result<Option<f64>> {
        let lists = |thousandths: u64| -> Result<bool> {
            let builder = self.clone().epsilon(thousandths as f64 / 1e3);
            Ok(builder.forecast(events, None)?.least_listed_at_floor <= count)
        };
        let (mut low, mut high) = (0, 100_000);
        if !lists(high)? {
            return Ok(None);
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            if lists(middle)? {
                high = middle
            } else {
                low = middle
            }
        }
        Ok(Some(high as f64 / 1e3))
    }

    /// Checks everything and starts an empty window.
    pub fn build(self) -> Result<HeavyHitters<K>> {
        let plan = self.plan()?;
        let terms = self.terms(&plan, OsEntropy::new().word()?)?;
        HeavyHitters::new(self.window, &plan.layout, terms, self.releases, self.threads)
    }

    /// Checks everything and starts a list that is released again at every slide, all of them at one epsilon. Its panes
    /// are of equal length, and an event is in as many releases as a window has panes: neither a policy nor a number of
    /// releases can be asked for.
    pub fn continual(self) -> Result<Continual<K>> {
        self.check_sequence()?;
        let builder = Self {
            window: self.window.in_panes(CONTINUAL_PANES),
            ..self
        };
        let grid = builder.window.grid(Policy::Uniform)?;
        builder.window.check_whole(&grid)?;
        builder.checked()?;
        let epsilon = counts_epsilon(builder.norm, drawn(Epsilon::new(builder.epsilon)?, builder.fault));
        let panes = (grid.length / grid.slide) as u64;
        let noise = WindowNoise::new(panes, epsilon, builder.memory / 2)?;
        let tables = noise.bytes();
        let builder = Self {
            memory: builder.memory - tables,
            ..builder
        };
        let plan = builder.plan()?;
        let terms = builder.terms(&plan, OsEntropy::new().word()?)?;
        let setup = Setup {
            noise,
            panes,
            horizon: builder.horizon,
            together: builder.together,
            memory: plan.memory.total() + tables,
        };
        Continual::new(builder.window, grid, terms, setup)
    }

    /// That nothing was asked for that a list at every slide does not have.
    fn check_sequence(&self) -> Result<()> {
        if self.policy != Policy::Uniform {
            return Err(Error::parameter(format!(
                "the policy is {:?}, but a list at every slide is made from panes of equal length: leave the policy out",
                self.policy
            )));
        }
        if self.releases != 1 {
            return Err(Error::parameter(format!(
                "releases is {}, but in a list at every slide an event is in as many releases as a window has slides, which \
                 together cost epsilon once: leave releases out",
                self.releases
            )));
        }
        Ok(())
    }

    pub(crate) fn terms(&self, plan: &Plan, seed: u64) -> Result<Terms<K>> {
        Ok(Terms {
            norm: self.norm,
            alpha: self.alpha,
            epsilon: Epsilon::new(self.epsilon)?,
            delta: if let Keys::Open = self.keys {
                self.delta
            } else {
                0.0
            },
            confidence: self.confidence,
            keys: self.keys.clone(),
            shape: plan.shape(seed)?.with_fault(self.fault),
            policy: self.policy,
            part: plan.memory.part,
            fault: self.fault,
        })
    }

    fn checked(&self) -> Result<()> {
        Epsilon::new(self.epsilon)?;
        within(
            self.alpha,
            "alpha",
            "0.05 finds keys with a twentieth of the norm",
        )?;
        within(self.confidence, "confidence", "0.95 is a common choice")?;
        if let Keys::Open = self.keys {
            if self.delta == 0.0 {
                return Err(Error::parameter(
                    "delta is 0, but open keys cannot be released purely, because a key that occurred once would be named or \
                     not: declare the keys, or allow a small delta such as 1e-9",
                ));
            }
            within(
                self.delta,
                "delta",
                "take it far below one over the number of events, such as 1e-9",
            )?;
        }
        if self.entries == Some(0) {
            return Err(Error::parameter(
                "entries is 0, but a pane must keep at least 1 key",
            ));
        }
        if self.releases == 0 {
            return Err(Error::parameter(
                "releases is 0, but an event must be allowed in at least 1 release",
            ));
        }
        for (releases, name, what) in [
            (self.horizon, "horizon", "delta"),
            (self.together, "together", "the statements"),
        ] {
            if releases == 0 {
                return Err(Error::parameter(format!(
                    "{name} is 0, but {what} must hold for at least 1 release"
                )));
            }
        }
        match self.sketch {
            Some(Dimensions { rows, width })
                if rows % 2 == 0 || !width.is_power_of_two() || rows > MOST_ROWS || width > WIDEST =>
            {
                Err(Error::parameter(format!(
                    "the sketch is {rows} rows of {width}, but the rows must be odd, at most {MOST_ROWS}, and the width a power of \
                     two, at most {WIDEST}"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that a number lies between 0 and 1.
fn within(value: f64, name: &str, advice: &str) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "{name} is {value}, but must be above 0 and below 1: {advice}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_what_the_documentation_says() {
        let builder = Builder::<u64>::new(Keys::open());
        assert_eq!(builder.norm, Norm::L2);
        assert_eq!((builder.alpha, builder.confidence), (0.05, 0.95));
        assert_eq!((builder.epsilon, builder.delta), (1.0, 1e-9));
        assert_eq!((builder.policy, builder.releases), (Policy::Uniform, 1));
        assert_eq!((builder.horizon, builder.together), (1_000_000, 1_000));
        assert_eq!((builder.memory, builder.program), (64_000_000, 0));
        assert_eq!((builder.threads, builder.key_bytes), (1, 16));
        assert!(builder.entries.is_none() && builder.sketch.is_none());
        let Window::Events(window) = builder.window else {
            panic!("the window goes by the clock");
        };
        assert_eq!(window.length(), 1_000_000);
    }

    #[test]
    fn a_sketch_may_be_as_large_as_is_said_and_no_larger() {
        let with = |rows, width| Builder::<u64>::new(Keys::open()).sketch(rows, width).checked();
        assert!(with(1, WIDEST).is_ok() && with(1, 2 * WIDEST).is_err());
        assert!(with(MOST_ROWS, 2).is_ok() && with(MOST_ROWS + 2, 2).is_err());
        assert!(with(2, 2).is_err() && with(1, 3).is_err());
    }
}
