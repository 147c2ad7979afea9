//! Why each claim holds. Every proof stands beside the code that it is about, in a file of the same name; this is all of
//! them in one place.
//!
//! # What is private
//!
//! Begin with [`one_shot`], which puts a release together from the others.
//!
//! | claim | proof | code |
//! |---|---|---|
//! | a release costs epsilon and delta | [`one_shot`] | `release/one_shot.rs` |
//! | what one user did in one epoch moves counts by little, and nothing that is decided | [`users`] | `counting/users/`, `privacy/unit.rs` |
//! | epsilon is split without a rest; no pane is opened before it has paid, and none pays too often | [`budget`] | `privacy/` |
//! | whatever releases are asked for on the way, none loses more than its cap | [`ledger`] | `privacy/ledger/` |
//! | one event moves what a pane keeps by 1 at two keys, and the cut by nothing; also after merging | [`pane`] | `pane/` |
//! | one event more raises one counter by 1, or lowers all of them together | [`misra_gries`] | `sketch/misra_gries.rs` |
//! | the L2 norm moves by 1, by a sketch by 2, for every seed | [`count_sketch`] | `sketch/count_sketch.rs` |
//! | a key that occurred once is named with a chance of at most delta, and so is any key of a user; many keys have one joint draw | [`threshold`] | `mechanism/threshold.rs`, `mechanism/open_users.rs` |
//! | noise has exactly the probabilities that privacy asks for | [`discrete_laplace`] | `noise/discrete_laplace.rs`, `noise/inversion.rs` |
//! | Gaussian noise does too, and how much of it epsilon and delta take | [`discrete_gaussian`] | `noise/discrete_gaussian.rs`, `noise/gaussian_delta.rs` |
//! | where panes end follows from public numbers, or is private itself | [`events`], [`exponential`] | `counting/events/` |
//! | panes that end by their norm cost a quarter of epsilon, for ever | [`smooth`], [`above_threshold`] | `counting/events/smooth.rs`, `mechanism/above_threshold.rs` |
//! | what a window leaves out is measured at no further price | [`slack`] | `release/slack.rs` |
//! | counts read from a sketch cost what counts cost | [`by_sketch`] | `release/by_sketch.rs` |
//! | going on from what was kept draws nothing again, and charges nothing twice | [`stream`] | `stream/`, `*/stored.rs` |
//! | panes that many machines have built are those of one | [`external_panes`] | `stream/external_panes.rs`, `pane/partial.rs` |
//! | continual release costs epsilon and delta once | [`continual`], [`noise_tree`] | `release/continual.rs`, `release/noise_tree/` |
//!
//! # What is right
//!
//! | claim | proof | code |
//! |---|---|---|
//! | a count is short by the cut at the most | [`pane`], [`misra_gries`] | `pane/` |
//! | a norm by sketch lies within stated bounds | [`count_sketch`] | `sketch/count_sketch.rs` |
//! | what a release states holds, all at once, with its confidence | [`guarantee`], [`slack`], [`by_sketch`] | `release/guarantee.rs` |
//! | noise reaches no further than is said, and hardly less far | [`noise_bounds`] | `release/noise_bounds.rs` |
//! | the noise of a window of continual release reaches no further than is said | [`laplace_sum`], [`discrete_gaussian`] | `noise/laplace_sum.rs`, `noise/noise_sum.rs` |
//! | a window begins close to where it was asked to | [`events`], [`exponential`], [`smooth`] | `counting/events/` |
//! | what is planned follows from public numbers, and is what a release will do | [`plan`] | `plan/` |

macro_rules! proof {
    ($($name:ident in $file:literal)*) => {
        $(
            #[doc = include_str!($file)]
            pub mod $name {}
        )*
    };
}

proof! {
    above_threshold in "mechanism/above_threshold.md"
    budget in "privacy/budget.md"
    external_panes in "stream/external_panes.md"
    by_sketch in "release/by_sketch.md"
    count_sketch in "sketch/count_sketch.md"
    discrete_gaussian in "noise/discrete_gaussian.md"
    discrete_laplace in "noise/discrete_laplace.md"
    exponential in "counting/events/exponential.md"
    guarantee in "release/guarantee.md"
    laplace_sum in "noise/laplace_sum.md"
    ledger in "privacy/ledger/ledger.md"
    misra_gries in "sketch/misra_gries.md"
    noise_bounds in "release/noise_bounds.md"
    one_shot in "release/one_shot.md"
    pane in "pane/pane.md"
    users in "counting/users/users.md"
    plan in "plan/plan.md"
    continual in "release/continual.md"
    slack in "release/slack.md"
    smooth in "counting/events/smooth.md"
    stream in "stream/stream.md"
    threshold in "mechanism/threshold.md"
    events in "counting/events/events.md"
    noise_tree in "release/noise_tree/noise_tree.md"
}
