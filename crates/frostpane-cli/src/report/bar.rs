//! A bar with its whiskers, as wide as its cell. Places are shares of that in percent.

/// A bar from one place to another, and between which places its end may be.
pub struct Bar {
    pub from: f64,
    pub to: f64,
    pub whiskers: (f64, f64),
}

impl Bar {
    /// The numbers beside it say the same: those who cannot see it miss nothing. `behind` is drawn before the
    /// whiskers.
    pub fn svg(&self, behind: &str) -> String {
        let (low, high) = (percent(self.whiskers.0), percent(self.whiskers.1));
        let whisker = |x1: &str, x2: &str, y1: u32, y2: u32| {
            format!("<line x1=\"{x1}\" x2=\"{x2}\" y1=\"{y1}\" y2=\"{y2}\"/>")
        };
        format!(
            "<svg width=\"100%\" height=\"16\">\
             <rect class=\"fill\" x=\"{}\" y=\"2\" width=\"{}\" height=\"12\"/>{behind}\
             <g class=\"whisker\">{}{}{}</g></svg>",
            percent(self.from),
            percent(self.to - self.from),
            whisker(&low, &high, 8, 8),
            whisker(&low, &low, 4, 12),
            whisker(&high, &high, 4, 12)
        )
    }
}

/// As an attribute has it.
pub fn percent(share: f64) -> String {
    format!("{share:.3}%")
}
