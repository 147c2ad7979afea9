//! Mutants written by hand, each against a claim: `named.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Fallible;
use crate::checkout::{TestTarget, TestVerdict, WorkspaceCopy, WorkspaceFiles};

/// An edit of the source that breaks a claim, and the test that must then fail.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMutant {
    name: String,
    /// Read by people.
    #[expect(dead_code)]
    claim: String,
    /// Relative to the workspace.
    file: PathBuf,
    /// Occurs once in the file.
    find: String,
    replace: String,
    /// The package of the test.
    #[serde(default = "library")]
    package: String,
    /// Its target, `lib`, `bins` or the name of a file in `tests`, and its path in the target.
    test: String,
}

/// The results of the last run: `named.json`.
#[derive(Serialize, Deserialize)]
pub struct NamedResults {
    day: String,
    /// Names of mutants whose test failed.
    killed: Vec<String>,
}

impl NamedResults {
    pub fn update(root: &Path, tried: &[NamedMutant], killed: &[String]) -> Fallible<()> {
        let path = root.join("mutants/named.json");
        let mut results: Self = serde_json::from_slice(&fs::read(&path)?)?;
        results.day = jiff::Zoned::now().date().to_string();
        results.killed.retain(|name| tried.iter().all(|mutant| mutant.name != *name));
        results.killed.extend_from_slice(killed);
        results.killed.sort();
        Ok(fs::write(path, serde_json::to_string_pretty(&results)? + "\n")?)
    }
}

fn library() -> String {
    "frostpane".into()
}

/// The mutants whose name contains the text.
pub fn read(root: &Path, text: Option<&str>) -> Fallible<Vec<NamedMutant>> {
    #[derive(Deserialize)]
    struct NamedMutants {
        mutant: Vec<NamedMutant>,
    }
    let mut all: NamedMutants = toml::from_str(&fs::read_to_string(root.join("mutants/named.toml"))?)?;
    all.mutant.retain(|mutant| text.is_none_or(|text| mutant.name.contains(text)));
    Ok(all.mutant)
}

impl NamedMutant {
    /// The text of the file before and after the edit.
    pub fn edit<'a>(&self, files: &'a WorkspaceFiles) -> Fallible<(&'a [u8], String)> {
        let content = files.0.get(&self.file).ok_or_else(|| self.wrong("there is no such file"))?;
        let text = std::str::from_utf8(content)?;
        if text.matches(&self.find).count() != 1 {
            return Err(self.wrong("`find` does not occur exactly once"));
        }
        Ok((content, text.replacen(&self.find, &self.replace, 1)))
    }

    fn target_and_test(&self) -> Fallible<(TestTarget, &str)> {
        let (target, test) = self.test.split_once(' ').ok_or_else(|| self.wrong("its test has no target"))?;
        Ok((TestTarget { package: self.package.clone(), target: target.into() }, test))
    }

    fn wrong(&self, why: &str) -> Box<dyn std::error::Error + Send + Sync> {
        format!("{}, {}: {why}", self.name, self.file.display()).into()
    }
}

/// The tests of the mutants by their target, each once.
pub fn tests_by_target(mutants: &[NamedMutant]) -> Fallible<Vec<(TestTarget, Vec<&str>)>> {
    let mut targets: BTreeMap<TestTarget, Vec<&str>> = BTreeMap::new();
    for mutant in mutants {
        let (target, test) = mutant.target_and_test()?;
        let tests = targets.entry(target).or_default();
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    Ok(targets.into_iter().collect())
}

/// The mutants grouped by their test; tests of one target are neighbours.
pub fn by_test(mutants: &[NamedMutant]) -> Vec<Vec<&NamedMutant>> {
    let mut groups: BTreeMap<(&str, &str), Vec<&NamedMutant>> = BTreeMap::new();
    for mutant in mutants {
        groups.entry((&mutant.package, &mutant.test)).or_default().push(mutant);
    }
    groups.into_values().collect()
}

/// An error if a test does not pass without a mutant.
pub fn expect_sound(copy: &WorkspaceCopy, target: &TestTarget, tests: &[&str]) -> Fallible<()> {
    match copy.test(target, tests)? {
        TestVerdict::Passed => Ok(()),
        TestVerdict::Failed(why) | TestVerdict::Broken(why) => {
            Err(format!("a test does not pass without a mutant\n{why}").into())
        }
    }
}

/// Runs the test of each mutant and prints the verdict; returns the names of those that fail it.
pub fn killed(
    copy: &WorkspaceCopy,
    files: &WorkspaceFiles,
    mutants: &[&NamedMutant],
) -> Fallible<Vec<String>> {
    let mut killed = Vec::new();
    for mutant in mutants {
        let (target, test) = mutant.target_and_test()?;
        let (sound, edited) = mutant.edit(files)?;
        copy.set(&mutant.file, edited.as_bytes())?;
        let verdict = copy.test(&target, &[test]);
        copy.set(&mutant.file, sound)?;
        match verdict? {
            TestVerdict::Failed(_) => {
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
    use std::collections::HashSet;

    use super::*;

    /// Searches the files in which the modules of the test's path can be.
    fn test_exists(mutant: &NamedMutant, root: &Path) -> bool {
        let (target, test) = mutant.target_and_test().unwrap();
        let package = root.join("crates").join(&mutant.package);
        let folders = match target.target.as_str() {
            "lib" | "bins" => vec![package.join("src")],
            _ => vec![package.join("tests"), package.join("tests").join(&target.target)],
        };
        let mut modules: Vec<&str> = test.split("::").collect();
        let function = format!("fn {}(", modules.pop().unwrap());
        let mut files: Vec<PathBuf> = Vec::new();
        for folder in folders {
            files.extend(["lib.rs", "main.rs"].map(|file| folder.join(file)));
            files.push(folder.join(&target.target).with_extension("rs"));
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
        let mut names = HashSet::new();
        let mut errors = Vec::new();
        for mutant in &read(root, None).unwrap() {
            let text = fs::read_to_string(root.join(&mutant.file)).unwrap_or_default();
            if text.matches(&mutant.find).count() != 1 {
                errors.push(mutant.wrong("`find` does not occur exactly once"));
            }
            if !test_exists(mutant, root) {
                errors.push(mutant.wrong(&format!("there is no test {}", mutant.test)));
            }
            if !names.insert(mutant.name.clone()) {
                errors.push(mutant.wrong("the name occurs twice"));
            }
        }
        assert!(errors.is_empty(), "{errors:#?}");
    }
}
