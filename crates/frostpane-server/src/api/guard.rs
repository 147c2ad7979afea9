//! What is true of every request and every answer.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::caller::Caller;
use super::health::{HEALTHZ, READYZ};
use super::live::Listening;
use crate::connections::Room;
use crate::crowd::{Place, Who};
use crate::held::hold;
use crate::problem::{Problem, Result};
use crate::serve::HadToken;

/// What every answer says to a browser: nothing here is a page, unless it says so itself.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Where a request comes from, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub struct Address(pub IpAddr);

/// Limits the time that an answer may take, and adds what every answer has.
pub async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if let Some(address) = address(&app, &request) {
        request.extensions_mut().insert(Address(address));
    }
    if matches!(request.uri().path(), HEALTHZ | READYZ) {
        // Probes are answered whoever asks, however often, and whatever else there is to do.
        return with_headers(next.run(request).await);
    }
    let room = request.extensions().get().copied().unwrap_or(Room::Free);
    let caller = Caller::of(&app, request.headers());
    let stranger = !caller.as_ref().is_ok_and(Caller::has_token);
    let place = match &caller {
        Ok(caller) => share(&app, caller, &request),
        Err(_) => Ok(None),
    };
    let of_token = caller.as_ref().ok().and_then(|caller| caller.who(None));
    if let Ok(caller) = caller {
        request.extensions_mut().insert(caller);
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let origin = origin.filter(|origin| {
        app.limits
            .cors
            .iter()
            .any(|allowed| allowed.as_bytes() == origin.as_bytes())
    });
    let asks_leave = request.method() == Method::OPTIONS;
    let mut response = match (asks_leave, &origin, place) {
        _ if room == Room::Probes || (stranger && room == Room::Tokens) => crowded(),
        (true, Some(_), _) => StatusCode::NO_CONTENT.into_response(),
        _ if stranger && !may_ask(&app, &request) => too_often().into_response(),
        (_, _, Err(problem)) => problem.into_response(),
        (_, _, Ok(place)) => {
            let answered = tokio::time::timeout(app.limits.time, next.run(request)).await;
            let response = answered.unwrap_or_else(|_| slow().into_response());
            match response.extensions().get::<Listening>() {
                Some(_) => response,
                None => hold(response, place),
            }
        }
    };
    if let Some(who) = of_token {
        response.extensions_mut().insert(HadToken(who));
    }
    let mut response = with_headers(response);
    let headers = response.headers_mut();
    if !app.limits.cors.is_empty() {
        // Also of an answer to another origin, or to none: whoever keeps it for others keeps them apart.
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

/// A place among the requests of a token, or of an address, that are being answered: none has more than a quarter of what connections there
/// may be. Those who listen have shares of their own.
fn share(app: &App, caller: &Caller, request: &Request) -> Result<Option<Place<Who>>> {
    let address = request.extensions().get::<Address>().copied();
    let address = address.filter(|Address(address)| app.limits.behind_proxy || !address.is_loopback());
    let most = app.limits.connections.div_ceil(4);
    match caller.who(address) {
        Some(who) => app.asking.enter(who, most).map(Some).ok_or_else(too_many),
        None => Ok(None),
    }
}

fn address(app: &App, request: &Request) -> Option<IpAddr> {
    let ConnectInfo(address) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
    match app.limits.behind_proxy {
        true => forwarded(request.headers()).or(Some(address.ip())),
        false => Some(address.ip()),
    }
}

/// Whether it comes from an address that did not ask too often.
fn may_ask(app: &App, request: &Request) -> bool {
    let address = request.extensions().get::<Address>();
    address.is_none_or(|Address(address)| app.rate.allows(*address, app.limits.rate))
}

/// Whom the proxy next to this service was asked by: what stands before it may be made up.
fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

/// That the last places are kept for those who have a token.
fn crowded() -> Response {
    let problem = Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many are connected, and the last places are kept for those who have a token",
        "come again later",
    );
    let mut response = problem.after(5).into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

fn too_many() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too many requests with this token, or from this address, are being answered at once",
        "wait for some of them before you send more",
    )
    .after(1)
}

fn too_often() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "this address asks too often without a token",
        "ask less often: what is published can be cached, and .../live says when there is more",
    )
    .after(1)
}

/// That a request was not complete in time.
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
        (
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            "etag, frostpane-account, frostpane-number, retry-after",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    for (name, value) in all {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
