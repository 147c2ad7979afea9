//! Releases on their way to Python: as the program writes them, with the sentences that go with them.

use frostpane::words::{
    Statement, Warning, meaning, of_sequence, panes, privacy, source, statements, sure, title,
};
use frostpane::{Cost, Key, Release, Span, Spec};
use serde::Serialize;

/// A release as JSON, and its sentences as JSON.
pub type Made = (String, String);

/// What a release means, sentence by sentence.
#[derive(Serialize)]
struct Words {
    title: String,
    /// Why the list is empty, if it is.
    empty: Option<String>,
    sure: String,
    /// Each with whether it is a warning.
    statements: Vec<(String, bool)>,
    notes: Vec<String>,
    privacy: String,
    /// For whoever made it alone.
    warnings: Vec<String>,
}

/// Of a release of a window that was asked for.
pub fn made<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Made {
    (json(release), sentences(spec, asked, release))
}

/// As the program writes it.
pub fn json<K: Key>(release: &Release<K>) -> String {
    // Numbers, texts and no map whose keys are anything else: this does not fail.
    serde_json::to_string(release).unwrap_or_default()
}

/// The sentences that go with it.
pub fn sentences<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> String {
    let said = |statement: Statement| {
        let warns = matches!(statement, Statement::Warning(_));
        (statement.text().to_owned(), warns)
    };
    let note = || {
        release
            .note
            .map_or("nothing passed".to_owned(), |note| note.to_string())
    };
    let empty = release
        .heavy
        .is_empty()
        .then(|| format!("The list is empty: {}.", note()));
    let notes = [source(release), panes(release)]
        .into_iter()
        .flatten()
        .map(str::to_owned);
    let warnings = match release.continual {
        None => {
            let cost = Warning::of_cost(&Cost::of([release]));
            cost.into_iter()
                .chain(Warning::of_release(spec, asked, release))
                .collect()
        }
        Some(_) => Warning::of_sequence(release),
    };
    let words = Words {
        title: title(release),
        empty,
        sure: sure(release),
        statements: statements(release).into_iter().map(said).collect(),
        notes: notes.chain(meaning(release.unit)).collect(),
        privacy: privacy(release, "", &of_sequence(release)),
        warnings: warnings.iter().map(Warning::to_string).collect(),
    };
    serde_json::to_string(&words).unwrap_or_default()
}
