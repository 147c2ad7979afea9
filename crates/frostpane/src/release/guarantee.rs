#![doc = include_str!("guarantee.md")]

use serde::Serialize;

use crate::release::noise_bounds::NoiseBounds;
use crate::release::norm::{NormEstimate, billionths, three_quarters};
use crate::release::note::{Note, Obstacle, Remedy, Shortfall};
use crate::release::total::Total;

/// The three promises: every key with `alpha` of the norm is listed, no key with half of that is, and
/// every listed count is right to a quarter of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Promises {
    /// True if all three hold at the given alpha.
    pub held: bool,
    /// The given alpha, or the least larger one of three digits at which all three hold; `None` if
    /// there is none below 1.
    pub alpha: Option<f64>,
    /// If they do not hold: the obstacle, and what to change.
    pub reason: Option<Shortfall>,
}

impl Promises {
    /// Withdraws the promises if `missed` events of the window are not counted.
    pub(crate) fn without(self, missed: u64) -> Self {
        if missed == 0 {
            return self;
        }
        Self {
            held: false,
            alpha: None,
            reason: Some(Shortfall {
                obstacle: Obstacle::Missed(missed),
                remedy: Remedy::InTime,
                holds: None,
            }),
        }
    }
}

/// The numbers that the statements of a release follow from, all public or noisy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guarantee {
    /// Alpha, if heavy keys are listed.
    pub alpha: Option<f64>,
    pub cut: u64,
    /// The most that the window leaves out of each count at its start.
    pub slack: u64,
    pub norm: NormEstimate,
    /// The least noisy count that is listed, before the cut is added.
    pub threshold: u64,
    pub floor: u64,
    pub bounds: NoiseBounds,
}

/// The statements of a release.
pub(crate) struct AccuracyStatement {
    pub noise: u64,
    pub complete_above: u64,
    pub nothing_below: u64,
    pub promises: Option<Promises>,
    /// Before the cut is added.
    threshold: u64,
    cut: u64,
    bounds: NoiseBounds,
    at_floor: bool,
}

impl Guarantee {
    pub fn state(&self) -> AccuracyStatement {
        let threshold = self.threshold;
        AccuracyStatement {
            noise: self.bounds.over(threshold).max(self.bounds.under(threshold)),
            complete_above: self.complete_above(threshold),
            nothing_below: self.bounds.low(threshold),
            promises: self.alpha.map(|alpha| self.promises(alpha)),
            threshold,
            cut: self.cut,
            bounds: self.bounds,
            at_floor: threshold == self.floor,
        }
    }

    /// The least count that certainly reaches a threshold.
    fn complete_above(&self, threshold: u64) -> u64 {
        let missing = self.cut + self.slack;
        self.bounds.complete(threshold).saturating_add(missing)
    }

    /// A bound on the error of a listed count.
    pub fn inaccuracy(&self) -> u64 {
        self.inaccuracy_from(self.threshold)
    }

    /// The same for keys that reach a threshold: too low by noise and slack, or too high by noise and
    /// the part of the cut that was not cut off.
    fn inaccuracy_from(&self, threshold: u64) -> u64 {
        let [over, under] = [self.bounds.over(threshold), self.bounds.under(threshold)];
        over.saturating_add(self.cut).max(under.saturating_add(self.slack))
    }

    /// The length of the range of counts that may or may not be listed.
    fn vagueness(&self) -> u64 {
        let threshold = self.threshold;
        let noise = self.bounds.over(threshold).saturating_add(self.bounds.under(threshold));
        noise.saturating_add(self.cut + self.slack)
    }

    /// Returns true if neither a listed count nor the list has a larger error than by another guarantee.
    pub fn is_as_good_as(&self, other: &Self) -> bool {
        self.inaccuracy() <= other.inaccuracy() && self.vagueness() <= other.vagueness()
    }

    fn promises(&self, asked: f64) -> Promises {
        let Some(obstacle) = self.obstacle(asked) else {
            return Promises { held: true, alpha: Some(asked), reason: None };
        };
        let alpha =
            three_digit_numbers(asked).find(|alpha| *alpha > asked && self.obstacle(*alpha).is_none());
        Promises {
            held: false,
            alpha,
            reason: Some(Shortfall {
                obstacle,
                remedy: self.remedy(asked),
                holds: alpha.map(|alpha| (alpha, self.threshold_at(alpha) + self.cut)),
            }),
        }
    }

    /// The obstacle to the promises at an alpha, for the keys that reach its threshold.
    fn obstacle(&self, alpha: f64) -> Option<Obstacle> {
        let threshold = self.threshold_at(alpha);
        let inaccuracy = self.inaccuracy_from(threshold);
        let complete_above = self.complete_above(threshold);
        let nothing_below = self.bounds.low(threshold);
        let [quarter, half, whole] =
            [alpha / 4.0 * self.norm.low, alpha / 2.0 * self.norm.high, alpha * self.norm.low];
        if inaccuracy as f64 > quarter {
            Some(Obstacle::Inaccurate(inaccuracy, quarter))
        } else if complete_above as f64 > whole {
            Some(Obstacle::Incomplete(complete_above, whole))
        } else if nothing_below as f64 <= half {
            Some(Obstacle::Unclean(nothing_below, half))
        } else {
            None
        }
    }

    /// True if the promises hold at this norm even if rounding up raises the threshold by 1: no steps.
    pub fn holds_with_room(&self) -> bool {
        let Some(alpha) = self.alpha else { return false };
        let exact = 0.75 * billionths(alpha) as f64 / 1e9 * self.norm.value as f64 - self.cut as f64;
        let (least, most) = (exact.max(self.floor as f64), (exact + 1.0).max(self.floor as f64));
        let (whole, threshold) = (alpha * self.norm.low, self.threshold);
        let missing = self.complete_above(threshold) - threshold;
        most + missing as f64 <= whole
            && least - self.bounds.over(threshold) as f64 > alpha / 2.0 * self.norm.high
            && self.inaccuracy() as f64 <= whole / 4.0
    }

    /// Below this norm the floor is the threshold, and a larger norm makes the second promise harder;
    /// above it the threshold follows the norm.
    pub fn kink(&self) -> u64 {
        self.alpha.map_or(u64::MAX, |alpha| ((self.floor + self.cut) as f64 / (0.75 * alpha)) as u64)
    }

    /// The threshold that a release at this alpha would have had; at the given alpha, its own.
    fn threshold_at(&self, alpha: f64) -> u64 {
        self.threshold.max(three_quarters(alpha, self.norm.value).saturating_sub(self.cut))
    }

    /// The remedy for the largest error.
    fn remedy(&self, alpha: f64) -> Remedy {
        let NormEstimate { value, low, high, by_sketch } = self.norm;
        let norm_error = alpha * (value as f64 - low).max(high - value as f64);
        let largest =
            [norm_error, self.cut as f64, self.slack as f64, self.bounds.over(self.threshold) as f64]
                .into_iter()
                .fold(0.0, f64::max);
        if self.slack > 0 && self.slack as f64 == largest {
            Remedy::ShorterSlide
        } else if by_sketch && norm_error == largest {
            Remedy::WiderSketch
        } else if self.cut > 0 && self.cut as f64 == largest {
            Remedy::SmallerCut
        } else {
            Remedy::LessNoise
        }
    }
}

impl AccuracyStatement {
    /// For a list that was cut short at this noisy count: no key that is left out has a higher one.
    pub fn up_to(self, noisy: u64) -> Self {
        // Some keys with this noisy count may be left out.
        let threshold = noisy + 1;
        Self {
            noise: self.bounds.over(noisy).max(self.bounds.under(threshold)),
            complete_above: self.bounds.complete(threshold).saturating_add(self.cut),
            nothing_below: self.bounds.low(noisy),
            ..self
        }
    }

    /// The estimate and the interval of a key listed with this noisy count.
    pub fn interval(&self, noisy: u64) -> [u64; 3] {
        let high = self.bounds.high(noisy).saturating_add(self.cut);
        [noisy + self.cut, self.bounds.low(noisy), high]
    }

    /// The reason for an empty list, from public and noisy numbers: of the events covered, and of those
    /// asked for.
    pub fn why_empty(&self, total: &Total, asked: u64) -> Note {
        let Self { complete_above, .. } = *self;
        let threshold = self.threshold + self.cut;
        // The absence of events is stated only where it is public.
        let events = if total.is_public { total.value } else { u64::MAX };
        if events == 0 && asked > 0 {
            Note::WithinOnePane
        } else if events == 0 {
            Note::NoEvents
        } else if self.at_floor {
            Note::BelowFloor { threshold }
        } else {
            Note::BelowThreshold { threshold, complete_above }
        }
    }
}

/// All numbers of three significant digits below 1, from about `least` on, rising.
fn three_digit_numbers(least: f64) -> impl Iterator<Item = f64> {
    let first = least.log10().floor() as i32;
    (first..0).flat_map(|exponent| {
        // As decimals, so that 0.07 is the float that is parsed from "0.07".
        (100..1_000).filter_map(move |digits| format!("{digits}e{}", exponent - 2).parse().ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Threshold;
    use crate::release::noise_bounds::{CountLimits, PriorBounds};
    use crate::release::test_oracle::laplace;

    fn guarantee(alpha: f64, events: u64, cut: u64, norm: NormEstimate) -> Guarantee {
        let noise = laplace(2, 1.0);
        let floor = Threshold::for_open_keys(noise, 1e-9).value();
        let threshold = floor.max(three_quarters(alpha, norm.value).saturating_sub(cut));
        let limits = CountLimits { events, norm: None, keys: events, declared: false };
        Guarantee {
            alpha: Some(alpha),
            cut,
            slack: 0,
            norm,
            threshold,
            floor,
            bounds: PriorBounds::new(noise, &limits, [floor, threshold], None, 0.05).bounds,
        }
    }

    /// Returns true if the promises follow from the statements, by definition: every key with `alpha L`
    /// occurrences has `complete_above`, and so on, for every possible norm.
    fn follow(guarantee: &Guarantee, alpha: f64) -> bool {
        let Guarantee { norm, cut, .. } = *guarantee;
        let asked = three_quarters(alpha, norm.value).saturating_sub(cut);
        let threshold = asked.max(guarantee.threshold);
        let reach = guarantee.bounds;
        let listed = threshold..threshold + 300;
        let over = listed.clone().map(|noisy| noisy - reach.low(noisy)).max().unwrap();
        let under = listed.map(|noisy| reach.high(noisy - 1) + 1 - noisy).max().unwrap();
        [norm.low, norm.high].iter().all(|norm| {
            (threshold + cut + under) as f64 <= alpha * norm
                && reach.low(threshold) as f64 > alpha / 2.0 * norm
                && (over + cut).max(under) as f64 <= alpha / 4.0 * norm
        })
    }

    #[test]
    fn the_stated_alpha_is_the_least_of_three_digits_at_which_the_promises_follow() {
        for events in [50, 67, 80, 1_000, 20_000, 3_000_000] {
            for (cut, alpha, spread) in
                [(0, 0.01, 0.0), (30, 0.001, 0.0), (0, 0.02, 0.05), (7, 0.3, 0.2), (0, 0.1, 0.4)]
            {
                let value = events as f64;
                let norm = NormEstimate {
                    value: events as i64,
                    low: value * (1.0 - spread),
                    high: value * (1.0 + spread),
                    by_sketch: spread > 0.0,
                };
                let guarantee = guarantee(alpha, events, cut, norm);
                let promises = guarantee.state().promises.unwrap();
                assert!(!promises.held || follow(&guarantee, alpha));
                let least =
                    three_digit_numbers(alpha).find(|other| *other >= alpha && follow(&guarantee, *other));
                assert_eq!(promises.alpha, least, "{events} {alpha} {spread}");
            }
        }
    }

    /// A threshold of 800 at a norm between 9,000 and 11,000, a cut of 31, a slack of 7, and noise of
    /// at most 50 upwards and 40 downwards.
    fn numbers() -> Guarantee {
        Guarantee {
            alpha: Some(0.1),
            cut: 31,
            slack: 7,
            norm: NormEstimate { value: 10_000, low: 9_000.0, high: 11_000.0, by_sketch: false },
            threshold: 800,
            floor: 60,
            bounds: NoiseBounds::Alike { over: 50, under: 40 },
        }
    }

    #[test]
    fn the_statements_add_up() {
        let guarantee = numbers();
        let statement = guarantee.state();
        assert_eq!(statement.noise, 50);
        assert_eq!(statement.complete_above, 800 + 31 + 7 + 40);
        assert_eq!(statement.nothing_below, 800 - 50);
        assert_eq!((statement.threshold, statement.at_floor), (800, false));
        assert_eq!(statement.interval(900), [931, 850, 971]);
        // Too high by noise and all of the cut, or too low by noise and slack.
        assert_eq!(guarantee.inaccuracy(), 50 + 31);
        let slack = Guarantee { slack: 77, ..guarantee };
        assert_eq!(slack.inaccuracy(), 40 + 77);
        let floor = Guarantee { threshold: 30, floor: 30, ..guarantee };
        assert_eq!((floor.state().nothing_below, floor.state().at_floor), (0, true));
        let full = statement.up_to(900);
        assert_eq!((full.complete_above, full.nothing_below), (901 + 31 + 40, 850));
    }

    /// `complete_above <= alpha low`, `nothing_below > alpha/2 high`, `inaccuracy <= alpha/4 low`: each
    /// by itself, at its bound and one past it, with the alpha that is stated instead and the sentence.
    #[test]
    fn each_promise_stands_and_falls_with_its_own_number() {
        let sound = numbers();
        assert_eq!(sound.state().promises.unwrap(), Promises { held: true, alpha: Some(0.1), reason: None });
        let with_norm =
            |low: f64, high: f64| Guarantee { norm: NormEstimate { low, high, ..sound.norm }, ..sound };
        // 878 occurrences are certainly listed, so the norm must be at least 8,780.
        assert!(with_norm(8_780.0, 11_000.0).state().promises.unwrap().held);
        let promises = with_norm(8_779.0, 11_000.0).state().promises.unwrap();
        let reason = promises.reason.unwrap().to_string();
        assert_eq!(promises.alpha, Some(0.101));
        assert_eq!(
            reason,
            "only keys with a count of 878 are surely listed, more than alpha times the norm (878): ask for a larger \
             epsilon or a window with more events; at alpha 0.101 all three hold for the keys listed with 831 or more"
        );
        // A key with 750 may be listed, so half of alpha times the norm must be below.
        assert!(with_norm(9_000.0, 14_999.0).state().promises.unwrap().held);
        let promises = with_norm(9_000.0, 15_000.0).state().promises.unwrap();
        let reason = promises.reason.unwrap().to_string();
        assert!(
            reason.starts_with(
                "a key with a count of 750 may be listed, no more than half of alpha times the norm (750)"
            ),
            "{reason}"
        );
        // The error of a count is noise and cut.
        let narrow = |noise| Guarantee {
            bounds: NoiseBounds::Alike { over: noise, under: 0 },
            ..with_norm(9_000.0, 9_000.0)
        };
        assert!(narrow(225 - 31).state().promises.unwrap().held);
        let promises = narrow(226 - 31).state().promises.unwrap();
        let reason = promises.reason.unwrap().to_string();
        assert!(
            reason.starts_with(
                "a listed count may be off by 226, more than a quarter of alpha times the norm (225)"
            ),
            "{reason}"
        );
        assert_eq!(promises.alpha, Some(0.101));
        // Three quarters of the required count leave a quarter of it for the cut, above half of the
        // greatest norm: just so at 0.999, and not below 1.
        let cut_by = |cut| Guarantee { cut, ..sound }.state().promises.unwrap();
        assert_eq!([1_945, 1_946].map(|cut| cut_by(cut).alpha), [Some(0.998), Some(0.999)]);
        let hopeless = cut_by(1_949);
        assert_eq!((hopeless.held, hopeless.alpha), (false, None));
        assert!(hopeless.reason.unwrap().to_string().ends_with("; as it is they hold at no alpha"));
    }

    /// The condition without steps: at the bound of each promise the threshold may cost 1 more.
    #[test]
    fn room_is_what_rounding_may_cost() {
        let sound = numbers();
        assert!(sound.holds_with_room());
        let with_norm =
            |low: f64, high: f64| Guarantee { norm: NormEstimate { low, high, ..sound.norm }, ..sound };
        // Three quarters of alpha times 10,000 are 750, without the cut 719; with the 1 and 78 that is 798.
        assert!(with_norm(7_980.0, 11_000.0).holds_with_room());
        assert!(!with_norm(7_979.0, 11_000.0).holds_with_room());
        // 719 - 50 = 669 lies above half of alpha times 13,379.
        assert!(with_norm(9_000.0, 13_379.0).holds_with_room());
        assert!(!with_norm(9_000.0, 13_380.0).holds_with_room());
        let noisy = |noise| Guarantee {
            bounds: NoiseBounds::Alike { over: noise, under: 0 },
            ..with_norm(9_000.0, 9_000.0)
        };
        assert!(noisy(194).holds_with_room());
        assert!(!noisy(195).holds_with_room());
        // A higher floor is the threshold in both cases.
        let floored = |floor| Guarantee { floor, ..with_norm(8_790.0, 11_000.0) };
        assert!(floored(801).holds_with_room());
        assert!(!floored(802).holds_with_room());
        assert_eq!(
            Guarantee { alpha: Some(0.25), ..sound }.kink(),
            // 60 and 31 over three quarters of alpha.
            485
        );
    }

    #[test]
    fn a_guarantee_is_as_good_as_another_in_both_respects_or_not_at_all() {
        let sound = numbers();
        let with = |cut: u64, noise, shortfall| Guarantee {
            cut,
            bounds: NoiseBounds::Alike { over: noise, under: shortfall },
            ..sound
        };
        assert!(sound.is_as_good_as(&sound));
        // The error of a count is 81, and 128 counts may or may not be listed.
        assert!(with(31, 50, 40).is_as_good_as(&with(0, 81, 40)));
        assert!(!with(31, 50, 40).is_as_good_as(&with(0, 80, 41)));
        assert!(!with(31, 50, 40).is_as_good_as(&with(0, 81, 39)));
    }

    #[test]
    fn an_empty_list_says_why() {
        const ONE_PANE: &str = "the window lies within one pane that began before it";
        for (threshold, events, asked, expected) in [
            (
                800,
                5,
                5,
                "no noisy count reached the threshold of 831, and every key with a count of at least 878 would be listed: ask \
                 for a smaller alpha",
            ),
            (60, 5, 5, "no noisy count reached 91, the least that may be listed at this epsilon and delta"),
            (800, 0, 9, ONE_PANE),
            (800, 0, 1, ONE_PANE),
            (800, 0, 0, "the window has no events"),
        ] {
            let statement = Guarantee { threshold, ..numbers() }.state();
            let note = statement.why_empty(&Total::public(events), asked).to_string();
            assert!(note.starts_with(expected), "{note}");
        }
    }

    /// The largest obstacle decides: the slack, the norm's error times alpha if a sketch contributes, the cut, or
    /// the noise.
    #[test]
    fn the_remedy_is_for_the_largest_obstacle() {
        const SLIDE: &str = "slide by less";
        const SKETCH: &str = "allow more memory for a wider sketch";
        const CUT: &str = "allow more memory or slide by more";
        const NOISE: &str = "ask for a larger epsilon";
        let none = [0.0, 0.0];
        for (slack, cut, noise, [below, above], by_sketch, expected) in [
            (50, 0, 50, none, false, SLIDE),
            (49, 0, 50, none, false, NOISE),
            (0, 50, 50, none, false, CUT),
            (0, 49, 50, none, false, NOISE),
            (51, 50, 50, none, false, SLIDE),
            (50, 51, 50, none, false, CUT),
            (50, 51, 50, [0.0, 520.0], true, SKETCH),
            (50, 51, 50, [0.0, 520.0], false, NOISE),
            (50, 51, 50, [0.0, 500.0], true, CUT),
            (7, 31, 50, [1_000.0, 1.0], true, SKETCH),
            // A norm without an error is in nobody's way.
            (90, 31, 50, none, true, SLIDE),
            // No events, and a single one.
            (0, 0, 0, none, false, NOISE),
            (1, 0, 0, none, false, SLIDE),
            (0, 1, 0, none, false, CUT),
        ] {
            let (low, high) = (10_000.0 - below, 10_000.0 + above);
            let guarantee = Guarantee {
                slack,
                cut,
                norm: NormEstimate { value: 10_000, low, high, by_sketch },
                bounds: NoiseBounds::Alike { over: noise, under: noise },
                ..numbers()
            };
            let advice = guarantee.remedy(0.1).to_string();
            assert!(advice.starts_with(expected), "{slack} {cut} {noise} {below} {above}: {advice}");
        }
    }
}
