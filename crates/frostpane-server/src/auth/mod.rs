//! Access: tokens, callers, and how often an address may ask without a token.

mod caller;
mod rate;
mod token;

pub use caller::Caller;
pub use rate::AddressRates;
pub use token::{Scope, Token, Tokens};
