//! Limits of clients without a token: they can take a share, and never all.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use frostpane_server::Limits;

use crate::call::{Answer, Api, BY_COUNT, Folder, JSONL, gzip, limits, lines, served};
use crate::process::{Process, ask, token, wait_until};

/// Each would take a processor, or all memory, without limits; bad requests have more.
const GREEDY: [&str; 7] = [
    r#"{"continual":true,"window":"30000d","slide":"1s"}"#,
    r#"{"continual":true,"window":"30000d","slide":"1s","unit":{"user":{"epoch":"1d"}}}"#,
    r#"{"continual":true,"epsilon":0.00001,"memory":"900MB"}"#,
    r#"{"continual":true,"epsilon":0.0001,"memory":"900MB","window":"7d","slide":"1h","unit":{"user":{"epoch":"1d","per_user":9999}}}"#,
    r#"{"continual":true,"window":131072,"slide":1,"memory":"900MB"}"#,
    r#"{"window":1000000000000000,"slide":1,"memory":"900MB"}"#,
    r#"{"window":"7d","epsilon":0.000001,"memory":"900MB","unit":{"user":{"epoch":"1d","per_user":9999,"per_key":100}}}"#,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_made_or_refused_in_a_while_whatever_it_is_of() {
    let api = Api::new();
    for spec in GREEDY {
        let answer = api.raw("POST", "/v1/plan", &[], spec).await;
        assert!([200, 422].contains(&answer.status.as_u16()), "{spec} {}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_plan_holds_little_and_a_few_do() {
    let api = std::sync::Arc::new(Api::new());
    // Bodies that never come, one more than there are permits.
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..65 {
        let api = api.clone();
        waiting.spawn(async move {
            let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
            api.raw("POST", "/v1/plan", &[], Body::from_stream(never)).await
        });
    }
    assert_eq!(waiting.join_next().await.unwrap().unwrap().is(429).header("retry-after"), "1");
    // They do not delay events.
    api.create("one", BY_COUNT).await;
    api.send("one", JSONL, lines(10)).await.is(200);
    while let Some(answer) = waiting.join_next().await {
        answer.unwrap().is(408);
    }
    api.raw("POST", "/v1/plan", &[], BY_COUNT).await.is(200);
    let long = format!("{{\"keys\":[{}\"z\"]}}", "\"a\",".repeat(20_000));
    api.raw("POST", "/v1/plan", &[], long).await.is(413);
}

#[tokio::test]
async fn a_body_that_never_ends_is_not_waited_for_without_a_token() {
    let api = Api::serving("one", BY_COUNT).await;
    let paths = [
        ("PUT", "/v1/streams/two"),
        ("PATCH", "/v1/streams/one"),
        ("PUT", "/v1/streams/one/releases/x"),
        ("POST", "/v1/streams/one/events"),
    ];
    for (method, path) in paths {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let answer = api.raw(method, path, &[], Body::from_stream(never)).await;
        assert_eq!(answer.status.as_u16(), 401, "{method} {path}");
    }
}

/// Sends a request, which stays open, and expects this status.
pub fn begin(process: &Process, request: &str, status: u16) -> TcpStream {
    let mut socket = TcpStream::connect(process.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).unwrap();
    assert_eq!(answer, format!("HTTP/1.1 {status}").as_bytes(), "{request}");
    socket
}

/// Retries for a while: a permit is returned a moment after its connection is closed.
pub fn until_there(ask: impl Fn() -> std::io::Result<Answer>) -> Answer {
    let mut answer = None;
    wait_until(|| {
        answer = ask().ok();
        answer.is_some()
    });
    answer.unwrap()
}

#[test]
fn the_last_places_are_kept_for_those_who_have_a_token() {
    let folder = Folder::new();
    let (token, other) = (token(&folder.0, "crowd"), token(&folder.0, "other"));
    let process = Process::with(&folder.0, &["--most-connections", "8"]);
    process.create("one?public=true", &token, BY_COUNT);
    let list = b"GET /v1/streams HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    process.raw(list).unwrap().is(200);
    // Seven connections, all active: idle ones would be closed.
    let live = "GET /v1/streams/one/live HTTP/1.1\r\nhost: x\r\n";
    let slow = "POST /v1/streams/one/events HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\nexpect: 100-continue\r\ncontent-length: 9\r\n";
    let by_token = format!("authorization: Bearer {token}\r\n");
    let held = [(live, "", 200, 3), (live, &*by_token, 200, 2), (slow, &*by_token, 100, 2)];
    let mut busy = Vec::new();
    for (request, headers, status, times) in held {
        for _ in 0..times {
            busy.push(begin(&process, &format!("{request}{headers}\r\n"), status));
        }
    }
    assert_eq!(until_there(|| process.raw(list)).is(503).header("connection"), "close");
    until_there(|| ask(process.address, "GET", "/v1/streams", &other, "", b"")).is(200);
    drop(busy);
}

#[tokio::test]
async fn a_few_listen_without_a_token_and_leave_places() {
    let api = Api::with_limits(Folder::new(), Limits { connections: 4, ..limits() });
    api.call("PUT", "/v1/streams/one?public=true", BY_COUNT).await.is(201);
    let token = format!("Bearer {}", api.token);
    let listen = async |headers: &[(&str, &str)]| api.open("/v1/streams/one/live", headers).await;
    let mut first = vec![listen(&[]).await, listen(&[]).await];
    assert_eq!(listen(&[]).await.status(), 429);
    assert_eq!(listen(&[("authorization", &token)]).await.status(), 200);
    first.pop();
    assert_eq!(listen(&[]).await.status(), 200, "a listener that goes gives a place back");
}

#[tokio::test]
async fn a_cache_is_told_that_they_differ_by_origin() {
    let cors = Limits { cors: vec!["https://example.org".to_owned()], ..limits() };
    let api = Api::with_limits(Folder::new(), cors);
    for (origin, allowed) in [("https://example.org", "https://example.org"), ("https://evil.example", "")] {
        let answer = api.raw("GET", "/v1/streams", &[("origin", origin)], "").await.is(200);
        assert_eq!(
            (answer.header("vary"), answer.header("access-control-allow-origin")),
            ("origin", allowed)
        );
    }
    assert_eq!(api.raw("GET", "/v1/streams", &[], "").await.is(200).header("vary"), "origin");
}

#[test]
fn plans_of_one_address_leave_places_to_others() {
    let (_folder, token, process) = served(&[]);
    // Bodies that are never complete.
    let plan = "POST /v1/plan HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n";
    let held: Vec<TcpStream> = (0..4).map(|_| begin(&process, plan, 100)).collect();
    begin(&process, plan, 429);
    process.call("POST", "/v1/plan", &token, "", BY_COUNT.as_bytes()).is(200);
    drop(held);
}

#[test]
fn an_address_has_a_few_plans_a_second_without_a_token() {
    let (_folder, _, process) = served(&[]);
    let request = "POST /v1/plan HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx";
    // Invalid specifications, which cost no time.
    let statuses: Vec<StatusCode> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..40).map(|_| scope.spawn(|| process.raw(request.as_bytes()).unwrap().status)).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert!(
        statuses.contains(&StatusCode::UNPROCESSABLE_ENTITY)
            && statuses.contains(&StatusCode::TOO_MANY_REQUESTS),
        "{statuses:?}"
    );
}

#[tokio::test]
async fn a_list_of_streams_has_the_number_of_declared_keys_and_not_the_keys() {
    let api = Api::with_limits(Folder::new(), Limits { small_body: 1 << 20, ..limits() });
    let keys: Vec<String> = (0..20_000).map(|number| format!("\"declared {number}\"")).collect();
    let spec = format!(r#"{{ "window": 1000, "slide": 100, "top": 5, "keys": [{}] }}"#, keys.join(","));
    api.call("PUT", "/v1/streams/many?public=true", spec).await.is(201);
    for listed in [api.get("/v1/streams").await, api.raw("GET", "/v1/streams", &[], "").await] {
        let listed = listed.is(200);
        assert!(listed.body.len() < 4_096, "{}", listed.body.len());
        let keys = listed.json()["streams"][0]["spec"]["keys"].clone();
        assert_eq!(keys, serde_json::json!({ "declared": 20_000, "at": "/v1/streams/many" }));
    }
    let whole = api.raw("GET", "/v1/streams/many", &[], "").await.is(200).json();
    assert_eq!(whole["spec"]["keys"].as_array().unwrap().len(), 20_000);
    // A change invalidates the list for clients without a token.
    api.call("PATCH", "/v1/streams/many", r#"{ "public": false }"#).await.is(200);
    let listed = api.raw("GET", "/v1/streams", &[], "").await.is(200).json();
    assert_eq!(listed["streams"], serde_json::json!([]));
}

#[tokio::test]
async fn a_small_body_becomes_neither_many_bytes_nor_many_events() {
    let api = Api::with_limits(Folder::new(), Limits { body: 32 << 20, events: 10_000, ..limits() });
    api.create("one", BY_COUNT).await;
    let send = async |packed: bool, body: Vec<u8>| {
        let headers = [("content-type", "text/plain"), ("content-encoding", "gzip")];
        let headers = &headers[..1 + usize::from(packed)];
        api.with("POST", "/v1/streams/one/events", headers, body).await
    };
    let bomb = gzip(&vec![b'\n'; 32 << 20]);
    assert!(bomb.len() < 64 << 10);
    let refused = send(true, bomb).await.is(413);
    assert!(refused.text().contains("256 times as large"), "{}", refused.text());
    let too_many = vec![b'\n'; 10_001];
    for packed in [false, true] {
        let body = if packed { gzip(&too_many) } else { too_many.clone() };
        let refused = send(packed, body).await.is(413);
        assert!(refused.text().contains("more than 10000 events"), "{}", refused.text());
    }
    send(true, gzip(&too_many[1..])).await.is(200);
    assert_eq!(api.counted("one").await, 10_000, "nothing of what was refused");
}
