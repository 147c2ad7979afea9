//! What those may have who come without a token: something, and never all of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use frostpane_server::Limits;

use crate::call::{Api, BY_COUNT, Folder, JSONL, limits, lines};
use crate::process::{Answer, Process, token};

/// Each would take a processor for ever, or all memory, if it were believed.
const GREEDY: [&str; 9] = [
    r#"{"continual":true,"window":1000000000000000,"slide":1}"#,
    r#"{"continual":true,"window":"30000d","slide":"1s"}"#,
    r#"{"continual":true,"window":"30000d","slide":"1s","unit":{"user":{"epoch":"1d"}}}"#,
    r#"{"continual":true,"epsilon":0.000001,"memory":"1TB"}"#,
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
        // What takes longer than a request may is answered otherwise.
        let answer = api.raw("POST", "/v1/plan", &[], spec).await;
        assert!(
            [200, 422].contains(&answer.status.as_u16()),
            "{spec} {}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_plan_holds_little_and_a_few_do() {
    let api = std::sync::Arc::new(Api::new());
    // Bodies that never come, one more than there are places.
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..65 {
        let api = api.clone();
        waiting.spawn(async move {
            let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
            api.raw("POST", "/v1/plan", &[], Body::from_stream(never)).await
        });
    }
    let refused = waiting.join_next().await.unwrap().unwrap().is(429);
    assert_eq!(refused.header("retry-after"), "1");
    // They hold up nobody who brings events.
    api.create("one", BY_COUNT).await;
    api.send("one", JSONL, lines(10)).await.is(200);
    while let Some(answer) = waiting.join_next().await {
        answer.unwrap().is(408);
    }
    api.raw("POST", "/v1/plan", &[], BY_COUNT).await.is(200);
    let long = format!("{{\"keys\":[{}\"z\"]}}", "\"a\",".repeat(20_000));
    api.raw("POST", "/v1/plan", &[], long).await.is(413);
}

/// Nothing is read of whoever has no token where one is needed.
#[tokio::test]
async fn a_body_that_never_ends_is_not_waited_for_without_a_token() {
    let api = Api::new();
    api.create("one", BY_COUNT).await;
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

/// A place is given back a moment after whoever had it sees the end: until then others are turned away.
fn until_there(ask: impl Fn() -> std::io::Result<Answer>) -> Answer {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(cause) => assert!(Instant::now() < until, "{cause}"),
        }
    }
}

#[test]
fn the_last_places_are_kept_for_those_who_have_a_token() {
    let folder = Folder::new();
    let token = token(&folder.0, "crowd");
    let process = Process::with(&folder.0, &["--most-connections", "8"]);
    let ask = b"GET /v1/streams HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    assert_eq!(process.raw(ask).unwrap().status, 200);
    let idle: Vec<TcpStream> = (0..7)
        .map(|_| {
            let mut idle = TcpStream::connect(process.address).unwrap();
            idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
                .unwrap();
            let mut answer = [0; 12];
            idle.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200");
            idle
        })
        .collect();
    let refused = until_there(|| process.raw(ask));
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.head.contains("connection: close"), "{}", refused.head);
    until_there(|| process.call("GET", "/v1/streams", &token, "", b"")).is(200);
    drop(idle);
}

#[tokio::test]
async fn a_few_listen_without_a_token_and_leave_places() {
    let few = Limits {
        connections: 4,
        ..limits()
    };
    let api = Api::with_limits(Folder::new(), few);
    api.call("PUT", "/v1/streams/one?public=true", BY_COUNT)
        .await
        .is(201);
    let listen = async |token: Option<&str>| {
        let mut request = axum::http::Request::get("/v1/streams/one/live");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Body::empty()).unwrap();
        tower::ServiceExt::oneshot(api.router.clone(), request)
            .await
            .unwrap()
    };
    let mut first = vec![listen(None).await, listen(None).await];
    assert_eq!(listen(None).await.status(), 429);
    assert_eq!(listen(Some(&api.token)).await.status(), 200);
    first.pop();
    assert_eq!(
        listen(None).await.status(),
        200,
        "whoever goes gives a place back"
    );
}

#[tokio::test]
async fn whoever_keeps_answers_for_others_is_told_that_they_differ_by_origin() {
    let cors = Limits {
        cors: vec!["https://example.org".to_owned()],
        ..limits()
    };
    let api = Api::with_limits(Folder::new(), cors);
    for (origin, allowed) in [
        ("https://example.org", "https://example.org"),
        ("https://evil.example", ""),
    ] {
        let answer = api
            .raw("GET", "/v1/streams", &[("origin", origin)], "")
            .await
            .is(200);
        assert_eq!(
            (
                answer.header("vary"),
                answer.header("access-control-allow-origin")
            ),
            ("origin", allowed)
        );
    }
    let answer = api.raw("GET", "/v1/streams", &[], "").await.is(200);
    assert_eq!(answer.header("vary"), "origin");
}
