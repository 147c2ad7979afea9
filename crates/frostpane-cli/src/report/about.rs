//! What a page is called, where its events come from, and when it was made.

use frostpane::words::moment;
use frostpane::{Key, Release};
use jiff::Timestamp;

use super::escape::escaped;
use crate::args::OUTPUT;
use crate::text::printable;
use crate::units::grouped;

/// What only the one who publishes a page can say about it.
#[derive(clap::Args, Clone, Default)]
pub struct About {
    /// The title of the page [default: as fits the list]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = OUTPUT)]
    pub title: Option<String>,

    /// Where the events come from, as the page is to say it [default: nothing is said]
    #[arg(long, value_name = "TEXT", requires = "report", help_heading = OUTPUT)]
    pub source: Option<String>,
}

impl About {
    /// As it stands in HTML.
    pub fn title<K: Key>(&self, releases: &[Release<K>]) -> String {
        let top = releases.first().and_then(|release| release.top);
        escaped(&match (&self.title, top) {
            (Some(title), _) => printable(title),
            (None, Some(1)) => "The most frequent key".to_owned(),
            (None, Some(top)) => format!("The {} most frequent keys", grouped(top)),
            (None, None) => "The most frequent keys".to_owned(),
        })
    }

    /// Where the events come from, if that was said, and when the page was made.
    pub fn origin(&self, made: Timestamp) -> String {
        let source = self.source.as_deref().map_or(String::new(), |source| {
            format!("Source: {}<br>\n", escaped(&printable(source)))
        });
        format!("{source}Made on {} (UTC)", moment(made))
    }
}
