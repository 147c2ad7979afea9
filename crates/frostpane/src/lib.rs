//! Frostpane names the keys that were frequent in a sliding window of an event stream, with counts, under
//! differential privacy, in memory that does not grow with the window.
//!
//! A frosted pane of glass shows the large shapes behind it and no detail. Here the stream is cut into
//! blocks, called panes, whose ends are public: fixed in advance, by count or by the clock. Each event then
//! sits in exactly one pane, and everything that is released is a sum over panes of something that one event
//! can move by at most 1 at two keys. Noise of scale `2/epsilon` suffices, however long the window and
//! however many events it has; for L2, where the norm takes a tenth of epsilon, it is `2/(0.9 epsilon)`.
//!
//! What is protected is **the key of one event**, or **all that one user did in one epoch** ([`Unit`]). For the former, that an event took place,
//! when, and how many there were is not hidden; for the latter it is, and what a user contributes is bounded.
//!
//! ```
//! use std::time::Duration;
//! use frostpane::{HeavyHitters, Keys, Norm, Window};
//!
//! # fn main() -> frostpane::Result<()> {
//! let day = Duration::from_secs(86_400);
//! let mut ports = HeavyHitters::builder(Keys::range(0..65_536)?)
//!     .norm(Norm::L1)
//!     .alpha(0.02)
//!     .window(Window::clock(30 * day).slide(day))
//!     .build()?;
//! for i in 0..50_000 {
//!     let port = if i % 4 == 0 { 22 } else { 443 };
//!     ports.update_at(1_000_000 * i, port)?;
//! }
//! let release = ports.release()?;
//! assert_eq!(release.delta, 0.0);
//! assert_eq!(release.heavy.iter().map(|heavy| heavy.key).collect::<Vec<_>>(), [443, 22]);
//! # Ok(())
//! # }
//! ```
//!
//! # The whole of it
//!
//! | you have | you want | take |
//! |---|---|---|
//! | a question | to ask it | [`Spec`], or step by step [`Builder`]: [`Keys`], [`Norm`], [`Window`] and [`Span`], [`Policy`] |
//! | a specification | to know what will come of it, before any data | [`Plan`], [`Forecast`], [`Choice`], [`Builder::epsilon_for`], [`Builder::stages`] |
//! | a stream | a list, or a few | [`HeavyHitters`], from [`Builder::build`] |
//! | a stream | a release at every slide, all at one epsilon | [`Continual`], from [`Builder::continual`] |
//! | what users did | the same, with users protected | [`Unit::User`] and [`Bounds`], [`Event::by`]; for a time that is over, [`History`] |
//! | events | to bring them in, one at a time or in batches | [`Event`], [`HeavyHitters::extend`], [`Continual::extend`] |
//! | a window | a release of it | [`HeavyHitters::release_over`]; or [`HeavyHitters::pay`], and the [`Receipt`] alone opens the panes |
//! | a release | to read it | [`Release`]: [`Heavy`], [`Coverage`], [`Promises`], [`RequestedWindow`], [`Note`] |
//! | releases | to know what they cost together | [`Cost`] |
//! | a cap on all of them | to refuse what would exceed it | [`Ledger`]: [`Charge`], [`Cap`], [`Refusal`] |
//! | a release | sentences, a table, CSV or a page | the package `frostpane-render` |
//! | a claim | its proof | [`proofs`] |
//! | an error | to tell it from others | [`Error::kind`] |
//!
//! # Recipes
//!
//! - The last day and the last week in one pass: [`HeavyHitters::release_over`].
//! - A window by the clock, with events that come late: [`Window::lateness`].
//! - Which epsilon is enough: [`Builder::epsilon_for`].
//! - What a list will be good for: [`Builder::forecast`].
//! - What is asked for, from a file: [`Builder::from_spec`].
//! - People instead of events: [`HeavyHitters::update_by`].
//! - A list whenever a slide has ended: [`Continual::extend`]; also where no events come: [`Continual::advance_to`].
//!
//! The package has two programs to start from: `cargo run --example searches` or `trending`. The program `frostpane`
//! (package `frostpane-cli`) does all of this for files and pipes.
//!
//! # What it rests on
//!
//! Every number on the private path is an integer up to the noisy value; nothing but public numbers decides a cut, an
//! end or a size; noise is drawn with exact probabilities from the operating system's entropy. [`proofs`] says of each claim why it
//! holds, and has for each the proof that stands beside its code.
//!
//! # Features
//!
//! Users need none. `internals` shows auditors, benchmarks and tests what is inside, and promises nothing; `testing` adds
//! noise that can be foreseen, and `mutants` ways of breaking the mechanism on purpose, which the auditor must notice. No
//! shipped program has the last two.

mod codec;
mod counting;
mod enclosure;
mod error;
mod fault;
mod key;
mod mechanism;
mod messages;
mod noise;
pub mod numbers;
mod pane;
mod plan;
mod privacy;
pub mod proofs;
mod quantity;
mod release;
mod search;
mod sketch;
mod spec;
pub mod stream;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod testing;

pub use counting::users::spill::File;
pub use counting::{Batch, Event, Tally};
pub use error::{Error, ErrorKind, Result};
pub use key::{Bytes, Key, Keys};
pub use noise::NoiseLaw;
pub use plan::{Forecast, Plan};
pub use privacy::ledger::{Account, Accountant, Amount, Cap, Charge, Ledger, Measurement, Refusal, Unpaid};
pub use privacy::{Cost, Delta, Epsilon};
pub use release::{
    ContinualInfo, Coverage, Estimator, Heavy, Note, Promises, Release, RequestedWindow, Shortfall,
};
pub use spec::{
    Bounds, Budget, Choice, Edge, KeySpec, Norm, Policy, Ratio, Reason, Size, Span, Spec, Unit, Window,
};
pub use stream::{Builder, Continual, HeavyHitters, History, Measured, Receipt, Stage, Stream};

/// The README's example, so that it cannot rot.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
