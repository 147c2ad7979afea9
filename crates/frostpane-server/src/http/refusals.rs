//! Refusals that any request may meet.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoResponses, ToSchema};

use crate::problem::Problem;

/// The request is malformed, has no valid token, is not allowed, names nothing, timed out, names a deleted
/// stream, comes too often, or cannot be served now.
pub struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let all = [
            StatusCode::BAD_REQUEST,
            StatusCode::UNAUTHORIZED,
            StatusCode::FORBIDDEN,
            StatusCode::NOT_FOUND,
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::GONE,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ];
        let schema = Ref::from_schema_name(Problem::name());
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let refusal = |status: StatusCode| {
            let response = ResponseBuilder::new()
                .description(status.canonical_reason().unwrap_or_default())
                .content("application/json", content.clone());
            (status.as_str().to_owned(), response.build().into())
        };
        all.map(refusal).into()
    }
}
