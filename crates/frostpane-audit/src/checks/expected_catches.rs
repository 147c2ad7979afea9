//! The names of the checks that must catch a mutant.

use frostpane::testing::audit::Mutant;

/// The names of the checks that must catch a mutant.
pub fn caught_by(mutant: Mutant) -> Vec<&'static str> {
    let names = match mutant {
        Mutant::HalfNoise => {
            "all-short-open all-short-declared all-short-l2 users-all-short users-all-short-open threshold \
             pair-open pair norm norm-sketch sketch pane-edge reaction continual user-alone user-keys \
             user-again user-lists user-lists-past user-lists-norms"
        }
        Mutant::ThresholdLessOne => {
            "all-short-open users-all-short-open singleton user-new-keys user-new-key-again"
        }
        Mutant::DataDependentCut => {
            "all-short-open all-short-declared users-all-short users-all-short-open full-table user-restless"
        }
        Mutant::RedrawnNoise => "readings",
        Mutant::SilentAbsentKeys => "absent continual-absent user-alone",
        Mutant::TableOrder => "threshold",
        Mutant::OtherThreshold => "all-short-open singleton",
        Mutant::ForgottenKeys => {
            "users-all-short users-all-short-open user-keys user-keys-norm user-keys-open"
        }
        Mutant::ForgottenWindows => "user-lists-norms",
        Mutant::ClockFromData | Mutant::TrueTotal | Mutant::NoEmptyEpochs => "users-said users-said-open",
        Mutant::RevisedAdmission => "user-lists",
        Mutant::SecondMap => "user-lists user-lists-past",
    };
    names.split(' ').collect()
}
