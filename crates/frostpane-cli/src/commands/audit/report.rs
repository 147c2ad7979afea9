//! The outcome of an audit, as text and as JSON.

use std::io::{self, Write};

use anstyle::Style;
use frostpane_audit::{Audit, Finding, Verdict};
use frostpane_render::TextLayout;
use frostpane_render::text::write_wrapped;
use serde::Serialize;

#[derive(Serialize)]
pub struct AuditReport {
    note: &'static str,
    version: &'static str,
    /// Probability that no bound is above the truth.
    confidence: f64,
    short: bool,
    mutant: Option<&'static str>,
    stood: bool,
    #[serde(rename = "checks")]
    pub findings: Vec<Finding>,
}

const VIOLATED: &str = "VIOLATED";
const HEADINGS: [&str; 6] = ["check", "epsilon", "delta", "at least", "verdict", "what it tests"];

impl AuditReport {
    pub fn new(audit: &Audit, short: bool, findings: Vec<Finding>) -> Self {
        let mut report = Self {
            note: "evidence, not proof: a claim that stood may fail on other streams",
            version: env!("CARGO_PKG_VERSION"),
            confidence: audit.confidence,
            short,
            mutant: audit.mutant.map(|mutant| mutant.name()),
            stood: true,
            findings,
        };
        report.stood = report.fallen() == 0;
        report
    }

    pub fn fallen(&self) -> usize {
        let fallen = |finding: &&Finding| !finding.published && finding.verdict == Verdict::Violated;
        self.findings.iter().filter(fallen).count()
    }

    pub fn of_frostpane(&self) -> usize {
        self.findings.iter().filter(|finding| !finding.published).count()
    }

    pub fn write(&self, out: &mut impl Write, screen: &TextLayout) -> io::Result<()> {
        let (published, own): (Vec<_>, Vec<_>) = self.findings.iter().partition(|finding| finding.published);
        let wrapped = |out: &mut _, text: &str| write_wrapped(out, "", text, screen.width, Style::new());
        if !own.is_empty() {
            wrapped(out, &self.title())?;
            writeln!(out)?;
            write_table(out, &own, screen)?;
            writeln!(out)?;
            wrapped(out, &self.verdict())?;
        }
        if !own.is_empty() && !published.is_empty() {
            writeln!(out)?;
        }
        if !published.is_empty() {
            wrapped(
                out,
                "The published algorithms, with the noise of their proofs or as printed, on streams that show what does not hold of them (docs/paper.md):",
            )?;
            writeln!(out)?;
            write_table(out, &published, screen)?;
        }
        writeln!(out)?;
        wrapped(
            out,
            "at least: a lower bound on the true epsilon at the claimed delta; those of checks marked with = \
             are calculated, and ∞ means that no epsilon would do. It cannot see timing, memory, or what the \
             operator does.",
        )
    }

    fn title(&self) -> String {
        let subject = match self.mutant {
            Some(mutant) => format!("Frostpane {} broken on purpose ({mutant})", self.version),
            None => format!("Frostpane {}", self.version),
        };
        format!(
            "An audit of {subject}. With {:.0} % confidence all bounds hold together. It is {}.",
            100.0 * self.confidence,
            self.note
        )
    }

    fn verdict(&self) -> String {
        match self.fallen() {
            0 => format!("All {} claims stood.", self.of_frostpane()),
            fallen => format!("{fallen} of {} claims do not hold.", self.of_frostpane()),
        }
    }
}

fn write_table(out: &mut impl Write, findings: &[&Finding], screen: &TextLayout) -> io::Result<()> {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(findings.iter().map(|finding| cells(finding)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    for row in &rows {
        let mut numbers = "  ".to_owned();
        for (column, (cell, width)) in row.iter().zip(&widths).take(5).enumerate() {
            numbers += &match column {
                1..=3 => format!("{cell:>width$}  "),
                _ => format!("{cell:<width$}  "),
            };
        }
        let style = if row[4] == VIOLATED { screen.styles.warning } else { Style::new() };
        write_wrapped(out, &numbers, &row[5], screen.width, style)?;
    }
    Ok(())
}

fn cells(finding: &Finding) -> [String; 6] {
    let bound =
        if finding.at_least.is_finite() { format!("{:.3}", finding.at_least) } else { "∞".to_owned() };
    [
        finding.check.to_owned(),
        finding.epsilon.to_string(),
        delta(finding.delta),
        if finding.exact { format!("= {bound}") } else { bound },
        match finding.verdict {
            Verdict::Stood => "stood".to_owned(),
            Verdict::Violated => VIOLATED.to_owned(),
        },
        finding.tests.to_owned(),
    ]
}

/// Small deltas as powers of ten.
fn delta(delta: f64) -> String {
    match delta {
        small if small > 0.0 && small < 1e-3 => format!("{small:e}"),
        delta => delta.to_string(),
    }
}
