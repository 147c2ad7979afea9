//! Opens a page in a real browser, wide and narrow, light and dark, and compares what it shows with its data.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const WRAPPER: &str = include_str!("browser.html");

/// The faults of a page; none, with a note, where there is no browser.
pub fn faults(page: &str, name: &str) -> Vec<String> {
    let Some(browser) = find() else {
        eprintln!("skipped: there is no browser; install chromium, or name one in CHROMIUM");
        return Vec::new();
    };
    let folder = std::env::temp_dir().join(format!("frostpane-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let alone = folder.join("page.html");
    std::fs::write(&alone, page).unwrap();
    let mut faults = console(&open(&browser, &alone, &folder));
    let within = folder.join("wrapper.html");
    std::fs::write(&within, WRAPPER.replace("PAGE", &quoted(page))).unwrap();
    for theme in ["light", "dark"] {
        let output = open(&browser, Path::new(&format!("{}?{theme}", within.display())), &folder);
        faults.extend(console(&output));
        faults.extend(verdict(&output).into_iter().map(|fault| format!("{theme}: {fault}")));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    faults
}

/// The browser that is named in `CHROMIUM`, or the first on the path.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let candidates = NAMES.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// The page after it was loaded, and all that the console said.
fn open(browser: &Path, page: &Path, folder: &Path) -> Output {
    let scheme = if page.to_string_lossy().ends_with("?dark") { 0 } else { 1 };
    Command::new("timeout")
        .arg("60")
        .arg(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--enable-logging=stderr"])
        .args(["--window-size=1300,900", "--dump-dom"])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap()
}

fn console(output: &Output) -> Vec<String> {
    let told = String::from_utf8_lossy(&output.stderr);
    told.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect()
}

/// The result of the script in the wrapper.
fn verdict(output: &Output) -> Vec<String> {
    let shown = String::from_utf8_lossy(&output.stdout);
    match shown.split_once("<pre id=\"verdict\">").and_then(|(_, rest)| rest.split_once("</pre>")) {
        Some(("ok", _)) => Vec::new(),
        Some((faults, _)) => faults.lines().map(str::to_owned).collect(),
        None => vec![format!(
            "the browser has shown nothing: {}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )],
    }
}

fn quoted(page: &str) -> String {
    page.replace('&', "&amp;").replace('"', "&quot;")
}
