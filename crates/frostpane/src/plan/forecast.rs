//! Forecasts of a release, before there is any data.

use serde::Serialize;

use crate::key::Key;
use crate::mechanism::Threshold;
use crate::noise::{DiscreteLaplace, NoiseLaw};
use crate::plan::Plan;
use crate::privacy::Epsilon;
use crate::release::Request;
use crate::release::by_sketch::BySketch;
use crate::release::continual::{ContinualInfo, ContinualReleaser};
use crate::release::guarantee::Guarantee;
use crate::release::noise_bounds::NoiseBounds;
use crate::release::norm::NormEstimate;
use crate::release::total::Total;
use crate::search::first;
use crate::spec::Norm;

/// The expected properties of a release over a window with a given number of events.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The number of events of the window; by the clock, spread evenly over its panes. With user-level
    /// privacy, the number of those that are counted.
    pub events: u64,
    /// The family of the noise distribution.
    pub noise_law: NoiseLaw,
    /// The scale of the noise of a count, or its standard deviation if it is Gaussian; in continual
    /// release, of each of the values that are added.
    pub scale: f64,
    /// The standard deviation of the noise of a count.
    pub deviation: f64,
    /// A bound on the noise of a listed key.
    pub noise: u64,
    /// The most that each count may be short because memory is bounded.
    pub cut: u64,
    /// The same, however the events are spread over panes.
    pub most_cut: u64,
    /// The least threshold that privacy allows, whatever alpha is.
    pub floor: u64,
    /// Every key with this count is certainly listed, if alpha asks for no more than that.
    pub least_listed_at_floor: u64,
    /// The norm that the next two numbers assume: the number of events for L1; for L2 the given norm, or the least one.
    pub norm: Option<u64>,
    /// The threshold at that norm.
    pub threshold: u64,
    /// Every key with this count is certainly listed at that norm.
    pub least_listed: u64,
    /// The least L2 norm at which the promises certainly hold; `None` if there is none, or for L1.
    pub least_norm: Option<u64>,
    /// The same for the window that was asked for, wherever it begins.
    pub least_norm_asked: Option<u64>,
    /// True if the promises hold at that norm.
    pub held: bool,
    /// The part of epsilon that goes to private boundaries.
    pub boundaries_epsilon: f64,
    /// Continual release: how the counts are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continual: Option<ContinualInfo>,
}

impl Forecast {
    pub(crate) fn new<K: Key>(request: &Request<K>, plan: &Plan, events: u64, norm: Option<u64>) -> Self {
        Self::of(&FutureWindow::new(request, plan, events), norm)
    }

    pub(crate) fn of_sequence<K: Key>(
        releaser: &ContinualReleaser<K>,
        plan: &Plan,
        events: u64,
        norm: Option<u64>,
    ) -> Self {
        let noise = CountNoise::Continual(releaser);
        Self::of(&FutureWindow { request: releaser.request(), plan, events, noise }, norm)
    }

    fn of<K: Key>(window: &FutureWindow<'_, K>, norm: Option<u64>) -> Self {
        let (request, events) = (window.request, window.events);
        let least_norm = window.least_norm(FutureWindow::guarantee);
        let norm = match request.spec.norm {
            Norm::L1 => Some(events),
            Norm::L2 => norm.or(least_norm),
        };
        let guarantee = window.guarantee(norm.unwrap_or(0));
        let boundaries = request.spec.split(request.spec.epsilon).boundaries;
        let statement = guarantee.state();
        let (noise_law, scale, deviation, continual) = match &window.noise {
            CountNoise::OneShot { floor, .. } => {
                let noise = floor.noise();
                (noise.law(), noise.scale(), noise.variance().sqrt(), None)
            }
            CountNoise::Continual(releaser) => {
                let info = releaser.continuity();
                (releaser.noise_law(), info.scale, info.deviation, Some(info.clone()))
            }
        };
        Self {
            events,
            noise_law,
            scale,
            deviation,
            noise: statement.noise,
            cut: guarantee.cut,
            most_cut: window.most_cut(guarantee.norm),
            floor: guarantee.floor + guarantee.cut,
            least_listed_at_floor: window.guarantee_around(NormEstimate::of_events(0)).state().complete_above,
            norm,
            threshold: guarantee.threshold + guarantee.cut,
            least_listed: statement.complete_above,
            least_norm,
            least_norm_asked: window.least_norm(FutureWindow::guarantee_asked),
            held: norm.is_some() && statement.promises.is_some_and(|promises| promises.held),
            boundaries_epsilon: boundaries.map_or(0.0, Epsilon::as_f64),
            continual,
        }
    }

    pub(crate) fn least_norm_asked<K: Key>(request: &Request<K>, plan: &Plan, events: u64) -> Option<u64> {
        FutureWindow::new(request, plan, events).least_norm(FutureWindow::guarantee_asked)
    }
}

struct FutureWindow<'a, K: Key> {
    request: &'a Request<K>,
    plan: &'a Plan,
    events: u64,
    noise: CountNoise<'a, K>,
}

enum CountNoise<'a, K: Key> {
    OneShot { floor: Threshold, keys: u64 },
    Continual(&'a ContinualReleaser<K>),
}

impl<'a, K: Key> FutureWindow<'a, K> {
    fn new(request: &'a Request<K>, plan: &'a Plan, events: u64) -> Self {
        Self {
            request,
            plan,
            events,
            noise: CountNoise::OneShot {
                floor: request.floor(),
                keys: if request.unit().is_user() {
                    request.keys_of_users(&total(request, events))
                } else {
                    request.keys_with_noise(plan.layout.loads(events))
                },
            },
        }
    }

    fn guarantee(&self, norm: u64) -> Guarantee {
        self.guarantee_around(self.around(norm))
    }

    /// The guarantee for the window that was asked for, wherever it begins.
    fn guarantee_asked(&self, norm: u64) -> Guarantee {
        let covered = self.guarantee(norm);
        let slack = match self.noise {
            CountNoise::OneShot { .. } => self.plan.layout.slack(self.events, norm as f64),
            // Its windows begin with a pane.
            CountNoise::Continual(_) => 0.0,
        };
        Guarantee {
            slack: slack.ceil() as u64,
            norm: NormEstimate { high: covered.norm.high + slack, ..covered.norm },
            ..covered
        }
    }

    fn guarantee_around(&self, norm: NormEstimate) -> Guarantee {
        self.guarantee_of_cut(self.cut(norm.value), norm)
    }

    fn guarantee_of_cut(&self, cut: u64, norm: NormEstimate) -> Guarantee {
        let by_counts = match self.noise {
            CountNoise::Continual(sequence) => {
                return sequence.guarantee(cut, norm, sequence.around(self.events));
            }
            CountNoise::OneShot { floor, keys } => {
                self.request.by_counts(floor, &total(self.request, self.events), cut, norm, keys).0
            }
        };
        match BySketch::new(self.request, norm) {
            Some(sketch) if sketch.is_better_than(&by_counts) => sketch.guarantee,
            _ => by_counts,
        }
    }

    /// The cut if the events spread over panes in the worst way: at most that of one pane with all of them.
    fn most_cut(&self, norm: NormEstimate) -> u64 {
        let layout = &self.plan.layout;
        let most = match layout.most_events(layout.slide) {
            None if layout.is_even() => self.request.shape.parameters().cut(self.events),
            _ => self.cut(norm.value),
        };
        self.guarantee_of_cut(most, norm).cut
    }

    fn cut(&self, norm: i64) -> u64 {
        let layout = &self.plan.layout;
        if layout.is_even() {
            let made_with = self.request.shape.parameters();
            let cut = |(panes, events): (u64, u64)| panes.saturating_mul(made_with.cut(events));
            return layout.loads(self.events).into_iter().map(cut).fold(0, u64::saturating_add);
        }
        if self.plan.always_exact {
            return 0;
        }
        let entries = u64::from(self.plan.entries);
        let times = layout.times_cut(entries, norm.max(0) as f64);
        (times * self.events as f64 / (entries + 1) as f64) as u64
    }

    fn around(&self, norm: u64) -> NormEstimate {
        let (value, unit) = (norm as i64, self.request.unit());
        let (epsilon, failure) = (self.request.norm_epsilon(), self.request.norm_failure());
        match (self.request.spec.norm, self.request.shape.sketch()) {
            (Norm::L1, _) => match self.noise {
                CountNoise::OneShot { .. } => total(self.request, norm).norm(),
                CountNoise::Continual(_) => NormEstimate::of_events(norm),
            },
            (Norm::L2, Some(dimensions)) if self.cut(value) > 0 => {
                NormEstimate::around_sketch(value, dimensions, unit, epsilon, failure)
            }
            (Norm::L2, _) => NormEstimate::around_exact(value, unit, epsilon, failure),
        }
    }

    /// The least true L2 norm from which on a release makes the promises, wherever the estimate falls within its bounds. Obstacles grow
    /// at most in proportion to the norm, below the kink and above it, so it is enough to check the ends.
    fn least_norm(&self, guarantee: impl Fn(&Self, u64) -> Guarantee) -> Option<u64> {
        if self.request.spec.norm == Norm::L1 {
            return None;
        }
        let promised = |estimate: u64| guarantee(self, estimate).holds_with_room();
        // Noise and sketch may carry the estimate beyond the number of events.
        let mut high = 2 * self.events.max(1);
        if !promised(high) {
            return None;
        }
        let kink = self.guarantee(0).kink().min(high);
        let is_seen = |estimate: u64| matches!(self.guarantee(estimate).bounds, NoiseBounds::Alike { .. });
        let mut low = 0;
        for last in [first(kink, high, is_seen), kink] {
            // Downwards: the condition is monotone between two steps.
            if !promised(last + 1) {
                low = last + 1;
                break;
            }
            high = last + 1;
            if !promised(last) {
                low = last;
                break;
            }
            high = last;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if promised(middle) { high = middle } else { low = middle }
        }
        let least = self.around(high).high.ceil();
        (least <= self.events as f64).then_some(least as u64)
    }
}

/// A number of events as a release would know it, if its noise were 0.
fn total<K: Key>(request: &Request<K>, events: u64) -> Total {
    match request.split.total {
        None => Total::public(events),
        Some(epsilon) => {
            let noise = DiscreteLaplace::new(request.unit().total(), epsilon);
            Total::around(events as i64, noise.quantile(1, request.total_failure()))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::key::Keys;
    use crate::spec::{Policy, Window};
    use crate::stream::{Builder, HeavyHitters};

    fn open() -> Builder<u64> {
        HeavyHitters::builder(Keys::open())
    }

    /// Panes of 100, 400, 1,600 and 6,400 events: with 1,000 entries the longer two are cut.
    #[test]
    fn panes_that_grow_are_cut_once_for_each_length_that_is_not_exact() {
        let window = Window::events(1_000_000).slide(100);
        let growing = open().policy(Policy::Exponential).window(window);
        let cut = |entries| growing.clone().entries(entries).forecast(1_000_000, None).unwrap().cut;
        assert_eq!(cut(1_000), 2 * 1_000_000 / 1_001);
        assert_eq!(cut(6_399), 1_000_000 / 6_400);
        assert_eq!(cut(6_400), 0);
        let uniform = open().window(Window::events(1_000_000).slide(3_000)).entries(100);
        assert_eq!(uniform.forecast(1_000_000, None).unwrap().cut, 333 * (3_000 / 101) + 1_000 / 101);
    }

    /// Counts of declared keys are cut by 15,380; estimates from a wide sketch are not cut at all.
    #[test]
    fn declared_keys_are_foreseen_by_sketch_where_that_is_better() {
        let declared = HeavyHitters::<u64>::builder(Keys::range(0..1_000).unwrap());
        let declared = declared.window(Window::events(1_000_000).slide(100_000)).entries(64);
        let cut = |width| declared.clone().sketch(5, width).forecast(1_000_000, Some(20_000)).unwrap().cut;
        assert_eq!(cut(1 << 16), 0);
        assert_eq!(cut(64), 10 * (100_000 / 65));
    }

    /// Either plan counts so few events exactly; its sketch is not used.
    #[test]
    fn a_window_that_is_not_cut_is_foreseen_as_exact() {
        let window = Window::events(1_000_000).slide(10_000);
        let builder = open().alpha(0.2).window(window).sketch(5, 64);
        let [sketched, exact] = [9_000, 10_000].map(|entries| {
            let builder = builder.clone().entries(entries);
            assert_eq!(builder.plan().unwrap().sketch.is_some(), entries < 10_000);
            builder.forecast(8_000, None).unwrap()
        });
        assert!(exact.least_norm.is_some() && exact.held);
        assert_eq!(sketched, exact);
    }

    /// Above the forecast norm no estimate fails, up to twice the events, where the floor is the threshold and above.
    #[test]
    fn the_least_norm_is_one_above_which_none_fails() {
        let mut foreseen = 0;
        let digits = |digits: std::ops::Range<i32>| digits.map(|digit| f64::from(digit) / 10.0);
        let settings = digits(2..10).flat_map(|alpha| digits(80..100).map(move |delta| (alpha, delta)));
        let many = settings
            .flat_map(|(alpha, delta)| [(alpha, delta, 5.0, 100, 0.5), (alpha, delta, 2.0, 150, 0.5)]);
        // If noisy counts add knowledge, the forecast promises less at first.
        let seen = [3.0, 6.0, 9.0].map(|delta| (0.1, delta, 10.0, 2_000, 0.95));
        for (alpha, exponent, epsilon, events, confidence) in many.chain(seen) {
            let delta = 10_f64.powf(-exponent);
            let builder = open().alpha(alpha).epsilon(epsilon).delta(delta);
            let builder = builder.confidence(confidence).window(Window::events(events));
            let (plan, request) = builder.policy(Policy::Uniform).request_with(0).unwrap();
            let window = super::FutureWindow::new(&request, &plan, events);
            let promised = |estimate: u64| window.guarantee(estimate).holds_with_room();
            let failing = (0..=2 * events).rev().find(|estimate| !promised(*estimate)).unwrap();
            let least = window.around(failing + 1).high.ceil() as u64;
            let expected = Some(least).filter(|least| failing < 2 * events && *least <= events);
            foreseen += u32::from(expected.is_some());
            assert_eq!(
                window.least_norm(super::FutureWindow::guarantee),
                expected,
                "{alpha} {epsilon} {exponent}"
            );
        }
        assert!(foreseen > 100, "{foreseen}");
    }
}
