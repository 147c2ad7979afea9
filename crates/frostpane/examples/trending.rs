//! Which pages are read most right now? Continual release after every thousand visits, all at one epsilon.
//!
//! Each release is final, and all of them together cost epsilon once: noise belongs to the panes, and
//! is the same in every release that a pane is in.

use frostpane::{Bytes, Event, HeavyHitters, Keys, Window};
use frostpane_render::{grouped, privacy};

const BATCH: u64 = 4_096;
const VISITS: u64 = 60_000;

fn main() -> frostpane::Result<()> {
    let mut pages = HeavyHitters::<Bytes>::builder(Keys::open())
        .alpha(0.3)
        .epsilon(1.0)
        .delta(1e-9)
        .window(Window::events(8_000).slide(1_000))
        .continual()?;

    // Visits come in batches, as from a file or a socket: a slide may end anywhere in one.
    let mut releases = Vec::new();
    for batch in 0..VISITS.div_ceil(BATCH) {
        let visits = (batch * BATCH..VISITS.min((batch + 1) * BATCH)).map(page);
        pages.extend(visits.map(|page| Event::of(page.as_bytes())), |pages| {
            releases.push(pages.release());
        })?;
    }
    let releases = releases.into_iter().collect::<frostpane::Result<Vec<_>>>()?;

    for release in releases.iter().skip(5).step_by(6) {
        let pages: Vec<_> = release.heavy.iter().map(|heavy| String::from_utf8_lossy(&heavy.key)).collect();
        let visits = release.continual.as_ref().map_or(0, |list| list.number * 1_000);
        println!("after {:>6} visits: {}", grouped(visits), pages.join(", "));
    }
    let last = &releases[releases.len() - 1];
    println!("{}", privacy(last));

    let names = |index: usize, page: &[u8]| releases[index].heavy.iter().any(|heavy| *heavy.key == *page);
    assert_eq!(releases.len(), 60, "one for every thousand visits");
    assert!(names(9, b"/launch") && !names(59, b"/launch"));
    assert!(names(59, b"/award") && !names(9, b"/award"));
    assert!(releases.iter().all(|release| release.epsilon == 1.0));
    Ok(())
}

/// The front page all the time, one page until the middle and another after it, and others at times.
fn page(visit: u64) -> &'static str {
    const OTHERS: [&str; 5] = ["/about", "/jobs", "/terms", "/blog", "/help"];
    match visit % 10 {
        0..4 => "/",
        4..8 if visit < VISITS / 2 => "/launch",
        4..8 => "/award",
        _ => OTHERS[(visit / 10 % 5) as usize],
    }
}
