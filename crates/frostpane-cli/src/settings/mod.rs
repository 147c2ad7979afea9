//! Options as they are typed, and the settings that they make.

mod input;
mod request;
pub mod time;
pub mod values;

pub use input::{ColumnArgs, InputArgs, NO_TIME_COLUMN};
pub(crate) use request::for_keys_of;
pub use request::{
    ContinualArgs, NormArg, ReleaseRequest, RequestArgs, RequestedKeys, check_column, protect_users,
};
pub use time::{TimeArgs, TimeSettings};
pub use values::WindowArg;
