//! Releases: the same bytes for everyone.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frostpane::Span;
use frostpane_render::ReaderSummary;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::budget::PrivacyLoss;
use super::extract::{Path, Query, Readable, ReleasePath, SmallBody, StreamPath};
use super::refusals::Refusals;
use super::streams::object_of;
use crate::auth::{Caller, Scope};
use crate::name::check_id;
use crate::problem::{Problem, Result};
use crate::stream::{Most, Published, StreamCommand, StreamHandle, now};

const NUMBER: HeaderName = HeaderName::from_static("frostpane-number");
/// The account that a release is charged to: the costs of streams that received the same events add up.
const ACCOUNT: HeaderName = HeaderName::from_static("frostpane-account");
/// The most releases of a page.
const TOGETHER: usize = 100;
/// The most bytes of a page, of which the first release may have more.
const PAGE: usize = 256 << 10;
const BESIDE: &str = "This service has other streams, or had: if one of them was given the same events, its lists cost privacy too, and what is lost is the sum.";
/// Seconds of a year: a release with an id never changes.
const FOR_EVER: u64 = 31_536_000;

/// The latest release.
#[utoipa::path(
    get, path = "/v1/streams/{name}/releases/latest", tag = "releases", params(StreamPath),
    responses(
        (status = 200, description = "The release, as it is kept", content_type = "application/json"),
        (status = 304, description = "You have it"), Refusals,
    ),
    security((), ("token" = [])),
)]
pub async fn latest(Readable(stream): Readable, headers: HeaderMap) -> Result<Response> {
    let published = stream.shared.cache.latest().ok_or_else(none_yet)?;
    Ok(cached(&stream, &published, &headers, until_next(&stream)))
}

/// The latest release in sentences.
#[utoipa::path(
    get, path = "/v1/streams/{name}/releases/latest/words", tag = "releases", params(StreamPath),
    responses((status = 200, body = LatestWords), Refusals), security((), ("token" = [])),
)]
pub async fn latest_words(State(app): State<App>, Readable(stream): Readable) -> Result<Json<LatestWords>> {
    let published = stream.shared.cache.latest().ok_or_else(none_yet)?;
    Ok(Json(LatestWords {
        number: published.number,
        words: published.words.as_deref().cloned(),
        beside: app.has_others().then_some(BESIDE),
    }))
}

/// The latest release in sentences.
#[derive(Serialize, ToSchema)]
pub struct LatestWords {
    /// The number of the release.
    number: u64,
    /// Null if the process that made it ended early.
    words: Option<ReaderSummary>,
    /// The note on other streams, where the service has or had any.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'static str>,
}

/// Selects a page of releases.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReleasesParams {
    /// Releases after this number.
    after: u64,
    /// At most so many: 100 by default, and no more; fewer where they are large.
    most: Option<usize>,
}

/// A page of releases, oldest first.
#[derive(Serialize, ToSchema)]
pub struct ReleasesPage {
    /// Each with its number.
    releases: Vec<NumberedRelease>,
    /// The value of after for the next page; null if this is the last.
    next: Option<u64>,
}

/// A release with its number.
#[derive(Serialize, ToSchema)]
pub struct NumberedRelease {
    /// From 1 on.
    number: u64,
    /// The id of a release that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The release, as it is kept.
    #[schema(value_type = Object)]
    release: Box<RawValue>,
}

/// Releases after a number, in the order in which they were made.
#[utoipa::path(
    get, path = "/v1/streams/{name}/releases", tag = "releases", params(StreamPath, ReleasesParams),
    responses((status = 200, body = ReleasesPage), Refusals), security((), ("token" = [])),
)]
pub async fn after(
    caller: Caller,
    Path(StreamPath { name }): Path<StreamPath>,
    Query(params): Query<ReleasesParams>,
) -> Result<Json<ReleasesPage>> {
    let stream = caller.reads(&name)?;
    let most = params.most.unwrap_or(TOGETHER).clamp(1, TOGETHER);
    let found = releases_after(&stream, params.after, Most::new(most, PAGE)).await?;
    let latest = stream.shared.cache.latest_number();
    let last = found.last().map(|published| published.number);
    let numbered = |published: &Arc<Published>| {
        let text = String::from_utf8(published.json.to_vec()).ok()?;
        Some(NumberedRelease {
            number: published.number,
            id: published.id.clone(),
            release: RawValue::from_string(text).ok()?,
        })
    };
    Ok(Json(ReleasesPage {
        releases: found.iter().filter_map(numbered).collect(),
        next: last.filter(|last| *last < latest),
    }))
}

/// Reads releases from memory or, if they are older, from the state.
pub async fn releases_after(stream: &StreamHandle, number: u64, most: Most) -> Result<Vec<Arc<Published>>> {
    match stream.shared.cache.after(number, most) {
        Some(held) => Ok(held),
        None => stream.look(|reply| StreamCommand::After { number, most, reply }).await,
    }
}

/// The body of a request for a release.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = ReleaseRequest)]
pub struct ReleaseBody {
    /// The window; the longest by default.
    #[schema(value_type = Option<String>)]
    window: Option<Span>,
}

/// Options of a request for a release.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReleaseParams {
    /// Only computes the cost: nothing is charged.
    dry_run: bool,
}

#[derive(Serialize)]
struct ReleaseCost {
    /// For each pane that it covers.
    charge: PrivacyLoss,
    /// The begin of the window: a moment, or the number of an event.
    from: String,
    to: String,
    /// Panes, or epochs.
    panes: u64,
    /// Such releases that would be left.
    left: u64,
}

/// Makes a release, which is charged to every pane that it covers and stored before it is returned. The same
/// id returns the same bytes and costs nothing.
#[utoipa::path(
    put, path = "/v1/streams/{name}/releases/{id}", tag = "releases", params(ReleasePath, ReleaseParams),
    request_body(content = ReleaseBody, description = "May be empty"),
    responses(
        (status = 200, description = "It was made before; or its cost"),
        (status = 201, description = "The release"), (status = 402, body = Problem),
        (status = 409, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem),
        (status = 507, body = Problem), Refusals,
    ),
    security(("token" = [])),
)]
pub async fn make(
    caller: Caller,
    Path(ReleasePath { name, id }): Path<ReleasePath>,
    Query(params): Query<ReleaseParams>,
    SmallBody(body, _permits): SmallBody,
) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Release)?;
    check_id(&id)?;
    let asked = if body.is_empty() {
        ReleaseBody::default()
    } else {
        object_of(&body).map_err(|_| {
            Problem::invalid(
                "this is not what a release can be asked to be",
                r#"send { "window": "7d" }, or nothing"#,
            )
        })?
    };
    let window = asked.window;
    if params.dry_run {
        let (dry, [from, to]) = stream.ask(|reply| StreamCommand::DryRun { window, reply }).await?;
        return Ok(Json(ReleaseCost {
            from,
            to,
            charge: dry.charge.into(),
            panes: (dry.to - dry.from) as u64,
            left: dry.left,
        })
        .into_response());
    }
    let (published, again) = stream.ask(|reply| StreamCommand::Release { id, window, reply }).await?;
    let mut response = cached(&stream, &published, &HeaderMap::new(), 0);
    if !again {
        *response.status_mut() = StatusCode::CREATED;
    }
    Ok(response)
}

/// The release with an id.
#[utoipa::path(
    get, path = "/v1/streams/{name}/releases/{id}", tag = "releases", params(ReleasePath),
    responses(
        (status = 200, description = "The release, as it is kept"),
        (status = 304, description = "You have it"), Refusals,
    ),
    security((), ("token" = [])),
)]
pub async fn find(
    Readable(stream): Readable,
    Path(ReleasePath { id, .. }): Path<ReleasePath>,
    headers: HeaderMap,
) -> Result<Response> {
    check_id(&id)?;
    let held = match stream.shared.cache.of(&id) {
        Some(held) => Some(held),
        None if stream.shared.spec.continual => None,
        None => stream.look(|reply| StreamCommand::Find(id, reply)).await?,
    };
    let published = held.ok_or_else(|| Problem::unknown("release"))?;
    Ok(cached(&stream, &published, &headers, FOR_EVER))
}

/// The bytes, unless the client has them.
fn cached(stream: &StreamHandle, published: &Published, asked: &HeaderMap, seconds: u64) -> Response {
    let known = asked.get_all(header::IF_NONE_MATCH).iter();
    let mut known = known.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let has = known.any(|tag| tag.trim().trim_start_matches("W/") == published.etag);
    let mut response =
        if has { StatusCode::NOT_MODIFIED.into_response() } else { published.json.clone().into_response() };
    let who = if stream.settings().public { "public" } else { "private" };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(NUMBER, published.number.into());
    let cache = format!("{who}, max-age={seconds}");
    for (name, text) in
        [(ACCOUNT, &stream.shared.name), (header::ETAG, &published.etag), (header::CACHE_CONTROL, &cache)]
    {
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    }
    response
}

/// Whole seconds until the next release can be there.
fn until_next(stream: &StreamHandle) -> u64 {
    match stream.shared.slide {
        Some((slide, offset)) if stream.shared.spec.continual => {
            let now = now();
            let since = (now - offset).rem_euclid(slide);
            // Between the end of a slide and its release, the one before must not be cached.
            if stream.shared.clock() >= now - since { (slide - since) as u64 / 1_000_000 } else { 0 }
        }
        _ => 0,
    }
}

fn none_yet() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "nothing has been released yet",
        "wait for the first slide to end, or ask for a release",
    )
}
