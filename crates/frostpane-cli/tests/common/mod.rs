//! Runs the real executable.
#![allow(dead_code)]

pub mod browser;
pub mod parquet_file;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::read::GzEncoder;
use serde_json::Value;

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_frostpane"));
    command
        .args(args)
        .env_remove("COLUMNS")
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The program may end before it has read everything.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub fn frostpane(args: &[&str], input: &[u8]) -> Output {
    run(&mut command(args), input)
}

pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn json(args: &[&str], input: &[u8]) -> Value {
    serde_json::from_str(&stdout(&frostpane(args, input))).unwrap()
}

pub fn planned(options: &[&str]) -> Value {
    json(&[&["plan", "--json"], options].concat(), b"")
}

#[track_caller]
pub fn assert_contains(text: impl AsRef<str>, part: impl AsRef<str>) {
    let (text, part) = (text.as_ref(), part.as_ref());
    assert!(text.contains(part), "{part}: {text}");
}

#[track_caller]
pub fn assert_has<'a>(text: impl AsRef<str>, parts: impl IntoIterator<Item = &'a str>) {
    for part in parts {
        assert_contains(&text, part);
    }
}

/// Asserts that a message to the operator contains this.
#[track_caller]
pub fn assert_told(output: &Output, part: &str) {
    assert_contains(stderr(output), part);
}

/// Asserts that nothing was written, for a reason that the operator is told.
#[track_caller]
pub fn assert_refused(output: &Output, why: &str) {
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{}", stderr(output));
    assert_told(output, why);
}

/// Arguments without spaces.
pub fn words(arguments: &str) -> Vec<&str> {
    arguments.split_whitespace().collect()
}

/// The text on one line, however it was wrapped.
pub fn one_line(text: &str) -> String {
    words(text).join(" ")
}

pub fn releases(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::fast()).read_to_end(&mut packed).unwrap();
    packed
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// So much epsilon that there is no noise.
pub const EXACT: [&str; 6] = ["list", "--json", "--epsilon", "100000", "--alpha", "0.1"];

/// The release of a file as that of a pipe is, which is given: its end is not known before it comes, so that
/// the window may begin before the first pane.
pub fn by_pipe(mut release: Value, of_pipe: &Value) -> Value {
    assert_eq!(release["policy"], "fixed");
    assert_eq!(release["asked"]["from"], release["window"]["from"]);
    for field in ["policy", "asked"] {
        release[field] = of_pipe[field].clone();
    }
    release
}

pub fn exact(more: &[&str], input: &[u8]) -> Value {
    json(&[&EXACT[..], more].concat(), input)
}

pub fn heavy(release: &Value) -> Vec<(String, u64)> {
    let key = |heavy: &Value| heavy["key"].as_str().unwrap().to_owned();
    let list = release["heavy"].as_array().unwrap();
    list.iter().map(|heavy| (key(heavy), heavy["count"].as_u64().unwrap())).collect()
}

/// A file in a folder of the test that asks for it.
pub fn temporary(name: &str, content: &[u8]) -> PathBuf {
    let test = std::thread::current().name().unwrap().replace("::", "-");
    written(&Path::new(env!("CARGO_TARGET_TMPDIR")).join(test), name, content)
}

/// A file in a folder, or in a folder below it.
pub fn written(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, content).unwrap();
    file
}

pub fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder of its own for each test, so that what is left in it can be seen.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

pub fn page_data(page: &str) -> Vec<Value> {
    let (_, data) = page.split_once("id=\"frostpane-releases\">").unwrap();
    serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap()
}
