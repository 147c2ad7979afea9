//! Mutants written by hand, each against a claim: `named.toml`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Fallible;
use crate::compile::{TestVerdict, WorkspaceCopy};
use crate::workspace::{Workspace, WorkspaceFiles};

#[derive(Debug, Default, Deserialize)]
pub struct NamedMutants {
    pub mutant: Vec<NamedMutant>,
}

/// An edit of the source that breaks a claim, and the test that must then fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMutant {
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
    /// Its target, `lib`, `bins` or the name of a file in `tests`, and its path in the target.
    pub test: String,
}

/// The results of the last run: `named.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct NamedResults {
    pub day: String,
    /// Names of mutants whose test failed.
    pub killed: Vec<String>,
}

impl NamedResults {
    pub fn update(&mut self, day: String, tried: &[NamedMutant], killed: &[String]) {
        self.day = day;
        self.killed.retain(|name| tried.iter().all(|mutant| mutant.name != *name));
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

impl NamedMutants {
    /// The mutants whose name contains the text.
    pub fn chosen(self, text: Option<&str>) -> Vec<NamedMutant> {
        let is_chosen = |mutant: &NamedMutant| text.is_none_or(|text| mutant.name.contains(text));
        self.mutant.into_iter().filter(is_chosen).collect()
    }
}

impl NamedMutant {
    /// The text of the file after the edit.
    fn edited(&self, files: &WorkspaceFiles) -> Fallible<Vec<u8>> {
        let content = files.files.get(&self.file);
        let content = content.ok_or_else(|| self.wrong("there is no such file"))?;
        let text = std::str::from_utf8(content)?;
        if text.matches(&self.find).count() != 1 {
            return Err(self.wrong("`find` does not occur exactly once"));
        }
        Ok(text.replacen(&self.find, &self.replace, 1).into_bytes())
    }

    fn target_and_test(&self) -> Fallible<(&str, &str)> {
        let parts = self.test.split_once(' ');
        parts.ok_or_else(|| self.wrong("its test has no target"))
    }

    fn verdict(&self, copy: &WorkspaceCopy) -> Fallible<TestVerdict> {
        let (target, test) = self.target_and_test()?;
        copy.test(&self.package, target, test)
    }

    fn wrong(&self, why: &str) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{}, {}: {why}", self.name, self.file.display()).into()
    }
}

/// Runs the test of each mutant and prints the verdict; returns the names of those that fail it.
pub fn killed(workspace: &Workspace, mutants: &[NamedMutant]) -> Fallible<Vec<String>> {
    let (copy, files) = (WorkspaceCopy::new(workspace, "named"), workspace.files("named")?);
    let edited = mutants.iter().map(|mutant| mutant.edited(&files)).collect::<Fallible<Vec<_>>>()?;
    files.write_to(&copy.directory)?;
    let mut sound = HashSet::new();
    for mutant in mutants.iter().filter(|mutant| sound.insert((&mutant.package, &mutant.test))) {
        if mutant.verdict(&copy)? != TestVerdict::Passed {
            return Err(format!("{} does not pass without a mutant", mutant.test).into());
        }
    }
    let mut killed = Vec::new();
    for (mutant, edited) in mutants.iter().zip(edited) {
        let mut broken = files.clone();
        broken.files.insert(mutant.file.clone(), edited);
        broken.write_to(&copy.directory)?;
        match mutant.verdict(&copy)? {
            TestVerdict::Failed => {
                println!("killed: {} by {}", mutant.name, mutant.test);
                killed.push(mutant.name.clone());
            }
            TestVerdict::Passed => println!("SURVIVED: {} against {}", mutant.name, mutant.test),
            TestVerdict::Broken(why) => println!("DOES NOT COMPILE: {}\n{why}", mutant.name),
        }
    }
    Ok(killed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_toml;

    /// Searches the files in which the modules of the test's path can be.
    fn test_exists(mutant: &NamedMutant, root: &Path) -> bool {
        let (target, test) = mutant.target_and_test().unwrap();
        let package = root.join("crates").join(&mutant.package);
        let folders = match target {
            "lib" | "bins" => vec![package.join("src")],
            _ => vec![package.join("tests"), package.join("tests").join(target)],
        };
        let mut modules: Vec<&str> = test.split("::").collect();
        let function = format!("fn {}(", modules.pop().unwrap());
        let mut files: Vec<PathBuf> = Vec::new();
        for folder in folders {
            files.extend(["lib.rs", "main.rs"].map(|file| folder.join(file)));
            files.push(folder.join(target).with_extension("rs"));
            for depth in 1..=modules.len() {
                let module = folder.join(modules[..depth].join("/"));
                files.extend([module.join("mod.rs"), module.with_extension("rs")]);
            }
        }
        files.iter().any(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(&function)))
    }

    #[test]
    fn every_edit_applies_and_its_test_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let named: NamedMutants = read_toml(&root.join("mutants/named.toml")).unwrap();
        let mut names = HashSet::new();
        let mut errors = Vec::new();
        for mutant in &named.mutant {
            let text = fs::read_to_string(root.join(&mutant.file)).unwrap_or_default();
            if text.matches(&mutant.find).count() != 1 {
                errors.push(mutant.wrong("`find` does not occur exactly once"));
            }
            if !test_exists(mutant, root) {
                errors.push(mutant.wrong(&format!("there is no test {}", mutant.test)));
            }
            if !names.insert(&mutant.name) {
                errors.push(mutant.wrong("the name occurs twice"));
            }
        }
        assert!(errors.is_empty(), "{errors:#?}");
    }
}
