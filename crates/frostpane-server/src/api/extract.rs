//! The parts of a request, with refusals in the service's own words.

use axum::body::Body;
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use tokio::sync::OwnedSemaphorePermit;

use super::App;
use super::events::receive;
use crate::problem::{Problem, Result};

/// Names in the path.
pub struct Path<T>(pub T);

/// What stands behind the question mark.
pub struct Query<T>(pub T);

/// A body that is no batch of events, and so is small.
pub struct Small(pub Bytes);

/// A body of a stranger, which is smaller still.
pub struct Tiny(pub Bytes);

/// A turn among those whose answer takes a processor for a while. It is taken before a body is read, and is over when its holder has
/// done the work.
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

/// The most bytes of what a stranger sends.
const TINY: usize = 64 << 10;

impl FromRequestParts<App> for Turn {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self> {
        let permit = app.thinking.clone().try_acquire_owned();
        permit.map(|_permit| Self { _permit }).map_err(|_| {
            Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "another plan is being made, and they are made one at a time",
                "ask again in a moment",
            )
            .after(1)
        })
    }
}

impl FromRequest<App> for Tiny {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self> {
        let most = TINY.min(app.limits.small_body);
        let (body, _) = receive(app, request.into_body(), most).await?;
        Ok(Self(body))
    }
}

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
        read.map(|extract::Query(value)| Self(value)).map_err(|_| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "something behind the question mark is not known here, or has a value that it cannot have",
                "look at GET /v1/openapi.json for what can be asked",
            )
        })
    }
}

impl FromRequest<App> for Small {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self> {
        let (body, _) = receive(app, request.into_body(), app.limits.small_body).await?;
        Ok(Self(body))
    }
}
