//! The outcome, for people and for programs.

use std::io::{self, Write};

use anstyle::Style;
use frostpane::Norm;
use frostpane_paper::Composition;
use frostpane_render::TextLayout;
use frostpane_render::text::write_wrapped;
use serde::Serialize;

use super::EVALUATION;
use super::contender::{Contender, Contest, RELEASES};
use super::stream::NumberedStream;
use crate::settings::ReleaseRequest;
use crate::settings::values::grouped;

#[derive(Serialize)]
pub struct ComparisonReport {
    note: &'static str,
    version: &'static str,
    alpha: f64,
    epsilon: f64,
    delta: f64,
    /// Events that each contender saw.
    events: usize,
    window: usize,
    releases: u32,
    contests: Vec<Contest>,
}

const HEADINGS: [&str; 10] =
    ["", "memory", "events/s", "missed", "wrong", "F1", "error", "largest", "noise", "proved"];

impl ComparisonReport {
    pub fn new(request: &ReleaseRequest, stream: &NumberedStream, contests: Vec<Contest>) -> Self {
        Self {
            note: EVALUATION,
            version: env!("CARGO_PKG_VERSION"),
            alpha: request.spec.alpha,
            epsilon: request.spec.epsilon.as_f64(),
            delta: request.spec.delta.as_f64(),
            events: stream.events.len(),
            window: stream.window,
            releases: RELEASES,
            contests,
        }
    }

    pub fn write(&self, out: &mut impl Write, screen: &TextLayout) -> io::Result<()> {
        let wrapped = |out: &mut _, bullet: &str, text: &str| {
            write_wrapped(out, bullet, text, screen.width, Style::new())
        };
        wrapped(out, "", EVALUATION)?;
        for contest in &self.contests {
            writeln!(out)?;
            wrapped(out, "", &self.title(contest))?;
            writeln!(out)?;
            write_table(out, &contest.contenders)?;
            writeln!(out)?;
            for contender in contest.contenders.iter().filter(|contender| !contender.private.proved) {
                wrapped(out, "  ", &format!("{}: {}.", contender.name, contender.private.why))?;
            }
            for note in notes(contest) {
                wrapped(out, "  ", &note)?;
            }
        }
        writeln!(out)?;
        let read = "missed: heavy keys not listed. wrong: keys listed with at most half of a heavy count. \
             error, largest: of listed counts, as parts of a heavy count. noise: its scale in a count, and \
             in brackets what the algorithm's own proof asks for, where that is more. proved: whether the \
             privacy that is claimed holds by proof. All of them are means over the releases. The published \
             algorithms have the constants that fit the memory that Frostpane was given.";
        wrapped(out, "", read)
    }

    fn title(&self, contest: &Contest) -> String {
        let norm = match contest.norm {
            Norm::L1 => "L1",
            Norm::L2 => "L2",
        };
        format!(
            "{norm} heavy hitters at alpha {} and epsilon {} of the last {} of {} events, {} releases each. \
             {} of {} keys are heavy, with {:.0} or more.",
            self.alpha,
            self.epsilon,
            grouped(self.window as u64),
            grouped(self.events as u64),
            self.releases,
            grouped(contest.heavy_keys as u64),
            grouped(contest.distinct_keys as u64),
            contest.heavy_from.ceil(),
        )
    }
}

fn notes(contest: &Contest) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(choice) = &contest.composition {
        notes.push(match choice.theorem {
            Composition::Basic => {
                "noise by its proof: by basic composition, which asks for less than advanced.".to_owned()
            }
            Composition::Advanced => format!(
                "noise by its proof: by the paper's advanced composition, {:.1} times less than by basic.",
                choice.gain
            ),
        });
    }
    if contest.norm == Norm::L2 && contest.continual_left_out.is_none() {
        notes.push(
            "paper, continual: it estimates no norm, and lists from alpha sqrt(W)/2 on, so light keys too."
                .to_owned(),
        );
    }
    if let Some(reason) = &contest.continual_left_out {
        notes.push(format!("paper, continual: left out: {reason}."));
    }
    notes
}

fn write_table(out: &mut impl Write, contenders: &[Contender]) -> io::Result<()> {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(contenders.iter().map(cells));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    for row in rows {
        write!(out, "  {:<width$}", row[0], width = widths[0])?;
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn cells(contender: &Contender) -> [String; 10] {
    let score = &contender.score;
    let part = |value: Option<f64>| match value {
        None => "-".to_owned(),
        Some(value) if value < 100.0 => format!("{value:.3}"),
        Some(value) => brief(value),
    };
    let noise = if contender.needed_noise > contender.noise * 1.001 {
        format!("{} ({})", brief(contender.noise), brief(contender.needed_noise))
    } else {
        brief(contender.noise)
    };
    [
        contender.name.to_owned(),
        format!("{:.1} MB", contender.memory as f64 / 1e6),
        grouped(contender.events_per_second as u64),
        format!("{:.1}", score.missed),
        format!("{:.1}", score.wrong),
        format!("{:.3}", score.f1),
        part(score.mean_error),
        part(score.largest_error),
        noise,
        if contender.private.proved { "yes" } else { "no" }.to_owned(),
    ]
}

fn brief(number: f64) -> String {
    if number < 1e5 { format!("{number:.1}") } else { format!("{number:.1e}") }
}
