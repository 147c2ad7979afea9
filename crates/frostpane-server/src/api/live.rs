//! Releases as they come, for those who listen.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::App;
use super::caller::Caller;
use super::extract::Path;
use super::guard::Address;
use super::refusals::Refusals;
use super::releases::releases_after;
use crate::crowd::{self, Who};
use crate::problem::{Problem, Result};
use crate::stream::{Most, Standing, Stream};

/// Whoever listens is told so often that the service is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long to wait until others have looked.
const PATIENCE: Duration = Duration::from_secs(1);
const BEAT: Bytes = Bytes::from_static(b": \n\n");
/// How long a browser waits before it comes again.
const HELLO: Bytes = Bytes::from_static(b"retry: 2000\n\n");
/// One address has no more than one of so many connections for listening without a token.
const ADDRESS_SHARES: usize = 8;
/// One token has no more than one of so many.
const TOKEN_SHARES: usize = 4;

/// Every release as an event, the latest at once; or, with Last-Event-ID, all after that one.
#[utoipa::path(get, path = "/v1/streams/{name}/live", tag = "releases", params(("name" = String, Path, description = "Of the stream"), ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last release that you have")),
    responses((status = 200, description = "Server-sent events, each with a release", content_type = "text/event-stream"), Refusals),
    security((), ("token" = [])))]
pub async fn listen(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    address: Option<Extension<Address>>,
    headers: HeaderMap,
) -> Result<Response> {
    let stream = caller.reads(&name)?;
    let place = Place::of(&app, &caller, address.map(|Extension(address)| address))?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let latest = stream.shelf().latest().map_or(0, |latest| latest.number);
    let after = last
        .and_then(|id| id.parse().ok())
        .unwrap_or(latest.saturating_sub(1))
        .min(latest);
    let listener = Listener {
        news: stream.shelf().listen(),
        stopping: app.stopping(),
        after,
        greeted: false,
        _place: place,
        caller,
        stream,
    };
    let body = Body::from_stream(unfold(listener, Listener::next));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((Extension(Listening), headers, body).into_response())
}

/// Marks an answer that goes on as long as someone listens, who has a place of their own for it.
#[derive(Clone, Copy)]
pub struct Listening;

/// Someone who listens: how far they have come, and no copy of what they are sent.
struct Listener {
    stream: Arc<Stream>,
    caller: Caller,
    news: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    after: u64,
    greeted: bool,
    /// Among all who listen, who leave room for others.
    _place: Place,
}

/// A place among those who listen: with a token, or without one.
struct Place {
    _of_all: OwnedSemaphorePermit,
    _of_one: Option<crowd::Place<Who>>,
}

impl Place {
    /// One, if there is one left for this token or this address.
    fn of(app: &App, caller: &Caller, address: Option<Address>) -> Result<Self> {
        let address = address.filter(|Address(address)| !address.is_loopback());
        let (all, shares) = match caller.has_token() {
            true => (&app.listeners.with_token, TOKEN_SHARES),
            false => (&app.listeners.without, ADDRESS_SHARES),
        };
        let most = app.limits.connections.div_ceil(shares);
        let of_one = caller
            .who(address)
            .map(|who| app.listening.enter(who, most).ok_or_else(too_many));
        Ok(Self {
            _of_one: of_one.transpose()?,
            _of_all: all.clone().try_acquire_owned().map_err(|_| too_many())?,
        })
    }
}

fn too_many() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too many listen with this token, or without one",
        "read the latest release now and then, which can be cached",
    )
    .after(5)
}

impl Listener {
    /// What they are sent next; none when it is over.
    async fn next(mut self) -> Option<(std::result::Result<Bytes, Infallible>, Self)> {
        if !self.greeted {
            self.greeted = true;
            return Some((Ok(HELLO), self));
        }
        loop {
            // The token may have been revoked, or the stream no longer be public.
            let stopped = *self.stopping.borrow() || self.stream.standing() == Standing::Stopped;
            if stopped || !self.caller.still_reads(&self.stream) {
                return None;
            }
            self.news.mark_unchanged();
            // One at a time: no more are held for whoever listens.
            match releases_after(&self.stream, self.after, Most::new(1, usize::MAX)).await {
                Ok(found) => {
                    if let Some(next) = found.first() {
                        self.after = next.number;
                        return Some((Ok(next.frame.clone()), self));
                    }
                }
                // Others look too.
                Err(_) => {
                    tokio::time::sleep(PATIENCE).await;
                    continue;
                }
            }
            tokio::select! {
                changed = self.news.changed() => changed.ok()?,
                _ = self.stopping.changed() => return None,
                () = tokio::time::sleep(HEARTBEAT) => return Some((Ok(BEAT), self)),
            }
        }
    }
}
