#![doc = include_str!("users.md")]

mod batch_bounder;
mod calendar;
mod contribution_log;
mod contributions;
mod counts;
mod epoch_panes;
mod event_filter;
mod fixed_window;
mod key_interner;
mod log;
mod log_bounder;
pub(crate) mod spill;
mod stored;
mod streaming_bounder;
#[cfg(test)]
mod tests;

pub use batch_bounder::BatchBounder;
pub use calendar::Calendar;
pub(crate) use contributions::bytes_of_one;
pub use epoch_panes::EpochPanes;
pub use fixed_window::{AskedEpochs, FixedWindow};
pub use spill::SpillFactory;
pub use stored::RunOfUsers;
pub use streaming_bounder::StreamingBounder;
