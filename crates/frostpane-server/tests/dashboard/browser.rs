//! A browser, controlled by the DevTools protocol over two pipes: JSON messages that end with a zero byte.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
/// The browser reads from 3 and writes to 4.
const PIPES: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                     --disable-background-networking --hide-scrollbars --remote-debugging-pipe";

pub struct Browser {
    child: Child,
    profile: PathBuf,
    wire: RefCell<Wire>,
}

struct Wire {
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    /// Events that arrived while an answer was awaited.
    events: Vec<Value>,
}

impl Browser {
    pub fn open(program: &Path) -> Self {
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{}", std::process::id()));
        let mut child = Command::new("sh")
            .args(["-c", PIPES, "sh"])
            .arg(program)
            .args(FLAGS.split(' '))
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (messages, from) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for message in out.split(0).map_while(Result::ok) {
                if messages.send(serde_json::from_slice(&message).unwrap()).is_err() {
                    return;
                }
            }
        });
        let to = child.stdin.take().unwrap();
        let wire = RefCell::new(Wire { to, from, last: 0, events: Vec::new() });
        Self { child, profile, wire }
    }

    pub fn tab(&self, width: u32, height: u32, theme: &str) -> Tab<'_> {
        let target = self.send(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.send(None, "Target.attachToTarget", attach);
        let tab = Tab {
            browser: self,
            target: target["targetId"].as_str().unwrap().to_owned(),
            session: attached["sessionId"].as_str().unwrap().to_owned(),
            theme: theme.to_owned(),
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.send(&format!("{domain}.enable"), json!({}));
        }
        tab.resize(width, height);
        let theme = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        tab.send("Emulation.setEmulatedMedia", json!({ "features": theme }));
        tab
    }

    fn send(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let wire = &mut *self.wire.borrow_mut();
        wire.last += 1;
        let id = wire.last;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        wire.to.write_all(&bytes).unwrap();
        loop {
            let answer = wire.from.recv_timeout(PATIENCE);
            let answer = answer.unwrap_or_else(|_| panic!("the browser has not answered {method}"));
            match answer["id"] == id {
                true if answer["error"].is_null() => return answer["result"].clone(),
                true => panic!("{method}: {}", answer["error"]),
                false => wire.events.push(answer),
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.wire.get_mut().to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let began = Instant::now();
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if began.elapsed() > Duration::from_secs(10) {
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = fs::remove_dir_all(&self.profile);
    }
}

pub struct Tab<'a> {
    browser: &'a Browser,
    target: String,
    session: String,
    theme: String,
}

impl Tab<'_> {
    fn send(&self, method: &str, params: Value) -> Value {
        self.browser.send(Some(&self.session), method, params)
    }

    /// Resizes the tab; narrow ones are phones.
    pub fn resize(&self, width: u32, height: u32) {
        let mobile = width < 600;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.send("Emulation.setDeviceMetricsOverride", size);
    }

    pub fn open(&self, url: &str) {
        self.send("Page.navigate", json!({ "url": url }));
        self.until("document.readyState === 'complete'");
    }

    /// Evaluates an expression and awaits its value.
    pub fn eval(&self, script: &str) -> Value {
        let asked = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.send("Runtime.evaluate", asked);
        let failed = &answer["exceptionDetails"];
        assert!(failed.is_null(), "{script}: {failed}");
        answer["result"]["value"].clone()
    }

    pub fn until(&self, script: &str) {
        let began = Instant::now();
        while self.eval(script) != Value::Bool(true) {
            assert!(began.elapsed() < PATIENCE, "it has not come about: {script}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn press(&self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            " " => (32, " "),
            "Tab" => (9, ""),
            "ArrowLeft" => (37, ""),
            "ArrowRight" => (39, ""),
            "ArrowDown" => (40, ""),
            other => panic!("{other} is no key of this keyboard"),
        };
        let name = if key == " " { "Space" } else { key };
        let event = |kind: &str| json!({ "type": kind, "key": key, "code": name, "windowsVirtualKeyCode": code, "text": text });
        let down = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        self.send("Input.dispatchKeyEvent", event(down));
        self.send("Input.dispatchKeyEvent", event("keyUp"));
    }

    pub fn write(&self, text: &str) {
        self.send("Input.insertText", json!({ "text": text }));
    }

    pub fn allow_clipboard(&self) {
        let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        self.browser.send(None, "Browser.grantPermissions", permissions);
        self.send("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
    }

    /// Saves a screenshot of this size in a folder of the build.
    pub fn picture(&self, name: &str, width: u32, height: u32) {
        self.resize(width, height);
        let still = json!({ "name": "prefers-reduced-motion", "value": "reduce" });
        let theme = json!({ "name": "prefers-color-scheme", "value": self.theme });
        self.send("Emulation.setEmulatedMedia", json!({ "features": [still, theme] }));
        self.eval("document.activeElement.blur()");
        self.until("document.getAnimations().length === 0");
        let shot = self.send("Page.captureScreenshot", json!({ "format": "png" }));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), base64(shot["data"].as_str().unwrap())).unwrap();
    }

    /// The addresses that were requested since the last call, and errors in the page.
    pub fn happened(&self) -> (Vec<String>, Vec<String>) {
        self.eval("1");
        let wire = &mut *self.browser.wire.borrow_mut();
        let (mine, others): (Vec<Value>, Vec<Value>) = std::mem::take(&mut wire.events)
            .into_iter()
            .partition(|event| event["sessionId"] == self.session.as_str());
        wire.events = others;
        let (mut asked, mut wrong) = (Vec::new(), Vec::new());
        for event in mine {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    asked.push(params["request"]["url"].as_str().unwrap_or_default().to_owned());
                }
                "Runtime.exceptionThrown" => wrong.push(params["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" => wrong.push(params["args"].to_string()),
                "Log.entryAdded" => wrong.push(params["entry"].to_string()),
                _ => {}
            }
        }
        (asked, wrong)
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.browser.send(None, "Target.closeTarget", json!({ "targetId": self.target }));
        }
    }
}

fn base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |letter: &u8| LETTERS.iter().position(|known| known == letter);
    let six: Vec<usize> = text.as_bytes().iter().filter_map(value).collect();
    let mut bytes = Vec::new();
    for four in six.chunks(4) {
        let whole = four.iter().fold(0, |whole, part| whole << 6 | part) << (6 * (4 - four.len()));
        bytes.extend((0..four.len() - 1).map(|index| (whole >> (16 - 8 * index)) as u8));
    }
    bytes
}
