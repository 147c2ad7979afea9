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

/// A key as text that is safe to show.
pub fn key_text<K: Key>(key: &K) -> String {
    printable(&key.shown().to_string())
}

/// A key cut to a width, all of it in the title if it is longer.
pub fn key_html<K: Key>(key: &K, columns: usize) -> String {
    let whole = key_text(key);
    let short = cut(&whole, columns);
    let title = if short == whole { String::new() } else { format!(" title=\"{}\"", escaped(&whole)) };
    format!("<bdi class=\"key\"{title}>{}</bdi>", escaped(&short))
}
