//! The forms that events may have.

use axum::http::StatusCode;

use crate::problem::{Problem, Result};

/// In which form events are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An object a line.
    JsonLines,
    /// An array of objects.
    JsonArray,
    /// A key a line.
    Text,
    /// Values with commas between them, with a header.
    Csv,
    /// The same with tabs.
    Tsv,
    /// The stream format of Arrow.
    Arrow,
}

impl Format {
    /// Its name, as it is kept with the id of a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::JsonArray => "json",
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Arrow => "arrow",
        }
    }

    /// As a request says.
    pub fn of(content_type: Option<&str>) -> Result<Self> {
        let name = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        Ok(match name.to_ascii_lowercase().as_str() {
            "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => Self::JsonLines,
            "application/json" => Self::JsonArray,
            "text/plain" => Self::Text,
            "text/csv" => Self::Csv,
            "text/tab-separated-values" => Self::Tsv,
            "application/vnd.apache.arrow.stream" => Self::Arrow,
            _ => {
                return Err(Problem::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    "the type of the events is missing or not one that is read here",
                    "give Content-Type: application/x-ndjson, application/json, text/plain, text/csv, text/tab-separated-values or \
                     application/vnd.apache.arrow.stream",
                ));
            }
        })
    }
}
