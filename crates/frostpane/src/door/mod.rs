//! The doors: events in, releases out.

mod builder;
mod continual;
mod event;
mod history;
mod hitters;
mod intake;
mod receipt;

pub use builder::Builder;
pub use continual::Continual;
pub use event::Event;
pub use history::History;
pub use hitters::HeavyHitters;
pub use receipt::Receipt;
