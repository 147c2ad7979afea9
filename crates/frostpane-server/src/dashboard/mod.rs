//! The dashboard, embedded: nothing is fetched from elsewhere.

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::http::App;
use crate::problem::Problem;

/// A page may run its own scripts and call this service. No script can turn text into markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// A file of the dashboard: path, type, content.
type Asset = (&'static str, &'static str, &'static [u8]);

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JS: &str = "text/javascript; charset=utf-8";

const ASSETS: &[Asset] = &[
    ("/", HTML, include_bytes!("index.html")),
    ("/plan", HTML, include_bytes!("plan.html")),
    ("/operator", HTML, include_bytes!("operator.html")),
    ("/dashboard/style.css", CSS, include_bytes!("style.css")),
    ("/dashboard/icon.svg", SVG, include_bytes!("icon.svg")),
    ("/dashboard/api.js", JS, include_bytes!("api.js")),
    ("/dashboard/app.js", JS, include_bytes!("app.js")),
    ("/dashboard/budget.js", JS, include_bytes!("budget.js")),
    ("/dashboard/dom.js", JS, include_bytes!("dom.js")),
    ("/dashboard/holds.js", JS, include_bytes!("holds.js")),
    ("/dashboard/keys.js", JS, include_bytes!("keys.js")),
    ("/dashboard/labels.js", JS, include_bytes!("labels.js")),
    ("/dashboard/list.js", JS, include_bytes!("list.js")),
    ("/dashboard/operator.js", JS, include_bytes!("operator.js")),
    ("/dashboard/order.js", JS, include_bytes!("order.js")),
    ("/dashboard/plan.js", JS, include_bytes!("plan.js")),
    ("/dashboard/ranks.js", JS, include_bytes!("ranks.js")),
    ("/dashboard/words.js", JS, include_bytes!("words.js")),
];

pub(crate) fn routes() -> Router<App> {
    let page = |router: Router<App>, (path, kind, bytes): &'static Asset| {
        router.route(path, get(async move |headers: HeaderMap| serve(&headers, kind, bytes)))
    };
    ASSETS.iter().fold(Router::new(), page)
}

/// Not found: a page for a browser, JSON for others.
pub(crate) async fn missing(headers: HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok());
    let mut response = if accepted.is_some_and(|kinds| kinds.contains("text/html")) {
        let mut page = serve(&HeaderMap::new(), HTML, include_bytes!("missing.html"));
        *page.status_mut() = StatusCode::NOT_FOUND;
        page
    } else {
        Problem::unknown("page").into_response()
    };
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}

fn serve(asked: &HeaderMap, kind: &'static str, bytes: &'static [u8]) -> Response {
    let etag = format!("\"{}\"", &blake3::hash(bytes).to_hex()[..32]);
    let known = asked.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    let mut response =
        if known == Some(&etag) { StatusCode::NOT_MODIFIED.into_response() } else { bytes.into_response() };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}
