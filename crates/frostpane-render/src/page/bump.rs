//! Rank over time: a chart with a line for each key that was ever among the first, and a table.

use frostpane::Key;
use frostpane::numbers::grouped;

use super::escape::{escaped, key_html, key_text};
use super::list::KEY_COLUMNS;
use super::trend::{RankLine, TOP, Trend};
use crate::text::cut;

/// The lowest rank that is drawn.
const DEEPEST: usize = 20;
const COLOURS: usize = 8;

/// In pixels.
const GUTTER: f64 = 150.0;
const HEAD: f64 = 34.0;
const LANE: f64 = 34.0;
const DOT: f64 = 11.0;
/// The width of all steps together, unless a step would be too wide or too narrow.
const SPREAD: f64 = 740.0;
const STEPS: (f64, f64) = (46.0, 180.0);
/// The width of a letter, roughly.
const LETTER: f64 = 7.5;
const LABEL_COLUMNS: usize = 16;
const ROW_COLUMNS: usize = 24;

pub fn section<K: Key>(trend: &Trend<'_, K>) -> String {
    if trend.lines.is_empty() {
        return "<section><h2>Rank over time</h2>\n<p class=\"empty\">No list names a key.</p></section>\n"
            .to_owned();
    }
    format!(
        "<section class=\"trend\">\n<h2>Rank over time</h2>\n\
         <p>The keys that were ever among the first {TOP}, from the list up to {} to the one up to {}. \
         A gap: not listed then, or below rank {DEEPEST}. Keys whose intervals overlap may stand in either \
         order.</p>\n{}{}</section>\n",
        trend.labels[0],
        trend.labels[trend.labels.len() - 1],
        chart(trend),
        table(trend)
    )
}

/// The style rules by which a row of the table highlights its line.
pub fn rules<K: Key>(trend: &Trend<'_, K>) -> String {
    let rule =
        |index| format!(".trend:has(.r{index}:is(:hover,:focus)) .series:not(.s{index}){{opacity:.12}}\n");
    (0..trend.lines.len()).map(rule).collect()
}

struct ChartFrame {
    step: f64,
    releases: usize,
    lanes: usize,
}

impl ChartFrame {
    fn of<K: Key>(trend: &Trend<'_, K>) -> Self {
        let steps = trend.releases.len() - 1;
        let ranks = trend.lines.iter().flat_map(|line| line.ranks.iter().flatten());
        Self {
            step: (SPREAD / steps as f64).clamp(STEPS.0, STEPS.1),
            releases: trend.releases.len(),
            lanes: ranks.copied().filter(|rank| *rank <= DEEPEST).max().unwrap_or(1),
        }
    }

    fn x(&self, release: usize) -> f64 {
        GUTTER + self.step * release as f64
    }

    fn y(&self, rank: usize) -> f64 {
        HEAD + LANE * (rank as f64 - 0.5)
    }

    fn height(&self) -> f64 {
        HEAD + LANE * self.lanes as f64
    }
}

fn chart<K: Key>(trend: &Trend<'_, K>) -> String {
    let frame = ChartFrame::of(trend);
    let (width, height) = (GUTTER + frame.x(frame.releases - 1), frame.height());
    let mut svg = format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Chart of ranks over time\" tabindex=\"0\">\
         <svg class=\"bump\" role=\"img\" aria-labelledby=\"bump-title bump-desc\" \
         width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <title id=\"bump-title\">Rank of keys over time</title>\n<desc id=\"bump-desc\">{}</desc>\n",
        escaped(&description(trend))
    );
    svg += &axis(trend, &frame);
    for (index, line) in trend.lines.iter().enumerate() {
        svg += &series(line, index, &frame, &trend.labels);
    }
    svg + "</svg></div>\n"
}

fn description<K: Key>(trend: &Trend<'_, K>) -> String {
    let first = |release: usize| {
        let heavy = trend.releases[release].heavy.first();
        heavy.map_or("no key".to_owned(), |heavy| cut(&key_text(&heavy.key), KEY_COLUMNS))
    };
    let last = trend.releases.len() - 1;
    format!(
        "{} lists and {} keys. First in rank was {} up to {}, and {} up to {}. \
         The table below has all ranks and counts.",
        trend.releases.len(),
        trend.lines.len(),
        first(0),
        trend.labels[0],
        first(last),
        trend.labels[last]
    )
}

/// The ends of the windows, or every few of them if there are many.
fn axis<K: Key>(trend: &Trend<'_, K>, frame: &ChartFrame) -> String {
    let longest = trend.labels.iter().map(String::len).max().unwrap_or(0);
    let every = ((longest as f64 + 2.0) * LETTER / frame.step).ceil().max(1.0) as usize;
    let last = frame.releases - 1;
    let mut svg = String::from("<g class=\"axis\">\n");
    for (index, label) in trend.labels.iter().enumerate() {
        let x = frame.x(index);
        svg += &format!("<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{HEAD}\" y2=\"{:.1}\"/>\n", frame.height());
        if (last - index).is_multiple_of(every) {
            svg += &format!("<text x=\"{x:.1}\" y=\"16\">{}</text>\n", escaped(label));
        }
    }
    svg + "</g>\n"
}

fn series<K: Key>(line: &RankLine<'_, K>, index: usize, frame: &ChartFrame, labels: &[String]) -> String {
    let name = key_text(line.key);
    let colour = index % COLOURS;
    let mut svg = format!("<g class=\"series s{index} c{colour}\"><title>{}</title>\n", escaped(&name));
    for run in runs(&line.ranks) {
        let points: Vec<String> = run
            .iter()
            .map(|(release, rank)| format!("{:.1},{:.1}", frame.x(*release), frame.y(*rank)))
            .collect();
        svg += &format!("<polyline points=\"{}\"/>\n", points.join(" "));
        for (release, rank) in &run {
            svg += &dot(frame, *release, *rank, &labels[*release]);
        }
    }
    svg += &direct_labels(&line.ranks, &name, frame);
    svg + "</g>\n"
}

fn dot(frame: &ChartFrame, release: usize, rank: usize, label: &str) -> String {
    let (x, y) = (frame.x(release), frame.y(rank));
    format!(
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT}\"><title>{}</title></circle>\
         <text class=\"rank\" x=\"{x:.1}\" y=\"{:.1}\">{rank}</text>\n",
        escaped(&format!("rank {rank} up to {label}")),
        y + 4.0
    )
}

/// The name at both ends, or above the last dot of a key that is at neither.
fn direct_labels(ranks: &[Option<usize>], name: &str, frame: &ChartFrame) -> String {
    let last = ranks.len() - 1;
    let (at_first, at_last) = (drawn(ranks[0]), drawn(ranks[last]));
    let text = |class: &str, x: f64, y: f64| {
        format!(
            "<text class=\"name {class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n",
            escaped(&cut(name, LABEL_COLUMNS))
        )
    };
    let beside = DOT + 8.0;
    let mut svg = String::new();
    if let Some(rank) = at_first {
        svg += &text("before", frame.x(0) - beside, frame.y(rank) + 4.5);
    }
    if let Some(rank) = at_last {
        svg += &text("after", frame.x(last) + beside, frame.y(rank) + 4.5);
    }
    let mut seen = ranks.iter().enumerate().filter_map(|(release, rank)| Some((release, drawn(*rank)?)));
    if let (None, None, Some((release, rank))) = (at_first, at_last, seen.next_back()) {
        svg += &text("above", frame.x(release), frame.y(rank) - DOT - 2.0);
    }
    svg
}

fn drawn(rank: Option<usize>) -> Option<usize> {
    rank.filter(|rank| *rank <= DEEPEST)
}

/// The runs of consecutive releases that list the key, with its ranks.
fn runs(ranks: &[Option<usize>]) -> Vec<Vec<(usize, usize)>> {
    let ranks = ranks.iter().enumerate();
    let dots: Vec<_> = ranks.map(|(release, rank)| Some((release, drawn(*rank)?))).collect();
    let runs = dots.split(Option::is_none).map(|run| run.iter().flatten().copied().collect());
    runs.filter(|run: &Vec<_>| !run.is_empty()).collect()
}

fn table<K: Key>(trend: &Trend<'_, K>) -> String {
    let mut html = String::from(
        "<details class=\"ranks\"><summary>Ranks and counts as a table</summary>\n\
         <div class=\"scroll\" role=\"region\" aria-label=\"Ranks and counts\" tabindex=\"0\">\n\
         <table><caption>Rank, and the noisy count, of each key in each list</caption>\n\
         <thead><tr><th scope=\"col\">Key</th>",
    );
    for label in &trend.labels {
        html += &format!("<th scope=\"col\">{}</th>", escaped(label));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (index, line) in trend.lines.iter().enumerate() {
        let name = key_html(line.key, ROW_COLUMNS);
        html += &format!("<tr class=\"r{index}\" tabindex=\"0\"><th scope=\"row\">{name}</th>");
        for (release, rank) in trend.releases.iter().zip(&line.ranks) {
            html += &match rank {
                Some(rank) => format!(
                    "<td><b>{rank}</b> <span class=\"small\">{}</span></td>",
                    grouped(release.heavy[rank - 1].count)
                ),
                None => "<td class=\"small\">not listed</td>".to_owned(),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div></details>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_where_a_key_was_not_listed() {
        let ranks = [Some(1), Some(2), None, Some(30), Some(3), None];
        assert_eq!(runs(&ranks), [vec![(0, 1), (1, 2)], vec![(4, 3)]]);
        assert!(runs(&[None, None]).is_empty());
    }
}
