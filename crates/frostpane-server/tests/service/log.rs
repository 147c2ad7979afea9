//! The log: lines that cannot be written do no harm, and clients cannot fill it.

use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use arrow_array::StringArray;

use crate::call::{ARROW, BY_COUNT, Folder, JSONL, PEOPLE, arrow, lines, served};
use crate::process::{PROGRAM, ask, signal, token, wait_until};

const KEY: &str = "marked-key-zqzq";
const USER: &str = "marked-user-qzqz";

/// Starts a process that logs to a file or pipe.
fn start(folder: &Folder, log: Stdio) -> (Child, SocketAddr) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let child = Command::new(PROGRAM)
        .arg(&folder.0)
        .args(["--listen", &free.to_string()])
        .stderr(log)
        .spawn()
        .unwrap();
    wait_until(|| TcpStream::connect(free).is_ok());
    (child, free)
}

/// Checks that the process takes events and stops in order.
fn works(folder: &Folder, token: &str, (mut child, address): (Child, SocketAddr)) {
    let call = |method: &str, path: &str, headers: &str, body: &str| {
        ask(address, method, path, token, headers, body.as_bytes()).unwrap().status
    };
    assert_eq!(call("PUT", "/v1/streams/one", "", BY_COUNT), 201);
    let kind = "content-type: application/x-ndjson\r\n";
    assert_eq!(call("POST", "/v1/streams/one/events", kind, &lines(10)), 200);
    signal(child.id(), "-TERM");
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.counted("one"), 10);
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    // A full disk; a closed pipe; a full pipe.
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || Stdio::from(std::io::pipe().unwrap().1);
    let (_reader, mut stuck) = std::io::pipe().unwrap();
    stuck.write_all(&[b'.'; 1 << 16]).unwrap();
    for log in [full(), closed(), Stdio::from(stuck)] {
        let folder = Folder::new();
        let token = token(&folder.0, "log");
        works(&folder, &token, start(&folder, log));
    }
}

#[test]
fn what_was_asked_for_and_cannot_be_written_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let document = Command::new(PROGRAM).arg("openapi").stdout(full).output().unwrap();
    assert_eq!(document.status.code(), Some(1));
    let told = String::from_utf8(document.stderr).unwrap();
    assert!(told.contains("could not be written"), "{told}");
}

/// Some invalid Arrow streams make the reader panic.
#[test]
fn a_token_to_ingest_cannot_fill_the_log() {
    let (_folder, token, process) = served(&[]);
    process.create("one", &token, BY_COUNT);
    let send = |body: &[u8]| process.send("one", &token, ARROW, body).status.as_u16();
    let whole = arrow([("key", Arc::new(StringArray::from(vec![Some("snow")])))]);
    for at in 0..whole.len() {
        let mut body = whole.clone();
        body[at] ^= 0xff;
        assert!([200, 413, 422].contains(&send(&body)), "{at}");
    }
    let log = process.log.clone();
    assert!(process.stop());
    let log = log.lock().unwrap();
    // A line for each body would be hundreds.
    assert!(log.lines().count() <= 20, "{log}");
}

/// No input is in the log, a metric or a refusal.
#[test]
fn no_key_and_no_user_is_told_to_anybody() {
    let (folder, token, process) = served(&[]);
    process.create("one", &token, PEOPLE);
    let good = format!("{{\"key\":\"{KEY}\",\"user\":\"{USER}\",\"time\":\"{}\"}}\n", jiff::Timestamp::now());
    let bad = [
        format!("{{\"key\":\"{KEY}\",\"user\":\"{USER}\",\"time\":\"{KEY}\"}}\n"),
        format!("{{\"{KEY}\":\"{USER}\"}}\n"),
        format!("{{\"key\":\"{KEY}\",\"user\":[\"{USER}\"]}}\n"),
        format!("\"{KEY}{USER}\"\n"),
        format!("{KEY} {USER}\n"),
    ];
    let mut told = String::new();
    for kind in [JSONL, "application/json", "text/csv", "text/plain", ARROW] {
        let kind = format!("{kind}\r\nidempotency-key: {kind}");
        for body in bad.iter().chain([&good]) {
            told += &process.send("one", &token, &kind, body).text();
        }
    }
    for path in ["/metrics", "/v1/streams/one/health", "/v1/streams", "/v1/streams/one/budget", "/readyz"] {
        told += &process.get(path, &token).is(200).text();
    }
    let log = process.log.clone();
    assert!(process.stop());
    told += &log.lock().unwrap();
    assert!(told.contains("stopping"), "the log is there");
    for marked in [KEY, USER, "zqzq", "qzqz"] {
        assert!(!told.contains(marked), "{told}");
    }
    let status = std::fs::read_to_string(folder.0.join("streams/one/status.json")).unwrap();
    assert!(!status.contains(KEY) && !status.contains(USER));
}
