//! Input appears in no line of the log, no metric and no refusal.

use crate::call::Folder;
use crate::process::{Process, token};

const KEY: &str = "marked-key-zqzq";
const USER: &str = "marked-user-qzqz";

#[test]
fn no_key_and_no_user_is_told_to_anybody() {
    let folder = Folder::new();
    let token = token(&folder.0, "quiet");
    let process = Process::start(&folder.0);
    let spec = br#"{ "window": "7d", "top": 5, "unit": { "user": { "per_user": 2, "epoch": "1d" } } }"#;
    process.create("one", &token, spec);
    let good = format!("{{\"key\":\"{KEY}\",\"user\":\"{USER}\",\"time\":\"{}\"}}\n", jiff::Timestamp::now());
    let bad = [
        format!("{{\"key\":\"{KEY}\",\"user\":\"{USER}\",\"time\":\"{KEY}\"}}\n"),
        format!("{{\"{KEY}\":\"{USER}\"}}\n"),
        format!("{{\"key\":\"{KEY}\",\"user\":[\"{USER}\"]}}\n"),
        format!("\"{KEY}{USER}\"\n"),
        format!("{KEY} {USER}\n"),
    ];
    let mut told = String::new();
    let kinds = [
        "application/x-ndjson",
        "application/json",
        "text/csv",
        "text/plain",
        "application/vnd.apache.arrow.stream",
    ];
    for kind in kinds {
        let kind = format!("content-type: {kind}\r\nidempotency-key: {kind}\r\n");
        for body in bad.iter().chain([&good]) {
            let answer =
                process.call("POST", "/v1/streams/one/events", &token, &kind, body.as_bytes()).unwrap();
            told += &answer.text();
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
