//! The pages, embedded: nothing is fetched from elsewhere.

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::api::App;

/// What a page may do: run its own script, ask this service, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// A file of the dashboard: its path, its type, and what is in it.
type Page = (&'static str, &'static str, &'static [u8]);

const HTML: &str = "text/html; charset=utf-8";

/// All files.
const PAGES: &[Page] = &[("/", HTML, include_bytes!("index.html"))];

pub(crate) fn routes() -> Router<App> {
    let page = |router: Router<App>, (path, kind, bytes): &'static Page| {
        router.route(
            path,
            get(async move |headers: HeaderMap| serve(&headers, kind, bytes)),
        )
    };
    PAGES.iter().fold(Router::new(), page)
}

fn serve(asked: &HeaderMap, kind: &'static str, bytes: &'static [u8]) -> Response {
    let etag = format!("\"{}\"", &blake3::hash(bytes).to_hex()[..32]);
    let known = asked.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok());
    let mut response = match known == Some(&etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => bytes.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(header::ETAG, etag);
    }
    response
}
