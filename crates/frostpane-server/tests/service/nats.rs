//! Pulling from NATS JetStream: nothing is lost or doubled, whichever side is killed.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream;

use crate::call::{BY_COUNT, Folder, eventually, lines};
use crate::process::{PROGRAM, Process, token, wait_until};

const EVENTS: usize = 20;
const KILLS: u64 = 10;

fn program() -> Option<PathBuf> {
    let places = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&places).chain(["/usr/sbin".into()]);
    places.map(|place| place.join("nats-server")).find(|path| path.exists())
}

pub struct NatsServer(Child);

impl NatsServer {
    fn start(program: &Path, folder: &Path, port: u16, options: &[&str]) -> Self {
        let child = Command::new(program)
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
            .arg(folder)
            .args(options)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self(child)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running server, a folder for the service, and a connection; `None` if NATS is not installed.
pub struct Pulling {
    pub folder: Folder,
    pub context: jetstream::Context,
    pub port: u16,
    program: PathBuf,
    data: Folder,
    server: Option<NatsServer>,
}

impl Pulling {
    pub async fn start() -> Option<Self> {
        let options = async_nats::ConnectOptions::new().retry_on_initial_connect();
        Self::with(&[], options).await
    }

    async fn with(server: &[&str], client: async_nats::ConnectOptions) -> Option<Self> {
        let Some(program) = program() else {
            println!("nats-server is missing: pulling was NOT tried (as root: apt-get install nats-server)");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let data = Folder::new();
        let server = NatsServer::start(&program, &data.0, port, server);
        let client = client.connect(format!("nats://127.0.0.1:{port}")).await.unwrap();
        Some(Self {
            folder: Folder::new(),
            context: jetstream::new(client),
            port,
            program,
            data,
            server: Some(server),
        })
    }

    fn kill_and_restart(&mut self) {
        drop(self.server.take());
        self.server = Some(NatsServer::start(&self.program, &self.data.0, self.port, &[]));
    }

    /// Creates a stream of JetStream with a subject.
    async fn create(&self, name: &str, subject: &str) {
        let config = jetstream::stream::Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            ..Default::default()
        };
        self.context.create_stream(config).await.unwrap();
    }

    fn url(&self, stream: &str) -> String {
        format!("nats://127.0.0.1:{}/{stream}", self.port)
    }
}

/// The messages of a JetStream stream that are not in a stream of the service; `None` before the first pull.
pub async fn left(context: &jetstream::Context, from: &str, into: &str) -> Option<u64> {
    let durable = format!("frostpane-{into}");
    let consumer = context.get_consumer_from_stream(&durable, from).await;
    let mut consumer: jetstream::consumer::PullConsumer = consumer.ok()?;
    let info = consumer.info().await.ok()?;
    Some(info.num_pending + info.num_ack_pending as u64)
}

/// Creates the stream that is pulled into.
fn begin(folder: &Path, token: &str) {
    let process = Process::start(folder);
    process.create("searches", token, BY_COUNT);
    assert!(process.stop());
}

/// Publishes a message until it is acknowledged; the server recognizes its id.
async fn publish(context: &jetstream::Context, id: usize) {
    loop {
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Nats-Msg-Id", id.to_string());
        let sent = context.publish_with_headers("searches", headers, lines(EVENTS).into()).await;
        if let Ok(sent) = sent
            && tokio::time::timeout(Duration::from_secs(2), sent).await.is_ok_and(|done| done.is_ok())
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_on_either_side_every_message_counts_once() {
    let Some(mut nats) = Pulling::start().await else {
        return;
    };
    nats.create("SEARCHES", "searches").await;
    let folder = std::mem::replace(&mut nats.folder, Folder::new());
    begin(&folder.0, &token(&folder.0, "nats"));
    let from = nats.url("SEARCHES");
    let pulling = || Process::with(&folder.0, &["--from", &from, "--into", "searches"]);
    let mut process = Some(pulling());

    let over = Arc::new(AtomicBool::new(false));
    let publisher = tokio::spawn({
        let (context, over) = (nats.context.clone(), over.clone());
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
        nats.kill_and_restart();
        tokio::time::sleep(Duration::from_millis(500)).await;
        process.take().unwrap().kill();
        process = Some(pulling());
    }
    over.store(true, Ordering::Relaxed);
    let sent = publisher.await.unwrap();
    assert!(sent > 0);
    let all = (sent * EVENTS) as u64;
    // Messages that were handed to a killed process come again after a while.
    let until = Instant::now() + Duration::from_secs(100);
    let pending = async || left(&nats.context, "SEARCHES", "searches").await;
    while pending().await != Some(0) {
        assert!(Instant::now() < until, "{:?} wait", pending().await);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(process.unwrap().stop());
    assert_eq!(folder.counted("searches"), all);
    println!("{KILLS} kills of each side: {sent} messages, {all} events");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_with_a_password_is_pulled_from_and_one_that_cannot_be_reached_shows() {
    let client = async_nats::ConnectOptions::with_user_and_password("frost".into(), "pane:1".into());
    let Some(nats) = Pulling::with(&["--user", "frost", "--pass", "pane:1"], client).await else {
        return;
    };
    nats.create("SEARCHES", "searches").await;
    publish(&nats.context, 1).await;
    let folder = &nats.folder;
    let token = token(&folder.0, "nats");
    begin(&folder.0, &token);

    let credentials = folder.0.join("credentials");
    std::fs::write(&credentials, "frost:wrong\n").unwrap();
    let from = nats.url("SEARCHES");
    let named = credentials.to_str().unwrap();
    let options = ["--from", &from, "--from-credentials", named, "--into", "searches"];
    let process = Process::with(&folder.0, &options);
    let health = || process.get("/v1/streams/searches/health", &token).is(200).json();
    process.wait_for_log("authorization violation");
    assert_eq!(health()["standing"], "source");
    process.get("/v1/streams/searches/ready", &token).is(503);

    // The file is read again at the next connect.
    std::fs::write(&credentials, "frost:pane:1\n").unwrap();
    wait_until(|| health()["standing"] == "ready");
    process.get("/v1/streams/searches/ready", &token).is(200);
    wait_until(|| health()["ingest"]["events"].as_u64().unwrap() >= EVENTS as u64);
    assert!(!process.log.lock().unwrap().contains("pane:1"));
    assert!(process.stop());
    assert_eq!(folder.counted("searches"), EVENTS as u64);
}

#[test]
fn a_password_in_the_command_line_is_refused() {
    let folder = Folder::new();
    let refused = Command::new(PROGRAM)
        .arg(&folder.0)
        .args(["--listen", "127.0.0.1:0", "--into", "searches"])
        .args(["--from", "nats://frost:pane@127.0.0.1:4222/SEARCHES"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains("--from-credentials") && !told.contains("frost:pane"), "{told}");
}

/// A message that is ahead of the clock counts in the epoch of its own time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_users_that_are_ahead_wait_for_their_epoch() {
    let Some(nats) = Pulling::start().await else {
        return;
    };
    nats.create("USERS", "users").await;
    let (folder, context) = (&nats.folder, &nats.context);
    let begins = jiff::Timestamp::now().as_second() + 60;
    let token = token(&folder.0, "nats");
    let process = Process::start(&folder.0);
    process.create("users", &token, crate::own_time::spec(begins));
    assert!(process.stop());
    // On either side of the beginning, before the stream, and further ahead than it may be.
    for second in [1, -1, 1, -50_000, 7_200] {
        let event = format!("{{\"key\":\"x\",\"time\":{},\"user\":\"challenge\"}}", begins + second);
        context.publish("users", event.into()).await.unwrap().await.unwrap();
    }
    let from = nats.url("USERS");
    let process = Process::with(&folder.0, &["--from", &from, "--into", "users", "--tolerance", "120"]);
    eventually(async || left(context, "USERS", "users").await == Some(0)).await;
    assert!(process.stop());
    assert_eq!(crate::own_time::counted(folder, "users", begins), [1, 1]);
}
