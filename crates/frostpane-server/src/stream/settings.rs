//! Settings of a stream, stored beside its state.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use frostpane::Spec;
use frostpane_store::Header;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::atomic_file;
use crate::problem::{Problem, Result};

const FILE: &str = "service.json";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Anyone may read releases, budget and plan.
    pub public: bool,
    /// No more events are taken, ever.
    pub closed: bool,
    pub columns: EventColumns,
    /// The specification of the request, before choices were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Spec>,
    /// Events before this moment, in microseconds since 1970, are left out: a stream that this one replaces
    /// may have released them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
}

/// The fields, or columns, that hold the parts of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = Columns)]
pub struct EventColumns {
    /// The field of the key.
    pub key: String,
    /// The field of the time; null if the time of an event is that of its arrival.
    pub time: Option<String>,
    /// The field of the user.
    pub user: String,
}

impl Default for EventColumns {
    fn default() -> Self {
        Self { key: "key".to_owned(), time: Some("time".to_owned()), user: "user".to_owned() }
    }
}

impl EventColumns {
    /// Returns true if the events of a stream with this specification have times of their own.
    pub(crate) fn have_time(&self, spec: &Spec) -> bool {
        self.time.is_some() && !spec.longest().is_by_count()
    }
}

impl Settings {
    /// Reads settings. A state that `frostpane init` created has none, and is private.
    pub fn read(folder: &Path) -> Result<Self> {
        let failed = || Problem::unavailable("the settings of a stream cannot be read");
        match fs::read(folder.join(FILE)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| failed()),
            Err(cause) if cause.kind() != ErrorKind::NotFound => Err(failed()),
            Err(_) => Ok(Self {
                columns: Header::read(folder)?
                    .input
                    .and_then(|input| serde_json::from_str(&input).ok())
                    .unwrap_or_default(),
                ..Self::default()
            }),
        }
    }

    pub fn write(&self, folder: &Path) -> Result<()> {
        let failed = || Problem::unavailable("the settings of a stream cannot be written");
        let bytes = serde_json::to_vec_pretty(self).map_err(|_| failed())?;
        atomic_file::replace(&folder.join(FILE), &bytes).map_err(|_| failed())
    }
}
