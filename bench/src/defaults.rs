//! What to choose where nobody chose: tables over real streams, as Markdown.

use std::time::Instant;

use frostpane::internals::InsecureSeededEntropy;
use frostpane::{Builder, Bytes, Continual, Edge, Event, HeavyHitters, Keys, Norm, Policy, Release, Window};

use crate::Outcome;
use crate::real::{Stream, streams};

const WINDOW: usize = 300_000;
/// Windows of a list at every slide.
const WATCHED: usize = 100_000;
/// Streams with so many events are a window, too.
const LARGE: usize = 3_000_000;
/// Windows that begin at different places of a pane.
const PLACES: u64 = 8;
const RELEASES_AT_A_PLACE: u64 = 10;
const RELEASES: u64 = 20;
/// Of a list at every slide, so many lists are looked at.
const LISTS: u64 = 8;

const SLIDES: [u64; 3] = [64, 256, 1_000];
const ALPHAS: [f64; 4] = [0.1, 0.05, 0.02, 0.01];
const DELTAS: [f64; 4] = [1e-6, 1e-7, 1e-9, 1e-12];
const LENGTHS: [usize; 3] = [3_000, 30_000, 300_000];
const PANES: [u64; 3] = [32, 64, 128];

type Change = fn(Builder<Bytes>) -> Builder<Bytes>;

pub fn run() -> Outcome {
    let streams = streams().collect::<std::io::Result<Vec<_>>>()?;
    slides(&streams)?;
    alphas(&streams)?;
    deltas(&streams)?;
    panes(&streams)?;
    Ok(())
}

fn builder() -> Builder<Bytes> {
    HeavyHitters::builder(Keys::open())
}

fn heading(title: &str, columns: &[&str]) {
    println!("\n## {title}\n\n| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
}

fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// How long panes are: what of it the window asked for gains, and what it costs.
fn slides(streams: &[Stream]) -> frostpane::Result<()> {
    heading(
        "The slide",
        &[
            "stream",
            "window",
            "heavy",
            "slide",
            "promises, covered",
            "promises, asked",
            "slack",
            "noise",
            "cut",
            "threshold",
            "MB foreseen",
            "MB held",
            "million events/s",
            "release, ms",
        ],
    );
    let settings: [(&str, Change); 2] = [
        ("L2 0.05", |builder| builder),
        ("L1 0.01", |builder| builder.norm(Norm::L1).alpha(0.01)),
    ];
    let mut held = [[0; 2]; SLIDES.len()];
    let mut windows = 0;
    for stream in streams {
        for window in windows_of(stream) {
            windows += 1;
            for (setting, (name, change)) in settings.into_iter().enumerate() {
                for (slide, panes) in SLIDES.into_iter().enumerate() {
                    let measured = Slid::measure(stream, window, panes, change)?;
                    held[slide][setting] += u64::from(measured.held_asked >= 0.95);
                    row(&measured.cells(stream, window, name, panes));
                }
            }
        }
    }
    for (panes, [l2, l1]) in SLIDES.into_iter().zip(held) {
        println!(
            "\nA {panes}th of the window: the promises for the window asked for hold on {l2} (L2) and {l1} (L1) of {windows}."
        );
    }
    Ok(())
}

fn windows_of(stream: &Stream) -> Vec<u64> {
    let whole = stream.len() / 21 * 20;
    match stream.len() >= LARGE {
        true => vec![WINDOW as u64, whole as u64],
        false => vec![WINDOW.min(whole) as u64],
    }
}

/// What is seen of windows with a certain slide.
struct Slid {
    held: f64,
    held_asked: f64,
    slack: f64,
    noise: f64,
    cut: u64,
    threshold: f64,
    foreseen: u64,
    bytes: u64,
    rate: f64,
    milliseconds: f64,
}

impl Slid {
    fn measure(stream: &Stream, window: u64, panes: u64, change: Change) -> frostpane::Result<Self> {
        let slide = window.div_ceil(panes);
        let builder = change(builder())
            .policy(Policy::Uniform)
            .releases((PLACES * RELEASES_AT_A_PLACE) as u32)
            .window(Window::events(slide * panes).slide(slide));
        let foreseen = builder.plan()?.memory.total();
        let mut hitters = builder.build()?;
        let start = Instant::now();
        let events = stream.len() - window as usize / 20 * 21..stream.len();
        hitters.update_batch(stream.keys(events.clone()))?;
        let rate = events.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
        let start = Instant::now();
        let mut releases = Vec::new();
        for seed in 0..PLACES * RELEASES_AT_A_PLACE {
            // By parts of the longest pane, so that windows of all slides begin at the same places.
            let shorter = (seed % PLACES) * (window / SLIDES[0]) / PLACES + 1;
            let mut entropy = InsecureSeededEntropy::new(seed);
            releases.push(hitters.release_with_entropy(window - shorter, &mut entropy)?);
        }
        let runs = releases.len() as f64;
        let mean = |number: fn(&Release<Bytes>) -> f64| releases.iter().map(number).sum::<f64>() / runs;
        Ok(Self {
            held: mean(|release| f64::from(release.held())),
            held_asked: mean(|release| {
                let promises = release.asked.promises.as_ref();
                f64::from(promises.is_some_and(|promises| promises.held))
            }),
            slack: mean(|release| release.asked.slack.map_or(f64::NAN, |slack| slack as f64)),
            noise: mean(|release| release.noise as f64),
            cut: releases[0].cut,
            threshold: mean(|release| release.threshold as f64),
            foreseen,
            bytes: hitters.bytes(),
            rate,
            milliseconds: start.elapsed().as_secs_f64() * 1e3 / runs,
        })
    }

    fn cells(&self, stream: &Stream, window: u64, setting: &str, panes: u64) -> Vec<String> {
        vec![
            stream.name.to_owned(),
            window.to_string(),
            setting.to_owned(),
            format!("1/{panes}"),
            format!("{:.2}", self.held),
            format!("{:.2}", self.held_asked),
            format!("{:.0}", self.slack),
            format!("{:.0}", self.noise),
            self.cut.to_string(),
            format!("{:.0}", self.threshold),
            format!("{:.1}", self.foreseen as f64 / 1e6),
            format!("{:.1}", self.bytes as f64 / 1e6),
            format!("{:.1}", self.rate),
            format!("{:.1}", self.milliseconds),
        ]
    }
}

/// Seeded releases of the last events of a stream, with a known end.
fn releases_of(
    stream: &Stream,
    window: usize,
    change: impl Fn(Builder<Bytes>) -> Builder<Bytes>,
) -> frostpane::Result<Vec<Release<Bytes>>> {
    let mut hitters = change(builder())
        .releases(RELEASES as u32)
        .window(Window::events(window as u64))
        .until(Edge::Event(window as u64))
        .build()?;
    hitters.update_batch(stream.keys(stream.len() - window..stream.len()))?;
    (0..RELEASES)
        .map(|seed| hitters.release_with_entropy(window as u64, &mut InsecureSeededEntropy::new(seed)))
        .collect()
}

fn listed(releases: &[Release<Bytes>]) -> f64 {
    let listed: usize = releases.iter().map(|release| release.heavy.len()).sum();
    listed as f64 / releases.len() as f64
}

/// How many keys are listed, and in how many of the releases the promises are made.
fn listed_and_held(releases: &[Release<Bytes>]) -> String {
    let held = releases.iter().filter(|release| release.held()).count();
    match held == releases.len() {
        true => format!("{:.0}", listed(releases)),
        false => format!(
            "{:.0} ({:.0} % held)",
            listed(releases),
            100.0 * held as f64 / releases.len() as f64
        ),
    }
}

/// How many of the keys that privacy lets through an alpha shows.
fn alphas(streams: &[Stream]) -> frostpane::Result<()> {
    for norm in [Norm::L2, Norm::L1] {
        let title = format!("Alpha, {norm:?}: keys listed of a window of {WINDOW}");
        heading(
            &title,
            &[
                "stream",
                "0.1",
                "0.05",
                "0.02",
                "0.01",
                "all",
                "at least the floor",
            ],
        );
        for stream in streams {
            let window = WINDOW.min(stream.len());
            let mut cells = vec![stream.name.to_owned()];
            for alpha in ALPHAS {
                let releases = releases_of(stream, window, |builder| builder.norm(norm).alpha(alpha))?;
                cells.push(listed_and_held(&releases));
            }
            let all = releases_of(stream, window, |builder| builder.all())?;
            let truth = stream.truth(stream.len() - window..stream.len());
            cells.push(format!("{:.0}", listed(&all)));
            cells.push(truth.at_least(all[0].threshold).to_string());
            row(&cells);
        }
    }
    Ok(())
}

/// What delta costs.
fn deltas(streams: &[Stream]) -> frostpane::Result<()> {
    let settings: [(&str, Change); 3] = [
        ("all", |builder| builder.all()),
        ("L2 0.05", |builder| builder),
        ("L1 0.01", |builder| builder.norm(Norm::L1).alpha(0.01)),
    ];
    for (name, change) in settings {
        let title = format!("Delta, {name}: the threshold, and keys listed");
        heading(&title, &["stream", "window", "1e-6", "1e-7", "1e-9", "1e-12"]);
        for stream in streams {
            for window in LENGTHS.map(|length| length.min(stream.len())) {
                let mut cells = vec![stream.name.to_owned(), window.to_string()];
                for delta in DELTAS {
                    let releases = releases_of(stream, window, |builder| change(builder).delta(delta))?;
                    let threshold: u64 = releases.iter().map(|release| release.threshold).sum();
                    cells.push(format!("{}: {:.0}", threshold / RELEASES, listed(&releases)));
                }
                row(&cells);
            }
        }
    }
    Ok(())
}

/// How many slides a window has whose list comes at every slide.
fn panes(streams: &[Stream]) -> frostpane::Result<()> {
    let settings: [(&str, Change); 3] = [
        ("all", |builder| builder.all()),
        ("L2 0.05", |builder| builder),
        ("L1 0.01", |builder| builder.norm(Norm::L1).alpha(0.01)),
    ];
    for (name, change) in settings {
        let title = format!("A list at every slide, window {WATCHED}, {name}");
        heading(
            &title,
            &[
                "stream",
                "slides",
                "threshold",
                "noise",
                "listed",
                "at least the threshold",
                "mean error",
                "promises held",
                "MB held",
            ],
        );
        for stream in streams {
            for slides in PANES {
                row(&watch(stream, slides, change)?);
            }
        }
    }
    Ok(())
}

fn watch(stream: &Stream, slides: u64, change: Change) -> frostpane::Result<Vec<String>> {
    let slide = (WATCHED as u64).div_ceil(slides);
    let window = (slide * slides) as usize;
    let builder = change(builder()).window(Window::events(slide * slides).slide(slide));
    let mut continual = builder.continual()?;
    let mut lists = Vec::new();
    let events = stream.keys(0..stream.len().min(2 * window)).map(Event::of);
    let mut ended = 0;
    let due = |continual: &Continual<Bytes>| {
        ended += 1;
        if ended > slides && ended % (slides / LISTS) == 0 {
            lists.push(continual.release());
        }
    };
    continual.extend(events, due)?;
    let lists = lists.into_iter().collect::<frostpane::Result<Vec<_>>>()?;
    let (mut at_least, mut keys, mut errors) = (0, 0, 0);
    for list in &lists {
        let (Some(Edge::Event(from)), Some(Edge::Event(to))) = (list.window.from, list.window.to) else {
            continue;
        };
        let truth = stream.truth(from as usize..to as usize);
        at_least += truth.at_least(list.threshold);
        keys += list.heavy.len();
        let error = |heavy: &frostpane::Heavy<Bytes>| heavy.count.abs_diff(truth.of(&heavy.key));
        errors += list.heavy.iter().map(error).sum::<u64>();
    }
    let runs = lists.len() as f64;
    let mean = |number: fn(&Release<Bytes>) -> f64| lists.iter().map(number).sum::<f64>() / runs;
    Ok(vec![
        stream.name.to_owned(),
        slides.to_string(),
        format!("{:.0}", mean(|list| list.threshold as f64)),
        format!("{:.0}", mean(|list| list.noise as f64)),
        format!("{:.1}", keys as f64 / runs),
        format!("{:.1}", at_least as f64 / runs),
        match keys {
            0 => "-".to_owned(),
            keys => format!("{:.1}", errors as f64 / keys as f64),
        },
        format!("{:.2}", mean(|list| f64::from(list.held()))),
        format!("{:.1}", continual.bytes() as f64 / 1e6),
    ])
}
