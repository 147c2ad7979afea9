//! The files of the workspace, and copies of it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::xxh3_64;

use crate::Fallible;
use crate::find::SourceFile;

/// The package whose files are named without it.
const LIBRARY: &str = "frostpane";

/// Added to the workspace of a copy: dependencies are optimised, the copy builds fast. Does not inherit
/// `dev`, whose levels of single packages would apply.
const PROFILE: &str = r#"
[profile.mutants]
inherits = "release"
opt-level = 1
debug-assertions = true
overflow-checks = true
incremental = true
lto = "off"
codegen-units = 256

[profile.mutants.package."*"]
opt-level = 3

[profile.mutants.package.redb]
debug-assertions = false
"#;

/// The package of a source file: `frostpane-store` of `frostpane-store/witness.rs`, the library of
/// `release/slack.rs`.
pub fn package_of(file: &str) -> &str {
    match file.split_once('/') {
        Some((package, _)) if package.starts_with("frostpane-") => package,
        _ => LIBRARY,
    }
}

/// The path of `name` in the package of a source file, as the source files are named.
pub fn beside_root(file: &str, name: &str) -> String {
    match package_of(file) {
        LIBRARY => name.to_owned(),
        package => format!("{package}/{name}"),
    }
}

/// The path of a source file below the workspace.
fn path_of(file: &str) -> PathBuf {
    let package = package_of(file);
    let below = file.strip_prefix(package).and_then(|file| file.strip_prefix('/'));
    Path::new("crates").join(package).join("src").join(below.unwrap_or(file))
}

/// The source file at a path below the workspace.
pub fn source_file(path: &Path) -> Option<String> {
    let (package, file) = path.strip_prefix("crates").ok()?.to_str()?.split_once("/src/")?;
    match package {
        LIBRARY => Some(file.to_owned()),
        _ => Some(format!("{package}/{file}")),
    }
}

/// The contents of files by their paths below the root.
#[derive(Clone, Debug)]
pub struct WorkspaceFiles {
    pub files: BTreeMap<PathBuf, Vec<u8>>,
}

impl WorkspaceFiles {
    /// The files that git tracks or does not ignore, with the profile of copies.
    pub fn of(root: &Path) -> Fallible<Self> {
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
        let manifest = files.get_mut(Path::new("Cargo.toml")).ok_or("no Cargo.toml")?;
        manifest.extend(PROFILE.as_bytes());
        Ok(Self { files })
    }

    /// Changes the version, so that copies which share a build directory do not share packages.
    fn marked(mut self, copy: &Path) -> Self {
        let mark = xxh3_64(copy.as_os_str().as_encoded_bytes());
        if let Some(manifest) = self.files.get_mut(Path::new("Cargo.toml")) {
            let text = String::from_utf8_lossy(manifest);
            let line = text.lines().find(|line| line.starts_with("version = ")).unwrap_or_default();
            let marked = format!("{}+{mark:x}\"", line.trim_end_matches('"'));
            *manifest = text.replacen(line, &marked, 1).into_bytes();
        }
        self
    }

    /// The Rust sources of all packages in `crates`.
    pub fn sources(&self) -> Fallible<Vec<SourceFile>> {
        let sources = self.files.iter().filter_map(|(path, content)| {
            let file = source_file(path)?;
            file.ends_with(".rs").then_some((file, content))
        });
        sources
            .map(|(file, content)| {
                let text = String::from_utf8(content.clone())?;
                Ok(SourceFile { file, text })
            })
            .collect()
    }

    pub fn set_source(&mut self, file: &str, text: String) {
        self.files.insert(path_of(file), text.into_bytes());
    }

    /// Makes a directory equal to these files. Files that are equal already keep their times.
    pub fn write_to(&self, directory: &Path) -> Fallible<()> {
        let directories: HashSet<_> = self.files.keys().filter_map(|path| path.parent()).collect();
        for path in directories {
            fs::create_dir_all(directory.join(path))?;
        }
        for (path, content) in &self.files {
            let path = directory.join(path);
            if fs::read(&path).ok().as_ref() != Some(content) {
                fs::write(&path, content)?;
            }
        }
        self.remove_others(directory, Path::new(""))
    }

    fn remove_others(&self, directory: &Path, below: &Path) -> Fallible<()> {
        for entry in fs::read_dir(directory.join(below))? {
            let (path, kind) =
                entry.and_then(|entry| Ok((below.join(entry.file_name()), entry.file_type()?)))?;
            if kind.is_dir() {
                self.remove_others(directory, &path)?;
            } else if !self.files.contains_key(&path) {
                fs::remove_file(directory.join(&path))?;
            }
        }
        Ok(())
    }
}

/// A workspace, and the directories in which copies of it are written and built.
#[derive(Clone, Debug)]
pub struct Workspace {
    pub root: PathBuf,
    pub build: PathBuf,
}

impl Workspace {
    /// Links the data beside the workspace, which tests read, to the same place beside the copies.
    pub fn new(root: &Path, build: Option<&Path>) -> Fallible<Self> {
        let root = root.canonicalize()?;
        let build = build.map_or(root.join("target/mutants/build"), Path::to_owned);
        let workspace = Self { root, build };
        fs::create_dir_all(workspace.directory())?;
        let link = workspace.directory().join("shared");
        if let Ok(data) = workspace.root.join("../shared").canonicalize()
            && !link.exists()
        {
            std::os::unix::fs::symlink(data, link)?;
        }
        Ok(workspace)
    }

    /// The files of the workspace for the copy of this name.
    pub fn files(&self, copy: &str) -> Fallible<WorkspaceFiles> {
        Ok(WorkspaceFiles::of(&self.root)?.marked(&self.directory().join(copy)))
    }

    pub fn directory(&self) -> PathBuf {
        self.root.join("target/mutants")
    }

    /// A file in the folder `mutants`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.root.join("mutants").join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_package_and_those_of_the_library_without() {
        for (file, package, path) in [
            ("release/slack.rs", "frostpane", "crates/frostpane/src/release/slack.rs"),
            ("lib.rs", "frostpane", "crates/frostpane/src/lib.rs"),
            ("frostpane-store/lib.rs", "frostpane-store", "crates/frostpane-store/src/lib.rs"),
        ] {
            assert_eq!(package_of(file), package);
            assert_eq!(path_of(file), Path::new(path));
            assert_eq!(source_file(Path::new(path)).as_deref(), Some(file));
        }
        assert_eq!(beside_root("frostpane-store/a/b.rs", "switch.rs"), "frostpane-store/switch.rs");
        assert_eq!(source_file(Path::new("crates/frostpane/tests/all.rs")), None);
    }
}
