//! Presets of constants: refusals, and the constants that a scaled preset changed.

use std::fmt;

use serde::Serialize;

/// A constant that a scaled preset changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConstantChange {
    /// The purpose of the constant, with the printed formula.
    pub name: &'static str,
    /// The printed value.
    pub printed: f64,
    /// The value in force.
    pub scaled: f64,
}

/// The reason why a preset does not run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PresetRefusal {
    /// A parameter outside the range that the paper allows.
    Parameter(String),
    /// A run that needs more memory than was given.
    Memory {
        /// Bytes needed; a float, because the printed constants exceed any integer type.
        needed: f64,
        /// Bytes given.
        given: u64,
    },
    /// A window too short for the algorithm to exist.
    Window {
        /// Events in the requested window.
        given: u64,
        /// Events in the shortest window that works.
        least: f64,
    },
}

impl fmt::Display for PresetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(message) => f.write_str(message),
            Self::Memory { needed, given } => write!(
                f,
                "these constants need {}, and {} were given: give more memory or take scaled constants",
                readable(*needed),
                readable(*given as f64)
            ),
            Self::Window { given, least } => write!(
                f,
                "a window of {given} events has blocks shorter than one event: \
                 the least window is {least:.3e}"
            ),
        }
    }
}

impl std::error::Error for PresetRefusal {}

/// Formats bytes with three digits and a unit, or as a power of ten beyond the units.
pub fn readable(bytes: f64) -> String {
    const UNITS: [&str; 9] = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    let unit = (bytes.max(1.0).log10() / 3.0).floor() as usize;
    match UNITS.get(unit) {
        Some(&name) if unit == 0 => format!("{bytes:.0} {name}"),
        Some(&name) => {
            let value = bytes / 1000_f64.powi(unit as i32);
            let digits = if value < 99.95 { 1 } else { 0 };
            format!("{value:.digits$} {name}")
        }
        None => format!("{bytes:.1e} bytes"),
    }
}

/// Refuses parameters that no preset can use.
pub(crate) fn check(alpha: f64, epsilon: f64, m: u64) -> Result<(), PresetRefusal> {
    let refuse = |message: String| Err(PresetRefusal::Parameter(message));
    if !(alpha > 0.0 && alpha < 1.0) {
        return refuse(format!("alpha is {alpha}, and lies between 0 and 1"));
    }
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return refuse(format!("epsilon is {epsilon}, and is a positive number"));
    }
    if m < 3 {
        return refuse(format!("m is {m}: a stream has at least 3 events, so that log m exceeds 1"));
    }
    Ok(())
}

/// Lists the constants that differ, from their names, printed values and values in force.
pub(crate) fn changes<const N: usize>(all: [(&'static str, f64, f64); N]) -> Vec<ConstantChange> {
    all.into_iter()
        .filter(|(_, printed, scaled)| printed != scaled)
        .map(|(name, printed, scaled)| ConstantChange { name, printed, scaled })
        .collect()
}

/// Refuses a run that needs more memory than was given.
pub(crate) fn check_memory(needed: f64, given: u64) -> Result<(), PresetRefusal> {
    if needed > given as f64 {
        return Err(PresetRefusal::Memory { needed, given });
    }
    Ok(())
}

/// The smallest grain in `finest..=coarsest` whose memory fits, to a part in a million.
///
/// `needed` must not grow with the grain.
pub(crate) fn finest_grain(
    finest: f64,
    coarsest: f64,
    given: u64,
    needed: impl Fn(f64) -> f64,
) -> Result<f64, PresetRefusal> {
    let fits = |grain: f64| needed(grain) <= given as f64;
    if fits(finest) {
        return Ok(finest);
    }
    check_memory(needed(coarsest), given)?;
    let (mut low, mut high) = (finest, coarsest);
    while high / low > 1.000_001 {
        let middle = (low * high).sqrt();
        if fits(middle) { high = middle } else { low = middle }
    }
    Ok(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finest_grain_fits_and_a_finer_one_does_not() {
        let needed = |grain: f64| 1e6 / grain.powi(4);
        let grain = finest_grain(1e-4, 1.0, 64_000_000, needed).unwrap();
        assert!(needed(grain) <= 64e6 && needed(grain * 0.999_99) > 64e6, "{grain}");
        assert_eq!(finest_grain(0.5, 1.0, 64_000_000, needed).unwrap(), 0.5);
        assert_eq!(
            finest_grain(1e-4, 1.0, 1_000, needed).unwrap_err().to_string(),
            "these constants need 1.0 MB, and 1.0 kB were given: give more memory or take scaled constants"
        );
    }
}
