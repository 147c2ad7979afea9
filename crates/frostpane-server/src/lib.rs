//! Frostpane as a service: events in over HTTP, private lists out at every slide.
//!
//! A [`Service`] is a folder with a state for each stream. One thread has each state ([`stream`]): it takes what many requests bring in
//! one transaction, answers when that is on disk, and ends slides by the clock on the wall. Requests never touch a state; what is
//! published lies on a shelf in memory, the same bytes for everybody. [`app`] is the whole of it without a socket.

mod api;
mod args;
mod certificates;
mod connections;
mod crowd;
mod dashboard;
mod deadline;
mod demo;
mod events;
mod file;
mod files;
mod gone;
mod head;
mod held;
mod key;
mod limits;
mod lock;
mod log;
mod metrics;
mod name;
mod pace;
mod plan;
mod probe;
mod problem;
mod rate;
mod run;
mod serve;
mod service;
mod source;
pub mod stream;
mod token;
mod workers;

pub use api::{app, openapi};
pub use limits::Limits;
pub use problem::Problem;
pub use run::run;
pub use service::Service;
pub use token::{Scope, Token, Tokens};
