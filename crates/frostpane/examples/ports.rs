//! Which ports were contacted most in the last day?
//!
//! All ports are known before any event, so they are declared: every one of them gets noise, including
//! those that nobody contacted, and the release is pure (delta 0).

use std::time::Duration;

use frostpane::{Event, HeavyHitters, Keys, Norm, Window};
use frostpane_render::{grouped, privacy, statements, sure};

const HOUR: Duration = Duration::from_secs(3_600);
/// 2026-01-01, in microseconds since 1970.
const START: i64 = 1_767_225_600_000_000;

fn main() -> frostpane::Result<()> {
    let builder = HeavyHitters::builder(Keys::range(0..65_536)?)
        .norm(Norm::L1)
        .alpha(0.02)
        .epsilon(0.5)
        .window(Window::clock(24 * HOUR).slide(HOUR / 12).lateness(Duration::from_secs(60)));

    // Before any data: the counts that will be listed among half a million connections.
    let forecast = builder.forecast(500_000, None)?;
    let least = grouped(forecast.least_listed);
    println!("Every port with {least} connections or more will be listed.");

    let mut ports = builder.build()?;
    ports.extend(connections().map(|(time, port)| Event::at(time, port)))?;
    let release = ports.release()?;

    println!("\nThe last {} connections:", grouped(release.window.events));
    for heavy in &release.heavy {
        println!("{:>6}  {:>7} to {:>7}", heavy.key, grouped(heavy.low), grouped(heavy.high));
    }
    println!("\n{}", sure(&release));
    for statement in statements(&release) {
        println!("- {}", statement.text());
    }
    println!("{}", privacy(&release));

    let listed: Vec<u64> = release.heavy.iter().map(|heavy| heavy.key).collect();
    assert_eq!(listed, [443, 53, 22]);
    assert_eq!((release.epsilon, release.delta), (0.5, 0.0));
    assert!(release.held());
    Ok(())
}

/// Two days of connections, six a second: most to three ports, every third one of a scan over all of them.
fn connections() -> impl Iterator<Item = (i64, u64)> {
    (0..1_036_800_u64).map(|number| {
        let port = match number % 12 {
            0..5 => 443,
            5..7 => 53,
            7 => 22,
            _ => number * 40_503 % 65_536,
        };
        (START + number as i64 * 1_000_000 / 6, port)
    })
}
