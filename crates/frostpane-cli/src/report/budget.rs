//! What is protected, what is not, and at what price.

use frostpane::words::{NOT_HIDDEN, delta_words, horizon};
use frostpane::{Cost, Key, Release};

use super::escape::escaped;
use crate::units::{grouped, plain};

pub fn section<K: Key>(releases: &[Release<K>]) -> String {
    // The latest says how long delta holds.
    let Some(release) = releases.last() else {
        return String::new();
    };
    let lists = releases.len();
    let of_all = release.continual.is_some();
    let each = match lists {
        _ if of_all => " of all lists together",
        1 => "",
        _ => " of each list",
    };
    let mut facts = vec![
        (format!("Epsilon{each}"), epsilon(release)),
        (format!("Delta{each}"), delta(release)),
        ("Protected".to_owned(), release.unit.to_string()),
        ("Not hidden".to_owned(), NOT_HIDDEN.to_owned()),
    ];
    if lists > 1 && !of_all {
        facts.insert(2, together(lists, &Cost::of(releases)));
    }
    let mut html = String::from("<dl>\n");
    for (term, fact) in facts {
        html += &format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            escaped(&term),
            escaped(&fact)
        );
    }
    html + "</dl>\n"
}

fn together(lists: usize, total: &Cost) -> (String, String) {
    (
        format!("The {} lists together", grouped(lists as u64)),
        format!("epsilon {}, {}", total.epsilon(), delta_words(total.delta())),
    )
}

fn epsilon<K: Key>(release: &Release<K>) -> String {
    match release.boundaries_epsilon {
        0.0 => release.epsilon.to_string(),
        boundaries => format!(
            "{}, {} of it for where panes end",
            release.epsilon,
            plain(boundaries)
        ),
    }
}

fn delta<K: Key>(release: &Release<K>) -> String {
    match (release.delta, horizon(release)) {
        (0.0, _) => "0: the privacy is pure".to_owned(),
        (delta, None) => format!("{delta:e}"),
        (delta, Some(horizon)) => format!("{delta:e}; {horizon}"),
    }
}
