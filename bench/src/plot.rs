//! Line charts as SVG, readable in light and in dark.

use std::fmt::Write;

pub struct ChartPanel {
    pub title: String,
    pub lines: Vec<ChartLine>,
}

pub struct ChartLine {
    pub name: String,
    /// The first coordinate has a logarithmic axis.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 340.0;
/// Left, right, top and bottom.
const MARGINS: [f64; 4] = [60.0, 20.0, 64.0, 44.0];
const STYLE: &str = "text { fill: #1d2b36 } .soft { fill: #5d6f7d } .grid { stroke: #d5dde2; fill: none } \
    .l0 { stroke: #0b6fa4; fill: none } .l1 { stroke: #0b6fa4; fill: none; stroke-dasharray: 7 5 } \
    .l2 { stroke: #c2410c; fill: none } .l3 { stroke: #c2410c; fill: none; stroke-dasharray: 7 5 } \
    @media (prefers-color-scheme: dark) { text { fill: #e6eef3 } .soft { fill: #9fb2bf } .grid { stroke: #34434d } \
    .l0, .l1 { stroke: #6fb7d6 } .l2, .l3 { stroke: #fb923c } }";

/// Panels side by side, with one legend.
pub fn draw(title: &str, panels: &[ChartPanel]) -> String {
    let (width, height) = (WIDTH * panels.len() as f64, HEIGHT + 40.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"14\" role=\"img\" aria-labelledby=\"t\">\n<title id=\"t\">{title}</title>\n<style>{STYLE}</style>\n\
         <text x=\"20\" y=\"24\" font-weight=\"600\">{title}</text>\n"
    );
    for (index, panel) in panels.iter().enumerate() {
        draw_panel(&mut svg, panel, WIDTH * index as f64);
    }
    if let Some(panel) = panels.first() {
        for (index, line) in panel.lines.iter().enumerate() {
            let x = 20.0 + (width - 40.0) / panel.lines.len() as f64 * index as f64;
            let y = height - 18.0;
            let _ = writeln!(
                svg,
                "<path class=\"l{index}\" stroke-width=\"2.5\" d=\"M{x} {y} h36\"/><text x=\"{}\" y=\"{}\">{}</text>",
                x + 44.0,
                y + 5.0,
                line.name
            );
        }
    }
    svg + "</svg>\n"
}

fn draw_panel(svg: &mut String, panel: &ChartPanel, left: f64) {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let (first, last) =
        points().fold((f64::MAX, 0.0_f64), |(low, high), point| (low.min(point.0), high.max(point.0)));
    let step = nice_step(points().map(|point| point.1).fold(0.0, f64::max) / 4.0);
    let top = step * (points().map(|point| point.1).fold(0.0, f64::max) / step).ceil();
    let area = [left + MARGINS[0], left + WIDTH - MARGINS[1], MARGINS[2], HEIGHT - MARGINS[3]];
    let x = |value: f64| area[0] + (area[1] - area[0]) * (value / first).ln() / (last / first).ln();
    let y = |value: f64| area[3] - (area[3] - area[2]) * value / top;

    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" class=\"soft\">{}</text>",
        area[0],
        area[2] - 12.0,
        panel.title
    );
    let mut value = 0.0;
    while value <= top * 1.001 {
        let at = y(value);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{:.1} {at:.1} H{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" class=\"soft\" \
             text-anchor=\"end\">{value}</text>",
            area[0],
            area[1],
            area[0] - 8.0,
            at + 5.0
        );
        value += step;
    }
    for power in first.log10().ceil() as i32..=last.log10().floor() as i32 {
        let at = x(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<text x=\"{at:.1}\" y=\"{:.1}\" class=\"soft\" text-anchor=\"middle\">10<tspan dy=\"-5\" \
             font-size=\"10\">{power}</tspan></text>",
            area[3] + 20.0
        );
    }
    for (index, line) in panel.lines.iter().enumerate() {
        let path: Vec<String> =
            line.points.iter().map(|point| format!("{:.1} {:.1}", x(point.0), y(point.1))).collect();
        let _ = writeln!(svg, "<path class=\"l{index}\" stroke-width=\"2.5\" d=\"M{}\"/>", path.join(" L"));
    }
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn nice_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least)
        .unwrap_or(10.0 * power)
}
