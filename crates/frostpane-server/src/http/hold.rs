//! Responses that hold a value until their body has been sent.

use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt;

/// Holds a value until the body of the response has been sent or given up.
pub fn hold(response: Response, held: impl Send + 'static) -> Response {
    response.map(|body| {
        Body::new(body.map_err(move |cause| {
            let _held = &held;
            cause
        }))
    })
}
