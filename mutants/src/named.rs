//! Mutants written by hand, each against a claim.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Fallible;
use crate::compile::{Copy, Verdict};
use crate::tree::{Place, Tree};

/// What `named.toml` holds.
#[derive(Debug, Default, Deserialize)]
pub struct Named {
    #[serde(default)]
    pub mutant: Vec<Claimed>,
}

/// An edit of the source that breaks a claim, and the test that notices.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    pub name: String,
    pub claim: String,
    /// Relative to the workspace.
    pub file: PathBuf,
    /// Occurs once in the file.
    find: String,
    replace: String,
    /// The package of the test.
    #[serde(default = "library")]
    package: String,
    /// Its target, `lib`, `bins` or the name of a file in `tests`, and its path within.
    pub test: String,
}

/// What came of the last run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Deaths {
    pub day: String,
    /// Names of those that their test noticed.
    pub killed: Vec<String>,
}

impl Deaths {
    pub fn read(path: &Path) -> Fallible<Self> {
        match fs::read(path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(_) => Ok(Self::default()),
        }
    }

    /// Takes in what came of these.
    pub fn update(&mut self, day: String, tried: &[Claimed], killed: &[String]) {
        self.day = day;
        self.killed
            .retain(|name| tried.iter().all(|mutant| mutant.name != *name));
        self.killed.extend_from_slice(killed);
        self.killed.sort();
    }

    pub fn write(&self, path: &Path) -> Fallible<()> {
        Ok(fs::write(path, serde_json::to_string_pretty(self)? + "\n")?)
    }
}

fn library() -> String {
    "frostpane".into()
}

impl Named {
    pub fn read(path: &Path) -> Fallible<Self> {
        match fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into()),
            Err(_) => Ok(Self::default()),
        }
    }

    /// Those that a text occurs in the name of.
    pub fn chosen(self, text: Option<&str>) -> Vec<Claimed> {
        let is_chosen = |mutant: &Claimed| text.is_none_or(|text| mutant.name.contains(text));
        self.mutant.into_iter().filter(is_chosen).collect()
    }
}

impl Claimed {
    fn broken(&self, tree: &Tree) -> Fallible<Tree> {
        let content = tree
            .files
            .get(&self.file)
            .ok_or_else(|| self.wrong("there is no such file"))?;
        let text = std::str::from_utf8(content)?;
        if text.matches(&self.find).count() != 1 {
            return Err(self.wrong("what is to be found does not occur exactly once"));
        }
        let mut broken = tree.clone();
        let text = text.replacen(&self.find, &self.replace, 1);
        broken.files.insert(self.file.clone(), text.into_bytes());
        Ok(broken)
    }

    fn verdict(&self, copy: &Copy) -> Fallible<Verdict> {
        let (target, test) = self
            .test
            .split_once(' ')
            .ok_or_else(|| self.wrong("its test has no target"))?;
        copy.test(&self.package, target, test)
    }

    fn wrong(&self, why: &str) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{}, {}: {why}", self.name, self.file.display()).into()
    }
}

/// Those of the mutants that their tests notice; says of each how it went.
pub fn killed(place: &Place, mutants: &[Claimed]) -> Fallible<Vec<String>> {
    let (copy, tree) = (Copy::new(place, "named"), place.tree("named")?);
    let broken = mutants
        .iter()
        .map(|mutant| mutant.broken(&tree))
        .collect::<Fallible<Vec<_>>>()?;
    tree.write_to(&copy.directory)?;
    let mut sound = HashSet::new();
    for mutant in mutants
        .iter()
        .filter(|mutant| sound.insert((&mutant.package, &mutant.test)))
    {
        if mutant.verdict(&copy)? != Verdict::Passed {
            return Err(format!("{} does not pass as things are", mutant.test).into());
        }
    }
    let mut killed = Vec::new();
    for (mutant, broken) in mutants.iter().zip(broken) {
        broken.write_to(&copy.directory)?;
        match mutant.verdict(&copy)? {
            Verdict::Failed => {
                println!("killed: {} by {}", mutant.name, mutant.test);
                killed.push(mutant.name.clone());
            }
            Verdict::Passed => println!("SURVIVED: {} against {}", mutant.name, mutant.test),
            Verdict::Broken(why) => println!("DOES NOT COMPILE: {}\n{why}", mutant.name),
        }
    }
    Ok(killed)
}
