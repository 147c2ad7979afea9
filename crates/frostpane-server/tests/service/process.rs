//! The service as a process of its own, asked over a real socket.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_frostpane-server");

/// A process that serves a folder.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
    pub log: Arc<Mutex<String>>,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }
}

/// A token for everything, made as an operator does.
pub fn token(folder: &Path, producer: &str) -> String {
    let scopes = ["ingest", "read", "release", "admin"].map(|scope| format!("--scope={scope}"));
    let made = Command::new(PROGRAM)
        .args(["token", "add"])
        .arg(folder)
        .args(scopes)
        .args(["--producer", producer])
        .output()
        .unwrap();
    assert!(made.status.success());
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

impl Process {
    pub fn start(folder: &Path) -> Self {
        Self::with(folder, &[])
    }

    pub fn with(folder: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .arg(folder)
            .args(["--listen", "127.0.0.1:0"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let address = loop {
            let mut line = String::new();
            assert!(
                lines.read_line(&mut line).unwrap() > 0,
                "it ended: {}",
                log.lock().unwrap()
            );
            log.lock().unwrap().push_str(&line);
            if let Some((_, address)) = line
                .trim()
                .split_once("listening on http")
                .and_then(|(_, rest)| rest.split_once("://"))
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

    /// At once, whatever it does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// As an operator would, and waits until it has ended.
    pub fn stop(mut self) -> bool {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }

    pub fn call(
        &self,
        method: &str,
        path: &str,
        token: &str,
        headers: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        ask(self.address, method, path, token, headers, body)
    }

    /// The answer to a probe, at the address that is for them.
    pub fn probe(&self, path: &str) -> io::Result<Answer> {
        self.probe_raw(
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes(),
        )
    }

    /// The answer to these bytes at that address.
    pub fn probe_raw(&self, request: &[u8]) -> io::Result<Answer> {
        let log = self.log.lock().unwrap().clone();
        let (_, rest) = log.split_once("probes are answered at http://").unwrap();
        raw(rest.lines().next().unwrap().parse().unwrap(), request)
    }

    /// These bytes, and what comes back until the other side has ended.
    pub fn raw(&self, request: &[u8]) -> io::Result<Answer> {
        raw(self.address, request)
    }
}

/// Asks whoever listens at an address.
pub fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<Answer> {
    let head = format!(
        "authorization: Bearer {token}\r\ncontent-length: {}\r\n{headers}",
        body.len()
    );
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
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase()
            .strip_prefix("content-length: ")
            .map(str::to_owned)
    });
    let body = bytes[end + 4..].to_vec();
    // What was cut off is no answer.
    let whole = length.is_none_or(|length| length.parse() == Ok(body.len()));
    whole.then_some(Answer { status, head, body })
}
