//! Pulling from NATS JetStream: nothing is lost or doubled, whichever side is killed.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream;

use crate::call::{BY_COUNT, Folder, lines};
use crate::process::{PROGRAM, Process, token};

const EVENTS: usize = 20;
const KILLS: u64 = 10;

/// Where the server is, if it is installed.
pub fn program() -> Option<PathBuf> {
    let places = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&places).chain(["/usr/sbin".into()]);
    places
        .map(|place| place.join("nats-server"))
        .find(|path| path.exists())
}

/// A NATS server, which keeps its streams in a folder.
pub struct Nats(Child);

impl Nats {
    pub fn start(program: &Path, folder: &Path, port: u16) -> Self {
        Self::with(program, folder, port, &[])
    }

    fn with(program: &Path, folder: &Path, port: u16, options: &[&str]) -> Self {
        let child = Command::new(program)
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
            .arg(folder)
            .args(options)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(20));
        }
        Self(child)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// How many messages of a stream of JetStream have not been taken into a stream of the service, if that has begun to.
pub async fn left(context: &jetstream::Context, from: &str, into: &str) -> Option<u64> {
    let durable = format!("frostpane-{into}");
    let consumer = context.get_consumer_from_stream(&durable, from).await;
    let mut consumer: jetstream::consumer::PullConsumer = consumer.ok()?;
    let info = consumer.info().await.ok()?;
    Some(info.num_pending + info.num_ack_pending as u64)
}

/// A stream of JetStream.
fn searches() -> jetstream::stream::Config {
    jetstream::stream::Config {
        name: "SEARCHES".to_owned(),
        subjects: vec!["searches".to_owned()],
        ..Default::default()
    }
}

/// Begins the stream that is pulled into.
fn begin(folder: &Path, token: &str) {
    let process = Process::start(folder);
    process
        .call("PUT", "/v1/streams/searches", token, "", BY_COUNT.as_bytes())
        .unwrap()
        .is(201);
    assert!(process.stop());
}

/// Publishes a message until it is acknowledged; the server knows it again by its id.
async fn publish(context: &jetstream::Context, id: usize) {
    loop {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Nats-Msg-Id", id.to_string());
        let sent = context
            .publish_with_headers("searches", headers, lines(EVENTS).into())
            .await;
        if let Ok(sent) = sent
            && tokio::time::timeout(Duration::from_secs(2), sent)
                .await
                .is_ok_and(|done| done.is_ok())
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_on_either_side_every_message_counts_once() {
    let Some(program) = program() else {
        println!("nats-server is missing: pulling was NOT tried (as root: apt-get install nats-server)");
        return;
    };
    let (folder, kept) = (Folder::new(), Folder::new());
    let port = free_port();
    let mut nats = Nats::start(&program, &kept.0, port);
    let options = async_nats::ConnectOptions::new().retry_on_initial_connect();
    let client = options.connect(format!("nats://127.0.0.1:{port}")).await.unwrap();
    let context = jetstream::new(client);
    context.create_stream(searches()).await.unwrap();
    begin(&folder.0, &token(&folder.0, "nats"));
    let from = format!("nats://127.0.0.1:{port}/SEARCHES");
    let pulling = || Process::with(&folder.0, &["--from", &from, "--into", "searches"]);
    let mut process = Some(pulling());

    let over = Arc::new(AtomicBool::new(false));
    let publisher = tokio::spawn({
        let (context, over) = (context.clone(), over.clone());
        async move {
            let mut sent = 0;
            while !over.load(Ordering::Relaxed) {
                publish(&context, sent).await;
                sent += 1;
            }
            sent
        }
    });
    for kill in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(700 + 113 * (kill % 5))).await;
        drop(nats);
        nats = Nats::start(&program, &kept.0, port);
        tokio::time::sleep(Duration::from_millis(500)).await;
        process.take().unwrap().kill();
        process = Some(pulling());
    }
    over.store(true, Ordering::Relaxed);
    let sent = publisher.await.unwrap();
    assert!(sent > 0);
    let all = (sent * EVENTS) as u64;
    // What was handed to a process that was killed comes again after a while.
    let until = Instant::now() + Duration::from_secs(100);
    let pending = async || left(&context, "SEARCHES", "searches").await;
    while pending().await != Some(0) {
        assert!(Instant::now() < until, "{:?} wait", pending().await);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(process.unwrap().stop());
    let store = frostpane_store::Store::<frostpane::Bytes>::open(&folder.0.join("streams/searches")).unwrap();
    assert_eq!(store.stream().counted(), all);
    println!("{KILLS} kills of each side: {sent} messages, {all} events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_with_a_password_is_pulled_from_and_one_that_cannot_be_reached_shows() {
    let Some(program) = program() else {
        println!("nats-server is missing: pulling was NOT tried (as root: apt-get install nats-server)");
        return;
    };
    let (folder, kept, port) = (Folder::new(), Folder::new(), free_port());
    let _nats = Nats::with(&program, &kept.0, port, &["--user", "frost", "--pass", "pane:1"]);
    let options = async_nats::ConnectOptions::with_user_and_password("frost".into(), "pane:1".into());
    let client = options.connect(format!("nats://127.0.0.1:{port}")).await.unwrap();
    let context = jetstream::new(client);
    context.create_stream(searches()).await.unwrap();
    publish(&context, 1).await;
    let token = token(&folder.0, "nats");
    begin(&folder.0, &token);

    let credentials = folder.0.join("credentials");
    std::fs::write(&credentials, "frost:wrong\n").unwrap();
    let from = format!("nats://127.0.0.1:{port}/SEARCHES");
    let named = credentials.to_str().unwrap();
    let options = ["--from", &from, "--from-credentials", named, "--into", "searches"];
    let process = Process::with(&folder.0, &options);
    let standing = || {
        let health = process.call("GET", "/v1/streams/searches/health", &token, "", b"");
        health.unwrap().is(200).json()["standing"].clone()
    };
    let until = Instant::now() + Duration::from_secs(30);
    while !process.log.lock().unwrap().contains("authorization violation") {
        assert!(Instant::now() < until, "{}", process.log.lock().unwrap());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(standing(), "source");
    process
        .call("GET", "/v1/streams/searches/ready", &token, "", b"")
        .unwrap()
        .is(503);

    // What is in the file now is asked at the next try.
    std::fs::write(&credentials, "frost:pane:1\n").unwrap();
    while standing() != "ready" {
        assert!(Instant::now() < until, "{}", process.log.lock().unwrap());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    process
        .call("GET", "/v1/streams/searches/ready", &token, "", b"")
        .unwrap()
        .is(200);
    let events = || {
        let health = process.call("GET", "/v1/streams/searches/health", &token, "", b"");
        health.unwrap().is(200).json()["ingest"]["events"]
            .as_u64()
            .unwrap()
    };
    while events() < EVENTS as u64 {
        assert!(Instant::now() < until, "{} events", events());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!process.log.lock().unwrap().contains("pane:1"));
    assert!(process.stop());
    let store = frostpane_store::Store::<frostpane::Bytes>::open(&folder.0.join("streams/searches")).unwrap();
    assert_eq!(store.stream().counted(), EVENTS as u64);
}

#[test]
fn a_password_in_the_command_line_is_refused() {
    let folder = Folder::new();
    begin(&folder.0, &token(&folder.0, "nats"));
    let refused = Command::new(PROGRAM)
        .arg(&folder.0)
        .args(["--listen", "127.0.0.1:0", "--into", "searches"])
        .args(["--from", "nats://frost:pane@127.0.0.1:4222/SEARCHES"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("--from-credentials") && !told.contains("frost:pane"),
        "{told}"
    );
}

/// A message that is ahead of the clock counts in the epoch of its own time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_users_that_are_ahead_wait_for_their_epoch() {
    let Some(program) = program() else {
        println!("nats-server is missing: pulling was NOT tried (as root: apt-get install nats-server)");
        return;
    };
    let (folder, kept, port) = (Folder::new(), Folder::new(), free_port());
    let _nats = Nats::start(&program, &kept.0, port);
    let options = async_nats::ConnectOptions::new().retry_on_initial_connect();
    let client = options.connect(format!("nats://127.0.0.1:{port}")).await.unwrap();
    let context = jetstream::new(client);
    let config = jetstream::stream::Config {
        name: "USERS".to_owned(),
        subjects: vec!["users".to_owned()],
        ..Default::default()
    };
    context.create_stream(config).await.unwrap();
    let begins = jiff::Timestamp::now().as_second() + 60;
    let token = token(&folder.0, "nats");
    let process = Process::start(&folder.0);
    let spec = crate::own_time::spec(begins);
    process
        .call("PUT", "/v1/streams/users", &token, "", spec.as_bytes())
        .unwrap()
        .is(201);
    assert!(process.stop());
    // On either side of the beginning, before the stream, and further ahead than it may be.
    for second in [1, -1, 1, -50_000, 7_200] {
        let event = format!(
            "{{\"key\":\"x\",\"time\":{},\"user\":\"challenge\"}}",
            begins + second
        );
        context
            .publish("users", event.into())
            .await
            .unwrap()
            .await
            .unwrap();
    }
    let from = format!("nats://127.0.0.1:{port}/USERS");
    let pulling = ["--from", &from, "--into", "users", "--tolerance", "120"];
    let process = Process::with(&folder.0, &pulling);
    let until = Instant::now() + Duration::from_secs(60);
    while left(&context, "USERS", "users").await != Some(0) {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(process.stop());
    assert_eq!(crate::own_time::counted(&folder, "users", begins), [1, 1]);
}
