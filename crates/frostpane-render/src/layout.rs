//! The width and the styles of text output.

use anstyle::Style;
use frostpane::Span;
use frostpane::numbers::grouped;

/// The width of files and pipes.
pub const FILE_WIDTH: usize = 100;

/// The width and the styles of an output.
pub struct TextLayout {
    /// The width in columns.
    pub width: usize,
    /// The styles of its parts.
    pub styles: Styles,
}

/// The styles of the parts of a text: all plain by default.
#[derive(Default)]
pub struct Styles {
    /// Bars.
    pub bar: Style,
    /// Intervals of counts.
    pub interval: Style,
    /// Statements that warn.
    pub warning: Style,
    /// Headings.
    pub heading: Style,
}

/// The layout of a file.
impl Default for TextLayout {
    fn default() -> Self {
        Self { width: FILE_WIDTH, styles: Styles::default() }
    }
}

/// A window as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowLabel {
    /// The text that was given.
    pub text: String,
    /// Its length.
    pub span: Span,
}

impl From<Span> for WindowLabel {
    fn from(span: Span) -> Self {
        Self { text: span.to_string(), span }
    }
}

impl WindowLabel {
    /// The window in running text.
    pub fn spoken(&self) -> String {
        match self.span {
            Span::Events(events) => format!("{} events", grouped(events)),
            Span::Clock(_) => self.text.clone(),
        }
    }
}
