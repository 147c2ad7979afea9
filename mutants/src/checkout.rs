//! Copies of the workspace that are changed and built.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;

use crate::Fallible;

/// The contents of files by their paths below the root.
pub struct WorkspaceFiles(pub BTreeMap<PathBuf, Vec<u8>>);

impl WorkspaceFiles {
    /// Reads the files that git tracks or does not ignore.
    pub fn read(root: &Path) -> Fallible<Self> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").current_dir(root).args(list).output()?;
        if !listed.status.success() {
            return Err(format!("{} is not a git checkout", root.display()).into());
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8(listed.stdout)?.split_terminator('\0').map(PathBuf::from) {
            if root.join(&path).is_file() {
                let content = fs::read(root.join(&path))?;
                files.insert(path, content);
            }
        }
        Ok(Self(files))
    }

    /// Makes a directory equal to these files. Files that are equal already keep their times.
    fn write_to(&self, directory: &Path) -> Fallible<()> {
        let directories: HashSet<_> = self.0.keys().filter_map(|path| path.parent()).collect();
        for path in directories {
            fs::create_dir_all(directory.join(path))?;
        }
        for (path, content) in &self.0 {
            let path = directory.join(path);
            if fs::read(&path).ok().as_ref() != Some(content) {
                fs::write(&path, content)?;
            }
        }
        self.remove_others(directory, Path::new(""))
    }

    fn remove_others(&self, directory: &Path, below: &Path) -> Fallible<()> {
        for entry in fs::read_dir(directory.join(below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.remove_others(directory, &path)?;
            } else if !self.0.contains_key(&path) {
                fs::remove_file(directory.join(&path))?;
            }
        }
        Ok(())
    }
}

/// A package and one of its test targets: `lib`, `bins` or the name of a file in `tests`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestTarget {
    pub package: String,
    pub target: String,
}

pub enum TestVerdict {
    Passed,
    /// The output.
    Failed(String),
    /// The output if it does not build or a test does not exist.
    Broken(String),
}

/// A directory with a copy of the workspace.
pub struct WorkspaceCopy {
    directory: PathBuf,
    build: PathBuf,
    /// Processes that a build may start.
    threads: usize,
}

impl WorkspaceCopy {
    /// Writes one of `jobs` copies to `target/mutants`.
    pub fn write(root: &Path, files: &WorkspaceFiles, number: usize, jobs: usize) -> Fallible<Self> {
        let mutants = root.join("target/mutants");
        let threads = available_parallelism()?.get().div_ceil(jobs.max(1));
        let (directory, build) =
            (mutants.join(format!("copy-{number}")), mutants.join(format!("build-{number}")));
        fs::create_dir_all(&directory)?;
        link_data(root, &mutants)?;
        if !build.exists() {
            link_dependencies(root, &build)?;
        }
        files.write_to(&directory)?;
        Ok(Self { directory, build, threads })
    }

    pub fn set(&self, path: &Path, content: &[u8]) -> Fallible<()> {
        Ok(fs::write(self.directory.join(path), content)?)
    }

    /// Builds a target and runs some of its tests.
    pub fn test(&self, TestTarget { package, target }: &TestTarget, tests: &[&str]) -> Fallible<TestVerdict> {
        let mut cargo = Command::new("cargo");
        cargo
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", &self.build)
            .args(["test", "--locked", "--package", package, "--jobs", &self.threads.to_string()])
            .args(["--config", "profile.dev.package.frostpane.opt-level = 1"]);
        // Tests of the library need its feature `mutants`; the program refuses it.
        if package == "frostpane" {
            cargo.args(["--features", "mutants"]);
        }
        match target.as_str() {
            "lib" | "bins" => cargo.arg(format!("--{target}")),
            _ => cargo.args(["--test", target]),
        };
        let output = cargo.args(["--", "--exact"]).args(tests).output()?;
        let text =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ok(if !text.contains(&format!("running {} test", tests.len())) {
            TestVerdict::Broken(text)
        } else if output.status.success() {
            TestVerdict::Passed
        } else {
            TestVerdict::Failed(text)
        })
    }
}

/// Links the data beside the workspace, which tests read, to the same place beside the copies.
fn link_data(root: &Path, mutants: &Path) -> Fallible<()> {
    let link = mutants.join("shared");
    if let Ok(data) = root.join("../shared").canonicalize()
        && !link.exists()
    {
        std::os::unix::fs::symlink(data, link)?;
    }
    Ok(())
}

/// Links what is built of the workspace into a new target directory, so that dependencies are not built again.
fn link_dependencies(root: &Path, build: &Path) -> Fallible<()> {
    let (built, linked) = (root.join("target/debug"), build.join("debug"));
    fs::create_dir_all(&linked)?;
    for folder in [".fingerprint", "build", "deps"].map(|folder| built.join(folder)) {
        if folder.exists() && !Command::new("cp").arg("-al").args([&folder, &linked]).status()?.success() {
            return Err(format!("{} cannot be linked", folder.display()).into());
        }
    }
    Ok(())
}
