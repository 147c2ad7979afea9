//! All checks.

mod boundaries;
mod continual;
mod look;
#[cfg(feature = "mutants")]
mod marks;
mod one_shot;
mod published;
mod sketch;

use frostpane::Norm::{L1, L2};

use crate::check::Check;
use crate::exact::over_all_streams;
use crate::setting::Setting;

#[cfg(feature = "mutants")]
pub use marks::caught_by;

/// Every check there is, the calculated ones first and those of the published algorithms last.
pub fn all() -> Vec<Check> {
    let mut all = Vec::new();
    all.extend(calculated());
    all.extend(single());
    all.extend(sequences());
    all.extend(of_the_paper());
    all
}

fn calculated() -> [Check; 3] {
    [
        Check::exact(
            "all-short-open",
            "all streams of six events, open keys",
            Setting::open(L1, 4.0, 0.07),
            over_all_streams,
        ),
        Check::exact(
            "all-short-declared",
            "all streams of six events, declared keys",
            Setting::declared(L1, 1.0),
            over_all_streams,
        ),
        Check::exact(
            "all-short-l2",
            "all streams of six events, counts and norm",
            Setting::declared(L2, 1.0),
            over_all_streams,
        ),
    ]
}

fn single() -> [Check; 13] {
    [
        Check::sampled(
            "singleton",
            "a key that occurs once is named with delta at most",
            Setting::open(L1, 1.5, 0.24),
            one_shot::singleton,
        ),
        Check::sampled(
            "new-key",
            "a key that occurs once, beside a frequent one",
            Setting::open(L1, 1.0, 0.1),
            one_shot::new_key,
        ),
        Check::sampled(
            "threshold",
            "two keys at the threshold, and their order",
            Setting::open(L1, 1.0, 0.1),
            one_shot::threshold,
        ),
        Check::sampled(
            "pair-open",
            "one event of either of two frequent keys",
            Setting::open(L1, 1.0, 1e-6),
            one_shot::pair,
        ),
        Check::sampled(
            "pair",
            "one event of either of two declared keys",
            Setting::declared(L1, 1.0),
            one_shot::pair,
        ),
        Check::sampled(
            "absent",
            "a declared key that occurs once, or never",
            Setting::declared(L1, 1.0),
            one_shot::absent,
        ),
        Check::sampled(
            "full-table",
            "an event that finds a full Misra-Gries table",
            Setting::declared(L1, 1.0),
            one_shot::full_table,
        ),
        Check::sampled(
            "merged-panes",
            "an event in panes that were merged",
            Setting::declared(L1, 1.0),
            one_shot::merged,
        )
        .with_effort(0.5),
        Check::sampled(
            "norm",
            "two keys, and the exact norm",
            Setting::declared(L2, 1.0),
            one_shot::norm,
        ),
        Check::sampled(
            "norm-sketch",
            "two keys, and the norm of a sketch",
            Setting::open(L2, 1.0, 1e-6),
            one_shot::norm_of_sketch,
        ),
        Check::sampled(
            "sketch",
            "two declared keys, estimated from the sketch",
            Setting::declared(L2, 2.0),
            sketch::estimates,
        )
        .with_effort(0.25),
        Check::sampled(
            "pane-edge",
            "the last event of a pane that the window leaves out",
            Setting::declared(L1, 1.0),
            one_shot::pane_edge,
        ),
        Check::sampled(
            "reaction",
            "a stream that reacts, and a window past the event",
            Setting::declared(L1, 1.0),
            one_shot::reaction,
        )
        .with_effort(0.5),
    ]
}

fn sequences() -> [Check; 7] {
    [
        Check::sampled(
            "boundaries",
            "when a block of the smooth policy ends",
            Setting::declared(L1, 16.0),
            boundaries::first_end,
        )
        .costing(boundaries::SHARE),
        Check::sampled(
            "continual",
            "all lists of a sequence together",
            Setting::declared(L1, 1.0),
            continual::sequence,
        )
        .with_effort(0.5),
        Check::sampled(
            "continual-norm",
            "the same, with norms",
            Setting::declared(L2, 1.0),
            continual::sequence,
        )
        .with_effort(0.5),
        Check::sampled(
            "readings",
            "each list of a sequence, read sixteen times",
            Setting::declared(L1, 1.0),
            continual::readings,
        )
        .with_effort(0.125),
        Check::sampled(
            "continual-absent",
            "a declared key that occurs once in a sequence, or never",
            Setting::declared(L1, 1.0),
            continual::singleton,
        )
        .with_effort(0.25),
        Check::sampled(
            "continual-singleton",
            "a key that occurs once, in all lists of a sequence",
            Setting::open(L1, 2.0, 0.2),
            continual::singleton,
        )
        .with_effort(0.25),
        Check::sampled(
            "continual-reaction",
            "an event put where the lists showed high noise",
            Setting::open(L1, 2.0, 0.2),
            continual::reaction,
        )
        .with_effort(0.0625),
    ]
}

fn of_the_paper() -> [Check; 4] {
    [
        Check::sampled(
            "published-l1-named",
            "32 times a key, then one of two others: which is named?",
            Setting::declared(L1, 0.05),
            published::named,
        )
        .published(),
        Check::sampled(
            "published-l1-count",
            "20,000 times a key, or another first, which has left the window",
            Setting::declared(L1, 1.0),
            published::count,
        )
        .with_effort(0.25)
        .published(),
        Check::sampled(
            "published-continual-scale",
            "30 or 31 times a key in a block: one output, noise as printed",
            Setting::declared(L1, 1.0),
            published::scale,
        )
        .published(),
        Check::sampled(
            "published-continual-redrawn",
            "the same: the mean of 16,383 outputs, noise as proved",
            Setting::declared(L1, 1.0),
            published::outputs,
        )
        .with_effort(0.25)
        .published(),
    ]
}
