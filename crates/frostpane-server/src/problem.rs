//! Errors of requests: what is wrong, and what to do. They never contain a key, a user or a private count.

use std::fmt;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frostpane::ErrorKind;
use serde::Serialize;
use utoipa::ToSchema;

/// The refusal of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    #[serde(skip)]
    status: StatusCode,
    /// The error.
    error: String,
    /// The remedy.
    r#do: String,
    /// The line or the event that is wrong, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// Seconds after which to try again.
    #[serde(skip)]
    retry_after: Option<u64>,
}

pub type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    pub(crate) fn new(status: StatusCode, error: impl Into<String>, then: impl Into<String>) -> Self {
        Self { status, error: error.into(), r#do: then.into(), line: None, retry_after: None }
    }

    pub(crate) fn at(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    pub(crate) fn after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Nothing of this kind exists, or the caller may not know of it.
    pub(crate) fn unknown(what: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            format!("there is no such {what} here, or none that you may see"),
            "look at GET /v1/streams, with a token if the stream is not public",
        )
    }

    pub(crate) fn malformed(error: impl Into<String>, then: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, then)
    }

    pub(crate) fn invalid(error: impl Into<String>, then: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error, then)
    }

    pub(crate) fn conflict(error: impl Into<String>, then: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error, then)
    }

    /// Too much is asked at once, or too often.
    pub(crate) fn too_many(error: impl Into<String>, then: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, error, then).after(1)
    }

    /// The service cannot do this for a while.
    pub(crate) fn not_now(error: impl Into<String>, then: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error, then).after(5)
    }

    pub(crate) fn unavailable(error: impl Into<String>) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            error,
            "try again in a moment; if it stays so the operator has to look at the service",
        )
        .after(1)
    }

    /// Users did not fit into the memory; the text is the same for all users.
    pub(crate) fn full() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "the users of an epoch did not fit into the memory of the stream, and the disk that the rest should go to gave an error: nothing is taken \
             and nothing is released",
            "begin another stream with more memory, or send a sample of the users; or go on with this one from the next epoch on, with \
             `frostpane-server restore`, which marks all of its past as spent",
        )
    }

    /// The stream is over its disk quota.
    pub(crate) fn disk() -> Self {
        Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "the stream has more than its share of the disk: nothing is taken and nothing is released",
            "begin another stream, or ask the operator to give this one more, with --most-disk",
        )
    }

    /// Splits a message at its last colon into what is wrong and what to do.
    fn split(status: StatusCode, message: &str) -> Self {
        match message.rsplit_once(": ") {
            Some((error, then)) => Self::new(status, error, then),
            None => Self::new(status, message, "see docs/service.md"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error, self.r#do)
    }
}

impl From<Problem> for String {
    fn from(problem: Problem) -> Self {
        problem.to_string()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<frostpane::Error> for Problem {
    fn from(cause: frostpane::Error) -> Self {
        match cause.kind() {
            ErrorKind::Memory => Self::full(),
            _ => Self::split(StatusCode::UNPROCESSABLE_ENTITY, &cause.to_string()),
        }
    }
}

impl From<frostpane_store::Error> for Problem {
    fn from(cause: frostpane_store::Error) -> Self {
        use frostpane_store::Error;
        match cause {
            Error::Stream(cause) => cause.into(),
            Error::Refused(refusal) => Self::new(
                StatusCode::PAYMENT_REQUIRED,
                refusal.to_string(),
                "wait until they have left the window: GET .../budget says when",
            ),
            Error::Stopped(_) => Self::full(),
            Error::Conflict(message) => Self::split(StatusCode::CONFLICT, &message),
            _ => Self::unavailable("the state of the stream cannot be read or written"),
        }
    }
}
