//! A service without a socket.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::StreamWriter;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use frostpane::Bytes;
use frostpane_server::{Limits, Scope, Service, app};
use frostpane_store::Store;
use http_body_util::BodyExt;
use redb::WriteTransaction;
use serde_json::Value;
use tower::ServiceExt;

pub use crate::process::Answer;
use crate::process::{Process, token};

/// Continual release of a window of a thousand events.
pub const BY_COUNT: &str = r#"{ "window": 1000, "slide": 100, "top": 5, "continual": true }"#;
/// Single releases of an hour.
pub const BY_CLOCK: &str = r#"{ "window": "1h", "slide": "1m", "top": 5 }"#;
/// Single releases of a window of a thousand events.
pub const SINGLE: &str = r#"{ "window": 1000, "slide": 100, "top": 5, "releases": 2 }"#;
/// Single releases that protect users.
pub const PEOPLE: &str =
    r#"{ "window": "7d", "top": 5, "unit": { "user": { "per_user": 2, "epoch": "1d" } }, "releases": 2 }"#;
/// Continual release that protects users.
pub const WATCHED: &str = r#"{ "window": "24h", "slide": "1h", "top": 5, "continual": true, "unit": { "user": { "per_user": 2, "epoch": "1d" } } }"#;

pub type Headers<'a> = &'a [(&'a str, &'a str)];

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A new folder, deleted when it is dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("frostpane-server-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// The state of a stream, which must not be in use.
    pub fn store(&self, name: &str) -> Store<Bytes> {
        Store::open(&self.0.join("streams").join(name)).unwrap()
    }

    pub fn counted(&self, name: &str) -> u64 {
        self.store(name).stream().counted()
    }
}

/// Changes the database of a stream in one transaction.
pub fn edit(stream: &Path, change: impl FnOnce(&WriteTransaction)) {
    let database = redb::Database::open(stream.join("frostpane.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A service as a process in a new folder, and a token with all scopes.
pub fn served(options: &[&str]) -> (Folder, String, Process) {
    let folder = Folder::new();
    let token = token(&folder.0, "tests");
    let process = Process::with(&folder.0, options);
    (folder, token, process)
}

/// A service without a socket, and a token with all scopes.
pub struct Api {
    pub service: Arc<Service>,
    pub router: Router,
    pub token: String,
    pub folder: Folder,
}

pub fn limits() -> Limits {
    Limits { body: 1 << 20, small_body: 1 << 16, time: Duration::from_secs(20), ..Limits::default() }
}

impl Api {
    pub fn new() -> Self {
        Self::in_folder(Folder::new())
    }

    pub async fn serving(name: &str, spec: &'static str) -> Self {
        let api = Self::new();
        api.create(name, spec).await;
        api
    }

    pub fn in_folder(folder: Folder) -> Self {
        Self::with_limits(folder, limits())
    }

    pub fn with_limits(folder: Folder, limits: Limits) -> Self {
        Self::with_witnesses(folder, None, limits)
    }

    pub fn with_witnesses(folder: Folder, witnesses: Option<&Folder>, limits: Limits) -> Self {
        let witnesses = witnesses.map(|witnesses| witnesses.0.clone());
        // A process that another test is starting has the lock file open until it executes its program.
        let until = Instant::now() + Duration::from_secs(10);
        let service = loop {
            match Service::open(&folder.0, witnesses.clone(), limits.clone()) {
                Ok(service) => break Arc::new(service),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
                Err(problem) => panic!("{problem:?}"),
            }
        };
        let all = [Scope::Ingest, Scope::Read, Scope::Release, Scope::Admin];
        let (_, token) = service.tokens.make("tests", "*", &all).unwrap();
        Self { router: app(service.clone()), service, token, folder }
    }

    /// Stops the service and opens its folder again.
    pub async fn restarted(self) -> Self {
        let limits = self.service.limits.clone();
        Self::with_limits(self.stopped().await, limits)
    }

    /// Stops the service and returns its folder.
    pub async fn stopped(self) -> Folder {
        self.service.stop().await;
        let Self { folder, service, router, .. } = self;
        drop((service, router));
        folder
    }

    pub fn token_for(&self, producer: &str, stream: &str, scopes: &[Scope]) -> String {
        self.service.tokens.make(producer, stream, scopes).unwrap().1
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, "").await
    }

    pub async fn health(&self, name: &str) -> Value {
        self.get(&format!("/v1/streams/{name}/health")).await.is(200).json()
    }

    /// Calls with the token of this service.
    pub async fn call(&self, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        self.with(method, path, &[], body).await
    }

    /// The same with more headers.
    pub async fn with(
        &self,
        method: &str,
        path: &str,
        headers: Headers<'_>,
        body: impl Into<Body>,
    ) -> Answer {
        let token = format!("Bearer {}", self.token);
        let headers = [&[("authorization", token.as_str())], headers].concat();
        self.raw(method, path, &headers, body).await
    }

    /// Calls with these headers alone.
    pub async fn raw(&self, method: &str, path: &str, headers: Headers<'_>, body: impl Into<Body>) -> Answer {
        let (parts, body) = self.begin(method, path, headers, body.into()).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Begins to read an answer that has no end.
    pub async fn open(&self, path: &str, headers: Headers<'_>) -> Response {
        self.begin("GET", path, headers, Body::empty()).await
    }

    async fn begin(&self, method: &str, path: &str, headers: Headers<'_>, body: Body) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap()
    }

    pub async fn create(&self, name: &str, spec: &'static str) {
        self.call("PUT", &format!("/v1/streams/{name}"), spec).await.is(201);
    }

    pub async fn send(&self, name: &str, kind: &str, body: impl Into<Body>) -> Answer {
        self.with("POST", &format!("/v1/streams/{name}/events"), &[("content-type", kind)], body).await
    }

    /// Stops the service. Returns the number of events that a stream has counted.
    pub async fn counted(&self, name: &str) -> u64 {
        self.service.stop().await;
        self.folder.counted(name)
    }
}

/// Events as JSON Lines.
pub fn lines(events: usize) -> String {
    let key = |number| if number % 3 == 0 { "snow" } else { "rain" };
    (0..events).map(|number| format!("{{\"key\":\"{}\"}}\n", key(number))).collect()
}

pub const JSONL: &str = "application/x-ndjson";
pub const ARROW: &str = "application/vnd.apache.arrow.stream";

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// An Arrow stream of one batch with these columns.
pub fn arrow<const N: usize>(columns: [(&str, ArrayRef); N]) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Waits until a condition holds.
pub async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < until, "it has not come about");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
