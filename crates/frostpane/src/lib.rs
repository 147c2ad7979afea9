//! Frostpane names the keys that were frequent in a sliding window of an event stream, with counts, under
//! differential privacy, in memory that does not grow with the window.
//!
//! A frosted pane of glass shows the large shapes behind it and no detail. Here the stream is cut into
//! blocks, called panes, whose ends are public: fixed in advance, by count or by the clock. Each event then
//! sits in exactly one pane, and everything that is released is a sum over panes of something that one event
//! can move by at most 1 at two keys. Noise of scale `2/epsilon` suffices, however long the window and
//! however many events it has; for L2, where the norm takes a tenth of epsilon, it is `2/(0.9 epsilon)`.
//!
//! - [`HeavyHitters`] is the door: build, update, release. [`Release`] is what comes out, with its own
//!   guarantee.
//! - [`pane`] and [`sketch`] hold what is kept of the events; [`timeline`] decides where panes end.
//! - [`noise`] draws exact noise; [`release`] puts it where it belongs.
//!
//! Each part carries its proof in its documentation. What is protected is **the key of one event**. That an
//! event took place, when, and how many there were is not hidden.
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

#[cfg(feature = "audit")]
pub mod audit;
mod builder;
mod continual;
pub mod counts;
mod error;
mod fault;
mod hitters;
mod key;
pub mod noise;
pub mod pane;
pub mod plan;
pub mod release;
pub mod sketch;
mod tally;
pub mod timeline;
mod universe;

pub use builder::{Builder, DEFAULT_KEY_BYTES, DEFAULT_MEMORY};
pub use continual::Continual;
pub use error::{Error, ErrorKind, Result};
pub use hitters::{HeavyHitters, check_time};
pub use key::{Bytes, Key, LONGEST_KEY};
pub use plan::{Choice, Forecast, Layout, Plan};
pub use release::{Asked, Continuity, Coverage, Edge, Estimator, Heavy, Norm, Promises, Release};
pub use timeline::{ClockWindow, EventWindow, Policy, Span, Window};
pub use universe::{Keys, Universe};

/// The README's example, so that it cannot rot.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
