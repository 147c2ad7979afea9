//! Builds a copy of the workspace.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Fallible;
use crate::tree::Place;

/// A copy of the workspace that can be built.
#[derive(Clone, Debug)]
pub struct Copy {
    pub directory: PathBuf,
    build: PathBuf,
    /// Where programs of tests are kept, safe from later builds.
    programs: PathBuf,
}

/// A place that the compiler complains about.
#[derive(Clone, Debug)]
pub struct Complaint {
    pub file: PathBuf,
    pub bytes: Range<usize>,
}

/// How one test went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed,
    /// It does not build, or there is no such test.
    Broken(String),
}

/// A program of tests.
#[derive(Clone, Debug)]
pub struct Binary {
    /// Package and target.
    pub name: String,
    pub path: PathBuf,
    /// Where it expects to be run.
    pub directory: PathBuf,
}

impl Copy {
    pub fn new(place: &Place, name: &str) -> Self {
        Self {
            directory: place.directory().join(name),
            build: place.build.clone(),
            programs: place.directory().join("programs"),
        }
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", &self.build)
            .env("RUSTFLAGS", "--cap-lints=allow")
            .args([command, "--profile", "mutants"]);
        cargo
    }

    /// Errors of the library: for each, all places it names, those that it is about first; and how it reads.
    pub fn errors(&self) -> Fallible<Vec<(Vec<Complaint>, String)>> {
        let mut check = self.cargo("check");
        let output = check
            .args(package("frostpane"))
            .args(["--lib", "--message-format=json"])
            .stderr(Stdio::null())
            .output()?;
        let messages = messages(&output.stdout);
        let errors = messages
            .iter()
            .filter(|message| message["message"]["level"] == "error");
        let errors: Vec<_> = errors
            .map(|message| (self.places(&message["message"]), rendered(message)))
            .collect();
        if !output.status.success() && errors.is_empty() {
            return Err("the copy does not build, and the compiler does not say why".into());
        }
        Ok(errors
            .into_iter()
            .filter(|(places, _)| !places.is_empty())
            .collect())
    }

    fn places(&self, message: &Value) -> Vec<Complaint> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let spans = list(&message["spans"]);
        let (primary, other): (Vec<_>, Vec<_>) =
            spans.into_iter().partition(|span| span["is_primary"] == true);
        let children = list(&message["children"])
            .into_iter()
            .flat_map(move |child| list(&child["spans"]));
        let complaint = |span: Value| {
            let number = |name: &str| span[name].as_u64().map(|number| number as usize);
            Some(Complaint {
                file: self.directory.join(span["file_name"].as_str()?),
                bytes: number("byte_start")?..number("byte_end")?,
            })
        };
        primary
            .into_iter()
            .chain(other)
            .chain(children)
            .filter_map(complaint)
            .collect()
    }

    /// Builds and runs one test of a target: `lib`, `bins` or the name of a program of tests.
    pub fn test(&self, name: &str, target: &str, test: &str) -> Fallible<Verdict> {
        let mut cargo = self.cargo("test");
        cargo.args(package(name));
        match target {
            "lib" | "bins" => cargo.arg(format!("--{target}")),
            _ => cargo.args(["--test", target]),
        };
        let output = cargo.args(["--", "--exact", test]).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(match output.status.success() {
            _ if !said.contains("running 1 test") => {
                Verdict::Broken(format!("{said}{}", String::from_utf8_lossy(&output.stderr)))
            }
            true => Verdict::Passed,
            false => Verdict::Failed,
        })
    }

    /// All programs of tests of these packages.
    pub fn test_binaries(&self, packages: &[String]) -> Fallible<Vec<Binary>> {
        let mut test = self.cargo("test");
        for name in packages {
            test.args(package(name));
        }
        let output = test
            .args(["--no-run", "--message-format=json", "--lib", "--bins", "--tests"])
            .output()?;
        let messages = messages(&output.stdout);
        if !output.status.success() {
            let errors: String = messages.iter().map(rendered).collect();
            return Err(format!("the tests do not build\n{errors}").into());
        }
        messages
            .iter()
            .filter_map(binary)
            .map(|binary| self.kept(binary))
            .collect()
    }

    fn kept(&self, binary: Binary) -> Fallible<Binary> {
        fs::create_dir_all(&self.programs)?;
        let path = self.programs.join(binary.name.replace(' ', "-"));
        let _ = fs::remove_file(&path);
        fs::copy(&binary.path, &path)?;
        Ok(Binary { path, ..binary })
    }
}

/// The library with the mutants of the auditor, which tests of its own go through; the program is not built with them.
fn package(name: &str) -> Vec<&str> {
    match name {
        "frostpane" => vec!["-p", name, "--features", "mutants"],
        _ => vec!["-p", name],
    }
}

fn messages(output: &[u8]) -> Vec<Value> {
    output
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

fn rendered(message: &Value) -> String {
    message["message"]["rendered"].as_str().unwrap_or_default().into()
}

fn binary(message: &Value) -> Option<Binary> {
    let is_test = message["profile"]["test"] == true;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let directory = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = directory.file_name()?.to_str()?;
    Some(Binary {
        name: format!("{package} {}", message["target"]["name"].as_str()?),
        path: path.into(),
        directory: directory.into(),
    })
}
