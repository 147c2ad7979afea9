//! All checks.

mod boundaries;
mod continual;
mod distinguisher;
#[cfg(feature = "mutants")]
mod expected_catches;
mod one_shot;
mod published;
mod sketch;
mod user_lists;
mod users;
mod verbatim;

use frostpane::Norm::{L1, L2};

use crate::check::Check;
use crate::exact::over_all_streams;
use crate::exact_users::over_all_users;
use crate::setting::Setting;

#[cfg(feature = "mutants")]
pub use expected_catches::caught_by;

/// All checks, the calculated ones first and those of the published algorithms last.
pub fn all() -> Vec<Check> {
    let mut all = Vec::new();
    all.extend(calculated());
    all.extend(single());
    all.extend(sequences());
    all.extend(of_users());
    all.extend(lists_of_users());
    all.extend(of_the_paper());
    all
}

fn calculated() -> [Check; 7] {
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
        Check::exact(
            "users-all-short",
            "all streams of three events, with someone and without",
            Setting::declared(L2, 1.0),
            over_all_users,
        ),
        Check::exact(
            "users-all-short-open",
            "the same, open keys",
            Setting::open(L1, 4.0, 0.1),
            over_all_users,
        ),
        Check::exact(
            "users-said",
            "every word that is said, with someone and without",
            Setting::declared(L2, 1.0),
            verbatim::over_all_scenes,
        ),
        Check::exact(
            "users-said-open",
            "the same, open keys",
            Setting::open(L1, 1.0, 1e-6),
            verbatim::over_all_scenes,
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
        Check::sampled("norm", "two keys, and the exact norm", Setting::declared(L2, 1.0), one_shot::norm),
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

fn of_users() -> [Check; 8] {
    [
        Check::sampled(
            "user-alone",
            "the only user, with one declared key",
            Setting::declared(L1, 1.0),
            users::alone,
        ),
        Check::sampled(
            "user-keys",
            "a user's three declared keys, of many, of some, of nobody else",
            Setting::declared(L1, 1.0),
            users::three_keys,
        )
        .with_effort(2.0),
        Check::sampled(
            "user-keys-norm",
            "a user's four declared keys, and the norm",
            Setting::declared(L2, 1.0),
            users::norm,
        )
        .with_effort(0.5),
        Check::sampled(
            "user-keys-open",
            "a user's three keys, of many, of some, of nobody else",
            Setting::open(L1, 1.0, 1e-6),
            users::three_keys,
        )
        .with_effort(0.5),
        Check::sampled(
            "user-new-keys",
            "three keys of one user alone are named with delta at most",
            Setting::open(L1, 3.0, 0.33),
            users::new_keys,
        )
        .with_effort(0.5),
        Check::sampled(
            "user-new-key-again",
            "three times a key of one user alone",
            Setting::open(L1, 3.0, 0.11),
            users::new_key_again,
        ),
        Check::sampled(
            "user-again",
            "three times a declared key of many",
            Setting::declared(L1, 1.0),
            users::again,
        ),
        Check::sampled(
            "user-restless",
            "a user with a thousand events, and everybody else's counts",
            Setting::declared(L1, 1.0),
            users::restless,
        )
        .with_effort(0.25),
    ]
}

fn lists_of_users() -> [Check; 5] {
    [
        Check::sampled(
            "user-lists",
            "a user spread over the panes of an epoch, and all lists",
            Setting::declared(L1, 1.0),
            user_lists::spread,
        )
        .with_effort(2.0),
        Check::sampled(
            "user-lists-past",
            "the same, of a time that is over",
            Setting::declared(L1, 1.0),
            user_lists::spread_in_the_past,
        )
        .with_effort(0.5),
        Check::sampled(
            "user-lists-norms",
            "the norms of all windows that a user's epoch is in",
            Setting::declared(L2, 20.0),
            user_lists::norms,
        )
        .costing(user_lists::NORMS)
        .with_effort(1.5),
        Check::sampled(
            "user-lists-again",
            "three times a key of one user alone, in all lists",
            Setting::open(L1, 2.0, 0.2),
            user_lists::new_key_again,
        )
        .with_effort(0.25),
        Check::sampled(
            "user-lists-reaction",
            "a user who goes where the lists showed high noise",
            Setting::open(L1, 2.0, 0.2),
            user_lists::reaction,
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
