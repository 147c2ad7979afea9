//! scratch
use frostpane::noise::*;
use frostpane::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let w: u64 = args[2].parse().unwrap();
    let mem: u64 = args[3].parse().unwrap();
    let eps: f64 = args[4].parse().unwrap();
    let alpha: f64 = args[5].parse().unwrap();
    let exponent: f64 = args[6].parse().unwrap();
    let nk: usize = args[7].parse().unwrap();
    let mut e = InsecureSeededEntropy::new(1);
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=nk)
        .map(|r| {
            sum += (r as f64).powf(-exponent);
            sum
        })
        .collect();
    let keys: Vec<u64> = (0..n)
        .map(|_| {
            let p = (e.word().unwrap() >> 11) as f64 / (1u64 << 53) as f64 * sum;
            cumulative.partition_point(|s| *s <= p) as u64
        })
        .collect();
    for policy in [Policy::Uniform, Policy::Exponential, Policy::Smooth] {
        let b = HeavyHitters::<u64>::builder(Keys::open())
            .policy(policy)
            .window(Window::events(w))
            .memory(mem)
            .epsilon(eps)
            .alpha(alpha)
            .releases(100);
        let plan = b.plan().unwrap();
        println!("{plan:?}");
        let f = b.forecast(w, None).unwrap();
        println!(
            "least {:?} asked {:?} cut {}",
            f.least_norm, f.least_norm_asked, f.cut
        );
        let mut h = b.build().unwrap();
        let t = Instant::now();
        h.update_batch(keys.iter().copied()).unwrap();
        let d = t.elapsed().as_secs_f64();
        println!(
            "{policy:?} {:.1} M/s panes {} bytes {}",
            n as f64 / d / 1e6,
            h.panes(),
            h.bytes()
        );
        for span in [w, w / 3, w / 10] {
            let t = Instant::now();
            let r = h.release_over(span).unwrap();
            println!(
                "  asked {span} covered {:?} norm {} T {} cut {} noise {} held {} slack {:?} asked {:?} heavy {} {:?}",
                r.window.events,
                r.norm_estimate,
                r.threshold,
                r.cut,
                r.noise,
                r.promises.held,
                r.asked.slack,
                r.asked.promises.map(|p| (p.held, p.alpha)),
                r.heavy.len(),
                t.elapsed()
            );
        }
    }
}
