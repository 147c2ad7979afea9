//! The doors: events in, releases out.

mod batch;
mod builder;
mod continual;
mod event;
mod history;
mod hitters;
mod intake;
mod receipt;
mod stages;
mod stored;

pub use batch::Batch;
pub use builder::Builder;
pub(crate) use builder::Charges;
pub use continual::Continual;
pub use event::Event;
pub use history::History;
pub use hitters::HeavyHitters;
pub(crate) use intake::{has_no_time, needs_time};
pub use receipt::Receipt;
pub(crate) use receipt::release_of_people;
pub use stages::{Measured, Stage};
