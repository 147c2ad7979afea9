//! Integration tests: the service without a socket where that suffices, otherwise as a process.

mod anonymous;
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
mod process;
mod releases;
mod repeated_requests;
mod shares;
mod steady;
mod streams;
mod tokens;
mod user_memory;
