//! Extractors of the parts of a request, whose refusals are a `Problem`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::App;
use super::body::{BodyPermits, receive};
use crate::auth::Caller;
use crate::problem::{Problem, Result};
use crate::stream::StreamHandle;

pub struct Path<T>(pub T);

pub struct Query<T>(pub T);

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct StreamPath {
    /// Name of the stream
    pub name: String,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ReleasePath {
    /// Name of the stream
    pub name: String,
    /// Id of the release
    pub id: String,
}

/// The stream of the path, which the caller may read.
pub struct Readable(pub Arc<StreamHandle>);

/// A small body, of a client with a token, and the permits for its bytes.
pub struct SmallBody(pub Bytes, pub Option<BodyPermits>);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let read = extract::Path::from_request_parts(parts, app).await;
        read.map(|extract::Path(value)| Self(value)).map_err(|_| {
            Problem::malformed(
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
            let cause = refused.body_text().replace("Failed to deserialize query string: ", "");
            Problem::malformed(
                format!("what stands behind the question mark cannot be used ({cause})"),
                "look at GET /v1/openapi.json for what can be asked",
            )
        })
    }
}

impl FromRequestParts<App> for Readable {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let Path(StreamPath { name }) = Path::from_request_parts(parts, app).await?;
        caller.reads(&name).map(Self)
    }
}

impl FromRequest<App> for SmallBody {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, app: &App) -> Result<Self> {
        let caller = Caller::of(app, request.headers())?;
        caller.must_have_token()?;
        let (parts, room) = receive(app, &caller, request.into_body(), app.limits.small_body).await?;
        Ok(Self(parts.concat().into(), room))
    }
}
