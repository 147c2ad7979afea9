//! The noise that continual releases share and the noise that each draws anew.

use std::collections::HashSet;

use frostpane::{HeavyHitters, Keys, Norm, Release, Window};

fn count(release: &Release<u64>, key: u64) -> i64 {
    release.heavy.iter().find(|heavy| heavy.key == key).expect("the key comes often").count as i64
}

/// Consecutive windows share the noise of all panes but two. So the noisy counts of an open key with equal
/// counts in all panes differ by two noise values, of variance 8 each, where new noise in every window would
/// make it
/// 256. The mean square of 300 differences is below 32 but for a chance below 1e-9.
#[test]
fn successive_windows_share_the_noise_of_an_open_key() {
    let panes = 16;
    let mut continual = HeavyHitters::<u64>::builder(Keys::open())
        .norm(Norm::L1)
        .window(Window::events(100 * panes).slide(100))
        .continual()
        .unwrap();
    let mut counts = Vec::new();
    for event in 0..100 * (panes + 300) {
        for release in continual.update(event % 2).unwrap() {
            if release.window.events == 100 * panes {
                counts.push(count(&release, 0));
            }
        }
    }
    let squares: Vec<f64> = counts.windows(2).map(|pair| ((pair[1] - pair[0]) as f64).powi(2)).collect();
    assert_eq!(squares.len(), 300);
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    assert!((4.0..32.0).contains(&mean), "{mean}");
}

/// The norm of every window has its own noise, also while windows still begin with the first pane. Two of 20
/// noise values of scale 800 are equal with a chance of 1 in 3,200, so fewer than 15 different ones have a
/// chance below 1e-8.
#[test]
fn every_norm_has_noise_of_its_own() {
    let (panes, slide) = (20, 20_000);
    let mut continual = HeavyHitters::<u64>::builder(Keys::range(0..4).unwrap())
        .norm(Norm::L2)
        .epsilon(0.1)
        .window(Window::events(panes * slide).slide(slide))
        .continual()
        .unwrap();
    let mut noises = Vec::new();
    for event in 0..panes * slide {
        for release in continual.update(event % 4).unwrap() {
            // Four keys, each a quarter of the events.
            noises.push(release.norm_estimate as i64 - release.window.events as i64 / 2);
        }
    }
    let different: HashSet<i64> = noises.iter().copied().collect();
    assert!(noises.len() == 20 && different.len() >= 15, "{noises:?}");
}
