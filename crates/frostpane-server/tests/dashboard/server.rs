//! A service with a folder and a token of its own.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Answer, PROGRAM, Process, token};

pub struct Server {
    process: RefCell<Option<Process>>,
    folder: PathBuf,
    pub address: String,
    pub token: String,
}

impl Server {
    pub fn demo() -> Self {
        let folder = new_folder("demo");
        let process = start(&folder, &["--demo", "--listen", "127.0.0.1:0"]);
        process.wait_for_log("token of this demo: ");
        let log = process.log.lock().unwrap().clone();
        let (_, rest) = log.split_once("token of this demo: ").unwrap();
        Self::of(process, folder, rest.lines().next().unwrap().to_owned())
    }

    /// Starts a service without streams.
    pub fn plain() -> Self {
        let folder = new_folder("plain");
        let token = token(&folder.join("data"), "test");
        Self::of(start(&folder, &["data", "--listen", "127.0.0.1:0"]), folder, token)
    }

    fn of(process: Process, folder: PathBuf, token: String) -> Self {
        let address = process.address.to_string();
        Self { process: RefCell::new(Some(process)), folder, address, token }
    }

    pub fn kill(&self) {
        self.process.take().unwrap().kill();
    }

    /// Restarts a plain service at the same address.
    pub fn restart(&self) {
        *self.process.borrow_mut() = Some(start(&self.folder, &["data", "--listen", &self.address]));
    }

    pub fn stream(&self, name: &str) -> PathBuf {
        self.folder.join("data/streams").join(name)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn get(&self, path: &str, headers: &str) -> Answer {
        let host = &self.address;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
        self.process.borrow().as_ref().unwrap().raw(request.as_bytes()).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop();
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

fn start(folder: &Path, args: &[&str]) -> Process {
    Process::run(Command::new(PROGRAM).args(args).current_dir(folder).env("TMPDIR", folder))
}
