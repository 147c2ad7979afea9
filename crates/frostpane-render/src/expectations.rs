//! A plan in words: what to expect of lists before there is any data.

use frostpane::numbers::grouped;
use frostpane::{Forecast, Reason, Spec};

use crate::unit::{UnitWords, bounded, meaning};
use crate::warning::Warning;

/// The reason for a policy.
pub fn policy_reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Given => "as given",
        Reason::KnownEnd => "the end of the windows is known, so each begins where it was asked to",
        Reason::OneWindow => "one window",
        Reason::SeveralWindows => "windows of several lengths",
        Reason::WholeWindow => "makes the promises for the whole window asked for, on most streams",
    }
}

/// The sentences that say what the lists of a specification will be good for.
pub fn expectations(spec: &Spec, forecast: &Forecast) -> Vec<String> {
    let counted = UnitWords::of(spec.unit).occurs;
    let (unless, then) = match spec.top {
        None => (String::new(), ""),
        Some(top) => (format!(", unless {} others are listed before it", grouped(top)), " then"),
    };
    let listed = format!(
        "A key is listed if its noisy count is {} or more{unless}; one that {counted} {} times or more \
         surely is{then}. The noise has a deviation of {:.1}.",
        grouped(forecast.threshold.max(forecast.floor)),
        grouped(forecast.least_listed),
        forecast.deviation
    );
    let cost = if spec.continual {
        "There is a release at every slide, and all of them together cost what one does."
    } else {
        "Each list is asked for, and costs budget of every pane that it covers."
    };
    let users = spec.unit.bounds().map(|bounds| bounded(&bounds));
    let warning = Warning::of_forecast(spec, forecast).map(|warning| warning.to_string());
    [Some(listed), Some(cost.to_owned()), users, meaning(spec.unit), warning].into_iter().flatten().collect()
}
