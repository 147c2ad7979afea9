//! The service as others use it: called without a socket where that shows the same, and as a process of its own where it does not.

mod again;
mod bad;
mod call;
mod crash;
mod daily;
mod document;
mod events;
mod log;
mod nats;
mod nats_neighbours;
mod own_time;
mod people;
mod process;
mod quiet;
mod releases;
mod shares;
mod steady;
mod strangers;
mod streams;
mod tokens;
