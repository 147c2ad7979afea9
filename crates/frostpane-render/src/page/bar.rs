//! A bar with whiskers, as wide as its cell. Positions are in percent of that width.

/// A bar from one position to another, and the interval of its end.
pub struct Bar {
    pub from: f64,
    pub to: f64,
    pub whiskers: (f64, f64),
}

impl Bar {
    /// The numbers beside it say the same, so it needs no description. `behind` is drawn before the whiskers.
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

pub fn percent(share: f64) -> String {
    format!("{share:.3}%")
}
