//! From events to panes: which events come too late or too soon, and which pane each is in.

mod batch;
pub(crate) mod continual;
mod counter;
mod event;
pub(crate) mod events;
mod tally;
pub(crate) mod users;
pub(crate) mod window;

pub use batch::Batch;
pub(crate) use counter::{Counter, PaneCounter};
pub use event::Event;
pub use tally::Tally;
