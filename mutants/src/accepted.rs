//! Survivors that cannot change behaviour, each with its reason: `equivalent.toml`.

use serde::Deserialize;

use crate::results::Results;

#[derive(Debug, Default, Deserialize)]
pub struct AcceptedSurvivors {
    pub equivalent: Vec<Equivalent>,
}

/// One mutant by its name, or all mutants of a file and function whose change contains a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalent {
    name: Option<String>,
    file: Option<String>,
    function: Option<String>,
    text: Option<String>,
    pub reason: String,
}

impl AcceptedSurvivors {
    /// The reason why this mutant is accepted, if it is.
    pub fn reason(&self, name: &str) -> Option<&str> {
        self.equivalent.iter().find(|entry| entry.is_for(name)).map(|entry| &*entry.reason)
    }

    /// Entries that match no survivor: the mutant is killed now, or no longer exists.
    pub fn stale<'a>(&'a self, results: &'a Results) -> impl Iterator<Item = String> + 'a {
        let survivors = || results.mutants.iter().filter(|fate| fate.outcome.is_survival());
        let is_used = move |entry: &Equivalent| survivors().any(|fate| entry.is_for(&fate.name));
        self.equivalent.iter().filter(move |entry| !is_used(entry)).map(Equivalent::title)
    }
}

impl Equivalent {
    fn is_for(&self, name: &str) -> bool {
        if let Some(own) = &self.name {
            return own == name;
        }
        let (place, change) = name.split_once(": ").unwrap_or((name, ""));
        let (file, function) = place.split_once(' ').unwrap_or((place, ""));
        self.file.as_deref() == Some(file)
            && self.function.as_deref().is_none_or(|own| own == function)
            && self.text.as_deref().is_none_or(|text| change.contains(text))
    }

    fn title(&self) -> String {
        let parts = [&self.name, &self.file, &self.function, &self.text];
        parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
    }
}
