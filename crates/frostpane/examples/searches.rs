//! What was searched for in the last hour, day and week, and what do the three releases cost together?
//!
//! Searches are not known in advance, so keys are open: a search that was made once is named with
//! probability at most delta. The request is a specification, as `frostpane list --spec` reads it.

use frostpane::{Builder, Bytes, Cost, Event, Keys, Spec};
use frostpane_render::{grouped, policy_reason, together};

const SPEC: &str = r#"{
    "version": 1,
    "norm": "l2",
    "alpha": 0.05,
    "epsilon": 0.5,
    "delta": 1e-10,
    "window": ["1h", "1d", "7d"]
}"#;

const SEARCHES: [&str; 6] = ["weather", "news", "pancakes", "train times", "yoga", "visa"];
/// 2026-01-01, in microseconds since 1970.
const START: i64 = 1_767_225_600_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec: Spec = serde_json::from_str(SPEC)?;
    let windows = spec.windows.clone();
    let builder = Builder::<Bytes>::from_spec(spec, Keys::open());
    let choice = builder.choice()?;
    println!("Panes are {:?}: {}.", choice.policy, policy_reason(choice.reason));

    let mut searches = builder.clone().build()?;
    let stream: Vec<(i64, String)> = stream().collect();
    searches.extend(stream.iter().map(|(time, search)| Event::at(*time, search.as_bytes())))?;

    let mut releases = Vec::new();
    for window in windows {
        let release = searches.release_over(window)?;
        println!("\nThe last {window}, {} searches:", grouped(release.window.events));
        for heavy in &release.heavy {
            let search = String::from_utf8_lossy(&heavy.key);
            println!("{search:>12}  {:>7} to {:>7}", grouped(heavy.low), grouped(heavy.high));
        }
        releases.push(release);
    }
    println!("\nOf an event in all of them, {}.", together(&releases));

    // The power cut shows in the last hour, but not in the week.
    let first = |index: usize| String::from_utf8_lossy(&releases[index].heavy[0].key);
    assert_eq!([first(0), first(1), first(2)], ["power cut", "weather", "weather"]);
    let cost = Cost::of(&releases);
    assert_eq!((cost.epsilon(), cost.delta()), (1.5, 3e-10));
    assert_eq!(cost, builder.cost()?);
    // A fourth release of the same events was not asked for, and is refused.
    assert!(searches.release().is_err());
    Ok(())
}

/// A week of searches, one a second: a few by many users, very many by one user, and a power cut.
fn stream() -> impl Iterator<Item = (i64, String)> {
    const WEEK: i64 = 7 * 86_400;
    (0..WEEK).map(|second| {
        let search = match second % 10 {
            0..3 if second >= WEEK - 3_600 => "power cut".to_owned(),
            0..4 => "weather".to_owned(),
            4..8 => SEARCHES[(second / 10 % 6) as usize].to_owned(),
            _ => format!("a search of one person, number {second}"),
        };
        (START + second * 1_000_000, search)
    })
}
