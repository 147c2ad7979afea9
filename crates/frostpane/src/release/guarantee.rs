#![doc = include_str!("guarantee.md")]

use serde::Serialize;

use crate::noise::Threshold;
use crate::release::norm::NormEstimate;

/// Whether every key with `alpha` of the norm is listed, none with half of that is, and every listed count is
/// right to a quarter of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Promises {
    /// Whether all three hold at the alpha asked for.
    pub held: bool,
    /// The least alpha, from the one asked for on, at which all three hold; none if there is none below 1.
    pub alpha: Option<f64>,
    /// If they are not held: what is in the way, and what to change.
    pub reason: Option<String>,
}

/// What the statements of a release follow from: public and noisy numbers.
pub(crate) struct Guarantee {
    pub alpha: f64,
    pub events: u64,
    pub cut: u64,
    pub norm: NormEstimate,
    pub threshold: Threshold,
    pub floor: u64,
    pub keys_with_noise: u64,
    pub failure: f64,
}

/// The statements.
pub(crate) struct Statement {
    pub noise: u64,
    pub complete_above: u64,
    pub nothing_below: u64,
    pub promises: Promises,
    threshold: u64,
    at_floor: bool,
}

impl Guarantee {
    pub fn state(&self) -> Statement {
        let (noise, shortfall) = (self.noise(), self.shortfall());
        let threshold = self.threshold.value();
        let complete_above = threshold + self.cut + shortfall;
        let nothing_below = threshold.saturating_sub(noise);
        Statement {
            noise,
            complete_above,
            nothing_below,
            promises: self.promises(noise, complete_above, nothing_below),
            threshold,
            at_floor: threshold == self.floor,
        }
    }

    /// How far the noise of any key may reach.
    fn noise(&self) -> u64 {
        self.threshold
            .noise()
            .quantile(self.keys_with_noise, self.failure / 2.0)
    }

    /// How far noise may push down a key that is frequent enough to be listed. Few keys can be.
    fn shortfall(&self) -> u64 {
        let frequent = (self.events / (self.threshold.value() + self.cut)).min(self.keys_with_noise);
        let noise = self.threshold.noise();
        let chance = self.failure / 2.0 / frequent.max(1) as f64;
        noise.reach(chance).saturating_sub(1).min(self.noise())
    }

    fn promises(&self, noise: u64, complete_above: u64, nothing_below: u64) -> Promises {
        let accuracy = noise as f64 + self.cut.div_ceil(2) as f64;
        let accurate = accuracy <= self.alpha / 4.0 * self.norm.low;
        let complete = complete_above as f64 <= self.alpha * self.norm.low;
        let clean = nothing_below as f64 > self.alpha / 2.0 * self.norm.high;
        if accurate && complete && clean {
            return Promises {
                held: true,
                alpha: Some(self.alpha),
                reason: None,
            };
        }
        let fault = if !accurate {
            format!(
                "a listed count may be off by {accuracy}, more than a quarter of alpha times the norm ({:.0})",
                self.alpha / 4.0 * self.norm.low
            )
        } else if !complete {
            format!(
                "only keys with a count of at least {complete_above} are surely listed, more than alpha times the norm ({:.0})",
                self.alpha * self.norm.low
            )
        } else {
            format!(
                "a key with a count of {nothing_below} may be listed, no more than half of alpha times the norm ({:.0})",
                self.alpha / 2.0 * self.norm.high
            )
        };
        let alpha = self.least_alpha(noise, complete_above);
        let advice = self.advice(noise, alpha);
        Promises {
            held: false,
            alpha,
            reason: Some(format!("{fault}: {advice}")),
        }
    }

    /// The least alpha at which the keys of this list that pass its own threshold satisfy the promises.
    fn least_alpha(&self, noise: u64, complete_above: u64) -> Option<f64> {
        let (low, high, middle) = (self.norm.low, self.norm.high, self.norm.value.max(0) as f64);
        let beyond = (complete_above - self.threshold.value()) as f64;
        let accurate = 4.0 * (noise as f64 + self.cut.div_ceil(2) as f64) / low;
        let complete = ratio(beyond + 1.0, low - 0.75 * middle).max(complete_above as f64 / low);
        let clean = ratio(noise as f64 + 1.0, 0.75 * middle - 0.5 * high);
        let least = accurate.max(complete).max(clean).max(self.alpha);
        let rounded = round_up(least);
        (rounded < 1.0).then_some(rounded)
    }

    fn advice(&self, noise: u64, alpha: Option<f64>) -> String {
        let remedy = if self.cut.div_ceil(2) > noise {
            "keep more entries in a pane or slide by less, so that less is cut, or ask for a longer window"
        } else {
            "ask for a larger epsilon or a longer window"
        };
        match alpha {
            Some(alpha) => format!(
                "{remedy}; at alpha {alpha} all three promises hold for the keys listed with a noisy count of at least {}",
                (0.75 * alpha * self.norm.value.max(0) as f64)
                    .ceil()
                    .max(self.threshold.value() as f64)
            ),
            None => format!("{remedy}; with this window and epsilon they hold at no alpha"),
        }
    }
}

impl Statement {
    /// Why nothing is listed, from public and noisy numbers.
    pub fn why_empty(&self, events: u64) -> String {
        let Self {
            threshold,
            complete_above,
            ..
        } = self;
        if events == 0 {
            "the window has no events".to_owned()
        } else if self.at_floor {
            format!(
                "no noisy count reached {threshold}, the least that may be listed at this epsilon and delta whatever alpha is: ask for a longer window or a larger epsilon"
            )
        } else {
            format!(
                "no noisy count reached the threshold of {threshold}, and every key with a count of at least {complete_above} would be listed: ask for a smaller alpha"
            )
        }
    }
}

/// A quotient of positive numbers; infinite if the divisor is not positive.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 {
        numerator / denominator
    } else {
        f64::INFINITY
    }
}

/// Up to three significant digits.
fn round_up(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return f64::INFINITY;
    }
    let unit = 10f64.powi(value.log10().floor() as i32 - 2);
    let digits = (value / unit).ceil();
    // Written as a decimal so that 0.05 stays 0.05.
    format!("{:.*}", (-unit.log10()).round().max(0.0) as usize, digits * unit)
        .parse()
        .unwrap_or(f64::INFINITY)
}
