//! The parts of a request, with refusals in the service's own words.

use axum::body::Body;
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::App;
use super::body::{Room, receive};
use super::caller::Caller;
use crate::problem::{Problem, Result};

/// Names in the path.
pub struct Path<T>(pub T);

/// What stands behind the question mark.
pub struct Query<T>(pub T);

/// A body that is no batch of events, and so is small; with its room among those of others. It is of somebody who has a token.
pub struct Small(pub Bytes, pub Option<Room>);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let read = extract::Path::from_request_parts(parts, app).await;
        read.map(|extract::Path(value)| Self(value)).map_err(|_| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "the path of the request cannot be read",
                "names are text, percent-encoded as UTF-8",
            )
        })
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let read = extract::Query::from_request_parts(parts, app).await;
        read.map(|extract::Query(value)| Self(value)).map_err(|refused| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                format!(
                    "what stands behind the question mark cannot be used ({})",
                    refused
                        .body_text()
                        .replace("Failed to deserialize query string: ", "")
                ),
                "look at GET /v1/openapi.json for what can be asked",
            )
        })
    }
}

impl FromRequest<App> for Small {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self> {
        let caller = Caller::of(app, request.headers())?;
        caller.must_be_known()?;
        let (parts, room) = receive(app, &caller, request.into_body(), app.limits.small_body).await?;
        Ok(Self(parts.concat().into(), room))
    }
}
