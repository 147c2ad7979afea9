//! Tests of the library's public interface, in one executable so that it is linked once.

mod common;

mod any_window;
mod continual;
mod declared;
mod every_number;
mod followed_exactly;
mod known_end;
mod noise;
mod own_time;
mod people;
mod people_exactly;
mod planning;
mod promises;
mod rules;
mod same_panes;
mod sensitivity;
mod sequence;
mod spec;
mod spending;
mod top;
mod windows;
mod worst_cases;
