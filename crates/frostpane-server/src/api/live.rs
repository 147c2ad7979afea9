//! Releases as they come, for those who listen.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::sync::watch;

use super::App;
use super::caller::Caller;
use super::extract::Path;
use super::releases::releases_after;
use crate::problem::{Problem, Result};
use crate::stream::{Published, Standing, Stream, overloaded};
use tokio::sync::OwnedSemaphorePermit;

/// Whoever listens is told so often that the service is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long to wait until others have looked.
const PATIENCE: Duration = Duration::from_secs(1);
const BEAT: Bytes = Bytes::from_static(b": \n\n");
/// How long a browser waits before it comes again.
const HELLO: Bytes = Bytes::from_static(b"retry: 2000\n\n");
/// Of releases that are not held in memory one is looked up at a time, and no more are held for whoever listens.
const TOGETHER: usize = 1;

/// Every release as an event, the latest at once; or, with Last-Event-ID, all after that one.
#[utoipa::path(get, path = "/v1/streams/{name}/live", tag = "releases", params(("name" = String, Path, description = "Of the stream"), ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last release that you have")),
    responses((status = 200, description = "Server-sent events, each with a release", content_type = "text/event-stream"), (status = 400, body = Problem), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem), (status = 410, body = Problem)),
    security((), ("token" = [])))]
pub async fn listen(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response> {
    let stream = caller.reads(&name)?;
    let place = match caller.has_token() {
        true => None,
        false => Some(
            app.listeners
                .clone()
                .try_acquire_owned()
                .map_err(|_| overloaded())?,
        ),
    };
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
        ready: VecDeque::new(),
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
    Ok((headers, body).into_response())
}

/// Someone who listens: how far they have come, and no copy of what they are sent.
struct Listener {
    stream: Arc<Stream>,
    caller: Caller,
    news: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    after: u64,
    ready: VecDeque<Arc<Published>>,
    greeted: bool,
    /// Among those without a token, who leave room for others.
    _place: Option<OwnedSemaphorePermit>,
}

impl Listener {
    /// What they are sent next; none when it is over.
    async fn next(mut self) -> Option<(std::result::Result<Bytes, Infallible>, Self)> {
        if !self.greeted {
            self.greeted = true;
            return Some((Ok(HELLO), self));
        }
        loop {
            if let Some(published) = self.ready.pop_front() {
                self.after = published.number;
                return Some((Ok(published.frame.clone()), self));
            }
            // The token may have been revoked, or the stream no longer be public.
            let stopped = *self.stopping.borrow() || self.stream.standing() == Standing::Stopped;
            if stopped || !self.caller.still_reads(&self.stream) {
                return None;
            }
            self.news.mark_unchanged();
            match releases_after(&self.stream, self.after, TOGETHER).await {
                Ok(found) if !found.is_empty() => {
                    self.ready = found.into();
                    continue;
                }
                Ok(_) => {}
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
