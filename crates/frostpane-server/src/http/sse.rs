//! Releases as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{StreamExt, iter, unfold};
use tokio::sync::watch;

use super::App;
use super::connection_limit::SharedPermit;
use super::extract::{Readable, StreamPath};
use super::guard::Address;
use super::refusals::Refusals;
use super::releases::releases_after;
use crate::auth::Caller;
use crate::problem::{Problem, Result};
use crate::stream::{Most, Status, StreamHandle};

/// The longest silence on a connection.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The wait after a failed read, while other readers have their turn.
const PATIENCE: Duration = Duration::from_secs(1);
const BEAT: Bytes = Bytes::from_static(b": \n\n");
/// Tells a browser after how many milliseconds to connect again.
const HELLO: Bytes = Bytes::from_static(b"retry: 2000\n\n");
/// An address has at most one of so many connections for listening without a token.
const ADDRESS_SHARES: usize = 8;
/// A token has at most one of so many connections for listening.
const TOKEN_SHARES: usize = 4;

/// Every release as an event, the latest at once; or, with Last-Event-ID, all after that one.
#[utoipa::path(
    get, path = "/v1/streams/{name}/live", tag = "releases",
    params(
        StreamPath,
        ("Last-Event-ID" = Option<u64>, Header, description = "The number of the last release that you have"),
    ),
    responses(
        (
            status = 200, description = "Server-sent events, each with a release",
            content_type = "text/event-stream",
        ),
        Refusals,
    ),
    security((), ("token" = [])),
)]
pub async fn listen(
    State(app): State<App>,
    caller: Caller,
    Readable(stream): Readable,
    address: Option<Extension<Address>>,
    headers: HeaderMap,
) -> Result<Response> {
    let permit = listener_permit(&app, &caller, address.map(|Extension(address)| address))?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let latest = stream.shared.cache.latest_number();
    let after = last.and_then(|id| id.parse().ok()).unwrap_or(latest.saturating_sub(1)).min(latest);
    let listener = Listener {
        news: stream.shared.cache.listen(),
        stopping: app.stopping(),
        after,
        _permit: permit,
        caller,
        stream,
    };
    let body = Body::from_stream(iter([Ok(HELLO)]).chain(unfold(listener, Listener::next)));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((Extension(Listening), headers, body).into_response())
}

/// Marks a response that goes on for as long as the client listens; it has a permit of its own.
#[derive(Clone, Copy)]
pub struct Listening;

/// A client that listens: the number of its last release, and no copy of what it is sent.
struct Listener {
    stream: Arc<StreamHandle>,
    caller: Caller,
    news: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    after: u64,
    _permit: SharedPermit,
}

fn listener_permit(app: &App, caller: &Caller, address: Option<Address>) -> Result<SharedPermit> {
    let address = address.filter(|Address(address)| !address.is_loopback());
    let (all, shares) = if caller.has_token() {
        (&app.token_listeners, TOKEN_SHARES)
    } else {
        (&app.other_listeners, ADDRESS_SHARES)
    };
    let most = app.limits.connections.div_ceil(shares);
    let own = app.listener_limit.share(caller.holder(address), most);
    let own = own.ok_or_else(too_many)?;
    Ok((own, all.clone().try_acquire_owned().map_err(|_| too_many())?))
}

fn too_many() -> Problem {
    Problem::too_many(
        "too many listen with this token, or without one",
        "read the latest release now and then, which can be cached",
    )
    .after(5)
}

impl Listener {
    async fn next(mut self) -> Option<(std::result::Result<Bytes, Infallible>, Self)> {
        loop {
            // The token may have been revoked, or the stream may no longer be public.
            let stopped = *self.stopping.borrow() || self.stream.status() == Status::Stopped;
            if stopped || !self.caller.still_reads(&self.stream) {
                return None;
            }
            self.news.mark_unchanged();
            // One at a time: a listener holds no more in memory.
            match releases_after(&self.stream, self.after, Most::new(1, usize::MAX)).await {
                Ok(found) => {
                    if let Some(next) = found.first() {
                        self.after = next.number;
                        return Some((Ok(next.frame.clone()), self));
                    }
                }
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
