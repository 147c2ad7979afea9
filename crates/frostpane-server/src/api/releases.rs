//! What is published: the same bytes for everybody.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use frostpane::Span;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::amount::Amount;
use super::caller::Caller;
use super::extract::{Path, Query, Small};
use super::refusals::Refusals;
use super::streams::object_of;
use crate::name::check_id;
use crate::problem::{Problem, Result};
use crate::stream::{Command, Most, Published, Stream, Words, now};
use crate::token::Scope;

const NUMBER: HeaderName = HeaderName::from_static("frostpane-number");
/// Whose account a release is charged to: what others cost that were given the same events adds up.
const ACCOUNT: HeaderName = HeaderName::from_static("frostpane-account");
/// Releases that are returned together.
const TOGETHER: usize = 100;
/// And their bytes, of which the first may have more.
const PAGE: usize = 256 << 10;
/// What lists of several streams cost together.
const BESIDE: &str = "This service has other streams, or had: if one of them was given the same events, its lists cost privacy too, and what is lost is the sum.";
/// What has an id never changes: a year.
const FOR_EVER: u64 = 31_536_000;

/// The latest release.
#[utoipa::path(get, path = "/v1/streams/{name}/releases/latest", tag = "releases", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, description = "The release, as it is kept", content_type = "application/json"), (status = 304, description = "You have it"), Refusals),
    security((), ("token" = [])))]
pub async fn latest(caller: Caller, Path(name): Path<String>, headers: HeaderMap) -> Result<Response> {
    let stream = caller.reads(&name)?;
    let published = stream.shelf().latest().ok_or_else(none_yet)?;
    Ok(cached(&stream, &published, &headers, until_next(&stream)))
}

/// What the latest release says, for people.
#[utoipa::path(get, path = "/v1/streams/{name}/releases/latest/words", tag = "releases", params(("name" = String, Path, description = "Of the stream")),
    responses((status = 200, body = Said), Refusals),
    security((), ("token" = [])))]
pub async fn latest_words(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Said>> {
    let stream = caller.reads(&name)?;
    let published = stream.shelf().latest().ok_or_else(none_yet)?;
    Ok(Json(Said {
        number: published.number,
        words: published.words.as_deref().cloned(),
        beside: app.has_others().then_some(BESIDE),
    }))
}

/// What a release says.
#[derive(Serialize, ToSchema)]
pub struct Said {
    /// The number of the release.
    number: u64,
    /// None if a process that ended early made it.
    words: Option<Words>,
    /// What it does not cover, where the service has other streams, or had.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'static str>,
}

/// Which releases.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// Those after this number.
    after: u64,
    /// So many at the most: 100 unless told, and no more; fewer where they are large.
    most: Option<usize>,
}

/// Releases, from the oldest on.
#[derive(Serialize, ToSchema)]
pub struct Page {
    /// Each with its number.
    releases: Vec<Numbered>,
    /// Give this as after to go on; none if these are the last.
    next: Option<u64>,
}

/// A release with its number.
#[derive(Serialize, ToSchema)]
pub struct Numbered {
    /// From 1 on.
    number: u64,
    /// Of one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The release, as it is kept.
    #[schema(value_type = Object)]
    release: Box<RawValue>,
}

/// Releases after a number, in the order in which they were made.
#[utoipa::path(get, path = "/v1/streams/{name}/releases", tag = "releases", params(("name" = String, Path, description = "Of the stream"), Which),
    responses((status = 200, body = Page), Refusals),
    security((), ("token" = [])))]
pub async fn after(
    caller: Caller,
    Path(name): Path<String>,
    Query(which): Query<Which>,
) -> Result<Json<Page>> {
    let stream = caller.reads(&name)?;
    let most = which.most.unwrap_or(TOGETHER).clamp(1, TOGETHER);
    let found = releases_after(&stream, which.after, Most::new(most, PAGE)).await?;
    let latest = stream.shelf().latest().map_or(0, |latest| latest.number);
    let last = found.last().map(|published| published.number);
    let numbered = |published: &Arc<Published>| {
        let text = String::from_utf8(published.json.to_vec()).ok()?;
        Some(Numbered {
            number: published.number,
            id: published.id.clone(),
            release: RawValue::from_string(text).ok()?,
        })
    };
    Ok(Json(Page {
        releases: found.iter().filter_map(numbered).collect(),
        next: last.filter(|last| *last < latest),
    }))
}

/// From memory or, if they are older, from the state.
pub async fn releases_after(stream: &Stream, number: u64, most: Most) -> Result<Vec<Arc<Published>>> {
    match stream.shelf().after(number, most) {
        Some(held) => Ok(held),
        None => stream.look(|reply| Command::After { number, most, reply }).await,
    }
}

/// What a release is asked to be.
#[derive(Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    /// How far back to look; the longest window unless told.
    #[schema(value_type = Option<String>)]
    window: Option<Span>,
}

/// How a release is made.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Making {
    /// Only says what it would cost: nothing is charged.
    dry_run: bool,
}

/// What a release would cost.
#[derive(Serialize, ToSchema)]
pub struct Price {
    /// What everyone whom it covers would be charged.
    charge: Amount,
    /// Where what it covers begins: a moment, or the number of an event.
    from: String,
    /// Where it ends.
    to: String,
    /// How many panes, or epochs, it covers.
    panes: u64,
    /// How many more such releases could follow.
    left: u64,
}

/// A release, charged to every pane that it covers and kept before it is returned. The same id returns the same bytes and costs nothing.
#[utoipa::path(put, path = "/v1/streams/{name}/releases/{id}", tag = "releases", params(("name" = String, Path, description = "Of the stream"), ("id" = String, Path, description = "Of the release"), Making),
    request_body(content = Asked, description = "May be empty"),
    responses((status = 200, description = "It was made before; or what it would cost"), (status = 201, description = "The release"), (status = 402, body = Problem), (status = 409, body = Problem), (status = 413, body = Problem), (status = 422, body = Problem), (status = 507, body = Problem), Refusals),
    security(("token" = [])))]
pub async fn make(
    caller: Caller,
    Path((name, id)): Path<(String, String)>,
    Query(making): Query<Making>,
    Small(body, _room): Small,
) -> Result<Response> {
    let stream = caller.stream(&name, Scope::Release)?;
    check_id(&id)?;
    let asked: Asked = match body.is_empty() {
        true => Asked::default(),
        false => object_of(&body).map_err(|_| {
            Problem::invalid(
                "this is not what a release can be asked to be",
                r#"send { "window": "7d" }, or nothing"#,
            )
        })?,
    };
    let window = asked.window;
    if making.dry_run {
        let (dry, [from, to]) = stream.ask(|reply| Command::DryRun { window, reply }).await?;
        return Ok(Json(Price {
            from,
            to,
            charge: dry.charge.into(),
            panes: (dry.to - dry.from) as u64,
            left: dry.left,
        })
        .into_response());
    }
    let (published, again) = stream.ask(|reply| Command::Release { id, window, reply }).await?;
    let mut response = cached(&stream, &published, &HeaderMap::new(), 0);
    if !again {
        *response.status_mut() = StatusCode::CREATED;
    }
    Ok(response)
}

/// The release that was asked for under an id.
#[utoipa::path(get, path = "/v1/streams/{name}/releases/{id}", tag = "releases", params(("name" = String, Path, description = "Of the stream"), ("id" = String, Path, description = "Of the release")),
    responses((status = 200, description = "The release, as it is kept"), (status = 304, description = "You have it"), Refusals),
    security((), ("token" = [])))]
pub async fn find(
    caller: Caller,
    Path((name, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response> {
    let stream = caller.reads(&name)?;
    check_id(&id)?;
    let held = match stream.shelf().of(&id) {
        Some(held) => Some(held),
        None if stream.spec().continual => None,
        None => stream.look(|reply| Command::Find(id, reply)).await?,
    };
    let published = held.ok_or_else(|| Problem::unknown("release"))?;
    Ok(cached(&stream, &published, &headers, FOR_EVER))
}

/// The bytes, unless whoever asks has them.
fn cached(stream: &Stream, published: &Published, asked: &HeaderMap, seconds: u64) -> Response {
    let known = asked.get_all(header::IF_NONE_MATCH).iter();
    let mut known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let has = known.any(|tag| tag.trim().trim_start_matches("W/") == published.etag);
    let mut response = match has {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => published.json.clone().into_response(),
    };
    let who = match stream.settings().public {
        true => "public",
        false => "private",
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(NUMBER, published.number.into());
    if let Ok(name) = HeaderValue::from_str(stream.name()) {
        headers.insert(ACCOUNT, name);
    }
    if let Ok(etag) = HeaderValue::from_str(&published.etag) {
        headers.insert(header::ETAG, etag);
    }
    if let Ok(cache) = HeaderValue::from_str(&format!("{who}, max-age={seconds}")) {
        headers.insert(header::CACHE_CONTROL, cache);
    }
    response
}

/// Whole seconds until the next list can be there.
fn until_next(stream: &Stream) -> u64 {
    match stream.slide() {
        Some((slide, offset)) if stream.spec().continual => {
            let now = now();
            let since = (now - offset).rem_euclid(slide);
            // Where a slide has ended and its list is still to come, nobody keeps the one before.
            match stream.clock() >= now - since {
                true => (slide - since) as u64 / 1_000_000,
                false => 0,
            }
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
