//! A release in all forms that are kept with it, and the sentences about it in one struct.

use std::collections::BTreeMap;
use std::io;
use std::slice::from_ref;

use frostpane::{Key, Release, Span, Spec};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::holds::{holds, why_empty};
use crate::layout::{TextLayout, WindowLabel};
use crate::page::{self, PageInfo};
use crate::privacy::privacy;
use crate::statements::{Statement, empty_note, panes, source, statements, sure};
use crate::titles::{covered, title};
use crate::unit::{meaning, not_hidden};
use crate::warning::Warning;
use crate::{csv, guarantee, table};

/// The sentences about a release for readers of the list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Words))]
pub struct ReaderSummary {
    /// The title of the list.
    pub title: String,
    /// The events that it covers.
    pub covered: String,
    /// All that holds of it at once, a sentence each.
    pub holds: Vec<String>,
    /// The confidence with which it holds.
    pub sure: String,
    /// The protection, and its cost.
    pub privacy: String,
    /// The facts that are not protected.
    pub not_hidden: String,
    /// The reason for which it is empty, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_empty: Option<String>,
}

impl ReaderSummary {
    /// The summary of a release for readers of the list.
    pub fn of<K: Key>(release: &Release<K>) -> Self {
        Self {
            title: title(release),
            covered: covered(release),
            holds: holds(release),
            sure: sure(release),
            privacy: privacy(release),
            not_hidden: not_hidden(release.unit),
            why_empty: why_empty(release),
        }
    }
}

/// The sentences about a release for its operator, who alone may see the warnings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperatorSummary {
    /// The title of the list.
    pub title: String,
    /// The reason for which it is empty, if it is.
    pub empty: Option<String>,
    /// The confidence of the statements.
    pub sure: String,
    /// All that holds at once.
    pub statements: Vec<Statement>,
    /// Anything unusual about its making, and the meaning of its counts.
    pub notes: Vec<String>,
    /// The protection, and its cost.
    pub privacy: String,
    /// The warnings, which are not for publication.
    pub warnings: Vec<String>,
}

impl OperatorSummary {
    /// The summary of a release of a window that was asked for.
    pub fn of<K: Key>(spec: &Spec, asked: Option<Span>, release: &Release<K>) -> Self {
        let notes = [source(release), panes(release)].into_iter().flatten();
        Self {
            title: title(release),
            empty: empty_note(release),
            sure: sure(release),
            statements: statements(release),
            notes: notes.map(str::to_owned).chain(meaning(release.unit)).collect(),
            privacy: privacy(release),
            warnings: Warning::of_any(spec, asked, release).iter().map(Warning::to_string).collect(),
        }
    }
}

/// The table, the CSV, the guarantee and the page of a release by name: `table`, `csv`, `guarantee`,
/// `report`.
pub fn renderings<K: Key>(
    window: Span,
    release: &Release<K>,
    info: &PageInfo,
    made: Timestamp,
) -> io::Result<BTreeMap<String, String>> {
    let (label, layout) = (WindowLabel::from(window), TextLayout::default());
    let releases = [(label.clone(), release.clone())];
    let [mut in_table, mut in_csv, mut in_guarantee, mut in_page] = [const { Vec::new() }; 4];
    table::write(&mut in_table, &releases, &layout, None)?;
    csv::write(&mut in_csv, &releases)?;
    guarantee::write(&mut in_guarantee, &releases, &layout)?;
    page::write(&mut in_page, from_ref(release), &[label], info, made)?;
    [("table", in_table), ("csv", in_csv), ("guarantee", in_guarantee), ("report", in_page)]
        .into_iter()
        .map(|(name, bytes)| Ok((name.to_owned(), String::from_utf8(bytes).map_err(io::Error::other)?)))
        .collect()
}
