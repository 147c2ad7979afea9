//! Audits what Frostpane claims: evidence, not proof.
//!
//! A [`Check`] is a pair of neighbouring streams chosen to hurt, and what of a release it looks at. It runs
//! the mechanism on both, through the code that users run, counts what comes out, and [`bound`] says what
//! epsilon is at least, with confidence. Where the case is finite, [`exact`] calculates instead.
//! [`Audit::run`] runs many checks so that the confidence holds for all of them together.
//!
//! The auditor is audited in turn: with the feature `mutants` each [`Mutant`] breaks the mechanism in one
//! way, and `caught_by` says which checks must see it.

pub mod bound;
pub mod check;
mod checks;
pub mod exact;
pub mod exact_users;
pub mod run;
pub mod setting;
pub mod tally;
mod user_events;

pub use check::{Check, Method};
pub use checks::all;
#[cfg(feature = "mutants")]
pub use checks::caught_by;
pub use frostpane::testing::audit::Mutant;
pub use run::{Audit, Finding, Verdict};
pub use setting::{Deployment, KeyDomain, Setting};
pub use tally::{NeighbourSide, TrialOutcome};
