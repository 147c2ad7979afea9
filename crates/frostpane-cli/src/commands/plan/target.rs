//! Plans for a target: the parameters that list every key that occurs so often.

use frostpane::{Builder, Forecast, Key, Norm};
use frostpane_render::{UnitWords, percent};
use serde::Serialize;

use crate::failure::Result;
use crate::settings::ReleaseRequest;
use crate::settings::values::grouped;

#[derive(Serialize)]
pub struct TargetPlan {
    count: u64,
    epsilon: Option<f64>,
    /// For heavy keys: the most that alpha times the norm may be.
    alpha_times_norm: Option<u64>,
    alpha: Option<f64>,
    /// For heavy keys: the epsilon that suffices with --all.
    epsilon_of_all: Option<f64>,
    #[serde(skip)]
    norm: Option<u64>,
    #[serde(skip)]
    cut: u64,
}

impl TargetPlan {
    pub fn new<K: Key>(
        count: u64,
        request: &ReleaseRequest,
        builder: &Builder<K>,
        forecast: &Forecast,
    ) -> Result<Self> {
        let (events, norm) = (forecast.events, forecast.norm);
        let heavy = request.spec.lists_heavy();
        let epsilon = builder.epsilon_for(count, events)?;
        let alpha_times_norm = match epsilon.filter(|_| heavy) {
            Some(epsilon) => {
                let then = builder.clone().epsilon(epsilon).forecast(events, norm)?;
                // A count surely passes a threshold if it is so much above it, or less, at any threshold.
                let threshold = count - (then.least_listed_at_floor - then.floor);
                Some(threshold.saturating_mul(4) / 3)
            }
            None => None,
        };
        let alpha = |times: u64| round_down(times as f64 / norm?.max(1) as f64);
        Ok(Self {
            count,
            epsilon,
            alpha_times_norm,
            alpha: alpha_times_norm.and_then(alpha),
            epsilon_of_all: if heavy { builder.clone().all().epsilon_for(count, events)? } else { None },
            norm,
            cut: forecast.cut,
        })
    }

    pub fn words(&self, request: &ReleaseRequest) -> String {
        let times = grouped(self.count);
        let Some(epsilon) = self.epsilon else {
            let remedy = match self.cut {
                0 => "ask for a larger count".to_owned(),
                cut => {
                    format!("up to {} of it may be cut off, take more memory or slide by more", grouped(cut))
                }
            };
            return format!(
                "No epsilon up to 100 surely lists a key that {} so rarely ({times}): {remedy}.",
                UnitWords::of(request.spec.unit).occurs
            );
        };
        let listed = format!(
            "Epsilon {epsilon} lists every key that {} {times} times, with {} % confidence",
            UnitWords::of(request.spec.unit).occurs,
            percent(request.spec.confidence)
        );
        match (self.alpha_words(request), request.spec.top) {
            (Some(alpha), _) => format!("{listed}, {alpha}{}.", self.all_words()),
            (None, Some(top)) => format!("{listed}, unless {} others are listed before it.", grouped(top)),
            (None, None) => format!("{listed}."),
        }
    }

    fn alpha_words(&self, request: &ReleaseRequest) -> Option<String> {
        let most = grouped(self.alpha_times_norm?);
        Some(match (request.spec.norm, self.alpha, self.norm) {
            (Norm::L1, Some(alpha), _) => format!("if alpha is {alpha} or less"),
            (Norm::L2, Some(alpha), Some(norm)) => format!(
                "if alpha times the L2 norm is {most} or less (at a norm of {}, alpha {alpha})",
                grouped(norm)
            ),
            _ => format!("if alpha times the norm is {most} or less"),
        })
    }

    fn all_words(&self) -> String {
        self.epsilon_of_all.map_or(String::new(), |epsilon| {
            format!(". With --all in place of alpha, epsilon {epsilon} does, whatever the norm is")
        })
    }
}

/// Rounds down to three digits, below 1.
fn round_down(alpha: f64) -> Option<f64> {
    let digits = 10_f64.powi(2 - alpha.log10().floor() as i32);
    let rounded = format!("{:.2e}", (alpha * digits).floor() / digits).parse().ok()?;
    (rounded > 0.0).then_some(f64::min(rounded, 0.999))
}
