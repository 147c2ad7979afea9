//! A release in words and numbers: sentences, table, CSV, HTML page and guarantee, the same for the program,
//! Python and the service.
//!
//! ```
//! use frostpane::{HeavyHitters, Keys};
//! use frostpane_render::{grouped, privacy, statements, sure};
//!
//! # fn main() -> frostpane::Result<()> {
//! let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?).build()?;
//! ports.update_batch((0..100_000).map(|i| i % 3))?;
//! let release = ports.release()?;
//! println!("{}", sure(&release));
//! for statement in statements(&release) {
//!     println!("- {}", statement.text());
//! }
//! assert_eq!(
//!     privacy(&release),
//!     "Privacy: epsilon 1, pure (delta 0), for the key of one event. \
//!      Not hidden: that an event took place, when, and how many did. \
//!      Someone with several events is protected for each, not for all together."
//! );
//! assert_eq!(grouped(release.window.events), "100,000");
//! # Ok(())
//! # }
//! ```
//!
//! [`statements`] are for the operator of a stream, a [`ReaderSummary`] for readers of a published list,
//! without advice to the operator. A [`Warning`] is for the operator alone, and must not be published.

pub mod csv;
mod expectations;
pub mod guarantee;
mod holds;
mod layout;
mod numbers;
pub mod page;
mod privacy;
mod statements;
mod summary;
pub mod table;
pub mod text;
mod titles;
mod unit;
mod warning;

pub use frostpane::numbers::{grouped, megabytes, spoken};

pub use expectations::{expectations, policy_reason};
pub use layout::{FILE_WIDTH, Styles, TextLayout, WindowLabel};
pub use numbers::{likelier, percent, plain};
pub use privacy::{privacy, together};
pub use statements::{Statement, empty_note, statements, sure};
pub use summary::{OperatorSummary, ReaderSummary, renderings};
pub use titles::title;
pub use unit::{UnitWords, bounded, meaning, things};
pub use warning::{Warning, enough_delta};
