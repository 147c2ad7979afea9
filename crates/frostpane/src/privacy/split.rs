//! The split of an epsilon among measurements.

use super::epsilon::Epsilon;

/// One part in ten goes to the L2 norm, also in continual release.
const NORM: u64 = 1;
const COUNTS: u64 = 9;

/// One part in four goes to private boundaries.
const BOUNDARIES: u64 = 1;
const RELEASE: u64 = 3;

/// One part in four goes to the norms if an event is in more windows than this.
const FEW_WINDOWS: u64 = 64;
const NORMS: u64 = 1;
const ALL_COUNTS: u64 = 3;

/// With user-level privacy, in twentieths: for the number of events, and for all norms that an epoch is in.
const TOTAL: u64 = 1;
const OF_USERS: u64 = 20;

/// The epsilon of each measurement. Counts, norms and boundaries add up to the epsilon; the slack is
/// measured on a pane that none of them covers, and does not add to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// For private boundaries.
    pub boundaries: Option<Epsilon>,
    /// For the number of events (in continual release: of all nodes together), if it is private.
    pub total: Option<Epsilon>,
    pub norm: Option<Epsilon>,
    /// For the counts of one release, or of all continual releases.
    pub counts: Epsilon,
    /// For each measurement of the pane in which the window begins.
    pub slack: Epsilon,
}

impl Split {
    pub fn one_shot(epsilon: Epsilon, measures_norm: bool, private_boundaries: bool) -> Self {
        let boundaries = private_boundaries.then(|| epsilon.share(BOUNDARIES, BOUNDARIES + RELEASE));
        let release = if private_boundaries { epsilon.share(RELEASE, BOUNDARIES + RELEASE) } else { epsilon };
        Self {
            boundaries,
            total: None,
            norm: measures_norm.then(|| release.share(NORM, NORM + COUNTS)),
            counts: if measures_norm { release.share(COUNTS, NORM + COUNTS) } else { release },
            // The largest count, and the norm if it is measured.
            slack: if measures_norm { release.share(1, 2) } else { release },
        }
    }

    /// The split of a continual release. An event is in as many windows, and so norms, as a window has
    /// panes; the noise of the counts is drawn once for all windows.
    pub fn continual(epsilon: Epsilon, measures_norm: bool, panes: u64) -> Self {
        let (norm, counts) = if panes <= FEW_WINDOWS { (NORM, COUNTS) } else { (NORMS, ALL_COUNTS) };
        Self {
            boundaries: None,
            total: None,
            norm: measures_norm.then(|| epsilon.share(norm, (norm + counts) * panes)),
            counts: if measures_norm { epsilon.share(counts, norm + counts) } else { epsilon },
            // Windows begin where panes do, so no slack is measured.
            slack: epsilon,
        }
    }

    /// The split with user-level privacy, where an epoch of a user is in `windows` windows. The number
    /// of events is as private as their keys.
    pub fn of_users(epsilon: Epsilon, measures_norm: bool, windows: u64) -> Self {
        let norms = if !measures_norm {
            0
        } else if windows <= FEW_WINDOWS {
            OF_USERS * NORM / (NORM + COUNTS)
        } else {
            OF_USERS * NORMS / (NORMS + ALL_COUNTS)
        };
        Self {
            boundaries: None,
            total: Some(epsilon.share(TOTAL, OF_USERS)),
            norm: measures_norm.then(|| epsilon.share(norms, OF_USERS * windows)),
            counts: epsilon.share(OF_USERS - TOTAL - norms, OF_USERS),
            // Windows begin where epochs do, so no slack is measured.
            slack: epsilon,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every part in fortieths, exactly: a quarter for private boundaries; of the rest, if the norm is measured, a
    /// tenth for the norm and nine for the counts; half for each measurement of the slack.
    #[test]
    fn all_parts_of_a_release_add_up_to_its_epsilon() {
        let product = |a: Epsilon, b: Epsilon| u128::from(a.numerator()) * u128::from(b.denominator());
        for epsilon in [1.0, 0.3, 0.000_001, 7.123_456] {
            let whole = Epsilon::new(epsilon).unwrap();
            for (norm, private, [boundaries, of_norm, counts, slack]) in [
                (false, false, [0, 0, 40, 40]),
                (true, false, [0, 4, 36, 20]),
                (false, true, [10, 0, 30, 30]),
                (true, true, [10, 3, 27, 15]),
            ] {
                let split = Split::one_shot(whole, norm, private);
                for (part, of_forty) in [
                    (split.boundaries.unwrap_or(Epsilon::NONE), boundaries),
                    (split.norm.unwrap_or(Epsilon::NONE), of_norm),
                    (split.counts, counts),
                    (split.slack, slack),
                ] {
                    assert_eq!(40 * product(part, whole), of_forty * product(whole, part), "{split:?}");
                }
                assert_eq!(boundaries + of_norm + counts, 40);
                assert_eq!(boundaries + if norm { 2 } else { 1 } * slack, 40);
                assert_eq!((split.norm.is_some(), split.boundaries.is_some()), (norm, private));
            }
        }
    }

    #[test]
    fn all_norms_that_an_event_is_in_and_its_counts_add_up_to_epsilon() {
        let whole = Epsilon::new(0.8).unwrap();
        for (panes, part) in [(1, 0.08), (32, 0.08), (64, 0.08), (65, 0.2), (365, 0.2)] {
            let split = Split::continual(whole, true, panes);
            let norms = panes as f64 * split.norm.unwrap().as_f64();
            assert!((norms - part).abs() < 1e-12 && (norms + split.counts.as_f64() - 0.8).abs() < 1e-12);
            let split = Split::continual(whole, false, panes);
            assert_eq!((split.norm, split.counts, split.boundaries), (None, whole, None));
        }
    }

    #[test]
    fn what_is_measured_of_people_adds_up_to_epsilon() {
        let whole = Epsilon::new(0.8).unwrap();
        for windows in [1, 7, 64, 65, 365] {
            for norm in [false, true] {
                let split = Split::of_users(whole, norm, windows);
                let norms = split.norm.map_or(0.0, |norm| norm.as_f64() * windows as f64);
                let all = norms + split.total.unwrap().as_f64() + split.counts.as_f64();
                assert!((all - 0.8).abs() < 1e-12, "{split:?}");
                assert_eq!(split.norm.is_some(), norm);
            }
        }
    }
}
