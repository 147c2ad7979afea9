//! Checks and headers of every request: address, share of the caller, CORS, time.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::connection_limit::OwnPermit;
use super::health::{HEALTHZ, READYZ};
use super::sse::Listening;
use crate::auth::Caller;
use crate::http::connections::ConnectionUse;
use crate::http::serve::{HadToken, hold};
use crate::problem::{Problem, Result};

/// Headers of every response: nothing is a page unless it says so itself.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

#[derive(Clone, Copy, Debug)]
pub struct Address(pub IpAddr);

/// Limits the time of an answer, and adds the headers of every response.
pub async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if let Some(address) = address(&app, &request) {
        request.extensions_mut().insert(Address(address));
    }
    if matches!(request.uri().path(), HEALTHZ | READYZ) {
        // No limit applies to probes.
        return with_headers(next.run(request).await);
    }
    let admits = request.extensions().get().copied().unwrap_or(ConnectionUse::Any);
    let caller = Caller::of(&app, request.headers());
    let anonymous = !caller.as_ref().is_ok_and(Caller::has_token);
    let permit = caller.as_ref().map_or(Ok(None), |caller| share(&app, caller, &request));
    let of_token = caller.as_ref().ok().and_then(|caller| caller.holder(None));
    if let Ok(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let origin =
        origin.filter(|origin| app.limits.cors.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()));
    let is_preflight = request.method() == Method::OPTIONS;
    let mut response = match (is_preflight, &origin, permit) {
        _ if admits == ConnectionUse::Probes || (anonymous && admits == ConnectionUse::Tokens) => crowded(),
        (true, Some(_), _) => StatusCode::NO_CONTENT.into_response(),
        _ if anonymous && !may_ask(&app, &request) => too_often().into_response(),
        (_, _, Err(problem)) => problem.into_response(),
        (_, _, Ok(permit)) => {
            let answered = tokio::time::timeout(app.limits.time, next.run(request)).await;
            let response = answered.unwrap_or_else(|_| slow().into_response());
            if response.extensions().get::<Listening>().is_some() { response } else { hold(response, permit) }
        }
    };
    if let Some(holder) = of_token {
        response.extensions_mut().insert(HadToken(holder));
    }
    let mut response = with_headers(response);
    let headers = response.headers_mut();
    if !app.limits.cors.is_empty() {
        // Caches must keep the answers to different origins apart, also those to a refused one or none.
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    if let Some(origin) = origin {
        allow(headers, origin);
    }
    response
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A permit among the open requests of a token or an address: each has at most a quarter of the connections.
/// Listeners have limits of their own.
fn share(app: &App, caller: &Caller, request: &Request) -> Result<OwnPermit> {
    let address = request.extensions().get::<Address>().copied();
    let address = address.filter(|Address(address)| app.limits.behind_proxy || !address.is_loopback());
    let most = app.limits.connections.div_ceil(4);
    app.request_limit.share(caller.holder(address), most).ok_or_else(too_many)
}

fn address(app: &App, request: &Request) -> Option<IpAddr> {
    let ConnectInfo(address) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
    app.limits.behind_proxy.then(|| forwarded(request.headers())).flatten().or(Some(address.ip()))
}

fn may_ask(app: &App, request: &Request) -> bool {
    let address = request.extensions().get::<Address>();
    address.is_none_or(|Address(address)| app.rate.allows(*address, app.limits.rate))
}

/// The client that the nearest proxy names: what stands before it may be made up.
fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

fn crowded() -> Response {
    let problem = Problem::not_now(
        "too many are connected, and the last places are kept for those who have a token",
        "come again later",
    );
    let mut response = problem.into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn too_many() -> Problem {
    Problem::too_many(
        "too many requests with this token, or from this address, are being answered at once",
        "wait for some of them before you send more",
    )
}

fn too_often() -> Problem {
    Problem::too_many(
        "this address asks too often without a token",
        "ask less often: what is published can be cached, and .../live says when there is more",
    )
}

fn slow() -> Problem {
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        "the request took too long: if it brought events they may have been taken",
        "send it again with the same Idempotency-Key, faster or in smaller parts",
    )
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let all = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, content-encoding, idempotency-key, last-event-id",
        ),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "etag, frostpane-account, frostpane-number, retry-after"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
