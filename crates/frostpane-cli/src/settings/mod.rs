//! Options as they are typed, and the settings that they make.

mod input;
mod release_args;
pub mod time;
pub mod values;

pub use input::{ColumnArgs, InputArgs, NO_TIME_COLUMN};
pub(crate) use release_args::for_keys_of;
pub use release_args::{
    ContinualArgs, NormArg, ReleaseRequest, RequestArgs, RequestedKeys, check_column, protect_users,
};
pub use time::{TimeArgs, TimeSettings};
pub use values::WindowArg;
