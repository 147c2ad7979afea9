//! Where a state finds keys, times and users in files: said once, and remembered.

use frostpane_store::Header;
use serde::{Deserialize, Serialize};

use crate::args::InputArgs;
use crate::failure::{Failure, Result};

#[derive(clap::Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    /// Column that holds the key, by name or by position from 1 [default: the whole line]
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,

    /// Column that holds the time, by name or by position from 1
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,

    /// Column that holds the user, by name or by position from 1: protects all that one user did in one epoch
    #[arg(long, value_name = "COLUMN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

impl Columns {
    /// As they are remembered.
    pub fn written(&self) -> Result<Option<String>> {
        match *self == Self::default() {
            true => Ok(None),
            false => serde_json::to_string(self)
                .map(Some)
                .map_err(|cause| Failure::Message(cause.to_string())),
        }
    }

    /// Those of a state, where others were not given.
    pub fn complete(header: &Header, input: &InputArgs) -> InputArgs {
        let remembered: Self = header
            .input
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        // A pattern has groups of its own.
        let or = |given: &Option<String>, remembered: Option<String>| match (given, &input.pattern) {
            (Some(_), _) | (None, Some(_)) => given.clone(),
            (None, None) => remembered,
        };
        InputArgs {
            key: or(&input.key, remembered.key),
            time: or(&input.time, remembered.time),
            user: or(&input.user, remembered.user),
            ..input.clone()
        }
    }
}
