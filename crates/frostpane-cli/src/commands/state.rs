//! A folder that keeps events, panes, noise and the budget from one run to the next.

use std::path::Path;

use frostpane::ErrorKind;
use frostpane_store::Header;

use crate::failure::Failure;
use crate::settings::{ColumnArgs, InputArgs};
use crate::terminal::tell;

const FILE: &str = "frostpane.redb";

pub fn is_state(dir: &Path) -> bool {
    dir.join(FILE).exists()
}

/// Completes the options with the columns that the state remembers.
pub fn input_of(header: &Header, input: &InputArgs) -> InputArgs {
    let remembered: ColumnArgs =
        header.input.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    // A pattern has groups of its own.
    let or = |given: &Option<String>, remembered: Option<String>| {
        given.clone().or(remembered.filter(|_| input.pattern.is_none()))
    };
    InputArgs {
        columns: ColumnArgs {
            key: or(&input.columns.key, remembered.key),
            time: or(&input.columns.time, remembered.time),
            user: or(&input.columns.user, remembered.user),
        },
        ..input.clone()
    }
}

pub fn tell_in_use() {
    tell(
        "another process has this state open: this is what it wrote down when it last changed, and may be a moment old",
    );
}

impl From<frostpane_store::Error> for Failure {
    fn from(cause: frostpane_store::Error) -> Self {
        use frostpane_store::Error;
        match cause {
            Error::Stream(cause) if cause.kind() == ErrorKind::Memory => Failure::from(
                "the users of epochs that have not ended do not fit into the memory, and nothing of the last \
                 batch was taken: bring in fewer days at a time, each with its --until, or begin the state \
                 with more, with --memory",
            ),
            Error::Stream(cause) => cause.into(),
            cause => Failure::Message(cause.to_string()),
        }
    }
}
