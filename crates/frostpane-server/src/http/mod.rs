//! The HTTP interface: listener, routes and handlers.

mod body;
mod budget;
pub mod certificates;
pub mod connection_limit;
pub mod connections;
mod events;
mod extract;
pub mod guard;
mod health;
mod plan;
pub mod probe;
mod refusals;
mod releases;
pub mod serve;
mod sse;
mod streams;
mod timed_socket;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa::openapi::RefOr;
use utoipa::openapi::response::Response;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::refusals::Refusals;
use crate::dashboard;
use crate::problem::Problem;
use crate::service::Service;

/// The state that handlers share.
pub(crate) type App = Arc<Service>;

#[derive(OpenApi)]
#[openapi(info(
    title = "Frostpane",
    description = "What is trending now, privately: events in, a list that anyone may see out, at every slide."
))]
struct Document;

fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(streams::list))
        .routes(routes!(streams::create, streams::describe, streams::change, streams::delete))
        .routes(routes!(streams::close))
        .routes(routes!(events::ingest))
        .routes(routes!(releases::after))
        .routes(routes!(releases::latest))
        .routes(routes!(releases::latest_words))
        .routes(routes!(releases::make, releases::find))
        .routes(routes!(sse::listen))
        .routes(routes!(budget::spent))
        .routes(routes!(plan::of_stream))
        .routes(routes!(plan::of_spec))
        .routes(routes!(health::of_stream))
        .routes(routes!(health::lives))
        .routes(routes!(health::is_ready))
        .routes(routes!(health::stream_is_ready))
        .routes(routes!(health::metrics))
        .routes(routes!(document))
}

/// The routes of a service, to be called with a socket or without one.
pub fn app(service: Arc<Service>) -> Router {
    let (router, _) = routes().split_for_parts();
    router
        .merge(dashboard::routes())
        .fallback(dashboard::missing)
        .method_not_allowed_fallback(async || {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "this cannot be done here",
                "look at GET /v1/openapi.json for what can",
            )
        })
        .layer(from_fn_with_state(service.clone(), guard::guard))
        .layer(CatchPanicLayer::custom(|_| {
            axum::response::IntoResponse::into_response(Problem::unavailable("something went wrong here"))
        }))
        .with_state(service)
}

/// The routes of probes; no limit applies to them.
pub fn probes(service: Arc<Service>, with_metrics: bool) -> Router {
    let probes =
        Router::new().route(health::HEALTHZ, get(health::lives)).route(health::READYZ, get(health::is_ready));
    let probes = if with_metrics { probes.route("/metrics", get(health::metrics)) } else { probes };
    probes.fallback(async || Problem::unknown("page")).with_state(service)
}

pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = routes().split_for_parts().1;
    let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
    document.components.get_or_insert_default().add_security_scheme("token", bearer);
    for path in document.paths.paths.values_mut() {
        let operations = [&mut path.get, &mut path.put, &mut path.post, &mut path.patch, &mut path.delete];
        for operation in operations.into_iter().flatten() {
            operation.responses.responses.iter_mut().for_each(describe);
        }
    }
    document
}

/// Every response must have a description: by default, the name of its status.
fn describe((status, response): (&String, &mut RefOr<Response>)) {
    let reason = status.parse::<StatusCode>().ok();
    if let (RefOr::T(response), Some(reason)) = (response, reason)
        && response.description.is_empty()
    {
        response.description = reason.canonical_reason().unwrap_or_default().to_owned();
    }
}

/// This document.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "service",
    responses((status = 200, description = "The document", content_type = "application/json"), Refusals),
)]
async fn document() -> axum::Json<utoipa::openapi::OpenApi> {
    axum::Json(openapi())
}
