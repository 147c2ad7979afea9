//! Consequences of a specification: its plan, its forecast, its cost and the choices that it leaves.

use super::Builder;
use crate::counting::events::WindowSums;
use crate::error::{Error, Result};
use crate::key::{Footprint, Key, Keys, Universe};
use crate::mechanism::Threshold;
use crate::noise::{DiscreteLaplace, Noise, NoiseSum};
use crate::numbers::{in_megabytes, megabytes, megabytes_below};
use crate::plan::{Forecast, Memory, Plan, Planner, TooSmall};
use crate::privacy::ledger::{Charge, Measurement};
use crate::privacy::{Delta, Split};
use crate::release::Request;
use crate::release::continual::{ContinualReleaser, ContinualSetup, threshold_of_users};
use crate::release::noise_tree::WindowNoise;
use crate::release::request::{drawn, noise_unit};
use crate::spec::window::LONGEST;
use crate::spec::{Choice, Norm, Policy, Reason, Span, Unit, ValidSpec, check_windows};

impl<K: Key> Builder<K> {
    /// The layout of panes, and the memory that it takes.
    pub fn plan(&self) -> Result<Plan> {
        if self.spec.continual { Ok(self.sequence_plan()?.1) } else { self.plan_of(&self.checked()?) }
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
            let (spec, plan, noise) = self.sequence_plan()?;
            let norm = check_expected(events, norm)?;
            let request = self.request(spec, &plan, 0)?;
            let setup = self.setup(noise, &plan.memory);
            let releaser = ContinualReleaser::new(request, setup)?;
            return Ok(Forecast::of_sequence(&releaser, &plan, events, norm));
        }
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        self.forecast_with(spec, &plan, events, norm)
    }

    /// The same for a release over a shorter window.
    pub fn forecast_over(&self, span: impl Into<Span>, events: u64, norm: Option<u64>) -> Result<Forecast> {
        if self.spec.continual {
            return Err(Error::parameter("continual release has one window: ask for the forecast of that"));
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
        match (self.spec.policy, self.spec.unit) {
            (Some(Policy::Fixed), _) => return Ok(Choice::KNOWN_END),
            (Some(policy), _) => return Ok(Choice { policy, reason: Reason::Given }),
            (None, Unit::User(_)) if !self.spec.continual => return Ok(Choice::KNOWN_END),
            (None, _) if self.spec.until.is_some() => return Ok(Choice::KNOWN_END),
            (None, _) => {}
        }
        check_windows(&self.spec.windows)?;
        if self.spec.continual {
            return Ok(Choice::ONE_WINDOW);
        }
        if self.spec.windows.len() > 1 {
            return Ok(Choice::SEVERAL_WINDOWS);
        }
        let Span::Events(events) = self.spec.longest() else {
            return Ok(Choice::ONE_WINDOW);
        };
        // Where the norm is public, panes that end by it gain nothing.
        if self.spec.norm == Norm::L1 || !self.spec.lists_heavy() {
            return Ok(Choice::ONE_WINDOW);
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
            // An epsilon may be too small for any continual release.
            if lists(middle).unwrap_or(false) { high = middle } else { low = middle }
        }
        Ok(Some(high as f64 / 1e3))
    }

    pub(crate) fn requested(&self) -> Result<(Plan, Request<K>)> {
        let spec = self.checked()?;
        let plan = self.plan_of(&spec)?;
        let request = self.request(spec, &plan, self.seed()?)?;
        Ok((plan, request))
    }

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
        let counts = match self.floor(&spec).noise() {
            Noise::Laplace(_) => Measurement::Laplace(split.counts),
            Noise::Gaussian(gaussian) => Measurement::Gaussian {
                epsilon: split.counts,
                squares: spec.unit.squares(),
                variance: gaussian.fraction(),
            },
        };
        let parts: Vec<Measurement> = measured.chain([counts]).collect();
        Ok(Charges { born: Charge::of(&boundaries, Delta::ZERO), release: Charge::of(&parts, spec.delta()) })
    }

    /// The specification of continual release, with what its noise leaves of the memory.
    fn sequence_spec(&self) -> Result<(ValidSpec, WindowNoise)> {
        let spec = self.clone().with(|spec| spec.continual = true).checked()?;
        let counts = self.split(&spec).counts;
        let (panes, memory) = (spec.panes(), spec.memory.0 / 2);
        let unit = noise_unit(spec.unit, self.fault);
        let noise = match unit {
            Unit::User(bounds) if spec.declared().is_none() => {
                let threshold = |sum: &NoiseSum, delta| threshold_of_users(&spec, unit, sum, delta);
                let (panes, delta) = ((panes, spec.panes_of_unit()), spec.delta().as_f64());
                WindowNoise::for_open_users(panes, bounds, counts, delta, memory, threshold)?
            }
            unit => WindowNoise::new(panes, unit, counts, memory)?,
        };
        let memory = spec.memory.0 - noise.bytes();
        Ok((spec.with_memory(memory), noise))
    }

    pub(super) fn sequence_plan(&self) -> Result<(ValidSpec, Plan, WindowNoise)> {
        let (spec, noise) = self.sequence_spec()?;
        let mut plan = self.plan_of(&spec)?;
        plan.memory.noise = noise.bytes();
        let left = self.spec.memory.0.saturating_sub(plan.memory.total());
        let keys = spec.panes().saturating_mul(u64::from(plan.entries));
        plan.memory.running = WindowSums::<K>::most_bytes(keys, &self.footprint()).min(left);
        Ok((spec, plan, noise))
    }

    pub(super) fn setup(&self, noise: WindowNoise, memory: &Memory) -> ContinualSetup {
        ContinualSetup { noise, memory: memory.total(), running: memory.running, people: memory.users / 2 }
    }

    pub(crate) fn checked(&self) -> Result<ValidSpec> {
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
    pub(super) fn footprint(&self) -> Footprint {
        let declared = self.universe().and_then(Universe::key_bytes);
        K::footprint(declared.unwrap_or(self.spec.key_bytes))
    }

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

    pub(crate) fn split(&self, spec: &ValidSpec) -> Split {
        spec.split(drawn(spec.epsilon, self.fault))
    }

    fn plan_of(&self, spec: &ValidSpec) -> Result<Plan> {
        let mut plan = self.plan_within(spec)?.map_err(|too_small| self.refusal(spec, too_small))?;
        if let Some(users) = self.memory_for_users {
            plan.memory.users = users;
        }
        Ok(plan)
    }

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
        let norm = check_expected(events, norm)?;
        Ok(Forecast::new(&self.request(spec, plan, 0)?, plan, events, norm))
    }

    pub(super) fn request(&self, spec: ValidSpec, plan: &Plan, seed: u64) -> Result<Request<K>> {
        let shape = plan.shape(seed)?;
        let keys_at_a_time = plan.memory.keys_at_a_time;
        Ok(Request::new(spec, self.keys.clone(), shape, keys_at_a_time, self.fault))
    }
}

/// The norm that so many events may have, if there can be so many.
fn check_expected(events: u64, norm: Option<u64>) -> Result<Option<u64>> {
    match events <= LONGEST {
        true => Ok(norm.map(|norm| norm.min(events))),
        false => Err(Error::parameter(format!(
            "{events} events are expected, but at most {LONGEST} can be planned for"
        ))),
    }
}

pub(crate) struct Charges {
    /// Everyone, before any release.
    pub born: Charge,
    /// Whom a release covers.
    pub release: Charge,
}

#[cfg(test)]
impl<K: Key> Builder<K> {
    pub(crate) fn request_with(&self, seed: u64) -> Result<(Plan, Request<K>)> {
        self.clone().seeded(seed).requested()
    }

    pub(crate) fn sequence_request(&self, seed: u64) -> Result<Request<K>> {
        let (spec, _) = self.sequence_spec()?;
        let plan = self.plan_of(&spec)?;
        self.request(spec, &plan, seed)
    }
}
