//! A hundred bad requests: each gets its status and a clear body; nothing is stored or leaked.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use frostpane_server::Scope;

use crate::anonymous::begin;
use crate::call::{Api, BY_COUNT, Headers, JSONL, PEOPLE, SINGLE, served};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Nobody,
    Operator,
    /// With these scopes, for the stream `one`.
    Only(Scope),
    /// With all scopes, for another stream.
    Other,
    /// With this Authorization header.
    Says(&'static str),
}

use Scope::{Admin, Ingest, Read as Reads, Release};
use Who::{Nobody, Only, Operator, Other, Says};

/// Expected status, caller, method, paths, headers, bodies: each path is requested with each body.
type Row = (u16, Who, &'static str, &'static [&'static str], Headers<'static>, &'static [&'static [u8]]);

const J: (&str, &str) = ("content-type", JSONL);
const EVENTS: &str = "/v1/streams/one/events";
const GOOD: &[u8] = b"{\"key\":\"hidden-key\"}\n";
const LONG: &str =
    "/v1/streams/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/events";

#[rustfmt::skip]
const TABLE: &[Row] = &[
    // No valid token.
    (401, Nobody, "POST", &[EVENTS, "/v1/streams/one/events?token=x"], &[J], &[GOOD]),
    (401, Nobody, "PUT", &["/v1/streams/two"], &[], &[BY_COUNT.as_bytes()]),
    (401, Nobody, "DELETE", &["/v1/streams/one"], &[], &[b""]),
    (401, Nobody, "PATCH", &["/v1/streams/one"], &[], &[b"{\"public\":true}"]),
    (401, Nobody, "POST", &["/v1/streams/one/close"], &[], &[b""]),
    (401, Nobody, "PUT", &["/v1/streams/one/releases/x"], &[], &[b""]),
    (401, Nobody, "GET", &[
        "/v1/streams/one", "/v1/streams/one/releases", "/v1/streams/one/releases/latest", "/v1/streams/one/live",
        "/v1/streams/one/budget", "/v1/streams/one/plan", "/v1/streams/one/health", "/metrics", "/v1/streams/never",
    ], &[], &[b""]),
    (401, Says("Bearer"), "POST", &[EVENTS], &[J], &[GOOD]),
    (401, Says("Bearer "), "POST", &[EVENTS], &[J], &[GOOD]),
    (401, Says("Bearer frostpane_"), "POST", &[EVENTS], &[J], &[GOOD]),
    (401, Says("Bearer frostpane_0000000000000000000000000000000000000000000000000000000000000000"), "POST", &[EVENTS], &[J], &[GOOD]),
    (401, Says("Basic dXNlcjpwYXNz"), "POST", &[EVENTS], &[J], &[GOOD]),
    (401, Says("bearer x y"), "GET", &["/v1/streams"], &[], &[b""]),
    (401, Says("Bearer x"), "GET", &["/v1/streams"], &[], &[b""]),
    (401, Nobody, "POST", &[EVENTS], &[J, ("cookie", "token=x")], &[GOOD]),
    (401, Nobody, "POST", &[EVENTS], &[J, ("x-api-key", "x")], &[GOOD]),
    // A token without the scope.
    (403, Only(Reads), "POST", &[EVENTS], &[J], &[GOOD]),
    (403, Only(Ingest), "GET", &["/v1/streams/one/releases", "/v1/streams/one/health"], &[], &[b""]),
    (403, Only(Reads), "DELETE", &["/v1/streams/one"], &[], &[b""]),
    (403, Only(Release), "DELETE", &["/v1/streams/one"], &[], &[b""]),
    (403, Only(Admin), "PUT", &["/v1/streams/two"], &[], &[BY_COUNT.as_bytes()]),
    (403, Only(Admin), "GET", &["/metrics"], &[], &[b""]),
    (403, Other, "POST", &[EVENTS], &[J], &[GOOD]),
    (403, Other, "GET", &["/v1/streams/one/releases/latest", "/v1/streams/one/live"], &[], &[b""]),
    (403, Other, "PUT", &["/v1/streams/one/releases/x"], &[], &[b""]),
    (403, Other, "PATCH", &["/v1/streams/one"], &[], &[b"{\"public\":true}"]),
    (403, Other, "DELETE", &["/v1/streams/one"], &[], &[b""]),
    (403, Other, "POST", &["/v1/streams/never/events"], &[J], &[GOOD]),
    // Not found, gone, or in conflict.
    (404, Operator, "POST", &["/v1/streams/never/events"], &[J], &[GOOD]),
    (404, Operator, "GET", &[
        "/v1/streams/never", "/v1/streams/one/releases/x", "/v1/streams/one/releases/latest", "/v1", "/v2/streams",
        "/v1/streams/", "/index.php", "/v1/streams/one/../../../../etc/passwd",
    ], &[], &[b""]),
    (405, Operator, "DELETE", &["/v1/streams"], &[], &[b""]),
    (405, Operator, "GET", &[EVENTS], &[], &[b""]),
    (405, Operator, "POST", &["/v1/streams/one/releases/latest"], &[], &[b""]),
    (405, Operator, "TRACE", &["/v1/streams"], &[], &[b""]),
    (405, Operator, "OPTIONS", &[EVENTS], &[("origin", "https://evil.example")], &[b""]),
    (410, Operator, "POST", &["/v1/streams/gone/events"], &[J], &[GOOD]),
    (410, Operator, "GET", &["/v1/streams/gone"], &[], &[b""]),
    (409, Operator, "PUT", &["/v1/streams/gone"], &[], &[BY_COUNT.as_bytes()]),
    (409, Operator, "PUT", &["/v1/streams/one"], &[], &[SINGLE.as_bytes()]),
    (409, Operator, "PUT", &["/v1/streams/one?key=other"], &[], &[BY_COUNT.as_bytes()]),
    (409, Operator, "POST", &["/v1/streams/closed/events"], &[J], &[GOOD]),
    // Invalid paths and names.
    (400, Operator, "PUT", &[
        "/v1/streams/..", "/v1/streams/..%2F..%2Fetc", "/v1/streams/%2e%2e%2ftokens.json", "/v1/streams/a%00b",
        "/v1/streams/A", "/v1/streams/-x", "/v1/streams/.hidden", "/v1/streams/%FF%FE",
    ], &[], &[BY_COUNT.as_bytes()]),
    (400, Operator, "GET", &["/v1/streams/one%2Freleases"], &[], &[b""]),
    (400, Operator, "POST", &[LONG], &[J], &[GOOD]),
    (400, Operator, "PUT", &["/v1/streams/single/releases/a%0Ab", "/v1/streams/single/releases/%C3%A4"], &[], &[b""]),
    (405, Operator, "PUT", &["/v1/streams/single/releases/latest"], &[], &[b""]),
    // Invalid queries.
    (400, Operator, "POST", &["/v1/streams/one/events?wrong=perhaps", "/v1/streams/one/events?unknown=1"], &[J], &[GOOD]),
    (400, Operator, "GET", &[
        "/v1/streams/one/releases?after=-1", "/v1/streams/one/releases?after=x", "/v1/streams/one/plan?events=many",
    ], &[], &[b""]),
    (400, Operator, "PUT", &["/v1/streams/two?public=yes"], &[], &[BY_COUNT.as_bytes()]),
    (422, Operator, "PUT", &["/v1/streams/two?replaces=never", "/v1/streams/two?replaces=gone"], &[], &[BY_COUNT.as_bytes()]),
    (400, Operator, "PUT", &["/v1/streams/two?replaces=.."], &[], &[BY_COUNT.as_bytes()]),
    // Types and headers.
    (415, Operator, "POST", &[EVENTS], &[], &[GOOD]),
    (415, Operator, "POST", &[EVENTS], &[("content-type", "application/xml")], &[b"<a/>"]),
    (415, Operator, "POST", &[EVENTS], &[("content-type", "multipart/form-data")], &[GOOD]),
    (415, Operator, "POST", &[EVENTS], &[J, ("content-encoding", "br")], &[GOOD]),
    (415, Operator, "POST", &[EVENTS], &[J, ("content-encoding", "gzip, gzip")], &[GOOD]),
    (400, Operator, "POST", &[EVENTS], &[J, ("content-encoding", "gzip")], &[GOOD]),
    (400, Operator, "POST", &[EVENTS], &[J, ("content-encoding", "zstd")], &[GOOD]),
    (400, Operator, "POST", &[EVENTS], &[J, ("content-type", "text/plain")], &[GOOD]),
    (400, Operator, "POST", &[EVENTS], &[J, ("idempotency-key", "")], &[GOOD]),
    (400, Operator, "POST", &[EVENTS], &[J, ("idempotency-key", "a"), ("idempotency-key", "b")], &[GOOD]),
    (400, Operator, "POST", &[EVENTS], &[J, ("idempotency-key", "t\tab")], &[GOOD]),
    // Invalid events.
    (422, Operator, "POST", &[EVENTS], &[J], &[
        b"{\"key\":\"hidden-key\"}\n{\"key\":\"hidden-key\"", b"hidden-key", b"[]", b"{}", b"{\"key\":hidden-key}",
        b"{\"key\":{\"hidden-key\":1}", b"{\"key\":\"\xff\"", b"{\"key\":\"a\"} {\"key\":\"b\"}",
        b"{\"key\":\"a\",\"key\":\"hidden-key\"}",
    ]),
    (422, Operator, "POST", &[EVENTS], &[("content-type", "application/json")], &[b"{\"key\":\"hidden-key\"}", b"[{\"key\":\"hidden-key\"},"]),
    (422, Operator, "POST", &[EVENTS], &[("content-type", "text/csv")], &[b"hidden-key,b\n1,2\n", b"key,b\nhidden-key\n"]),
    (422, Operator, "POST", &[EVENTS], &[("content-type", "application/vnd.apache.arrow.stream")], &[
        b"hidden-key", b"\xff\xff\xff\xff\x7f\xff\xff\xff",
    ]),
    (422, Operator, "POST", &["/v1/streams/people/events"], &[J], &[
        b"{\"key\":\"hidden-key\",\"time\":1763380800}", b"{\"key\":\"hidden-key\",\"user\":\"u\"}",
        b"{\"key\":\"hidden-key\",\"user\":\"u\",\"time\":\"noon\"}",
    ]),
    (422, Operator, "POST", &["/v1/streams/people/events"], &[("content-type", "text/plain")], &[b"hidden-key"]),
    // Expensive plans.
    (422, Nobody, "POST", &["/v1/plan"], &[], &[
        b"{\"continual\":true,\"window\":1000000000000000,\"slide\":1}",
        b"{\"continual\":true,\"epsilon\":0.000001,\"memory\":\"1TB\"}",
        b"{\"window\":\"7d\",\"unit\":{\"user\":{\"per_user\":4000000000,\"epoch\":\"1d\"}}}",
    ]),
    (422, Operator, "PUT", &["/v1/streams/two?dry_run=true"], &[], &[b"{\"continual\":true,\"window\":1000000000000000,\"slide\":1}"]),
    // Invalid specifications.
    (422, Operator, "PUT", &["/v1/streams/two"], &[], &[
        b"", b"{", b"{\"epsilom\":1}", b"{\"version\":2}", b"{\"epsilon\":-1}", b"{\"window\":0}",
        b"{\"keys\":\"/etc/passwd\"}", b"{\"until\":\"2025-01-01T00:00:00Z\",\"window\":\"1d\"}",
    ]),
    (422, Operator, "POST", &["/v1/plan"], &[], &[b"{\"keys\":\"/etc/passwd\"}", b"[1]"]),
    (422, Operator, "PATCH", &["/v1/streams/one"], &[], &[b"{\"public\":\"yes\"}", b"{\"closed\":false}"]),
    (422, Operator, "PUT", &["/v1/streams/single/releases/x"], &[], &[b"{\"window\":\"soon\"}", b"{\"epsilon\":1}"]),
    (422, Operator, "PUT", &["/v1/streams/one/releases/x"], &[], &[b""]),
];

#[tokio::test]
async fn a_hundred_bad_requests_are_refused_and_leave_nothing() {
    let requests = TABLE.iter().map(|(.., paths, _, bodies)| paths.len() * bodies.len()).sum::<usize>();
    assert!(requests >= 100, "{requests}");
    let api = Api::serving("one", BY_COUNT).await;
    api.create("single", SINGLE).await;
    api.create("people", PEOPLE).await;
    api.create("closed", BY_COUNT).await;
    api.create("gone", BY_COUNT).await;
    api.call("POST", "/v1/streams/closed/close", "").await.is(200);
    api.call("DELETE", "/v1/streams/gone", "").await.is(204);
    let other = api.token_for("other", "single", &[Ingest, Reads, Release, Admin]);
    for (status, who, method, paths, headers, bodies) in TABLE {
        let says = match who {
            Nobody => None,
            Operator => Some(format!("Bearer {}", api.token)),
            Only(scope) => Some(format!("Bearer {}", api.token_for("only", "one", &[*scope]))),
            Other => Some(format!("Bearer {other}")),
            Says(says) => Some((*says).to_owned()),
        };
        let says: Vec<(&str, &str)> = says.iter().map(|says| ("authorization", says.as_str())).collect();
        let all = [&says, *headers].concat();
        for (path, body) in paths.iter().flat_map(|path| bodies.iter().map(move |body| (*path, *body))) {
            let answer = api.raw(method, path, &all, body).await;
            let what = format!("{who:?} {method} {path} {headers:?}: {}", answer.text());
            assert_eq!(answer.status.as_u16(), *status, "{what}");
            let said = answer.json();
            assert!(said["error"].as_str().is_some_and(|text| text.len() > 10), "{what}");
            assert!(said["do"].as_str().is_some_and(|text| text.len() > 3), "{what}");
            for leak in ["hidden-key", "frostpane_", "passwd\"", "root:", "/tmp", "panicked", ".rs:"] {
                assert!(!answer.text().contains(leak), "{what}");
            }
            assert_eq!(answer.header("x-content-type-options"), "nosniff", "{what}");
            assert_eq!(answer.header("access-control-allow-origin"), "", "{what}");
        }
    }
    let named = |folder: &str| {
        let all = std::fs::read_dir(api.folder.0.join(folder)).unwrap();
        let mut all: Vec<_> = all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    };
    assert_eq!(api.get("/v1/streams/one").await.json()["public"], false);
    assert_eq!(named("streams"), ["closed", "one", "people", "single"]);
    assert_eq!(named(""), ["gone", "lock", "streams", "tokens.json", "tokens.lock"]);
    assert_eq!(
        (api.counted("one").await, api.counted("closed").await, api.counted("single").await),
        (0, 0, 0)
    );
}

#[tokio::test]
async fn bodies_that_are_too_large_are_refused_before_they_are_read() {
    let api = Api::serving("one", BY_COUNT).await;
    api.send("one", JSONL, vec![b' '; (1 << 20) + 1]).await.is(413);
    api.call("PUT", "/v1/streams/two", vec![b' '; 1 << 17]).await.is(413);
    api.call("POST", "/v1/plan", vec![b' '; 1 << 17]).await.is(413);
    let many = (1..=1_000).map(|window| window.to_string()).collect::<Vec<_>>().join(",");
    api.call("POST", "/v1/plan", format!("{{\"window\":[{many}]}}")).await.is(422);
    assert_eq!(api.counted("one").await, 0);
}

/// Slow and broken requests, and headers that two readers would parse differently.
#[test]
fn slow_and_smuggled_requests_take_nothing_and_hold_nobody_up() {
    let (folder, token, process) = served(&["--most-seconds", "2", "--most-body", "1"]);
    process.create("one", &token, BY_COUNT);
    let start = format!(
        "POST {EVENTS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: {JSONL}\r\n"
    );
    let good = "{\"key\":\"snow\"}\n";

    // A body that never ends.
    let began = Instant::now();
    begin(&process, &format!("{start}content-length: 1000\r\n\r\n{good}"), 408);
    assert!(began.elapsed() < Duration::from_secs(15));

    // Half a batch, then nothing more.
    let mut half = TcpStream::connect(process.address).unwrap();
    half.write_all(format!("{start}content-length: 1000\r\n\r\n{good}{good}").as_bytes()).unwrap();
    drop(half);

    let length = good.len();
    let smuggled = [
        format!("{start}content-length: {length}\r\ncontent-length: 3\r\n\r\n{good}"),
        format!(
            "{start}content-length: {length}\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n{good}"
        ),
        format!("{start}transfer-encoding: gzip, chunked, x\r\n\r\n{good}"),
        format!("{start}content-length: -1\r\n\r\n{good}"),
        format!("{start}content-length: {length}\r\nx: a\r\n b: c\r\n\r\n{good}"),
        format!("{start}content-length : {length}\r\n\r\n{good}"),
        format!("{start}transfer-encoding: chunked\r\n\r\nzz\r\n{good}\r\n0\r\n\r\n"),
        format!("{start}x: {}\r\ncontent-length: {length}\r\n\r\n{good}", "y".repeat(1 << 17)),
        format!("POST {EVENTS} HTTP/9.9\r\n\r\n"),
        "\x16\x03\x01\x02\x00\x01\x00".to_owned(),
    ];
    for request in smuggled {
        let answer = process.raw(request.as_bytes());
        let refused = answer.as_ref().map_or(true, |answer| answer.status.is_client_error());
        assert!(refused, "{request:.300} {answer:?}");
    }
    // A body that is too large is refused, and none of it is left for the next request.
    let kind = format!("content-type: {JSONL}\r\n");
    let huge = vec![b' '; (1 << 20) + 10];
    process.call("POST", EVENTS, &token, &kind, &huge).is(413);
    process.call("POST", EVENTS, &token, &kind, good.as_bytes()).is(200);
    assert!(process.stop());
    assert_eq!(folder.counted("one"), 1);
}

#[test]
fn requests_that_come_too_often_without_a_token_are_refused() {
    let (_folder, token, process) = served(&["--most-requests", "1"]);
    let request = b"GET /v1/streams HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answers: Vec<u16> = (0..40).map(|_| process.raw(request).unwrap().status.as_u16()).collect();
    assert!(answers.contains(&429) && answers.contains(&200), "{answers:?}");
    process.get("/v1/streams", &token).is(200);
}
