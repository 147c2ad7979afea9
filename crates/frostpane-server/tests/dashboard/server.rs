//! The real executable, with streams that are made up.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

const PATIENCE: Duration = Duration::from_secs(120);

/// A service that goes on until it is dropped.
pub struct Server {
    child: Child,
    folder: PathBuf,
    /// Where it listens, as in 127.0.0.1:7878.
    pub address: String,
    /// What the operator was told.
    pub token: String,
}

impl Server {
    /// Begins one.
    pub fn demo() -> Self {
        let name = format!("dashboard-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_frostpane-server"))
            .args(["--demo", "--listen", "127.0.0.1:0"])
            .env("TMPDIR", &folder)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut told = |what: &str| {
            let mut said = lines.by_ref().map_while(Result::ok);
            said.find_map(|line| Some(line.split_once(what)?.1.to_owned()))
                .unwrap_or_else(|| panic!("the service has not told {what}"))
        };
        let address = told("listening on http://");
        let token = told("token of this demo: ");
        // What it tells later is not waited for, and must not stop it.
        thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            folder,
            address,
            token,
        }
    }

    /// An address below it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The answer to a GET, with its headers, as it comes.
    pub fn get(&self, path: &str, headers: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = &self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let began = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if began.elapsed() > Duration::from_secs(10) {
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}
