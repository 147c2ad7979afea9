//! The tests of the program, as one program: what it takes to build them is built once.

mod common;

mod at_rest;
mod audit;
mod clock;
mod compare;
mod conformance;
mod demo;
mod files;
mod memory;
mod neighbours;
mod odd_events;
mod odd_inputs;
mod options;
mod output;
mod overlapping;
mod people;
mod plan;
mod program;
mod reading;
mod report;
mod state;
mod watch;
mod windows;
