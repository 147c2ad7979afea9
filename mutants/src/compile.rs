//! Builds copies of the workspace and runs their tests.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Fallible;
use crate::workspace::Workspace;

/// A directory with a copy of the workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceCopy {
    pub directory: PathBuf,
    build: PathBuf,
    /// Copies of the test executables, which later builds do not overwrite.
    executables: PathBuf,
}

/// A place that a compiler error names.
#[derive(Clone, Debug)]
pub struct Complaint {
    pub file: PathBuf,
    pub bytes: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestVerdict {
    Passed,
    Failed,
    /// The output if it does not build or there is no such test.
    Broken(String),
}

/// A test executable.
#[derive(Clone, Debug)]
pub struct Binary {
    /// Package and target.
    pub name: String,
    pub path: PathBuf,
    /// The directory to run it in.
    pub directory: PathBuf,
}

impl WorkspaceCopy {
    pub fn new(workspace: &Workspace, name: &str) -> Self {
        Self {
            directory: workspace.directory().join(name),
            build: workspace.build.clone(),
            executables: workspace.directory().join("programs"),
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

    /// Errors of the first package that does not compile: the places that each names, its own first, and its
    /// text.
    pub fn errors(&self, packages: &[String]) -> Fallible<Vec<(Vec<Complaint>, String)>> {
        for name in packages {
            let errors = self.errors_of(name)?;
            if !errors.is_empty() {
                return Ok(errors);
            }
        }
        Ok(Vec::new())
    }

    fn errors_of(&self, name: &str) -> Fallible<Vec<(Vec<Complaint>, String)>> {
        let mut check = self.cargo("check");
        let output = check
            .args(package(name))
            .args(["--lib", "--message-format=json"])
            .stderr(Stdio::null())
            .output()?;
        let messages = messages(&output.stdout);
        let errors = messages.iter().filter(|message| message["message"]["level"] == "error");
        let errors: Vec<_> =
            errors.map(|message| (self.places(&message["message"]), rendered(message))).collect();
        if !output.status.success() && errors.is_empty() {
            return Err("the copy does not build, and the compiler does not say why".into());
        }
        Ok(errors.into_iter().filter(|(places, _)| !places.is_empty()).collect())
    }

    /// The places of the message and of its notes.
    fn places(&self, message: &Value) -> Vec<Complaint> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut spans = list(&message["spans"]);
        spans.sort_by_key(|span| span["is_primary"] != true);
        spans.extend(list(&message["children"]).iter().flat_map(|child| list(&child["spans"])));
        let complaint = |span: &Value| {
            let number = |name: &str| span[name].as_u64().map(|number| number as usize);
            Some(Complaint {
                file: self.directory.join(span["file_name"].as_str()?),
                bytes: number("byte_start")?..number("byte_end")?,
            })
        };
        spans.iter().filter_map(complaint).collect()
    }

    /// Builds and runs one test of a target: `lib`, `bins` or the name of a test target.
    pub fn test(&self, name: &str, target: &str, test: &str) -> Fallible<TestVerdict> {
        let mut cargo = self.cargo("test");
        cargo.args(package(name));
        match target {
            "lib" | "bins" => cargo.arg(format!("--{target}")),
            _ => cargo.args(["--test", target]),
        };
        let output = cargo.args(["--", "--exact", test]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(if !text.contains("running 1 test") {
            TestVerdict::Broken(format!("{text}{}", String::from_utf8_lossy(&output.stderr)))
        } else if output.status.success() {
            TestVerdict::Passed
        } else {
            TestVerdict::Failed
        })
    }

    /// Builds the test executables of these packages, each package with its own features.
    pub fn test_binaries(&self, packages: &[String]) -> Fallible<Vec<Binary>> {
        let mut binaries = Vec::new();
        for name in packages {
            binaries.extend(self.test_binaries_of(name)?);
        }
        Ok(binaries)
    }

    fn test_binaries_of(&self, name: &str) -> Fallible<Vec<Binary>> {
        let output = self
            .cargo("test")
            .args(package(name))
            .args(["--no-run", "--message-format=json", "--lib", "--bins", "--tests"])
            .output()?;
        let messages = messages(&output.stdout);
        if !output.status.success() {
            let errors: String = messages.iter().map(rendered).collect();
            return Err(format!("the tests do not build\n{errors}").into());
        }
        messages.iter().filter_map(binary).map(|binary| self.kept(binary)).collect()
    }

    fn kept(&self, binary: Binary) -> Fallible<Binary> {
        fs::create_dir_all(&self.executables)?;
        let path = self.executables.join(binary.name.replace(' ', "-"));
        let _ = fs::remove_file(&path);
        fs::copy(&binary.path, &path)?;
        Ok(Binary { path, ..binary })
    }
}

/// Selects a package. Tests of the library need its feature `mutants`; the program refuses it.
fn package(name: &str) -> Vec<&str> {
    match name {
        "frostpane" => vec!["-p", name, "--features", "mutants"],
        _ => vec!["-p", name],
    }
}

fn messages(output: &[u8]) -> Vec<Value> {
    output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
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
