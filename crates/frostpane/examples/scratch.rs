//! scratch
use frostpane::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: u64 = args[1].parse().unwrap();
    let w: u64 = args[2].parse().unwrap();
    let mem: u64 = args[3].parse().unwrap();
    let eps: f64 = args[4].parse().unwrap();
    let alpha: f64 = args[5].parse().unwrap();
    let share: u64 = args[6].parse().unwrap(); // one in `share` events is key 0
    for policy in [Policy::Uniform, Policy::Exponential, Policy::Smooth] {
        let b = HeavyHitters::<u64>::builder(Keys::open()).policy(policy).window(Window::events(w)).memory(mem).epsilon(eps).alpha(alpha).releases(100);
        let plan = b.plan().unwrap();
        println!("{plan:?}");
        let f = b.forecast(w, None).unwrap();
        println!("least {:?} asked {:?} cut {}", f.least_norm, f.least_norm_asked, f.cut);
        let mut h = b.build().unwrap();
        let mut x = 12345u64;
        let mut keys = vec![];
        for i in 0..1_000_000u64 { x ^= x << 13; x ^= x >> 7; x ^= x << 17; let r = x % (1<<40); let key = if share > 0 && i % share == 0 {0} else { 1 + ((1u64<<20) as f64).powf((r as f64)/((1u64<<40) as f64)) as u64 * if share>0 {1000003} else {1} + if share>0 {x>>44} else {0}}; keys.push(key); }
        let t = Instant::now();
        for i in 0..n { h.update(keys[(i % 1_000_000) as usize]).unwrap(); }
        let d = t.elapsed().as_secs_f64();
        println!("{policy:?} {:.1} M/s panes {} bytes {}", n as f64 / d / 1e6, h.panes(), h.bytes());
        for span in [w, w / 3, w / 10] {
            let r = h.release_over(span).unwrap();
            println!("  asked {span} from {:?} covered {:?} norm {} T {} cut {} noise {} held {} slack {:?} asked {:?} heavy {}", r.asked.from, r.window, r.norm_estimate, r.threshold, r.cut, r.noise, r.promises.held, r.asked.slack, r.asked.promises.map(|p| (p.held, p.alpha)), r.heavy.len());
        }
    }
}
