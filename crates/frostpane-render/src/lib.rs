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
//! [`statements`] are for the operator of a stream, [`holds`] and [`why_empty`] for readers of a published
//! list, without advice to the operator. A [`Warning`] is for the operator alone, and must not be published.

pub mod csv;
pub mod guarantee;
mod holds;
mod layout;
mod moments;
mod numbers;
pub mod page;
mod plan;
mod privacy;
mod renderings;
mod statements;
mod summary;
pub mod table;
pub mod text;
mod titles;
mod unit;
mod warning;

pub use frostpane::numbers::{grouped, megabytes, spoken};

pub use holds::{holds, why_empty};
pub use layout::{FILE_WIDTH, Layout, Styles, WindowLabel};
pub use moments::{moment, period};
pub use numbers::{likelier, one_in, percent, plain, times};
pub use plan::{expectations, policy_reason};
pub use privacy::{privacy, privacy_of_all, together};
pub use renderings::renderings;
pub use statements::{Statement, empty_note, statements, sure};
pub use summary::{OperatorSummary, ReaderSummary};
pub use titles::{covered, title};
pub use unit::{bounded, how_many, meaning, not_hidden, things};
pub use warning::{Warning, enough_delta};
