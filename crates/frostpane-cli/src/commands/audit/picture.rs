//! Results on both streams of each check, with what the claim allows, as SVG.

use std::fmt::Write;

use frostpane_audit::{Finding, Verdict};

const COLUMNS: usize = 3;
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 210.0;
const TOP: f64 = 84.0;
/// Margins of a panel: left, right, top and bottom.
const MARGINS: [f64; 4] = [44.0, 14.0, 54.0, 26.0];
/// More values are drawn together.
const MOST_BINS: i64 = 40;
/// Values that are rarer on both streams are left out at the ends.
const RARE: f64 = 0.002;

const STYLE: &str = "text { fill: #1d2b36 } .soft { fill: #5d6f7d } .grid { stroke: #c3ced5; fill: none } \
    .one { fill: #0b6fa4; fill-opacity: .55 } .other { fill: #c2410c; fill-opacity: .55 } \
    .bound { stroke: #1d2b36; fill: none; stroke-dasharray: 4 3 } .bad { fill: #b00020; font-weight: 600 } \
    @media (prefers-color-scheme: dark) { svg { background: #10181d } text { fill: #e6eef3 } .soft { fill: #9fb2bf } \
    .grid { stroke: #34434d } .one { fill: #6fb7d6 } .other { fill: #fb923c } .bound { stroke: #e6eef3 } .bad { fill: #ff7b8a } }";

pub fn draw(findings: &[Finding]) -> String {
    let sampled: Vec<&Finding> = findings.iter().filter(|finding| !finding.exact).collect();
    let rows = sampled.len().div_ceil(COLUMNS).max(1);
    let (width, height) = (WIDTH * COLUMNS as f64, TOP + HEIGHT * rows as f64);
    let title = "What came out on two neighbouring streams, and what the claim allows";
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"12\" role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">{title}</title>\n<style>{STYLE}</style>\n\
         <text x=\"20\" y=\"26\" font-size=\"16\" font-weight=\"600\">{title}</text>\n\
         <rect class=\"one\" x=\"20\" y=\"42\" width=\"12\" height=\"12\"/><text x=\"38\" y=\"52\">share of runs on one stream</text>\n\
         <rect class=\"other\" x=\"220\" y=\"42\" width=\"12\" height=\"12\"/><text x=\"238\" y=\"52\">on its neighbour</text>\n\
         <path class=\"bound\" d=\"M370 48 h30\"/><text x=\"408\" y=\"52\">e^epsilon times the neighbour's share, plus delta: no share may truly lie above</text>\n"
    );
    for (number, finding) in sampled.iter().enumerate() {
        let left = WIDTH * (number % COLUMNS) as f64;
        let top = TOP + HEIGHT * (number / COLUMNS) as f64;
        Panel::new(finding, left, top).draw(&mut svg, finding);
    }
    svg + "</svg>\n"
}

/// Shares of runs by shown number, and where they are drawn.
struct Panel {
    first: i64,
    step: i64,
    /// Shares on one stream, on the other, and what the claim allows for the first.
    bins: Vec<[f64; 3]>,
    area: [f64; 4],
}

impl Panel {
    fn new(finding: &Finding, left: f64, top: f64) -> Self {
        let runs = finding.runs.max(1) as f64;
        let share = |counts: &[u64; 2]| counts.map(|count| count as f64 / runs);
        let common = finding
            .tally
            .shown()
            .iter()
            .filter(|(_, counts)| share(counts).into_iter().any(|share| share >= RARE))
            .map(|(value, _)| *value);
        let (first, last) = (common.clone().min().unwrap_or(0), common.max().unwrap_or(0));
        let step = (last - first + 1).div_euclid(MOST_BINS).max(1);
        let mut bins = vec![[0.0; 3]; ((last - first) / step + 1) as usize];
        for (value, counts) in finding.tally.shown().range(first..=last) {
            let bin = &mut bins[((value - first) / step) as usize];
            let [one, other] = share(counts);
            bin[0] += one;
            bin[1] += other;
        }
        for bin in &mut bins {
            bin[2] = finding.epsilon.exp() * bin[1] + finding.delta;
        }
        let area =
            [left + MARGINS[0], left + WIDTH - MARGINS[1], top + MARGINS[2], top + HEIGHT - MARGINS[3]];
        Self { first, step, bins, area }
    }

    fn draw(&self, svg: &mut String, finding: &Finding) {
        let [left, right, top, bottom] = self.area;
        let highest = self.bins.iter().flat_map(|bin| &bin[..2]).fold(0.01_f64, |a, b| a.max(*b));
        let y = |share: f64| bottom - (bottom - top) * (share / highest).min(1.06);
        let width = (right - left) / self.bins.len() as f64;
        self.write_heading(svg, finding, highest);
        let mut bound = String::new();
        for (number, [one, other, allowed]) in self.bins.iter().enumerate() {
            let x = left + width * number as f64;
            for (class, share, x) in [("one", one, x), ("other", other, x + width / 2.0)] {
                let at = y(*share);
                let _ = writeln!(
                    svg,
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{at:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    width * 0.48,
                    bottom - at
                );
            }
            let _ = write!(
                bound,
                "{}{x:.1} {:.1} h{width:.1} ",
                if number == 0 { "M" } else { "L" },
                y(*allowed)
            );
        }
        let _ = writeln!(svg, "<path class=\"bound\" d=\"{bound}\"/>");
    }

    fn write_heading(&self, svg: &mut String, finding: &Finding, highest: f64) {
        let [left, right, top, bottom] = self.area;
        let class = match finding.verdict {
            Verdict::Stood => "soft",
            Verdict::Violated => "bad",
        };
        let last = self.first + self.step * (self.bins.len() as i64 - 1);
        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"{}\" font-weight=\"600\">{}</text>\
             <text x=\"{left}\" y=\"{}\" class=\"{class}\">claimed {}, at least {:.2}</text>\
             <path class=\"grid\" d=\"M{left} {bottom} H{right}\"/>\
             <text x=\"{}\" y=\"{}\" class=\"soft\" text-anchor=\"end\">{:.0} %</text>\
             <text x=\"{left}\" y=\"{}\" class=\"soft\">{}</text>\
             <text x=\"{right}\" y=\"{}\" class=\"soft\" text-anchor=\"end\">{last}</text>",
            top - 32.0,
            finding.check,
            top - 16.0,
            finding.epsilon,
            finding.at_least,
            left - 6.0,
            top + 6.0,
            100.0 * highest,
            bottom + 16.0,
            self.first,
            bottom + 16.0,
        );
    }
}
