//! Disks that hang, days off, new certificates and connections that are used again: what an operator should see, and what passes by itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use frostpane::{Bytes, Keys, Spec};
use frostpane_server::{Limits, Scope, Service, app};
use frostpane_store::{Begin, Store};

use crate::call::{Api, BY_COUNT, Folder, JSONL, PEOPLE, SINGLE, WATCHED, limits, lines};
use crate::process::{Process, token};

/// A file that whoever opens it to write waits for, until somebody reads it: as if its disk hung.
struct Stuck(PathBuf);

impl Stuck {
    fn new(path: PathBuf) -> Self {
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self(path)
    }

    /// Lets whoever waits go on, and nobody wait again.
    fn pass(self) -> std::fs::File {
        let away = self.0.with_extension("away");
        std::fs::rename(&self.0, &away).unwrap();
        let without_waiting = 0o4000;
        let mut options = std::fs::File::options();
        options
            .read(true)
            .custom_flags(without_waiting)
            .open(away)
            .unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_hangs_shows_and_passes() {
    let (folder, witnesses) = (Folder::new(), Folder::new());
    std::fs::create_dir_all(&witnesses.0).unwrap();
    let limits = Limits {
        hung: Duration::from_millis(200),
        ..limits()
    };
    let service = Service::open(&folder.0, Some(witnesses.0.clone()), limits).unwrap();
    let service = Arc::new(service);
    let all = [Scope::Ingest, Scope::Read, Scope::Admin];
    let api = Arc::new(Api {
        token: service.tokens.make("tests", "*", &all).unwrap().1,
        router: app(service.clone()),
        service,
        folder,
    });
    api.create("one", BY_COUNT).await;
    for probe in ["/readyz", "/healthz"] {
        api.call("GET", probe, "").await.is(200);
    }
    // The witness is written before a list is shown, and its disk hangs.
    let stuck = Stuck::new(witnesses.0.join("one.witness.frostpane-draft"));
    let headers = [("content-type", JSONL), ("idempotency-key", "a")];
    let sending = tokio::spawn({
        let api = api.clone();
        async move {
            api.with("POST", "/v1/streams/one/events", &headers, lines(100))
                .await
        }
    });
    let until = Instant::now() + Duration::from_secs(20);
    for probe in ["/readyz", "/healthz"] {
        while api.call("GET", probe, "").await.status != 503 {
            assert!(Instant::now() < until, "{probe}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let health = api.call("GET", "/v1/streams/one/health", "").await.is(200);
    assert_eq!(health.json()["standing"], "hung");
    assert!(!sending.is_finished(), "nothing is acknowledged meanwhile");
    let _reader = stuck.pass();
    sending.await.unwrap();
    while api.call("GET", "/readyz", "").await.status != 200 {
        assert!(Instant::now() < until, "it stays so");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    api.call("GET", "/healthz", "").await.is(200);
    api.with("POST", "/v1/streams/one/events", &headers, lines(100))
        .await
        .is(200);
    api.service.stop().await;
    assert_eq!(api.counted("one"), 100);
}

/// A list at every second, of what people did in ten.
const EVERY_SECOND: &str = r#"{ "window": "10s", "slide": "1s", "top": 5, "continual": true, "unit": { "user": { "per_user": 2, "epoch": "10s" } } }"#;

/// A stream that was last on a month ago.
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
    let call = |method: &str, path: &str, headers: &str, body: &[u8]| {
        let path = format!("/v1/streams/one{path}");
        process.call(method, &path, &token, headers, body).unwrap()
    };
    let health = call("GET", "/health", "", b"").is(200).json();
    assert_eq!(health["standing"], "catching_up", "{health}");
    let kind = "content-type: application/x-ndjson\r\n";
    let now = jiff::Timestamp::now();
    let event = format!("{{\"key\":\"snow\",\"user\":\"u\",\"time\":\"{now}\"}}\n");
    let refused = call("POST", "/events", kind, event.as_bytes()).is(503);
    assert!(refused.text().contains("catching up"), "{}", refused.text());
    // Meanwhile what was published can be read, and more comes.
    let number = || {
        let head = call("GET", "/releases/latest", "", b"").head.to_lowercase();
        let number = head
            .lines()
            .find_map(|line| line.strip_prefix("frostpane-number: "));
        number.map_or(0, |number| number.parse::<u64>().unwrap())
    };
    let (first, until) = (number(), Instant::now() + Duration::from_secs(20));
    while number() <= first + 100 {
        assert!(Instant::now() < until, "no more lists after {first}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(process.stop(), "it stops, although there is more to do");
    let store = Store::<Bytes>::open(&stream).unwrap();
    let clock = store.stream().clock();
    let now = jiff::Timestamp::now().as_microsecond();
    assert!(
        month_ago < clock && clock < now - 86_400_000_000,
        "somewhere on the way"
    );
}

#[tokio::test]
async fn a_new_stream_is_of_no_time_before_its_own() {
    let api = Api::new();
    let clock = r#"{ "window": "1h", "slide": "1m", "top": 5 }"#;
    let continual = r#"{ "window": "1h", "slide": "1m", "top": 5, "continual": true }"#;
    let all = [clock, continual, PEOPLE, WATCHED, BY_COUNT, SINGLE];
    for (number, spec) in all.into_iter().enumerate() {
        let name = format!("stream-{number}");
        api.create(&name, spec).await;
        for part in ["", "/budget", "/health", "/plan"] {
            let path = format!("/v1/streams/{name}{part}");
            let told = api.call("GET", &path, "").await.is(200).text();
            assert!(
                !told.contains("1969-") && !told.contains("1970-"),
                "{path}: {told}"
            );
        }
    }
    let budget = api.call("GET", "/v1/streams/stream-0/budget", "").await;
    let budget = budget.is(200).json();
    assert_eq!(
        (&budget["left"], &budget["periods"]),
        (&1.into(), &serde_json::json!([]))
    );
    let now = jiff::Timestamp::now();
    let event = format!("{{\"key\":\"snow\",\"time\":\"{now}\"}}\n");
    api.send("stream-0", JSONL, event).await.is(200);
    let budget = api.call("GET", "/v1/streams/stream-0/budget", "").await;
    assert_eq!(
        budget.is(200).json()["periods"].as_array().unwrap().len(),
        1,
        "from its first event on there are some"
    );
}

/// A certificate of this name, and its key; none if there is no openssl.
fn certify(name: &str, certificate: &Path, key: &Path) -> Option<()> {
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj",
        ])
        .arg(format!("/CN={name}"))
        .arg("-keyout")
        .arg(key)
        .arg("-out")
        .arg(certificate)
        .output();
    made.is_ok_and(|made| made.status.success()).then_some(())
}

/// The name in the certificate that a service shows.
fn shown(process: &Process) -> String {
    let shows = Command::new("openssl")
        .args(["s_client", "-connect", &process.address.to_string()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&shows.stdout).into_owned();
    let subject = told.lines().find(|line| line.starts_with("subject"));
    subject.unwrap_or_default().to_owned()
}

fn hang_up(process: &Process, told: &str) {
    let id = process.id().to_string();
    Command::new("kill").args(["-HUP", &id]).status().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !process.log.lock().unwrap().contains(told) {
        assert!(Instant::now() < until, "{}", process.log.lock().unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_hangup_has_the_certificate_read_again() {
    let folder = Folder::new();
    let token = token(&folder.0, "hangup");
    let process = Process::start(&folder.0);
    hang_up(&process, "there is no certificate");
    process.call("GET", "/readyz", &token, "", b"").unwrap().is(200);
    assert!(process.stop());

    let (certificate, key) = (folder.0.join("certificate"), folder.0.join("key"));
    if certify("first", &certificate, &key).is_none() {
        println!("openssl is missing: certificates were not tried");
        return;
    }
    let options = [
        "--tls-cert",
        certificate.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ];
    let process = Process::with(&folder.0, &options);
    assert!(shown(&process).contains("first"), "{}", shown(&process));
    certify("second", &certificate, &key).unwrap();
    assert!(shown(&process).contains("first"), "not before it is told");
    hang_up(&process, "was read again");
    assert!(shown(&process).contains("second"), "{}", shown(&process));
    std::fs::write(&certificate, "no certificate").unwrap();
    hang_up(&process, "could not be read");
    assert!(shown(&process).contains("second"), "it stays what it was");
    assert!(process.stop());
}

/// Proxies use a connection again after up to a minute. Headers, which may take 10 seconds, are not waited for between two requests.
#[test]
fn a_connection_is_kept_between_requests_for_longer_than_headers_may_take() {
    let folder = Folder::new();
    let process = Process::start(&folder.0);
    let mut socket = TcpStream::connect(process.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut ask = || {
        socket
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .unwrap();
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
