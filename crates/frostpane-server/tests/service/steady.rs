//! Steady operation: disks that hang, a month off, new certificates, reused connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use frostpane::{Bytes, Keys, Spec};
use frostpane_server::Limits;
use frostpane_store::{Begin, Store};

use crate::call::{
    Api, BY_CLOCK, BY_COUNT, Folder, JSONL, PEOPLE, SINGLE, WATCHED, eventually, limits, lines, served,
};
use crate::process::{Process, certify, signal, token, wait_until};

/// A FIFO in the place of a file: a writer waits until it is read, as if the disk hung.
struct Stuck(PathBuf);

impl Stuck {
    fn new(path: PathBuf) -> Self {
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self(path)
    }

    /// Lets the writer continue, and later writers write a file.
    fn pass(self) -> std::fs::File {
        let away = self.0.with_extension("away");
        std::fs::rename(&self.0, &away).unwrap();
        let without_waiting = 0o4000;
        let mut options = std::fs::File::options();
        options.read(true).custom_flags(without_waiting).open(away).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_hangs_shows_and_passes() {
    let witnesses = Folder::new();
    std::fs::create_dir_all(&witnesses.0).unwrap();
    let limits = Limits { hung: Duration::from_millis(200), ..limits() };
    let api = Arc::new(Api::with_witnesses(Folder::new(), Some(&witnesses), limits));
    api.create("one", BY_COUNT).await;
    for probe in ["/readyz", "/healthz"] {
        api.get(probe).await.is(200);
    }
    // The disk of the witness, which is written before a release is shown, hangs.
    let stuck = Stuck::new(witnesses.0.join("one.witness.frostpane-draft"));
    let headers = [("content-type", JSONL), ("idempotency-key", "a")];
    let sending = tokio::spawn({
        let api = api.clone();
        async move { api.with("POST", "/v1/streams/one/events", &headers, lines(100)).await }
    });
    for probe in ["/readyz", "/healthz"] {
        eventually(async || api.get(probe).await.status == 503).await;
    }
    assert_eq!(api.health("one").await["standing"], "hung");
    assert!(!sending.is_finished(), "nothing is acknowledged meanwhile");
    let _reader = stuck.pass();
    sending.await.unwrap();
    eventually(async || api.get("/readyz").await.status == 200).await;
    api.get("/healthz").await.is(200);
    api.with("POST", "/v1/streams/one/events", &headers, lines(100)).await.is(200);
    assert_eq!(api.counted("one").await, 100);
}

const EVERY_SECOND: &str = r#"{ "window": "10s", "slide": "1s", "top": 5, "continual": true, "unit": { "user": { "per_user": 2, "epoch": "10s" } } }"#;

/// Creates a stream that was last served a month ago.
fn put_aged(folder: &Path) -> i64 {
    let spec: Spec = serde_json::from_str(EVERY_SECOND).unwrap();
    let month_ago = jiff::Timestamp::now().as_microsecond() - 30 * 86_400_000_000;
    let mut begin = Begin::default();
    begin.from = Some(month_ago);
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    let mut store = Store::<Bytes>::create(folder, spec, Keys::open(), begin).unwrap();
    store.tick(month_ago + 20_000_000).unwrap();
    month_ago
}

#[test]
fn a_month_off_is_caught_up_with_step_by_step_and_a_stop_does_not_wait_for_it() {
    let folder = Folder::new();
    let stream = folder.0.join("streams/one");
    let month_ago = put_aged(&stream);
    let token = token(&folder.0, "month");
    let process = Process::with(&folder.0, &["--accept-clock"]);
    let health = process.get("/v1/streams/one/health", &token).is(200).json();
    assert_eq!(health["standing"], "catching_up", "{health}");
    let now = jiff::Timestamp::now();
    let event = format!("{{\"key\":\"snow\",\"user\":\"u\",\"time\":\"{now}\"}}\n");
    let refused = process.send("one", &token, JSONL, event).is(503);
    assert!(refused.text().contains("catching up"), "{}", refused.text());
    // Meanwhile releases can be read, and more are made.
    let number = || {
        let latest = process.get("/v1/streams/one/releases/latest", &token);
        latest.header("frostpane-number").parse::<u64>().unwrap_or(0)
    };
    let first = number();
    wait_until(|| number() > first + 100);
    assert!(process.stop(), "it stops, although there is more to do");
    let store = Store::<Bytes>::open(&stream).unwrap();
    let clock = store.stream().clock();
    let now = jiff::Timestamp::now().as_microsecond();
    assert!(month_ago < clock && clock < now - 86_400_000_000, "somewhere on the way");
}

#[tokio::test]
async fn a_new_stream_is_of_no_time_before_its_own() {
    let api = Api::new();
    let continual = r#"{ "window": "1h", "slide": "1m", "top": 5, "continual": true }"#;
    let all = [BY_CLOCK, continual, PEOPLE, WATCHED, BY_COUNT, SINGLE];
    for (number, spec) in all.into_iter().enumerate() {
        let name = format!("stream-{number}");
        api.create(&name, spec).await;
        for part in ["", "/budget", "/health", "/plan"] {
            let path = format!("/v1/streams/{name}{part}");
            let told = api.get(&path).await.is(200).text();
            assert!(!told.contains("1969-") && !told.contains("1970-"), "{path}: {told}");
        }
    }
    let budget = async || api.get("/v1/streams/stream-0/budget").await.is(200).json();
    let empty = budget().await;
    assert_eq!((&empty["left"], &empty["periods"]), (&1.into(), &serde_json::json!([])));
    let now = jiff::Timestamp::now();
    let event = format!("{{\"key\":\"snow\",\"time\":\"{now}\"}}\n");
    api.send("stream-0", JSONL, event).await.is(200);
    let periods = budget().await["periods"].as_array().unwrap().len();
    assert_eq!(periods, 1, "from its first event on there are some");
}

/// The name in the certificate that a service shows.
fn shown(process: &Process) -> String {
    let shows = Command::new("openssl")
        .args(["s_client", "-connect", &process.address.to_string()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&shows.stdout).into_owned();
    told.lines().find(|line| line.starts_with("subject")).unwrap_or_default().to_owned()
}

fn hang_up(process: &Process, told: &str) {
    signal(process.id(), "-HUP");
    process.wait_for_log(told);
}

#[test]
fn a_hangup_has_the_certificate_read_again() {
    let (folder, token, process) = served(&[]);
    hang_up(&process, "there is no certificate");
    process.get("/readyz", &token).is(200);
    assert!(process.stop());

    let Some(options) = certify("first", &folder.0) else {
        return;
    };
    let process = Process::with(&folder.0, &options);
    assert!(shown(&process).contains("first"), "{}", shown(&process));
    certify("second", &folder.0).unwrap();
    assert!(shown(&process).contains("first"), "not before it is told");
    hang_up(&process, "was read again");
    assert!(shown(&process).contains("second"), "{}", shown(&process));
    std::fs::write(folder.0.join("certificate"), "no certificate").unwrap();
    hang_up(&process, "could not be read");
    assert!(shown(&process).contains("second"), "it stays what it was");
    assert!(process.stop());
}

/// Proxies reuse a connection after up to a minute; the 10 seconds for headers do not run between requests.
#[test]
fn a_connection_is_kept_between_requests_for_longer_than_headers_may_take() {
    let folder = Folder::new();
    let process = Process::start(&folder.0);
    let mut socket = TcpStream::connect(process.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut ask = || {
        socket.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"it answers\n") {
            let mut part = [0; 1024];
            let read = socket.read(&mut part).unwrap();
            assert!(read > 0, "it was closed");
            answer.extend_from_slice(&part[..read]);
        }
    };
    ask();
    std::thread::sleep(Duration::from_secs(11));
    ask();
}
