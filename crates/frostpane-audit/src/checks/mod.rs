//! All checks.

mod continual;
mod distinguisher;
#[cfg(feature = "mutants")]
mod expected_catches;
mod one_shot;
mod published;
mod user_lists;
mod users;
mod verbatim;

use frostpane::Norm::{L1, L2};

use crate::check::{Check, exact};
use crate::exact::over_all_streams;
use crate::exact_users::over_all_users;
use crate::setting::{Setting, declared, open};

#[cfg(feature = "mutants")]
pub use expected_catches::caught_by;

const DECLARED_L2: Setting = declared(L2, 1.0);

/// All checks, the calculated ones first and those of the published algorithms last.
pub fn all() -> Vec<Check> {
    let sampled =
        [&one_shot::CHECKS[..], &continual::CHECKS, &users::CHECKS, &user_lists::CHECKS, &published::CHECKS];
    [&CALCULATED[..], &sampled.concat()].concat()
}

const CALCULATED: [Check; 7] = [
    exact("all-short-open", "all streams of six events, open keys", over_all_streams)
        .under(open(L1, 4.0, 0.07)),
    exact("all-short-declared", "all streams of six events, declared keys", over_all_streams),
    exact("all-short-l2", "all streams of six events, counts and norm", over_all_streams).under(DECLARED_L2),
    exact("users-all-short", "all streams of three events, with someone and without", over_all_users)
        .under(DECLARED_L2),
    exact("users-all-short-open", "the same, open keys", over_all_users).under(open(L1, 4.0, 0.1)),
    exact("users-said", "every word that is said, with someone and without", verbatim::over_all_scenes)
        .under(DECLARED_L2),
    exact("users-said-open", "the same, open keys", verbatim::over_all_scenes).under(open(L1, 1.0, 1e-6)),
];
