//! What an operator does from day to day, as docs/service.md says.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::call::{Api, BY_COUNT, Folder, JSONL, SINGLE, lines};
use crate::process::{PROGRAM, Process, token};

const SPEC: &[u8] = br#"{ "window": "7s", "slide": "1s", "top": 5, "unit": { "user": { "per_user": 2, "epoch": "1s" } }, "releases": 3 }"#;

fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    let done = Command::new("cp")
        .args(["-r", "-p"])
        .args([from, to])
        .status()
        .unwrap();
    assert!(done.success());
}

#[test]
fn start_create_ingest_restart_back_up_restore_and_revoke() {
    let (folder, witness, backup) = (Folder::new(), Folder::new(), Folder::new());
    let options = ["--witness", witness.0.to_str().unwrap()];
    let token = token(&folder.0, "web");
    let process = Process::with(&folder.0, &options);
    process
        .call("PUT", "/v1/streams/people", &token, "", SPEC)
        .unwrap()
        .is(201);
    process
        .call(
            "PUT",
            "/v1/streams/count",
            &token,
            "",
            br#"{ "window": 1000, "top": 5 }"#,
        )
        .unwrap()
        .is(201);
    let kind = "content-type: application/x-ndjson\r\n";
    process
        .call(
            "POST",
            "/v1/streams/count/events",
            &token,
            kind,
            lines(10).as_bytes(),
        )
        .unwrap()
        .is(200);
    // Before an epoch has ended there is nothing to release, and nothing is charged.
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let one = process.call("PUT", "/v1/streams/people/releases/one", &token, "", b"");
        let one = one.unwrap();
        if one.status == 201 {
            break;
        }
        assert!(one.status == 409 && Instant::now() < until, "{}", one.text());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(process.stop());
    copy(&folder.0, &backup.0);

    // The copy is older than what was released since.
    let process = Process::with(&folder.0, &options);
    let two = process
        .call("PUT", "/v1/streams/people/releases/two", &token, "", b"")
        .unwrap()
        .is(201);
    assert!(two.text().contains("\"heavy\""));
    assert!(process.stop());
    copy(&backup.0, &folder.0);
    let process = Process::with(&folder.0, &options);
    let ready = |path: &str| process.call("GET", path, &token, "", b"").unwrap().status;
    assert_eq!((ready("/v1/streams/people/ready"), ready("/readyz")), (503, 200));
    process
        .call("PUT", "/v1/streams/people/releases/three", &token, "", b"")
        .unwrap()
        .is(503);
    process
        .call("GET", "/v1/streams/count", &token, "", b"")
        .unwrap()
        .is(200);
    assert!(process.stop());

    let restore = |stream: &str| {
        let restored = Command::new(PROGRAM)
            .arg("restore")
            .arg(&folder.0)
            .arg(stream)
            .output();
        let restored = restored.unwrap();
        (
            restored.status.success(),
            String::from_utf8(restored.stderr).unwrap(),
        )
    };
    let (done, said) = restore("people");
    assert!(done && said.contains("takes events again from"), "{said}");
    let (done, said) = restore("people");
    assert!(!done && said.contains("no copy"), "{said}");
    let process = Process::with(&folder.0, &options);
    process
        .call("GET", "/v1/streams/people/ready", &token, "", b"")
        .unwrap()
        .is(200);
    let budget = process
        .call("GET", "/v1/streams/people/budget", &token, "", b"")
        .unwrap()
        .is(200)
        .json();
    assert_eq!(budget["left"], 0, "all of its past is spent");
    process
        .call("PUT", "/v1/streams/people/releases/three", &token, "", b"")
        .unwrap()
        .is(402);
    // What comes until it goes on would count nowhere: it is not taken, and may come again.
    let event = r#"{"key":"snow","user":"u","time":1763380800}"#;
    let early = process
        .call(
            "POST",
            "/v1/streams/people/events",
            &token,
            kind,
            event.as_bytes(),
        )
        .unwrap()
        .is(503);
    assert!(early.text().contains("restored"), "{}", early.text());
    let health = process
        .call("GET", "/v1/streams/people/health", &token, "", b"")
        .unwrap()
        .is(200);
    assert_eq!(health.json()["standing"], "waiting");

    let listed = Command::new(PROGRAM)
        .args(["token", "list"])
        .arg(&folder.0)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let id = listed.split_whitespace().next().unwrap();
    assert!(listed.contains("producer web") && !listed.contains("frostpane_"));
    let revoked = Command::new(PROGRAM)
        .args(["token", "revoke"])
        .arg(&folder.0)
        .arg(id)
        .status()
        .unwrap();
    assert!(revoked.success());
    process
        .call("GET", "/v1/streams/count", &token, "", b"")
        .unwrap()
        .is(401);
}

#[test]
fn others_can_connect_only_if_what_they_send_is_encrypted() {
    let folder = Folder::new();
    let open = Command::new(PROGRAM)
        .arg(&folder.0)
        .args(["--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert!(!open.status.success());
    assert!(String::from_utf8(open.stderr).unwrap().contains("--tls-cert"));
    let key = folder.0.with_extension("key");
    let certificate = folder.0.with_extension("pem");
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-days",
            "1",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("openssl is missing: TLS was not tried");
        return;
    }
    let options = [
        "--tls-cert",
        certificate.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
    ];
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
    let answer = asks.wait_with_output().unwrap();
    assert!(String::from_utf8(answer.stdout).unwrap().contains("it answers"));
    assert!(
        process.raw(request).is_err(),
        "what is not encrypted is not answered"
    );
    let _ = (std::fs::remove_file(key), std::fs::remove_file(certificate));
}

/// A state as an earlier program wrote it, which knew nothing of deliveries; and what it had shown.
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

/// The same as a later program would write it.
fn put_newer(stream: &Path) {
    put_older(stream);
    use redb::ReadableTable;
    let meta = redb::TableDefinition::<&str, &[u8]>::new("meta");
    let database = redb::Database::open(stream.join("frostpane.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(meta).unwrap();
        let header = table.get("header").unwrap().unwrap().value().to_vec();
        let header = String::from_utf8(header).unwrap();
        let newer = header.replacen("\"format\":1", "\"format\":1000", 1);
        assert_ne!(newer, header);
        table.insert("header", newer.as_bytes()).unwrap();
    }
    transaction.commit().unwrap();
}

/// A release that was charged, and given up when its state was restored.
fn give_up(stream: &Path, id: &str) {
    let releases = redb::TableDefinition::<&str, &[u8]>::new("releases");
    let database = redb::Database::open(stream.join("frostpane.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    let row = br#"{"window":1000}"#;
    let was = transaction
        .open_table(releases)
        .unwrap()
        .insert(id, row.as_slice())
        .unwrap()
        .is_some();
    assert!(was);
    transaction.commit().unwrap();
}

#[tokio::test]
async fn a_release_that_was_given_up_is_not_there_and_keeps_no_other_away() {
    let api = Api::new();
    api.create("one", SINGLE).await;
    api.send("one", JSONL, lines(500)).await.is(200);
    for id in ["monday", "tuesday"] {
        let path = format!("/v1/streams/one/releases/{id}");
        api.call("PUT", &path, "").await.is(201);
    }
    api.service.stop().await;
    give_up(&api.folder.0.join("streams/one"), "monday");
    let api = api.restarted().await;
    api.call("GET", "/v1/streams/one/releases/monday", "")
        .await
        .is(404);
    api.call("PUT", "/v1/streams/one/releases/monday", "")
        .await
        .is(409);
    api.call("GET", "/v1/streams/one/releases/tuesday", "")
        .await
        .is(200);
    let page = api
        .call("GET", "/v1/streams/one/releases", "")
        .await
        .is(200)
        .json();
    assert_eq!(page["releases"].as_array().unwrap().len(), 1);
    api.call("GET", "/readyz", "").await.is(200);
}

#[tokio::test]
async fn an_upgrade_goes_on_with_older_states_and_leaves_newer_ones_alone() {
    let folder = Folder::new();
    let streams = folder.0.join("streams");
    let shown = put_older(&streams.join("older"));
    put_newer(&streams.join("newer"));
    let api = Api::in_folder(folder);
    let page = api.call("GET", "/v1/streams/older/releases", "").await.is(200);
    for list in shown["lists"].as_array().unwrap() {
        assert!(page.text().contains(list[1].as_str().unwrap()), "as it was shown");
    }
    let path = "/v1/streams/older/events";
    let headers = [("content-type", JSONL), ("idempotency-key", "one")];
    let sent = api.with("POST", path, &headers, lines(10)).await.is(200);
    assert_eq!(sent.json()["again"], false);
    let api = api.restarted().await;
    let sent = api.with("POST", path, &headers, lines(10)).await.is(200);
    assert_eq!(sent.json()["again"], true);
    api.call("GET", "/v1/streams/newer", "").await.is(503);
    api.call("GET", "/v1/streams/newer/ready", "").await.is(503);
    api.call("GET", "/readyz", "").await.is(200);
    api.call("PUT", "/v1/streams/newer", BY_COUNT).await.is(409);
    api.service.stop().await;
    let counted = api.counted("older");
    assert_eq!(counted, shown["counted"].as_u64().unwrap() + 10);
}
