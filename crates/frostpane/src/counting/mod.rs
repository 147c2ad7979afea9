//! Events into panes.

mod batch;
mod counter;
mod event;
pub(crate) mod events;
pub(crate) mod grant;
pub(crate) mod users;
pub(crate) mod window;

pub use batch::Batch;
pub(crate) use counter::Counter;
pub use event::Event;
