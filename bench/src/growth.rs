//! Panes and bytes of a window as its stream grows, drawn into `docs/growth.svg`.

use std::fs;
use std::path::Path;

use frostpane::{Builder, HeavyHitters, Keys, Policy, Window};

use crate::BenchResult;
use crate::plot::{ChartLine, ChartPanel, draw};
use crate::streams::{uniform, zipf};

const WINDOW: u64 = 1_000_000_000;
/// Short enough for exponential panes of all ages.
const SLIDE: u64 = 16_384;
const LONGEST: usize = 100_000_000;
/// Streams repeat after this many events, since only their skew matters.
const PERIOD: usize = 10_000_000;
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/growth.svg");

pub fn run() -> BenchResult {
    let streams = [("skewed", zipf(PERIOD, 1_000_000)), ("flat", uniform(PERIOD, 1 << 40))];
    let builders = [
        ("exponential", builder(Policy::Exponential).window(Window::events(WINDOW).slide(SLIDE))),
        ("smooth", builder(Policy::Smooth)),
    ];
    let mut panes = Vec::new();
    let mut bytes = Vec::new();
    for (policy, builder) in builders {
        let plan = builder.plan()?;
        println!(
            "{policy}: at most {} panes and {:.0} MB",
            plan.layout.panes,
            plan.memory.total() as f64 / 1e6
        );
        for (stream, keys) in &streams {
            let points = measure(builder.clone().build()?, keys)?;
            let name = format!("{policy}, {stream}");
            for (events, panes, bytes) in &points {
                println!("{name}: {events:.0} events, {panes} panes, {:.1} MB", bytes / 1e6);
            }
            let line = |value: fn(&(f64, f64, f64)) -> f64| ChartLine {
                name: name.clone(),
                points: points.iter().map(|point| (point.0, value(point))).collect(),
            };
            panes.push(line(|point| point.1));
            bytes.push(line(|point| point.2 / 1e6));
        }
    }
    let picture = draw(
        "What a window of a billion events holds, as its stream grows",
        &[
            ChartPanel { title: "panes".to_owned(), lines: panes },
            ChartPanel { title: "megabytes".to_owned(), lines: bytes },
        ],
    );
    fs::write(Path::new(PICTURE), picture)?;
    println!("drawn into docs/growth.svg");
    Ok(())
}

fn builder(policy: Policy) -> Builder<u64> {
    HeavyHitters::<u64>::builder(Keys::open()).policy(policy).alpha(0.1).window(Window::events(WINDOW))
}

/// Events, panes and bytes along a stream.
fn measure(mut hitters: HeavyHitters<u64>, keys: &[u64]) -> frostpane::Result<Vec<(f64, f64, f64)>> {
    let mut points = Vec::new();
    let mut next = 100_000;
    for i in 0..LONGEST {
        hitters.update(keys[i % PERIOD])?;
        if i + 1 == next || i + 1 == LONGEST {
            points.push(((i + 1) as f64, hitters.panes() as f64, hitters.bytes() as f64));
            next = next * 5 / 4;
        }
    }
    Ok(points)
}
