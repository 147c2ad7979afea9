//! The workspace as files, and copies of it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::xxh3_64;

use crate::Fallible;
use crate::find::Source;

/// Where the library's sources are.
pub const LIBRARY: &str = "crates/frostpane/src";

/// Added to the workspace of a copy: everything outside it as quick as can be, the copy quick to build.
const PROFILE: &str = r#"
[profile.mutants]
inherits = "test"
opt-level = 1
debug = false

[profile.mutants.package."*"]
opt-level = 3
debug = "line-tables-only"
"#;

/// Paths below the root, and what is in them.
#[derive(Clone, Debug)]
pub struct Tree {
    pub files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Tree {
    /// What git knows below a root and what it does not ignore, as it stands, with the profile of copies.
    pub fn of(root: &Path) -> Fallible<Self> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = Command::new("git").current_dir(root).args(list).output()?;
        if !listed.status.success() {
            return Err(format!("{} is not a git checkout", root.display()).into());
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8(listed.stdout)?
            .split_terminator('\0')
            .map(PathBuf::from)
        {
            if root.join(&path).is_file() {
                let content = fs::read(root.join(&path))?;
                files.insert(path, content);
            }
        }
        let manifest = files.get_mut(Path::new("Cargo.toml")).ok_or("no Cargo.toml")?;
        manifest.extend(PROFILE.as_bytes());
        Ok(Self { files })
    }

    /// With a version of its own, so that copies which share a build do not take each other's for theirs.
    fn marked(mut self, copy: &Path) -> Self {
        let mark = xxh3_64(copy.as_os_str().as_encoded_bytes());
        if let Some(manifest) = self.files.get_mut(Path::new("Cargo.toml")) {
            let text = String::from_utf8_lossy(manifest);
            let line = text
                .lines()
                .find(|line| line.starts_with("version = "))
                .unwrap_or_default();
            let marked = format!("{}+{mark:x}\"", line.trim_end_matches('"'));
            *manifest = text.replacen(line, &marked, 1).into_bytes();
        }
        self
    }

    /// The sources of the library.
    pub fn sources(&self) -> Fallible<Vec<Source>> {
        let sources = self.files.iter().filter_map(|(path, content)| {
            let file = path.strip_prefix(LIBRARY).ok()?.to_str()?.to_owned();
            file.ends_with(".rs").then_some((file, content))
        });
        sources
            .map(|(file, content)| {
                Ok(Source {
                    file,
                    text: String::from_utf8(content.clone())?,
                })
            })
            .collect()
    }

    /// Puts a source of the library in place of the one that is there.
    pub fn set_source(&mut self, file: &str, text: String) {
        self.files
            .insert(Path::new(LIBRARY).join(file), text.into_bytes());
    }

    /// Makes a directory equal to this, leaving alone what is so already.
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

/// Where copies of a workspace are kept and built.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: PathBuf,
    /// What the compiler makes.
    pub build: PathBuf,
}

impl Place {
    /// Beside the copies lies what lies beside the workspace: the data that tests read.
    pub fn new(root: &Path, build: Option<&Path>) -> Fallible<Self> {
        let root = root.canonicalize()?;
        let build = build.map_or(root.join("target/mutants/build"), Path::to_owned);
        let place = Self { root, build };
        fs::create_dir_all(place.directory())?;
        let link = place.directory().join("shared");
        if let Ok(data) = place.root.join("../shared").canonicalize()
            && !link.exists()
        {
            std::os::unix::fs::symlink(data, link)?;
        }
        Ok(place)
    }

    /// The workspace as it stands, for a copy.
    pub fn tree(&self, copy: &str) -> Fallible<Tree> {
        Ok(Tree::of(&self.root)?.marked(&self.directory().join(copy)))
    }

    pub fn directory(&self) -> PathBuf {
        self.root.join("target/mutants")
    }

    /// A file of the tool's own in the workspace.
    pub fn file(&self, name: &str) -> PathBuf {
        self.root.join("mutants").join(name)
    }
}
