//! Constants: what a preset refuses, and what a scaled one changed.

use std::fmt;

/// A constant that a scaled preset changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What the constant is for, with the formula on the page.
    pub name: &'static str,
    /// Its value on the page.
    pub printed: f64,
    /// Its value here.
    pub scaled: f64,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {:.3e} became {:.3e}",
            self.name, self.printed, self.scaled
        )
    }
}

/// Why a preset does not run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// A parameter lies outside what the page allows.
    Parameter(String),
    /// The run needs more memory than was given.
    Memory {
        /// Bytes that the run needs; a float, because the printed constants exceed any integer type.
        needed: f64,
        /// Bytes that were given.
        given: u64,
    },
    /// The window is too short for the algorithm to exist.
    Window {
        /// Events in the window that was asked for.
        given: u64,
        /// Events in the shortest window that works.
        least: f64,
    },
}

impl fmt::Display for Refusal {
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

impl std::error::Error for Refusal {}

/// Bytes for people: three digits and a unit, or a power of ten beyond the units.
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

/// Refuses what no preset can use.
pub(crate) fn check(alpha: f64, epsilon: f64, m: u64) -> Result<(), Refusal> {
    let refuse = |message: String| Err(Refusal::Parameter(message));
    if !(alpha > 0.0 && alpha < 1.0) {
        return refuse(format!("alpha is {alpha}, and lies between 0 and 1"));
    }
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return refuse(format!("epsilon is {epsilon}, and is a positive number"));
    }
    if m < 3 {
        return refuse(format!(
            "m is {m}: a stream has at least 3 events, so that log m exceeds 1"
        ));
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
) -> Result<f64, Refusal> {
    let fits = |grain: f64| needed(grain) <= given as f64;
    if fits(finest) {
        return Ok(finest);
    }
    if !fits(coarsest) {
        let needed = needed(coarsest);
        return Err(Refusal::Memory { needed, given });
    }
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
    fn bytes_read_as_people_write_them() {
        assert_eq!(readable(17.0), "17 bytes");
        assert_eq!(readable(64_000_000.0), "64.0 MB");
        assert_eq!(readable(1.23e17), "123 PB");
        assert_eq!(readable(4.5e29), "4.5e29 bytes");
    }

    #[test]
    fn the_finest_grain_fits_and_a_finer_one_does_not() {
        let needed = |grain: f64| 1e6 / grain.powi(4);
        let grain = finest_grain(1e-4, 1.0, 64_000_000, needed).unwrap();
        assert!(
            needed(grain) <= 64e6 && needed(grain * 0.999_99) > 64e6,
            "{grain}"
        );
        assert_eq!(finest_grain(0.5, 1.0, 64_000_000, needed).unwrap(), 0.5);
        let refusal = finest_grain(1e-4, 1.0, 1_000, needed).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "these constants need 1.0 MB, and 1.0 kB were given: give more memory or take scaled constants"
        );
    }
}
