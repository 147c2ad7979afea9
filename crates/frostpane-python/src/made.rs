//! Releases as JSON for Python, as the program writes them, and their summaries.

use frostpane::{Key, Release, Span, Spec};
use frostpane_render::OperatorSummary;

/// A release as JSON, and its summary as JSON.
pub type Made = (String, String);

/// A release of a window that was asked for, with its summary.
pub fn made<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Made {
    // Numbers, texts and no map whose keys are anything else: this does not fail.
    let json = serde_json::to_string(release).unwrap_or_default();
    (json, sentences(spec, asked, release))
}

pub fn sentences<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> String {
    serde_json::to_string(&OperatorSummary::of(spec, asked, release)).unwrap_or_default()
}
