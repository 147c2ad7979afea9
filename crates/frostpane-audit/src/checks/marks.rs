//! Which check sees which mutant.

use frostpane::audit::Mutant;

/// The checks that must see it, by name.
pub fn caught_by(mutant: Mutant) -> &'static [&'static str] {
    match mutant {
        Mutant::HalfNoise => &[
            "all-short-open",
            "all-short-declared",
            "all-short-l2",
            "threshold",
            "pair-open",
            "pair",
            "norm",
            "norm-sketch",
            "sketch",
            "pane-edge",
            "reaction",
            "continual",
        ],
        Mutant::ThresholdLessOne => &["all-short-open", "singleton"],
        Mutant::DataDependentCut => &["all-short-open", "all-short-declared", "full-table"],
        Mutant::RedrawnNoise => &["readings"],
        Mutant::SilentAbsentKeys => &["absent", "continual-absent"],
        Mutant::TableOrder => &["threshold"],
        Mutant::OtherThreshold => &["all-short-open", "singleton"],
    }
}
