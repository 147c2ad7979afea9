//! The service as a process.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

const PATIENCE: Duration = Duration::from_secs(120);
const PROGRAM: &str = env!("CARGO_BIN_EXE_frostpane-server");

pub struct Server {
    child: RefCell<Child>,
    folder: PathBuf,
    pub address: String,
    pub token: String,
}

impl Server {
    /// Starts `--demo`.
    pub fn demo() -> Self {
        let folder = new_folder("demo");
        let (child, lines) = start(&folder, &["--demo", "--listen", "127.0.0.1:0"]);
        Self {
            child: RefCell::new(child),
            folder,
            address: told(&lines, "listening on http://"),
            token: told(&lines, "token of this demo: "),
        }
    }

    /// Starts a service without streams.
    pub fn plain() -> Self {
        let folder = new_folder("plain");
        let scopes = ["admin", "ingest", "release", "read"].map(|scope| ["--scope", scope]);
        let made = Command::new(PROGRAM)
            .args(["token", "add"])
            .arg(folder.join("data"))
            .args(scopes.as_flattened())
            .args(["--producer", "test"])
            .output()
            .unwrap();
        let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        assert!(token.starts_with("frostpane_"), "{token}");
        let (child, lines) = start(&folder, &["data", "--listen", "127.0.0.1:0"]);
        Self { child: RefCell::new(child), folder, address: told(&lines, "listening on http://"), token }
    }

    /// Kills the process.
    pub fn kill(&self) {
        let child = &mut *self.child.borrow_mut();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Restarts a plain service at the same address.
    pub fn restart(&self) {
        let (child, lines) = start(&self.folder, &["data", "--listen", &self.address]);
        *self.child.borrow_mut() = child;
        told(&lines, "listening on http://");
    }

    pub fn stream(&self, name: &str) -> PathBuf {
        self.folder.join("data/streams").join(name)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The raw answer to a GET.
    pub fn get(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let child = self.child.get_mut();
        if child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let _ = Command::new("kill").arg(child.id().to_string()).status();
        }
        let began = Instant::now();
        while child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if began.elapsed() > Duration::from_secs(10) {
                let _ = child.kill();
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn new_folder(name: &str) -> PathBuf {
    let name = format!("dashboard-{name}-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(folder.join("data")).unwrap();
    folder
}

/// Starts the process; receives its log.
fn start(folder: &Path, args: &[&str]) -> (Child, Receiver<String>) {
    let mut child = Command::new(PROGRAM)
        .args(args)
        .current_dir(folder)
        .env("TMPDIR", folder)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let (tell, told) = channel();
    // Later lines are dropped, and must not block the process.
    thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
    (child, told)
}

/// The rest of the first line that contains this text.
fn told(lines: &Receiver<String>, what: &str) -> String {
    loop {
        let line = lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("the service has not told {what}"));
        if let Some((_, rest)) = line.split_once(what) {
            return rest.to_owned();
        }
    }
}
