//! The specification of a stream as JSON.

use frostpane::Spec;
use serde_json::value::RawValue;
use serde_json::{Value, json, to_string, to_value};

use crate::problem::{Problem, Result};

/// The specification, serialized once.
#[derive(Debug)]
pub struct SpecJson {
    /// With the declared keys, of which there may be megabytes.
    pub whole: Box<RawValue>,
    /// With the number of declared keys, and the path at which they are, in place of the keys.
    pub brief: Box<RawValue>,
}

impl SpecJson {
    pub fn of(name: &str, spec: &Spec) -> Result<Self> {
        let raw = |value: &Value| to_string(value).and_then(RawValue::from_string);
        let written = to_value(spec).and_then(|mut value| {
            let whole = raw(&value)?;
            let declared = value["keys"].as_array().map(Vec::len);
            if let Some(declared) = declared {
                value["keys"] = json!({ "declared": declared, "at": format!("/v1/streams/{name}") });
            }
            Ok(Self { whole, brief: raw(&value)? })
        });
        written.map_err(|_| Problem::unavailable("the specification of a stream cannot be written as JSON"))
    }
}
