//! Formats and compressions of bodies, as headers name them.

use axum::http::StatusCode;
use frostpane_events::{Compression, Format};

use crate::problem::{Problem, Result};

/// The name of a format, as it is kept with the id of a request.
pub fn name(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "jsonl",
        Format::JsonArray => "json",
        Format::Text => "text",
        Format::Csv => "csv",
        Format::Tsv => "tsv",
        Format::Arrow => "arrow",
        Format::Parquet => "parquet",
    }
}

pub fn of_content_type(content_type: Option<&str>) -> Result<Format> {
    let name = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
    Ok(match name.to_ascii_lowercase().as_str() {
        "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => Format::Jsonl,
        "application/json" => Format::JsonArray,
        "text/plain" => Format::Text,
        "text/csv" => Format::Csv,
        "text/tab-separated-values" => Format::Tsv,
        "application/vnd.apache.arrow.stream" => Format::Arrow,
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

pub fn of_content_encoding(content_encoding: Option<&str>) -> Result<Compression> {
    match content_encoding.unwrap_or("identity").trim().to_ascii_lowercase().as_str() {
        "identity" | "" => Ok(Compression::None),
        "gzip" | "x-gzip" => Ok(Compression::Gzip),
        "zstd" => Ok(Compression::Zstd),
        _ => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is packed in a way that is not known here",
            "give Content-Encoding: gzip or zstd, or send it unpacked",
        )),
    }
}
