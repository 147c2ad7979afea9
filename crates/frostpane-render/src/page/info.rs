//! The title of a page, the source of its events, and the time of its making.

use frostpane::numbers::grouped;
use frostpane::{Key, Release};
use jiff::Timestamp;

use super::escape::escaped;
use crate::moments::moment;
use crate::text::printable;

/// Facts about a page that its publisher alone knows.
#[derive(Clone, Default)]
pub struct PageInfo {
    /// The title; by default one that fits the list.
    pub title: Option<String>,
    /// The source of the events; by default none is named.
    pub source: Option<String>,
}

impl PageInfo {
    pub(super) fn title<K: Key>(&self, releases: &[Release<K>]) -> String {
        let top = releases.first().and_then(|release| release.top);
        escaped(&match (&self.title, top) {
            (Some(title), _) => printable(title),
            (None, Some(1)) => "The most frequent key".to_owned(),
            (None, Some(top)) => format!("The {} most frequent keys", grouped(top)),
            (None, None) => "The most frequent keys".to_owned(),
        })
    }

    pub(super) fn origin(&self, made: Timestamp) -> String {
        let source = self
            .source
            .as_deref()
            .map_or(String::new(), |source| format!("Source: {}<br>\n", escaped(&printable(source))));
        format!("{source}Made on {} (UTC)", moment(made))
    }
}
