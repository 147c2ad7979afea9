//! Limits of one token, one stream and one disk: each can take a share, and never all.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use frostpane_server::Limits;

use crate::anonymous::{begin, until_there};
use crate::call::{Api, BY_COUNT, Folder, JSONL, limits, lines, served};
use crate::process::{Process, ask, token, wait_until};

const HEALTHZ: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn settings_change_a_few_times_at_once_and_then_seldom() {
    let api = Api::serving("one", BY_COUNT).await;
    api.create("other", BY_COUNT).await;
    let set = async |name: &str, public: bool| {
        let body = format!("{{ \"public\": {public} }}");
        api.call("PATCH", &format!("/v1/streams/{name}"), body).await.status
    };
    let mut statuses = Vec::new();
    for number in 0..200 {
        statuses.push(set("one", number % 2 == 0).await);
    }
    assert_eq!(statuses[..10], [StatusCode::OK; 10]);
    assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(set("other", true).await, StatusCode::OK);
    for _ in 0..40 {
        assert_eq!(set("other", true).await, StatusCode::OK);
    }
}

/// A FIFO without a reader is a disk that hangs: its writer waits.
#[test]
fn a_disk_that_does_not_answer_holds_up_neither_probes_nor_readers() {
    let (folder, token, process) = served(&["--probe", "127.0.0.1:0"]);
    let hanging: Vec<String> = (0..8).map(|number| format!("hanging-{number}")).collect();
    for name in hanging.iter().map(String::as_str).chain(["other"]) {
        process.create(name, &token, BY_COUNT);
    }
    let begin_change = |name: &str| {
        let draft = folder.0.join("streams").join(name).join("service.json.frostpane-draft");
        assert!(Command::new("mkfifo").arg(&draft).status().unwrap().success());
        let body = r#"{ "public": true }"#;
        let patch = format!(
            "PATCH /v1/streams/{name} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        [(); 2].map(|()| {
            let mut socket = TcpStream::connect(process.address).unwrap();
            socket.write_all(patch.as_bytes()).unwrap();
            socket
        })
    };
    let waiting: Vec<[TcpStream; 2]> = hanging.iter().map(|name| begin_change(name)).collect();
    for _ in 0..20 {
        process.raw(HEALTHZ).unwrap().is(200);
        process.send("other", &token, JSONL, lines(10)).is(200);
        process.get("/v1/streams/hanging-0", &token).is(200);
        process.probe("/readyz").unwrap().is(200);
    }
    drop(waiting);
    process.kill();
}

#[test]
fn probes_have_a_listener_of_their_own() {
    let options = ["--probe", "127.0.0.1:0", "--most-connections", "1", "--most-requests", "1"];
    let (_folder, token, process) = served(&options);
    for _ in 0..50 {
        process.probe("/healthz").unwrap().is(200);
        process.probe("/readyz").unwrap().is(200);
    }
    process.probe("/metrics").unwrap().is(401);
    process.probe("/v1/streams").unwrap().is(404);
    let metrics = format!(
        "GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    );
    process.probe_raw(metrics.as_bytes()).unwrap().is(200);
}

/// A token listens, or sends requests that are never whole.
#[test]
fn requests_of_one_token_leave_places_to_others() {
    let slow = "content-type: text/plain\r\nexpect: 100-continue\r\ncontent-length: 9\r\n";
    for (method, path, headers, status) in [("GET", "live", "", 200), ("POST", "events", slow, 100)] {
        let (folder, one, process) = served(&["--most-connections", "32"]);
        let other = token(&folder.0, "other");
        process.create("one", &one, BY_COUNT);
        let by = |token: &str| {
            format!(
                "{method} /v1/streams/one/{path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n{headers}\r\n"
            )
        };
        let held: Vec<TcpStream> = (0..8).map(|_| begin(&process, &by(&one), status)).collect();
        (0..40).for_each(|_| drop(begin(&process, &by(&one), 429)));
        drop(begin(&process, &by(&other), status));
        process.get("/v1/streams/one", &other).is(200);
        process.raw(HEALTHZ).unwrap().is(200);
        drop(held);
    }
}

/// A connection after a request with a token; true if the service announced its end.
fn kept(process: &Process, token: &str) -> (BufReader<TcpStream>, bool) {
    let mut socket = TcpStream::connect(process.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!("GET /v1/streams HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(answer.read_line(&mut head).unwrap() > 0, "it was closed: {head}");
    }
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let closes = head.to_lowercase().contains("connection: close");
    (answer, closes)
}

#[test]
fn connections_that_one_token_keeps_leave_places_to_others() {
    let (folder, one, process) = served(&["--most-connections", "32"]);
    let other = token(&folder.0, "other");
    let mut held: Vec<_> = (0..12).map(|_| kept(&process, &one)).collect();
    let closed: Vec<bool> = held.iter().map(|(_, closes)| *closes).collect();
    assert_eq!(closed, [vec![false; 8], vec![true; 4]].concat());
    for (socket, _) in &mut held[8..] {
        socket.read_to_end(&mut Vec::new()).unwrap();
    }
    assert!(!kept(&process, &other).1, "another has a share of its own");
    // Closed connections return their permits.
    drop(held);
    wait_until(|| !kept(&process, &one).1);
}

#[test]
fn connections_without_a_request_give_way() {
    let (_folder, token, process) = served(&["--most-connections", "8"]);
    let idle: Vec<TcpStream> = (0..64).map(|_| TcpStream::connect(process.address).unwrap()).collect();
    for _ in 0..8 {
        until_there(|| process.raw(HEALTHZ)).is(200);
        until_there(|| ask(process.address, "GET", "/v1/streams", &token, "", b"")).is(200);
    }
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_come_together_share_the_transactions_of_a_second() {
    let api = std::sync::Arc::new(Api::with_limits(Folder::new(), Limits { commits: 1, ..limits() }));
    api.create("one", BY_COUNT).await;
    let began = Instant::now();
    let mut sent = tokio::task::JoinSet::new();
    for number in 0..200 {
        let api = api.clone();
        sent.spawn(async move {
            let key = format!("request {}", number % 100);
            let headers = [("content-type", JSONL), ("idempotency-key", key.as_str())];
            api.with("POST", "/v1/streams/one/events", &headers, lines(5)).await
        });
    }
    while let Some(answer) = sent.join_next().await {
        answer.unwrap().is(200);
    }
    let health = api.health("one").await;
    let commits = health["ingest"]["commits"].as_u64().unwrap();
    // A burst of one, and one a second.
    assert!(commits <= 2 + began.elapsed().as_secs(), "{health}");
    assert_eq!(health["ingest"]["events"], 500, "half of them came twice");
    assert_eq!(api.counted("one").await, 500);
}

#[tokio::test]
async fn a_stream_is_asked_for_no_more_memory_than_its_share() {
    let api = Api::with_limits(Folder::new(), Limits { memory: 16 << 20, ..limits() });
    let spec =
        |memory: &str| format!(r#"{{ "window": 1000, "slide": 100, "top": 5, "memory": "{memory}" }}"#);
    let refused = api.call("PUT", "/v1/streams/one", spec("17MiB")).await.is(422);
    assert!(refused.text().contains("--most-memory"), "{}", refused.text());
    api.call("PUT", "/v1/streams/one", spec("16MiB")).await.is(201);
}

#[tokio::test]
async fn a_stream_that_has_its_share_of_the_disk_takes_nothing_until_it_is_given_more() {
    let api = Api::serving("one", BY_COUNT).await;
    api.send("one", JSONL, lines(500)).await.is(200);
    let latest = api.get("/v1/streams/one/releases/latest").await.is(200);
    let api = Api::with_limits(api.stopped().await, Limits { disk: 1 << 10, ..limits() });
    let refused = api.send("one", JSONL, lines(10)).await.is(507);
    assert!(refused.text().contains("--most-disk"), "{}", refused.text());
    api.get("/v1/streams/one/ready").await.is(503);
    api.get("/readyz").await.is(200);
    let still = api.get("/v1/streams/one/releases/latest").await.is(200);
    assert_eq!(still.body, latest.body, "what was published stays");
    let api = Api::in_folder(api.stopped().await);
    api.send("one", JSONL, lines(10)).await.is(200);
    api.get("/v1/streams/one/ready").await.is(200);
}

/// Releases with long keys: a few are in memory, all can be read, and each page is small.
#[tokio::test]
async fn releases_are_held_by_their_bytes_and_the_others_are_read_from_disk() {
    let api = Api::with_limits(Folder::new(), Limits { body: 8 << 20, ..limits() });
    let spec = r#"{ "window": 40, "slide": 4, "top": 4, "continual": true, "epsilon": 50 }"#;
    api.create("one", spec).await;
    let key = |number: usize| format!("{number}{}", "x".repeat(60_000));
    let batch: String = (0..80).map(|number| key(number % 4) + "\n").collect();
    for _ in 0..4 {
        let headers = [("content-type", "text/plain")];
        api.with("POST", "/v1/streams/one/events", &headers, batch.clone()).await.is(200);
    }
    let mut api = api;
    for _ in 0..2 {
        let latest = api.get("/v1/streams/one/releases/latest").await.is(200);
        assert!(latest.body.len() > 100_000, "{}", latest.body.len());
        let last: u64 = latest.header("frostpane-number").parse().unwrap();
        assert!(!api.service.holds_after("one", 0), "the first is not held any more");
        assert!(api.service.holds_after("one", last - 1), "the latest is");
        let (mut after, mut numbers) = (0, Vec::new());
        loop {
            let page = api.get(&format!("/v1/streams/one/releases?after={after}")).await.is(200);
            assert!(page.body.len() < 800_000);
            let page = page.json();
            let releases = page["releases"].as_array().unwrap();
            numbers.extend(releases.iter().map(|release| release["number"].as_u64().unwrap()));
            match page["next"].as_u64() {
                Some(next) => after = next,
                None => break,
            }
        }
        assert_eq!(numbers, (1..=last).collect::<Vec<_>>());
        api = api.restarted().await;
    }
}
