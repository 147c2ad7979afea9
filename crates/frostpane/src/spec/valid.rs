//! Validated specifications.

use std::ops::Deref;
use std::time::Duration;

use super::policy::Policy;
use super::users::{check_norms, check_users};
use super::window::{Grid, Window};
use super::{Norm, Spec, VERSION};
use crate::error::{Error, Result};
use crate::privacy::{Cost, Delta, Epsilon, Split, Unit};
use crate::quantity::span::{Span, micros};
use crate::sketch::count_sketch::{Dimensions, MOST_ROWS, WIDEST};

/// Default panes of a window in continual release: more would add noise, fewer leave more of it stale.
const CONTINUAL_PANES: u64 = 32;
/// Default panes of the shortest of several windows, by count and by the clock.
const PANES: (u64, u32) = (64, 60);
/// Shorter panes take longer to close than to fill, where there are many of them.
const WORTH_CLOSING: u64 = 64;
/// Default panes of a window by count, unless that many could not all be counted exactly.
const FINER: u64 = 1_000;
/// The most panes of a window in continual release: a year in steps of eight seconds.
const MOST_CONTINUAL_PANES: i64 = 1 << 22;
const MOST_WINDOWS: usize = 64;
/// Steps of a clock, in seconds.
const STEPS: [u64; 10] = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 86_400];

/// A validated [`Spec`] with all choices made. Only validation creates one, and nothing changes it.
#[derive(Clone, Debug)]
pub struct ValidSpec {
    spec: Spec,
    policy: Policy,
    window: Window,
    grid: Grid,
    step: u64,
    declared: Option<u64>,
}

impl Deref for ValidSpec {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        &self.spec
    }
}

impl ValidSpec {
    /// Validates a specification. `chosen` is the policy if it gives none, `declared` the number of declared keys.
    pub fn new(spec: Spec, chosen: Policy, declared: Option<u64>) -> Result<Self> {
        check_numbers(&spec, declared.is_some())?;
        check_windows(&spec.windows)?;
        let spec = spec.without_needless_norm();
        if let Some(bounds) = spec.unit.bounds() {
            check_users(&spec, &bounds)?;
        }
        if spec.continual {
            check_continual(&spec)?;
        }
        let policy = spec.policy.unwrap_or(chosen);
        check_until(&spec, policy)?;
        let window = match (spec.continual, spec.unit) {
            (false, _) => spec.with_slide_for_all(policy)?,
            (true, Unit::Event) => spec.window().in_panes(CONTINUAL_PANES),
            (true, Unit::User(bounds)) => spec.window().in_epochs(&bounds),
        };
        let grid = window.grid(policy)?;
        let step = match policy {
            Policy::Fixed if let Some(bounds) = spec.unit.bounds() => micros(bounds.epoch),
            Policy::Fixed => window.grid(Policy::Uniform)?.slide as u64,
            _ => grid.slide as u64,
        };
        if spec.continual {
            window.check_whole(&grid)?;
            check_panes(&grid)?;
        }
        let checked = Self { spec, policy, window, grid, step, declared };
        if checked.norm == Norm::L2 {
            check_norms(checked.unit.norm(), checked.windows_of_unit())?;
        }
        Ok(checked)
    }

    /// The same with the finest panes worth their cost, if the number of panes is free.
    pub fn in_finer_panes(&self, declared: Option<u64>) -> Result<Option<Self>> {
        let may = self.policy == Policy::Uniform && !self.continual && self.slide.is_none();
        let [Span::Events(length)] = self.windows[..] else {
            return Ok(None);
        };
        if !may {
            return Ok(None);
        }
        let slide = length.div_ceil(FINER).max(WORTH_CLOSING).min(self.step);
        let spec = Spec { slide: Some(Span::Events(slide)), ..self.spec.clone() };
        Self::new(spec, self.policy, declared).map(Some)
    }

    pub fn policy(&self) -> Policy {
        self.policy
    }

    pub fn window(&self) -> Window {
        self.window
    }

    pub fn grid(&self) -> Grid {
        self.grid
    }

    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn laid(&self) -> Result<(Vec<i64>, i64)> {
        let Some(until) = self.until else {
            return Err(Error::parameter(
                "the policy is fixed, which is for windows whose end is known: say where they end, with until",
            ));
        };
        let (first, end) = (until.first_position(), until.position());
        let since = |window: &Span| end.saturating_sub(window.length() as i64).max(first);
        let mut starts: Vec<i64> = self.windows.iter().map(since).collect();
        // In between, panes of equal length, counted back from the end.
        let step = self.step() as i64;
        let oldest = starts.iter().copied().min().unwrap_or(end);
        starts.extend((1..).map(|number| end - number * step).take_while(|start| *start > oldest));
        starts.sort_unstable();
        starts.dedup();
        Ok((starts, end))
    }

    pub fn declared(&self) -> Option<u64> {
        self.declared
    }

    pub fn delta(&self) -> Delta {
        match self.declared {
            None => self.spec.delta,
            Some(_) => Delta::ZERO,
        }
    }

    pub fn panes(&self) -> u64 {
        (self.grid.length / self.grid.slide) as u64
    }

    pub fn split(&self, epsilon: Epsilon) -> Split {
        let measures_norm = self.norm == Norm::L2;
        match (self.unit, self.continual) {
            (Unit::User(_), _) => self.split_over(epsilon, self.windows_of_unit()),
            (Unit::Event, true) => Split::continual(epsilon, measures_norm, self.panes()),
            (Unit::Event, false) => Split::one_shot(epsilon, measures_norm, self.policy == Policy::Smooth),
        }
    }

    pub(crate) fn split_over(&self, epsilon: Epsilon, windows: u64) -> Split {
        Split::of_users(epsilon, self.norm == Norm::L2, windows)
    }

    /// The most windows that one unit of privacy can be in.
    pub fn windows_of_unit(&self) -> u64 {
        if self.continual { self.panes() + self.panes_of_unit() - 1 } else { 1 }
    }

    /// The most panes that one unit of privacy can be in, in continual release.
    pub fn panes_of_unit(&self) -> u64 {
        let epoch = self.unit.bounds().map_or(0, |bounds| micros(bounds.epoch));
        (epoch / self.grid.slide as u64).max(1)
    }

    pub fn cost(&self, releases: usize) -> Cost {
        let each = vec![(self.epsilon, self.delta()); releases];
        Cost::of_releases(&each, self.policy == Policy::Smooth)
    }

    pub fn spelled_out(&self) -> Spec {
        let Window { length, slide, .. } = self.window;
        Spec {
            policy: Some(self.policy),
            slide: slide.or(Some(length.with_length(self.step))),
            windows: if self.continual { vec![length] } else { self.spec.windows.clone() },
            releases: (!self.continual).then(|| self.spec.releases()),
            horizon: None,
            together: self.spec.together.or(self.continual.then(|| self.spec.together())),
            ..self.spec.clone()
        }
    }

    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.spec.memory.0 = bytes;
        self
    }
}

impl Spec {
    /// If nothing is relative to the norm, takes L1, which is public: all of epsilon then goes to the counts.
    fn without_needless_norm(self) -> Self {
        let norm = if self.lists_heavy() { self.norm } else { Norm::L1 };
        Self { norm, ..self }
    }

    /// The longest window, with one slide for all of them: it gives the shortest of several as many panes as
    /// it would have alone, unless the default slide is shorter. By the clock it is a step of a clock.
    fn with_slide_for_all(&self, policy: Policy) -> Result<Window> {
        let window = self.window();
        if self.windows.len() < 2 || self.slide.is_some() || policy == Policy::Fixed {
            return Ok(window);
        }
        let usual = window.grid(policy)?.slide as u64;
        let shortest = self.windows.iter().copied().min_by_key(Span::length);
        Ok(match shortest.unwrap_or(self.longest()) {
            Span::Events(length) => {
                let slide = length.div_ceil(PANES.0).max(WORTH_CLOSING.min(length));
                window.slide(slide.min(usual))
            }
            Span::Clock(length) => {
                window.slide(round_step((length / PANES.1).min(Duration::from_micros(usual))))
            }
        })
    }
}

fn round_step(longest: Duration) -> Duration {
    let steps = STEPS.into_iter().map(Duration::from_secs);
    steps.rev().find(|step| *step <= longest).unwrap_or(longest)
}

fn check_numbers(spec: &Spec, declared: bool) -> Result<()> {
    if spec.version != VERSION {
        return Err(Error::parameter(format!(
            "the specification has version {}, but this program knows version {VERSION} alone",
            spec.version
        )));
    }
    within(spec.alpha, "alpha", "0.05 finds keys with a twentieth of the norm")?;
    within(spec.confidence, "confidence", "0.95 is a common choice")?;
    if !declared {
        check_delta(spec.delta.as_f64())?;
    }
    for (number, name, must) in [
        (spec.top, "top", "a list must have room for at least 1 key"),
        (spec.entries.map(u64::from), "entries", "a pane must keep at least 1 key"),
        (spec.releases.map(u64::from), "releases", "an event must be allowed in at least 1 release"),
        (spec.together, "together", "the statements must hold for at least 1 release"),
    ] {
        if number == Some(0) {
            return Err(Error::parameter(format!("{name} is 0, but {must}")));
        }
    }
    if let Some(top) = spec.top.filter(|_| spec.all) {
        return Err(Error::parameter(format!(
            "the top {top} keys were asked for, and all of them: ask for one or the other"
        )));
    }
    check_sketch(spec.sketch)
}

fn check_delta(delta: f64) -> Result<()> {
    if delta == 0.0 {
        return Err(Error::parameter(
            "delta is 0, but open keys cannot be released purely, because a key that occurred once would be named or \
             not: declare the keys, or allow a small delta such as 1e-9",
        ));
    }
    within(delta, "delta", "take it far below one over the number of events, such as 1e-9")
}

fn check_sketch(sketch: Option<Dimensions>) -> Result<()> {
    match sketch {
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

fn check_until(spec: &Spec, policy: Policy) -> Result<()> {
    let Some(until) = spec.until else { return Ok(()) };
    if spec.continual {
        return Err(Error::parameter("until is given, but continual release has no end: leave it out"));
    }
    if !until.can_end(spec.longest()) {
        return Err(Error::parameter(format!(
            "the windows end at {until}, and the longest is {}, but both must go by the number of events or both by time",
            spec.longest()
        )));
    }
    if policy != Policy::Fixed {
        return Err(Error::parameter(format!(
            "until is given, and the policy is {policy:?}, but where the end is known panes begin where the windows do: leave the policy \
             out"
        )));
    }
    Ok(())
}

pub fn check_windows(windows: &[Span]) -> Result<()> {
    if windows.is_empty() {
        return Err(Error::parameter(
            "no window was given, but a release is of one: give a number of events, or a time",
        ));
    }
    if windows.len() > MOST_WINDOWS {
        return Err(Error::parameter(format!(
            "{} windows were given, but there can be at most {MOST_WINDOWS}: ask for the others in another run",
            windows.len()
        )));
    }
    for (index, window) in windows.iter().enumerate() {
        for earlier in &windows[..index] {
            if !earlier.is_of_kind(window) {
                return Err(Error::parameter(format!(
                    "the windows {earlier} and {window} were given, but they must all be numbers of events or all be times: ask for \
                     the others in another run"
                )));
            }
            if earlier == window {
                return Err(Error::parameter(format!(
                    "the window {window} was given twice, and it would cost its epsilon twice: give it once"
                )));
            }
        }
    }
    Ok(())
}

/// Checks that a window has no more slides than noise can be computed for.
fn check_panes(grid: &Grid) -> Result<()> {
    let panes = grid.length / grid.slide.max(1);
    if panes > MOST_CONTINUAL_PANES {
        Err(Error::parameter(format!(
            "the window has {panes} slides, but in continual release it can have at most {MOST_CONTINUAL_PANES}: take longer slides, or a \
             shorter window"
        )))
    } else {
        Ok(())
    }
}

fn check_continual(spec: &Spec) -> Result<()> {
    if let Some(policy) = spec.policy.filter(|policy| *policy != Policy::Uniform) {
        return Err(Error::parameter(format!(
            "the policy is {policy:?}, but continual release is made from panes of equal length: leave the policy out"
        )));
    }
    if spec.windows.len() > 1 {
        return Err(Error::parameter(format!(
            "{} windows were given, but continual release has one: run one program for each, each costs its epsilon",
            spec.windows.len()
        )));
    }
    match spec.releases {
        None | Some(1) => Ok(()),
        Some(releases) => Err(Error::parameter(format!(
            "releases is {releases}, but in continual release an event is in as many releases as a window has slides, which \
             together cost epsilon once: leave releases out"
        ))),
    }
}

fn within(value: f64, name: &str, advice: &str) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(Error::parameter(format!("{name} is {value}, but must be above 0 and below 1: {advice}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Bounds;

    #[test]
    fn open_keys_cost_the_delta_that_was_asked_for_and_declared_keys_none() {
        for (declared, delta) in [(None, 1e-6), (Some(9), 0.0)] {
            let spec = Spec { delta: Delta::new(1e-6), ..Spec::default() };
            let checked = ValidSpec::new(spec, Policy::Uniform, declared).unwrap();
            assert_eq!(checked.delta().as_f64(), delta);
            assert_eq!(checked.cost(3).delta(), 3.0 * delta);
            let without = Spec { delta: Delta::ZERO, ..Spec::default() };
            assert_eq!(ValidSpec::new(without, Policy::Uniform, declared).is_ok(), declared.is_some());
        }
    }

    fn checked(spec: Spec, policy: Policy) -> Result<ValidSpec> {
        ValidSpec::new(spec, policy, None)
    }

    fn over(windows: &[Span]) -> Spec {
        Spec { windows: windows.to_vec(), ..Spec::default() }
    }

    #[test]
    fn boundaries_that_are_private_cost_a_quarter_once() {
        for (policy, epsilon) in [(Policy::Uniform, 3.0), (Policy::Exponential, 3.0), (Policy::Smooth, 2.5)] {
            let checked = checked(Spec::default(), policy).unwrap();
            assert_eq!(checked.cost(3).epsilon(), epsilon, "{policy:?}");
        }
    }

    /// By count a 64th of the shortest window, but at least 64 events; by the clock the step below a 60th of it.
    #[test]
    fn several_windows_share_a_slide_that_suits_the_shortest() {
        let hours = |hours: u64| Span::Clock(Duration::from_secs(3_600 * hours));
        for (windows, slide) in [
            ([Span::Events(6_400), Span::Events(640_000)], 100),
            ([Span::Events(640_000), Span::Events(1_000)], 64),
            ([Span::Events(640_000), Span::Events(10)], 10),
            ([hours(1), hours(720)], 60_000_000),
            ([hours(720), hours(168)], 3_600_000_000),
        ] {
            let found = checked(over(&windows), Policy::Uniform).unwrap().grid().slide;
            assert_eq!(found, slide, "{windows:?}");
            let given = Spec {
                slide: Some(match windows[0] {
                    Span::Events(_) => Span::Events(7),
                    Span::Clock(_) => Span::Clock(Duration::from_micros(7)),
                }),
                ..over(&windows)
            };
            assert_eq!(checked(given, Policy::Uniform).unwrap().grid().slide, 7);
        }
        let alone = checked(over(&[Span::Events(6_400_000)]), Policy::Uniform).unwrap();
        let usual = alone.window().grid(Policy::Uniform).unwrap().slide;
        assert_eq!((alone.window().slide, alone.grid().slide), (None, usual));
    }

    /// The noise of a norm that moves by 316,228 with a three-millionth of a share has a scale that overflows 64 bits: it would wrap
    /// around and protect nobody. And with more epochs than numbers, epochs would share an account.
    #[test]
    fn what_has_no_number_is_refused_where_people_are_protected() {
        let time = |seconds: u64| Span::Clock(Duration::from_secs(seconds));
        let day = 86_400;
        let of = |norm, epoch: Duration, bounds: Bounds| Spec {
            unit: Unit::User(bounds.epoch(epoch)),
            continual: true,
            norm,
            slide: Some(time(10)),
            ..over(&[time(365 * day)])
        };
        let (many, one) = (Bounds::new(10).per_key(100_000), Bounds::new(1));
        let a_day = Duration::from_secs(day);
        assert!(checked(of(Norm::L2, a_day, many), Policy::Uniform).is_err());
        assert!(checked(of(Norm::L1, a_day, many), Policy::Uniform).is_ok());
        assert!(checked(of(Norm::L2, a_day, one), Policy::Uniform).is_ok());
        let by_epoch =
            |micros| Spec { unit: Unit::User(one.epoch(Duration::from_micros(micros))), ..over(&[time(17)]) };
        assert!(checked(by_epoch(1), Policy::Fixed).is_err());
        assert!(checked(by_epoch(2), Policy::Fixed).is_ok());
    }

    /// A week by the hour with epochs of a day: 168 panes, of which 24 make up an epoch; with slides of
    /// a day or more, a pane has whole epochs.
    #[test]
    fn an_epoch_is_in_every_window_that_one_of_its_panes_is_in() {
        let time = |hours: u64| Span::Clock(Duration::from_secs(3_600 * hours));
        for (slide, panes, windows) in [(1, 24, 168 + 23), (8, 3, 21 + 2), (24, 1, 7), (168, 1, 1)] {
            let spec = Spec {
                unit: Unit::User(Bounds::new(1)),
                continual: true,
                slide: Some(time(slide)),
                ..over(&[time(168)])
            };
            let checked = checked(spec, Policy::Uniform).unwrap();
            assert_eq!((checked.panes_of_unit(), checked.windows_of_unit()), (panes, windows));
        }
    }
}
