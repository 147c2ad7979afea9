//! The service as a process, called over a socket.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode};
use serde_json::Value;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_frostpane-server");

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }
}

pub struct Process {
    child: Child,
    pub address: SocketAddr,
    pub log: Arc<Mutex<String>>,
}

#[track_caller]
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "it has not come about");
        thread::sleep(Duration::from_millis(20));
    }
}

pub fn signal(process: u32, signal: &str) {
    Command::new("kill").args([signal, &process.to_string()]).status().unwrap();
}

/// A certificate of this name and its key, as options of the service; `None` without openssl.
pub fn certify(name: &str, folder: &Path) -> Option<[String; 4]> {
    let [certificate, key] = ["certificate", "key"].map(|file| folder.join(file).display().to_string());
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"])
        .args(["-subj", &format!("/CN={name}"), "-keyout", &key, "-out", &certificate])
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        println!("openssl is missing: TLS was NOT tried");
        return None;
    }
    Some(["--tls-cert".to_owned(), certificate, "--tls-key".to_owned(), key])
}

/// Creates a token with all scopes from the command line.
pub fn token(folder: &Path, producer: &str) -> String {
    let made = Command::new(PROGRAM)
        .args(["token", "add"])
        .arg(folder)
        .args(["ingest", "read", "release", "admin"].map(|scope| format!("--scope={scope}")))
        .args(["--producer", producer])
        .output()
        .unwrap();
    assert!(made.status.success());
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

impl Process {
    pub fn start(folder: &Path) -> Self {
        Self::with(folder, &[""; 0])
    }

    pub fn with(folder: &Path, options: &[impl AsRef<OsStr>]) -> Self {
        Self::run(Command::new(PROGRAM).arg(folder).args(["--listen", "127.0.0.1:0"]).args(options))
    }

    /// Starts a service, and waits until it listens.
    pub fn run(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ended: {}", log.lock().unwrap());
            log.lock().unwrap().push_str(&line);
            if let Some((_, address)) =
                line.trim().split_once("listening on http").and_then(|(_, rest)| rest.split_once("://"))
            {
                break address.parse().unwrap();
            }
        };
        let written = log.clone();
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                written.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Self { child, address, log }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the service in order. Returns true if it succeeds.
    pub fn stop(mut self) -> bool {
        signal(self.id(), "-TERM");
        let mut status = None;
        wait_until(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.is_some_and(|status| status.success())
    }

    pub fn wait_for_log(&self, text: &str) {
        wait_until(|| self.log.lock().unwrap().contains(text));
    }

    pub fn get(&self, path: &str, token: &str) -> Answer {
        self.call("GET", path, token, "", b"")
    }

    pub fn create(&self, name: &str, token: &str, spec: impl AsRef<[u8]>) {
        self.call("PUT", &format!("/v1/streams/{name}"), token, "", spec.as_ref()).is(201);
    }

    pub fn send(&self, name: &str, token: &str, kind: &str, body: impl AsRef<[u8]>) -> Answer {
        let path = format!("/v1/streams/{name}/events");
        self.call("POST", &path, token, &format!("content-type: {kind}\r\n"), body.as_ref())
    }

    pub fn call(&self, method: &str, path: &str, token: &str, headers: &str, body: &[u8]) -> Answer {
        ask(self.address, method, path, token, headers, body).unwrap()
    }

    pub fn probe(&self, path: &str) -> io::Result<Answer> {
        self.probe_raw(
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes(),
        )
    }

    /// Sends bytes to the listener of probes.
    pub fn probe_raw(&self, request: &[u8]) -> io::Result<Answer> {
        let log = self.log.lock().unwrap().clone();
        let (_, rest) = log.split_once("probes are answered at http://").unwrap();
        raw(rest.lines().next().unwrap().parse().unwrap(), request)
    }

    pub fn raw(&self, request: &[u8]) -> io::Result<Answer> {
        raw(self.address, request)
    }
}

pub fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<Answer> {
    let head = format!("authorization: Bearer {token}\r\ncontent-length: {}\r\n{headers}", body.len());
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{head}\r\n")
            .into_bytes();
    request.extend_from_slice(body);
    raw(address, &request)
}

fn raw(address: SocketAddr, request: &[u8]) -> io::Result<Answer> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_secs(60)))?;
    socket.write_all(request)?;
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes)?;
    parse(&bytes).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let headers: HeaderMap =
        headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    let body = bytes[end + 4..].to_vec();
    let length = headers.get("content-length").map(|length| length.to_str().unwrap().parse());
    length.is_none_or(|length| length == Ok(body.len())).then_some(Answer { status, headers, body })
}
