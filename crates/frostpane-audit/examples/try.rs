use frostpane_audit::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let names: Vec<&str> = a.get(2).map(|s| s.split(',').collect()).unwrap_or_default();
    let checks = all();
    let sampled = checks.iter().filter(|c| c.is_sampled()).count();
    let muts: Vec<Option<Mutant>> = match a.get(1).map(|s| s.as_str()) { None | Some("none") => vec![None], Some("all") => Mutant::ALL.into_iter().map(Some).collect(), Some(n) => vec![Mutant::ALL.into_iter().find(|m| m.name() == n)] };
    for m in muts {
        let mut audit = Audit::new(sampled, true, m);
        if let Some(r) = a.get(3) { audit.runs = r.parse().unwrap(); }
        for c in &checks {
            if !names.is_empty() && !names.contains(&"all") && !names.contains(&c.name) { continue; }
            let t = std::time::Instant::now();
            match audit.run(c, &|_| {}) {
                Ok(f) => println!("{:20} {:28} claim {:.3}/{:.2} bound {:.3} {:?} {:.1}s {}", m.map_or("sound", |m| m.name()), f.check, f.epsilon, f.delta, f.at_least, f.verdict, t.elapsed().as_secs_f64(), f.streams.unwrap_or_default()),
                Err(e) => println!("{} failed: {e}", c.name),
            }
        }
    }
}
