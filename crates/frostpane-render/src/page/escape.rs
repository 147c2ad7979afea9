//! Escaping: of text in HTML, its attributes and SVG, and of JSON inside a page.

use frostpane::{Key, Release};

use crate::text::{cut, is_unseen, printable};

/// The text as it stands in HTML and SVG, also between quotes.
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
        // All of these occur within strings only, and have at most four digits.
        if matches!(c, '<' | '>' | '&') || is_unseen(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    Ok(safe)
}

pub struct KeyName {
    pub whole: String,
}

impl KeyName {
    pub fn of<K: Key>(key: &K) -> Self {
        Self { whole: printable(&key.shown().to_string()) }
    }

    pub fn cut(&self, columns: usize) -> String {
        cut(&self.whole, columns)
    }

    /// The name cut to a width, all of it in the title if it is longer.
    pub fn html(&self, columns: usize) -> String {
        let short = self.cut(columns);
        let title =
            if short == self.whole { String::new() } else { format!(" title=\"{}\"", escaped(&self.whole)) };
        format!("<bdi class=\"key\"{title}>{}</bdi>", escaped(&short))
    }
}
