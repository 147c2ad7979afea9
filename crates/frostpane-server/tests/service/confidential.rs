//! Input appears in no line of the log, no metric and no refusal.

use crate::call::{ARROW, JSONL, PEOPLE, served};

const KEY: &str = "marked-key-zqzq";
const USER: &str = "marked-user-qzqz";

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
