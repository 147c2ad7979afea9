//! A service without a socket.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use frostpane_server::{Limits, Scope, Service, app};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

/// A list at every hundred events, of the last thousand.
pub const BY_COUNT: &str = r#"{ "window": 1000, "slide": 100, "top": 5, "continual": true }"#;
/// Single lists of the last thousand events.
pub const SINGLE: &str = r#"{ "window": 1000, "slide": 100, "top": 5, "releases": 2 }"#;
/// Single lists of what people did in a week.
pub const PEOPLE: &str =
    r#"{ "window": "7d", "top": 5, "unit": { "user": { "per_user": 2, "epoch": "1d" } }, "releases": 2 }"#;
/// A list every hour, of what people did in a day.
pub const WATCHED: &str = r#"{ "window": "24h", "slide": "1h", "top": 5, "continual": true, "unit": { "user": { "per_user": 2, "epoch": "1d" } } }"#;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A folder that is new, and gone afterwards.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("frostpane-server-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A service, and a token that may do everything.
pub struct Api {
    pub service: Arc<Service>,
    pub router: Router,
    pub token: String,
    pub folder: Folder,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }
}

/// Limits that a test can reach.
pub fn limits() -> Limits {
    Limits {
        body: 1 << 20,
        small_body: 1 << 16,
        time: Duration::from_secs(20),
        ..Limits::default()
    }
}

impl Api {
    pub fn new() -> Self {
        Self::in_folder(Folder::new())
    }

    pub fn in_folder(folder: Folder) -> Self {
        Self::with_limits(folder, limits())
    }

    pub fn with_limits(folder: Folder, limits: Limits) -> Self {
        // A process that another test starts has the lock for a moment too, until it is another program.
        let until = Instant::now() + Duration::from_secs(10);
        let service = loop {
            match Service::open(&folder.0, None, limits.clone()) {
                Ok(service) => break Arc::new(service),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
                Err(problem) => panic!("{problem:?}"),
            }
        };
        let all = [Scope::Ingest, Scope::Read, Scope::Release, Scope::Admin];
        let (_, token) = service.tokens.make("tests", "*", &all).unwrap();
        Self {
            router: app(service.clone()),
            service,
            token,
            folder,
        }
    }

    /// Stops, and begins again with what is kept.
    pub async fn restarted(self) -> Self {
        self.service.stop().await;
        let limits = self.service.limits.clone();
        Self::with_limits(self.into_folder(), limits)
    }

    /// What is left when it is gone.
    pub fn into_folder(self) -> Folder {
        let Self {
            folder,
            service,
            router,
            ..
        } = self;
        drop((service, router));
        folder
    }

    pub fn token_for(&self, producer: &str, stream: &str, scopes: &[Scope]) -> String {
        self.service.tokens.make(producer, stream, scopes).unwrap().1
    }

    /// With the token of this service.
    pub async fn call(&self, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        self.with(method, path, &[], body).await
    }

    /// With more headers.
    pub async fn with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let token = format!("Bearer {}", self.token);
        let headers = [&[("authorization", token.as_str())], headers].concat();
        self.raw(method, path, &headers, body).await
    }

    /// With these headers alone.
    pub async fn raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }

    pub async fn create(&self, name: &str, spec: &'static str) {
        self.call("PUT", &format!("/v1/streams/{name}"), spec)
            .await
            .is(201);
    }

    pub async fn send(&self, name: &str, kind: &str, body: impl Into<Body>) -> Answer {
        let path = format!("/v1/streams/{name}/events");
        self.with("POST", &path, &[("content-type", kind)], body).await
    }

    /// The number of events that a stream has counted, which must not be in use.
    pub fn counted(&self, name: &str) -> u64 {
        let folder = self.folder.0.join("streams").join(name);
        let store = frostpane_store::Store::<frostpane::Bytes>::open(&folder).unwrap();
        store.stream().counted()
    }
}

/// So many events a line each.
pub fn lines(events: usize) -> String {
    let key = |number| if number % 3 == 0 { "snow" } else { "rain" };
    (0..events)
        .map(|number| format!("{{\"key\":\"{}\"}}\n", key(number)))
        .collect()
}

pub const JSONL: &str = "application/x-ndjson";
