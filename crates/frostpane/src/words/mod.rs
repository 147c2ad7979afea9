//! Sentences and numbers as people read them: the program, its pages and other programs say the same in the same words.
//!
//! ```
//! use frostpane::{HeavyHitters, Keys, words};
//!
//! # fn main() -> frostpane::Result<()> {
//! let mut ports = HeavyHitters::builder(Keys::range(0..1_000)?).build()?;
//! ports.update_batch((0..100_000).map(|i| i % 3))?;
//! let release = ports.release()?;
//! println!("{}", words::sure(&release));
//! for statement in words::statements(&release) {
//!     println!("- {}", statement.text());
//! }
//! assert_eq!(
//!     words::privacy(&release, "", ""),
//!     "Privacy: epsilon 1, pure (delta 0), for the key of one event. \
//!      Not hidden: that an event took place, when, and how many did. \
//!      Someone with several events is protected for each, not for all together."
//! );
//! assert_eq!(words::grouped(release.window.events), "100,000");
//! # Ok(())
//! # }
//! ```
//!
//! Where people are protected, counts are of what each of them may contribute: [`how_many`], [`meaning`] and [`not_hidden`] say what that
//! is.
//!
//! [`holds`] and [`why_empty`] say it to those who read a list, without advice to whoever made it.
//!
//! What is for the operator alone, and must not be published, is a [`Warning`].

mod moments;
mod numbers;
mod people;
mod readers;
mod reasons;
mod statements;
mod titles;
mod warning;

pub use moments::{moment, period};
pub use numbers::{grouped, likelier, megabytes, one_in, percent, plain, spoken, times};
pub(crate) use numbers::{in_megabytes, megabytes_below};
pub use people::{bounded, how_many, meaning, not_hidden, things};
pub use readers::{holds, why_empty};
pub use statements::{Statement, delta_words, horizon, panes, privacy, source, statements, sure, together};
pub use titles::{covered, of_sequence, title};
pub use warning::{Warning, enough_delta};
