//! What to expect of a release before there is any data.

use serde::Serialize;

use crate::key::Key;
use crate::plan::Plan;
use crate::release::Norm;
use crate::release::guarantee::Guarantee;
use crate::release::norm::NormEstimate;
use crate::release::terms::Terms;

/// What a release over a window with a certain number of events will say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// The events of the window that this is about; by the clock, evenly spread over its panes.
    pub events: u64,
    /// The scale of the noise of a count.
    pub scale: f64,
    /// How far the noise of any key may reach.
    pub noise: u64,
    /// How much of each count may be missing because memory is bounded.
    pub cut: u64,
    /// The least threshold that privacy allows, whatever alpha is.
    pub floor: u64,
    /// Every key with this count is surely listed, if alpha asks for no more than that.
    pub least_listed_at_floor: u64,
    /// The norm that the next two numbers are about: of the events for L1; for L2 the one asked about, or the
    /// least one.
    pub norm: Option<u64>,
    /// The threshold at that norm.
    pub threshold: u64,
    /// Every key with this count is surely listed at that norm.
    pub least_listed: u64,
    /// The least L2 norm at which the promises are made for sure; none if there is none, or for L1.
    pub least_norm: Option<u64>,
    /// Whether the promises are made at that norm.
    pub held: bool,
}

impl Forecast {
    pub(crate) fn new<K: Key>(terms: &Terms<K>, plan: &Plan, events: u64, norm: Option<u64>) -> Self {
        let window = Window::new(terms, plan, events);
        let least_norm = if terms.norm == Norm::L2 {
            window.least_norm()
        } else {
            None
        };
        let norm = match terms.norm {
            Norm::L1 => Some(events),
            Norm::L2 => norm.or(least_norm),
        };
        let guarantee = window.guarantee(norm.unwrap_or(0));
        let statement = guarantee.state();
        Self {
            events,
            scale: terms.floor().noise().scale(),
            noise: statement.noise,
            cut: window.cut,
            floor: guarantee.floor,
            least_listed_at_floor: window
                .guarantee_around(NormEstimate::of_events(0))
                .state()
                .complete_above,
            norm,
            threshold: guarantee.threshold.value(),
            least_listed: statement.complete_above,
            least_norm,
            held: norm.is_some() && statement.promises.held,
        }
    }
}

/// A window that is not there yet.
struct Window<'a, K: Key> {
    terms: &'a Terms<K>,
    events: u64,
    cut: u64,
    keys_with_noise: u64,
}

impl<'a, K: Key> Window<'a, K> {
    fn new(terms: &'a Terms<K>, plan: &Plan, events: u64) -> Self {
        let loads = plan.loads(events);
        let cut = |(panes, events): (u64, u64)| panes.saturating_mul(terms.shape.cut(events));
        Self {
            terms,
            events,
            cut: loads.into_iter().map(cut).fold(0, u64::saturating_add),
            keys_with_noise: terms.keys_with_noise(loads),
        }
    }

    fn guarantee(&self, norm: u64) -> Guarantee {
        self.guarantee_around(self.around(norm))
    }

    fn guarantee_around(&self, norm: NormEstimate) -> Guarantee {
        self.terms
            .guarantee(self.events, self.cut, norm, self.keys_with_noise)
    }

    /// A norm as a release would know it.
    fn around(&self, norm: u64) -> NormEstimate {
        let (value, epsilon, failure) = (norm as i64, self.terms.norm_epsilon(), self.terms.norm_failure());
        match (self.terms.norm, self.terms.shape.sketch()) {
            (Norm::L1, _) => NormEstimate::of_events(norm),
            (Norm::L2, Some(dimensions)) if self.cut > 0 => {
                NormEstimate::around_sketch(value, dimensions, epsilon, failure)
            }
            (Norm::L2, _) => NormEstimate::around_exact(value, epsilon, failure),
        }
    }

    /// The least true norm from which on a release makes the promises, however the estimate falls within its
    /// bounds. Every condition is linear in the norm below the kink and above it, so it is enough to look at
    /// the ends.
    fn least_norm(&self) -> Option<u64> {
        // Noise and sketch may carry the estimate beyond the number of events.
        let most = 2 * self.events.max(1);
        let kink = self.guarantee(0).kink().min(most - 1);
        if !self.promised(most) {
            None
        } else if self.promised(kink) && self.promised(kink + 1) {
            self.least_in(0, kink)
        } else {
            self.least_in(kink, most)
        }
    }

    /// The least estimate at which the promises are made, between one at which they may not be and one at
    /// which they are.
    fn least_in(&self, mut low: u64, mut high: u64) -> Option<u64> {
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.promised(middle) {
                high = middle
            } else {
                low = middle
            }
        }
        let least = self.around(high).high.ceil();
        (least <= self.events as f64).then_some(least as u64)
    }

    fn promised(&self, estimate: u64) -> bool {
        self.guarantee(estimate).holds_with_room()
    }
}
