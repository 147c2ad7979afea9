//! Text that stays text: in HTML, in its attributes, in SVG, and in JSON inside a page.

use frostpane::{Key, Release};

use crate::text::{cut, is_unseen, printable};

/// In HTML and SVG, also between quotes.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// The releases as `--json` writes them, in an array that cannot end its script.
pub fn json<K: Key>(releases: &[Release<K>]) -> serde_json::Result<String> {
    let plain = serde_json::to_string(releases)?;
    let mut safe = String::with_capacity(plain.len());
    for c in plain.chars() {
        // All of these stand in strings only, and have four digits at the most.
        if matches!(c, '<' | '>' | '&') || is_unseen(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    Ok(safe)
}

/// A key as the page shows it.
pub struct Name {
    /// All of it.
    pub whole: String,
}

impl Name {
    pub fn of<K: Key>(key: &K) -> Self {
        Self {
            whole: printable(&key.shown().to_string()),
        }
    }

    /// As much as fits, not escaped yet.
    pub fn cut(&self, columns: usize) -> String {
        cut(&self.whole, columns)
    }

    /// For running text: as much as fits, all of it in the title if that is more.
    pub fn html(&self, columns: usize) -> String {
        let short = self.cut(columns);
        let title = match short == self.whole {
            true => String::new(),
            false => format!(" title=\"{}\"", escaped(&self.whole)),
        };
        format!("<bdi class=\"key\"{title}>{}</bdi>", escaped(&short))
    }
}
