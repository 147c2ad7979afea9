//! What a service keeps of a stream beside its state.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use frostpane::Spec;
use frostpane_store::Header;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::file;
use crate::problem::{Problem, Result};

const FILE: &str = "service.json";

/// What may change while a stream goes on, and where its events have their parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether anyone may read its releases, budget and plan.
    pub public: bool,
    /// Whether it takes no more events, for ever.
    pub closed: bool,
    /// Where events have their parts.
    pub columns: Columns,
    /// What it was asked for, before choices were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Spec>,
    /// Events before this moment are left out, in microseconds since 1970: they may be in the releases of a stream that this one replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// The names of fields, or columns, that hold the parts of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Columns {
    /// Of the key.
    pub key: String,
    /// Of the time; none if the time of an event is that of its arrival.
    pub time: Option<String>,
    /// Of the user.
    pub user: String,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            key: "key".to_owned(),
            time: Some("time".to_owned()),
            user: "user".to_owned(),
        }
    }
}

impl Settings {
    /// Those of a stream's folder. A state that `frostpane init` began has none, and is not public.
    pub fn read(folder: &Path) -> Result<Self> {
        match fs::read(folder.join(FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|_| Problem::unavailable("the settings of a stream cannot be read")),
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                Err(Problem::unavailable("the settings of a stream cannot be read"))
            }
            Err(_) => Ok(Self {
                columns: Header::read(folder)?
                    .input
                    .and_then(|input| serde_json::from_str(&input).ok())
                    .unwrap_or_default(),
                ..Self::default()
            }),
        }
    }

    /// Keeps them.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let failed = || Problem::unavailable("the settings of a stream cannot be written");
        let bytes = serde_json::to_vec_pretty(self).map_err(|_| failed())?;
        file::replace(&folder.join(FILE), &bytes).map_err(|_| failed())
    }
}
