//! Frostpane as an HTTP service: events come in, private releases go out.
//!
//! A [`Service`] is a folder with a state for each stream. One thread owns each state ([`stream`]): it takes
//! the events of many requests in one transaction, acknowledges them when they are on disk, and ends slides
//! by the wall clock. Requests never touch a state; releases are kept in memory, the same bytes for everyone.
//! [`app`] is the whole service without a socket.

mod args;
mod atomic_file;
mod auth;
mod dashboard;
mod demo;
mod events;
mod http;
mod ingest;
mod key;
mod limits;
mod lock;
mod log;
mod metrics;
mod name;
mod plan;
mod problem;
mod rate_limiter;
mod run;
mod service;
mod stream;
mod sync;
mod tombstone;
mod worker_pool;

pub use auth::{Scope, Token, Tokens};
pub use http::app;
pub use limits::Limits;
pub use problem::Problem;
pub use run::run;
pub use service::Service;
