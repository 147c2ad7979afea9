//! The log: lines that cannot be written harm nothing, and nobody who sends events can fill it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};

use crate::call::{BY_COUNT, Folder, lines};
use crate::process::{PROGRAM, Process, ask, token};

/// A process whose log goes there, once it answers.
fn start(folder: &Folder, log: Stdio) -> (Child, SocketAddr) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let child = Command::new(PROGRAM)
        .arg(&folder.0)
        .args(["--listen", &free.to_string()])
        .stderr(log)
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(free).is_err() {
        assert!(Instant::now() < until, "it does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    (child, free)
}

/// That it takes events, and stops in order.
fn works(folder: &Folder, token: &str, (mut child, address): (Child, SocketAddr)) {
    let call = |method: &str, path: &str, headers: &str, body: &str| {
        ask(address, method, path, token, headers, body.as_bytes())
            .unwrap()
            .status
    };
    assert_eq!(call("PUT", "/v1/streams/one", "", BY_COUNT), 201);
    let kind = "content-type: application/x-ndjson\r\n";
    assert_eq!(call("POST", "/v1/streams/one/events", kind, &lines(10)), 200);
    let id = child.id().to_string();
    Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(child.wait().unwrap().success());
    let store = frostpane_store::Store::<frostpane::Bytes>::open(&folder.0.join("streams/one")).unwrap();
    assert_eq!(store.stream().counted(), 10);
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    // A full disk; a pipe that nobody reads any more; one that is full, because whoever reads it has stopped.
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let closed = || Stdio::from(std::io::pipe().unwrap().1);
    let (_reader, mut stuck) = std::io::pipe().unwrap();
    stuck.write_all(&[b'.'; 1 << 16]).unwrap();
    for log in [full(), closed(), Stdio::from(stuck)] {
        let folder = Folder::new();
        let token = token(&folder.0, "log");
        let started = start(&folder, log);
        works(&folder, &token, started);
    }
}

#[test]
fn what_was_asked_for_and_cannot_be_written_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let document = Command::new(PROGRAM)
        .arg("openapi")
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(document.status.code(), Some(1));
    let told = String::from_utf8(document.stderr).unwrap();
    assert!(told.contains("could not be written"), "{told}");
}

/// A stream of Arrow with one event.
fn arrow() -> Vec<u8> {
    let schema = std::sync::Arc::new(Schema::new(vec![Field::new("key", DataType::Utf8, true)]));
    let column: arrow_array::ArrayRef = std::sync::Arc::new(StringArray::from(vec![Some("snow")]));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer
        .write(&RecordBatch::try_new(schema, vec![column]).unwrap())
        .unwrap();
    writer.into_inner().unwrap()
}

/// Some bytes that are no stream make the reader of Arrow panic, which is caught: the log says where, but not as often as they are sent.
#[test]
fn a_token_to_ingest_cannot_fill_the_log() {
    let folder = Folder::new();
    let token = token(&folder.0, "log");
    let process = Process::start(&folder.0);
    process
        .call("PUT", "/v1/streams/one", &token, "", BY_COUNT.as_bytes())
        .unwrap()
        .is(201);
    let kind = "content-type: application/vnd.apache.arrow.stream\r\n";
    let send = |body: &[u8]| {
        let answer = process.call("POST", "/v1/streams/one/events", &token, kind, body);
        answer.unwrap().status
    };
    let whole = arrow();
    for at in 0..whole.len() {
        let mut body = whole.clone();
        body[at] ^= 0xff;
        assert!([200, 413, 422].contains(&send(&body)), "{at}");
    }
    let log = process.log.clone();
    assert!(process.stop());
    let log = log.lock().unwrap();
    let mut places = BTreeMap::<&str, u32>::new();
    for line in log.lines() {
        if let Some((_, place)) = line.split_once("went wrong at ") {
            *places.entry(place.split(' ').next().unwrap()).or_default() += 1;
        }
    }
    assert!(log.contains("lines of this kind that were left out"), "{log}");
    assert!(places.values().all(|&lines| lines <= 6), "{log}");
}
