//! The paper's formulas and their values: `cargo run --release -p frostpane-paper --example claims`.

use frostpane_paper::claims::{self, Bound, LineNine};
use frostpane_paper::continual::{self, PublishedContinual};
use frostpane_paper::l1;
use frostpane_paper::l2::{self, Composition};
use frostpane_paper::preset::readable;

const M: f64 = 1e9;
const ALPHA: f64 = 0.1;
const EPSILON: f64 = 1.0;

fn main() {
    println!("At m = 10^9 events, alpha = {ALPHA}, epsilon = {EPSILON} where nothing else is said.");
    table("Theorem 1.1: size", &size());
    table("Section 3: noise and privacy of L2", &l2_privacy());
    table("Section 3: line 9 where X, Y, Z are within 1/10 (event E) and 1/20 (the claim)", &line_nine());
    table("Section 4: L1", &l1());
    table("Appendix A: continual release", &continual());
    table("Memory of the printed constants", &memory());
}

/// Subject, printed formula and value.
type ClaimRow = (&'static str, String, String);

fn table(title: &str, rows: &[ClaimRow]) {
    let what = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let page = rows.iter().map(|row| row.1.len()).max().unwrap_or(0).max("the page".len());
    println!("\n{title}\n\n  {:<what$}  {:<page$}  comes to", "", "the page");
    for row in rows {
        println!("  {:<what$}  {:<page$}  {}", row.0, row.1, row.2);
    }
}

fn row(what: &'static str, page: &str, comes_to: String) -> ClaimRow {
    (what, page.to_string(), comes_to)
}

fn size() -> Vec<ClaimRow> {
    vec![
        row(
            "least window",
            "eps > 1000 log m/(alpha^3 sqrt W)",
            format!("{:.1e} events, more than m", claims::least_window(ALPHA, EPSILON, M)),
        ),
        row(
            "timestamps",
            "ratio 1 + (eps/(1000 log m))^2",
            format!("{:.1e}, more than m: every event", claims::timestamps(EPSILON, M)),
        ),
        row(
            "sums of AMS at accuracy rho, constant 1",
            "rho = eps/(500 log m)",
            format!("{:.1e} at each timestamp", claims::ams_sums(EPSILON, M)),
        ),
        row(
            "sums of AMS at the accuracy of the histogram",
            "S(beta, ...), beta = rho^2/2",
            format!("{:.1e} at each timestamp", claims::ams_sums_for_histogram(EPSILON, M)),
        ),
        row(
            "eta at epsilon = 0.1",
            "max(1, eps)",
            format!(
                "{} as printed, {} in the proof: memory 10^4 times as much",
                claims::printed_eta(0.1),
                claims::eta(0.1)
            ),
        ),
        row(
            "eta with advanced composition",
            "1/eta^3",
            format!("1/eta^{} by its parts", claims::power_of_eta_advanced()),
        ),
        row(
            "delta",
            "1/m^c for any c > 0",
            format!("c at most {:.2}, as the lemma has 6/m^2", claims::largest_c(M)),
        ),
    ]
}

fn l2_privacy() -> Vec<ClaimRow> {
    let norm = by_each_bound(claims::norm_noise_shortfall);
    let count = by_each_bound(claims::count_noise_shortfall);
    vec![
        row("needed noise of the norm over line 4's", "L/(40 log m)", norm),
        row("needed noise of a count over line 8's", "alpha L/(75 log m)", count),
        row(
            "the same with Counter's error as its lemma has it",
            "1/500, cut at 1/1000",
            format!("{:.0}", claims::count_noise_shortfall_with_late_start()),
        ),
        row(
            "needed noise of the norm over the proof's",
            "L/40",
            format!("{:.2}: enough", claims::norm_noise_shortfall_of_proof(Bound::Proof, M)),
        ),
        row(
            "chance that the proof's X is beyond L/10",
            "about 1/m^2",
            format!("{:.1} %", 100.0 * claims::norm_noise_of_proof_beyond_bound()),
        ),
        row(
            "error of the norm over where the lemma cuts",
            "(1 + rho)^2, cut at 1 + rho",
            format!("{:.3}", claims::norm_error_over_cut(EPSILON, M)),
        ),
        row(
            "counts for which the lemma's S is too small",
            "h(f) for L2(f)",
            format!("all below {:.1} L2", claims::least_share_for_lemma()),
        ),
        row(
            "delta with 10/alpha^2 counts composed",
            "6/m^2",
            format!(
                "{:.7e} of {:.0e}: left out, harmless",
                claims::composed_delta(ALPHA, M),
                claims::stated_delta(M)
            ),
        ),
        row(
            "10/alpha^2 counts at the remark's budget",
            "eps/(30 alpha^2) each",
            format!("epsilon {:.0}; at eps alpha^2/30 it is 1/3", claims::epsilon_of_remark(ALPHA, EPSILON)),
        ),
    ]
}

fn by_each_bound(shortfall: fn(Bound) -> f64) -> String {
    let [triangle, lemma, proof] = [Bound::Triangle, Bound::Lemma, Bound::Proof].map(shortfall);
    format!("{triangle:.2} by the triangle inequality, {lemma:.1} by the lemma, {proof:.1} by the proof")
}

fn line_nine() -> Vec<ClaimRow> {
    let of = |bound: f64| {
        let line = LineNine::new(bound);
        let low = format!("{:.4} against {:.4}: {}", line.low, line.low_bar, verdict(line.leaves_out()));
        let high = format!("{:.4} against {:.4}: {}", line.high, line.high_bar, verdict(line.lists()));
        (low, high)
    };
    let (event, claim) = (of(0.1), of(0.05));
    vec![
        row("a key at alpha/2 is left out, 1/10", "lemma on low counts", event.0),
        row("a key at alpha is listed, 1/10", "lemma on high counts", event.1),
        row("a key at alpha/2 is left out, 1/20", "lemma on low counts", claim.0),
        row("a key at alpha is listed, 1/20", "lemma on high counts", claim.1),
    ]
}

fn verdict(follows: bool) -> &'static str {
    if follows { "follows" } else { "does not follow" }
}

fn l1() -> Vec<ClaimRow> {
    vec![
        row(
            "noise of line 7 over the proof's",
            "1/(eps alpha log m), 2/eps",
            format!("{:.2}", claims::l1_noise_over_needed(ALPHA, M)),
        ),
        row(
            "sensitivity by the fact cited, W = 10^6",
            "\"at most 2\"",
            format!("{:.0}", claims::l1_sensitivity_by_fact(ALPHA, 1e6)),
        ),
        row(
            "error of an estimate",
            "alpha W/16",
            format!("{:.3} alpha W, within the theorem's alpha W/4", claims::l1_error()),
        ),
        row(
            "Misra-Gries with 100 counters, 101 events",
            "sensitivity alpha m",
            format!(
                "{:.2} as stated, {:.0} in fact",
                claims::misra_gries_sensitivity_by_fact(0.01, 101.0),
                claims::misra_gries_distance(100.0)
            ),
        ),
    ]
}

fn continual() -> Vec<ClaimRow> {
    let window = 1e9;
    let [privacy, accuracy] = claims::block_noise_in_proof(ALPHA, window);
    vec![
        row(
            "least window with blocks of one event",
            "S_1 = alpha sqrt(W)/(200 log W)",
            format!("{:.1e}", claims::least_window_of_blocks(ALPHA)),
        ),
        row(
            "longest block, W = 10^9, epsilon = 0.01",
            "L has log((100 eps/alpha) sqrt W)",
            format!("{:.1e} events", claims::longest_block(ALPHA, 0.01, window)),
        ),
        row(
            "scale of the noise, W = 10^9",
            "1/16, sqrt(alpha W)/8, alpha sqrt(W)/8",
            format!(
                "{:.3}, {privacy:.3}, {accuracy:.3}; its sensitivity asks for {:.3}",
                claims::block_noise(ALPHA, window),
                claims::block_noise_needed(ALPHA, EPSILON, window)
            ),
        ),
        row(
            "sensitivity of a block, W = 10^9",
            "phi alpha sqrt(W)/(16 log^3 W)",
            format!("{:.4} events", claims::block_sensitivity(ALPHA, EPSILON, window)),
        ),
        row(
            "least window where it is one event",
            "",
            format!("{:.1e}", claims::least_window_of_sensitivity(ALPHA, EPSILON)),
        ),
        row(
            "threshold of Misra-Gries in the text, W = 10^9",
            "1/(2^(l+1) L)",
            format!(
                "{:.2} of the algorithm's",
                claims::block_loss_in_text_over_algorithm(ALPHA, EPSILON, window)
            ),
        ),
        row(
            "least window with L <= log W",
            "L/(16 log W) <= 1/16",
            format!("{:.1e}; not needed", claims::least_window_of_accuracy(ALPHA, EPSILON)),
        ),
        row(
            "memory over storing the window, W = 10^6",
            "sqrt(W) log^4 W/(eps alpha) bits",
            format!("{:.0} times", claims::continual_bits(ALPHA, EPSILON, 1e6) / 64e6),
        ),
        row(
            "least window where it is less",
            "",
            format!("{:.1e}", claims::least_window_of_memory(ALPHA, EPSILON)),
        ),
    ]
}

fn memory() -> Vec<ClaimRow> {
    let bytes = |composition| {
        l2::L2Constants::published(ALPHA, EPSILON, M as u64, composition)
            .map_or_else(|refusal| refusal.to_string(), |constants| readable(constants.bytes()))
    };
    let l1 = l1::L1Constants::published(ALPHA, EPSILON, M as u64)
        .map_or_else(|refusal| refusal.to_string(), |constants| readable(constants.bytes()));
    let refused = PublishedContinual::published(ALPHA, EPSILON, 1_000_000, u64::MAX)
        .map_or_else(|refusal| refusal.to_string(), |run| readable(run.constants().bytes()));
    let continual = continual::ContinualConstants::published(ALPHA, EPSILON, 10_000_000_000)
        .map_or_else(|refusal| refusal.to_string(), |constants| readable(constants.bytes()));
    vec![
        row("Algorithm 5, basic composition", "", bytes(Composition::Basic)),
        row("Algorithm 5, advanced composition", "", bytes(Composition::Advanced)),
        row("Algorithm 6", "", l1),
        row("Algorithm 7, W = 10^6", "", refused),
        row("Algorithm 7, W = 10^10", "", continual),
    ]
}
