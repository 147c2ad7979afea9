#![doc = include_str!("people.md")]

mod at_rest;
mod calendar;
mod contributions;
mod counts;
mod desk;
mod door;
mod epochs;
mod live;
mod log;
mod names;
pub(crate) mod scratch;
mod settling;
mod standing;
mod stored;
#[cfg(test)]
mod tests;
mod users;

pub use at_rest::AtRest;
pub use calendar::Calendar;
pub(crate) use contributions::bytes_of_one;
pub use door::Tally;
pub use epochs::{Asked, Epochs, Window};
pub use live::Live;
pub use scratch::Scratch;
pub use standing::Standing;
pub use stored::RunOfUsers;
