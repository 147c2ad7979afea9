//! Daily operation, as in docs/service.md.

use std::path::Path;
use std::process::Command;

use crate::call::{Api, BY_COUNT, Folder, JSONL, SINGLE, edit, lines};
use crate::process::{PROGRAM, Process, certify, token, wait_until};

const SPEC: &[u8] = br#"{ "window": "7s", "slide": "1s", "top": 5, "unit": { "user": { "per_user": 2, "epoch": "1s" } }, "releases": 3 }"#;

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    assert!(Command::new("cp").args(["-r", "-p"]).args([from, to]).status().unwrap().success());
}

#[test]
fn start_create_ingest_restart_back_up_restore_and_revoke() {
    let (folder, witness, backup) = (Folder::new(), Folder::new(), Folder::new());
    let options = ["--witness", witness.0.to_str().unwrap()];
    let token = token(&folder.0, "web");
    let process = Process::with(&folder.0, &options);
    process.create("people", &token, SPEC);
    process.create("count", &token, br#"{ "window": 1000, "top": 5 }"#);
    process.send("count", &token, JSONL, lines(10)).is(200);
    let release = |process: &Process, id: &str| {
        process.call("PUT", &format!("/v1/streams/people/releases/{id}"), &token, "", b"")
    };
    // Before an epoch has ended, nothing is released or charged.
    wait_until(|| {
        let one = release(&process, "one");
        assert!([201, 409].contains(&one.status.as_u16()), "{}", one.text());
        one.status == 201
    });
    assert!(process.stop());
    copy(&folder.0, &backup.0);

    // The copy lacks a later release.
    let process = Process::with(&folder.0, &options);
    assert!(release(&process, "two").is(201).text().contains("\"heavy\""));
    assert!(process.stop());
    copy(&backup.0, &folder.0);
    let process = Process::with(&folder.0, &options);
    let ready = |path: &str| process.get(path, &token).status.as_u16();
    assert_eq!((ready("/v1/streams/people/ready"), ready("/readyz")), (503, 200));
    release(&process, "three").is(503);
    process.get("/v1/streams/count", &token).is(200);
    assert!(process.stop());

    let restore = |stream: &str| {
        let restored = Command::new(PROGRAM).arg("restore").arg(&folder.0).arg(stream).output();
        let restored = restored.unwrap();
        (restored.status.success(), String::from_utf8(restored.stderr).unwrap())
    };
    let (done, said) = restore("people");
    assert!(done && said.contains("takes events again from"), "{said}");
    let (done, said) = restore("people");
    assert!(!done && said.contains("no copy"), "{said}");
    let process = Process::with(&folder.0, &options);
    process.get("/v1/streams/people/ready", &token).is(200);
    let budget = process.get("/v1/streams/people/budget", &token).is(200).json();
    assert_eq!(budget["left"], 0, "all of its past is spent");
    release(&process, "three").is(402);
    // Until the stream continues, events are refused and may be sent again.
    let event = r#"{"key":"snow","user":"u","time":1763380800}"#;
    let early = process.send("people", &token, JSONL, event).is(503);
    assert!(early.text().contains("restored"), "{}", early.text());
    assert_eq!(process.get("/v1/streams/people/health", &token).is(200).json()["standing"], "waiting");

    let listed = Command::new(PROGRAM).args(["token", "list"]).arg(&folder.0).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let id = listed.split_whitespace().next().unwrap();
    assert!(listed.contains("producer web") && !listed.contains("frostpane_"));
    let revoked = Command::new(PROGRAM).args(["token", "revoke"]).arg(&folder.0).arg(id).status().unwrap();
    assert!(revoked.success());
    process.get("/v1/streams/count", &token).is(401);
}

#[test]
fn others_can_connect_only_if_what_they_send_is_encrypted() {
    let folder = Folder::new();
    let open = Command::new(PROGRAM).arg(&folder.0).args(["--listen", "0.0.0.0:0"]).output().unwrap();
    assert!(!open.status.success());
    assert!(String::from_utf8(open.stderr).unwrap().contains("--tls-cert"));
    let files = Folder::new();
    std::fs::create_dir(&files.0).unwrap();
    let Some(options) = certify("localhost", &files.0) else {
        return;
    };
    let process = Process::with(&folder.0, &options);
    let mut asks = Command::new("openssl")
        .args(["s_client", "-quiet", "-connect", &process.address.to_string()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    use std::io::Write;
    let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    asks.stdin.as_mut().unwrap().write_all(request).unwrap();
    assert!(String::from_utf8(asks.wait_with_output().unwrap().stdout).unwrap().contains("it answers"));
    assert!(process.raw(request).is_err(), "what is not encrypted is not answered");
}

/// Copies a state of an earlier version, which had no deliveries. Returns its releases.
fn put_older(stream: &Path) -> serde_json::Value {
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../frostpane-store/tests/golden/1-list-by-count");
    std::fs::create_dir_all(stream).unwrap();
    let unpack = |file: &str| {
        let packed = std::fs::read(golden.join(format!("{file}.zst"))).unwrap();
        zstd::decode_all(&*packed).unwrap()
    };
    for file in ["frostpane.redb", "secrets"] {
        std::fs::write(stream.join(file), unpack(file)).unwrap();
    }
    serde_json::from_slice(&unpack("expected")).unwrap()
}

/// The same in the format of a later version.
fn put_newer(stream: &Path) {
    put_older(stream);
    use redb::ReadableTable;
    let meta = redb::TableDefinition::<&str, &[u8]>::new("meta");
    edit(stream, |transaction| {
        let mut table = transaction.open_table(meta).unwrap();
        let header = table.get("header").unwrap().unwrap().value().to_vec();
        let header = String::from_utf8(header).unwrap();
        let newer = header.replacen("\"format\":1", "\"format\":1000", 1);
        assert_ne!(newer, header);
        table.insert("header", newer.as_bytes()).unwrap();
    });
}

/// Drops a release that was charged, as a restore does.
fn give_up(stream: &Path, id: &str) {
    let releases = redb::TableDefinition::<&str, &[u8]>::new("releases");
    let row = br#"{"window":1000}"#;
    edit(stream, |transaction| {
        let mut table = transaction.open_table(releases).unwrap();
        assert!(table.insert(id, row.as_slice()).unwrap().is_some());
    });
}

#[tokio::test]
async fn a_release_that_was_given_up_is_not_there_and_keeps_no_other_away() {
    let api = Api::serving("one", SINGLE).await;
    api.send("one", JSONL, lines(500)).await.is(200);
    for id in ["monday", "tuesday"] {
        api.call("PUT", &format!("/v1/streams/one/releases/{id}"), "").await.is(201);
    }
    api.service.stop().await;
    give_up(&api.folder.0.join("streams/one"), "monday");
    let api = api.restarted().await;
    api.get("/v1/streams/one/releases/monday").await.is(404);
    api.call("PUT", "/v1/streams/one/releases/monday", "").await.is(409);
    api.get("/v1/streams/one/releases/tuesday").await.is(200);
    let page = api.get("/v1/streams/one/releases").await.is(200).json();
    assert_eq!(page["releases"].as_array().unwrap().len(), 1);
    api.get("/readyz").await.is(200);
}

#[tokio::test]
async fn older_states_go_on_and_newer_or_damaged_ones_are_left_alone() {
    let folder = Folder::new();
    let streams = folder.0.join("streams");
    let shown = put_older(&streams.join("older"));
    put_newer(&streams.join("newer"));
    put_older(&streams.join("damaged"));
    std::fs::write(streams.join("damaged/frostpane.redb"), b"no database").unwrap();
    let api = Api::in_folder(folder);
    let page = api.get("/v1/streams/older/releases").await.is(200);
    for list in shown["lists"].as_array().unwrap() {
        assert!(page.text().contains(list[1].as_str().unwrap()), "as it was shown");
    }
    let path = "/v1/streams/older/events";
    let headers = [("content-type", JSONL), ("idempotency-key", "one")];
    let sent = api.with("POST", path, &headers, lines(10)).await.is(200);
    assert_eq!(sent.json()["again"], false);
    let api = api.restarted().await;
    assert_eq!(api.with("POST", path, &headers, lines(10)).await.is(200).json()["again"], true);
    for name in ["newer", "damaged"] {
        let path = format!("/v1/streams/{name}");
        api.get(&path).await.is(503);
        api.get(&format!("{path}/ready")).await.is(503);
        api.send(name, JSONL, lines(10)).await.is(503);
        // Its name stays taken, or its budget would begin anew.
        api.call("PUT", &path, BY_COUNT).await.is(409);
    }
    for path in ["/v1/streams/older/ready", "/readyz", "/healthz"] {
        api.get(path).await.is(200);
    }
    let counted = api.counted("older").await;
    assert_eq!(counted, shown["counted"].as_u64().unwrap() + 10);
}
