//! How an epsilon is split among what is measured.

use super::epsilon::Epsilon;

/// The L2 norm receives one part in ten; so do the norms of a list at every slide.
const NORM: u64 = 1;
const COUNTS: u64 = 9;

/// Private boundaries receive one part in four.
const BOUNDARIES: u64 = 1;
const RELEASE: u64 = 3;

/// But where there are more windows than this with an event in them, one part in four.
const FEW_WINDOWS: u64 = 64;
const NORMS: u64 = 1;
const ALL_COUNTS: u64 = 3;

/// Where people are protected: in twentieths, for the number of events and for all norms that an epoch is in.
const TOTAL: u64 = 1;
const OF_USERS: u64 = 20;

/// What each measurement may spend. All together spend the epsilon: the counts, the norm and the boundaries by adding up; what
/// a window leaves out is in none of them and pays for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Where panes end, if that is private.
    pub boundaries: Option<Epsilon>,
    /// The number of events, or of all nodes together, if that is private.
    pub total: Option<Epsilon>,
    /// One measurement of the norm, if it is measured.
    pub norm: Option<Epsilon>,
    /// The counts: of one release, or of all.
    pub counts: Epsilon,
    /// Each measurement of the pane that a window begins within.
    pub slack: Epsilon,
}

impl Split {
    /// Of one release.
    pub fn one_shot(epsilon: Epsilon, measures_norm: bool, private_boundaries: bool) -> Self {
        let boundaries = private_boundaries.then(|| epsilon.share(BOUNDARIES, BOUNDARIES + RELEASE));
        let release = match private_boundaries {
            true => epsilon.share(RELEASE, BOUNDARIES + RELEASE),
            false => epsilon,
        };
        Self {
            boundaries,
            total: None,
            norm: measures_norm.then(|| release.share(NORM, NORM + COUNTS)),
            counts: match measures_norm {
                true => release.share(COUNTS, NORM + COUNTS),
                false => release,
            },
            // The largest count, and the norm if it is measured.
            slack: match measures_norm {
                true => release.share(1, 2),
                false => release,
            },
        }
    }

    /// Of a list at every slide. An event is in as many windows as a window has panes, and so in as many norms; its noise in
    /// the counts is drawn once for all windows.
    pub fn continual(epsilon: Epsilon, measures_norm: bool, panes: u64) -> Self {
        let (norm, counts) = match panes <= FEW_WINDOWS {
            true => (NORM, COUNTS),
            false => (NORMS, ALL_COUNTS),
        };
        Self {
            boundaries: None,
            total: None,
            norm: measures_norm.then(|| epsilon.share(norm, (norm + counts) * panes)),
            counts: match measures_norm {
                true => epsilon.share(counts, norm + counts),
                false => epsilon,
            },
            // Windows begin where panes do.
            slack: epsilon,
        }
    }

    /// Where people are protected, and what one of them did in an epoch is in so many windows. How many events there were is
    /// as private as their keys are.
    pub fn of_users(epsilon: Epsilon, measures_norm: bool, windows: u64) -> Self {
        let norms = match measures_norm {
            true if windows <= FEW_WINDOWS => OF_USERS * NORM / (NORM + COUNTS),
            true => OF_USERS * NORMS / (NORMS + ALL_COUNTS),
            false => 0,
        };
        Self {
            boundaries: None,
            total: Some(epsilon.share(TOTAL, OF_USERS)),
            norm: measures_norm.then(|| epsilon.share(norms, OF_USERS * windows)),
            counts: epsilon.share(OF_USERS - TOTAL - norms, OF_USERS),
            // Windows begin where epochs do.
            slack: epsilon,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(parts: &[Option<Epsilon>]) -> f64 {
        parts.iter().flatten().map(|part| part.as_f64()).sum()
    }

    #[test]
    fn all_parts_of_a_release_add_up_to_its_epsilon() {
        let whole = Epsilon::new(0.8).unwrap();
        for (norm, boundaries) in [(false, false), (true, false), (false, true), (true, true)] {
            let split = Split::one_shot(whole, norm, boundaries);
            let spent = sum(&[split.boundaries, split.norm, Some(split.counts)]);
            assert!((spent - 0.8).abs() < 1e-12, "{split:?}");
            let of_slack = if norm { 2.0 } else { 1.0 } * split.slack.as_f64();
            assert!(
                (of_slack + sum(&[split.boundaries]) - 0.8).abs() < 1e-12,
                "{split:?}"
            );
            assert_eq!(
                (split.norm.is_some(), split.boundaries.is_some()),
                (norm, boundaries)
            );
        }
        let all = Split::one_shot(whole, true, true);
        assert_eq!(all.boundaries.map(Epsilon::as_f64), Some(0.2));
        assert!((all.norm.unwrap().as_f64() - 0.06).abs() < 1e-12);
        assert!((all.counts.as_f64() - 0.54).abs() < 1e-12);
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
