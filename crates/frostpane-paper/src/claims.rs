//! Values of the paper's formulas, one function each.
//!
//! `examples/claims.rs` prints them as a table, and `tests/claims.rs` pins them. `log` is the natural
//! logarithm, and base 2 in Appendix A (from [`shortest_block`] on), where levels double. Sizes are floats:
//! some exceed any integer type.

/// `rho = eps/(500 log m)`: the accuracy of the norm in Section 3.
pub fn norm_accuracy(epsilon: f64, m: f64) -> f64 {
    epsilon / (500.0 * m.ln())
}

/// The window that Theorem 1.1 needs: `eps > 1000 log m/(alpha^3 sqrt(W))` solved for `W`.
pub fn least_window(alpha: f64, epsilon: f64, m: f64) -> f64 {
    (1000.0 * m.ln() / (alpha.powi(3) * epsilon)).powi(2)
}

/// The number of norms from 1 to `m` that differ by line 1's ratio, `1 + (eps/(1000 log m))^2`. If it
/// exceeds `m`, every event is a timestamp.
pub fn timestamps(epsilon: f64, m: f64) -> f64 {
    m.ln() / (epsilon / (1000.0 * m.ln())).powi(2).ln_1p()
}

/// The sums of AMS at accuracy `rho`, with 1 for the constant in `O(1/rho^2)`.
pub fn ams_sums(epsilon: f64, m: f64) -> f64 {
    norm_accuracy(epsilon, m).powi(-2)
}

/// The sums of AMS at accuracy `beta = rho^2/2`. The paper's theorem on smooth histograms requires this
/// accuracy of each instance, `S(beta, ...)`, since values with a larger error cannot tell which timestamps
/// are `beta` apart; Section 3 takes `rho`.
pub fn ams_sums_for_histogram(epsilon: f64, m: f64) -> f64 {
    (norm_accuracy(epsilon, m).powi(2) / 2.0).powi(-2)
}

/// The source of a bound on a local sensitivity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The first line of the lemma's proof: twice the error in force.
    Triangle,
    /// The `S(f)` that the lemma states.
    Lemma,
    /// The bound for which the proof of privacy cites the lemma.
    Proof,
}

/// The factor by which the noise `X` of line 4 is too small, for large norms.
///
/// The theorem on smooth sensitivity requires `2S/eps'` with `eps' = eps/3`. `S` is `c eps L/log m` with
/// `c = 2/500` by the triangle inequality, 1/200 in the lemma and 1/125 in the proof. The algorithm has
/// `L/(40 log m)`, which the first of the three supports, barely, and the other two do not.
pub fn norm_noise_shortfall(bound: Bound) -> f64 {
    let sensitivity = match bound {
        Bound::Triangle => 2.0 / 500.0,
        Bound::Lemma => 1.0 / 200.0,
        Bound::Proof => 1.0 / 125.0,
    };
    2.0 * sensitivity / (1.0 / 3.0) * 40.0
}

/// The factor for the noise that the proof states instead, `Lap(L/40)` without `log m`: below 1 it suffices.
pub fn norm_noise_shortfall_of_proof(bound: Bound, m: f64) -> f64 {
    norm_noise_shortfall(bound) / m.ln()
}

/// The chance that the proof's `X`, of scale `L/40`, is beyond `L/10`. Event `E` allows about `1/m^2`.
pub fn norm_noise_of_proof_beyond_bound() -> f64 {
    (-40.0_f64 / 10.0).exp()
}

/// The factor by which the noise `Z_k` of line 8 is too small, for large norms.
///
/// `2S/eps'` with `eps' = eps alpha^2/30`. `S` is `c alpha^3 eps L/log m` with `c = 2/1000` by the triangle
/// inequality and 1/200 in the lemma and the proof. The algorithm has `alpha L/(75 log m)`.
pub fn count_noise_shortfall(bound: Bound) -> f64 {
    let sensitivity = match bound {
        Bound::Triangle => 2.0 / 1000.0,
        Bound::Lemma | Bound::Proof => 1.0 / 200.0,
    };
    2.0 * sensitivity * 30.0 * 75.0
}

/// The factor if Counter's error is the one of its own lemma, `alpha^3 eps/(500 log m)`. The lemma on
/// sensitivity cuts at half of that, so that under event `E` the cut function is not the released one.
pub fn count_noise_shortfall_with_late_start() -> f64 {
    2.0 * count_noise_shortfall(Bound::Triangle)
}

/// `L_2(f)` is released within `(1 + rho)^2`, since AMS and the histogram both err by `rho`. The lemma on the
/// norm's sensitivity cuts at `1 + rho`. This is the first error over the second.
pub fn norm_error_over_cut(epsilon: f64, m: f64) -> f64 {
    let rho = norm_accuracy(epsilon, m);
    (2.0 * rho + rho * rho) / rho
}

/// The share of the norm below which a key's count makes the lemma's `S = (alpha^3 eps/(200 log m)) h + 2`
/// less than the local sensitivity that its proof begins with, `2 + (alpha^3 eps/(1000 log m)) 2 L_2`.
///
/// The proof goes from `L_2(f)` to `h(f)`, a single count, dividing by `1 - alpha^3 eps/(1000 log m)`. That
/// step holds for the norm, where it is copied from; a count can be any smaller.
pub fn least_share_for_lemma() -> f64 {
    (2.0 / 1000.0) / (1.0 / 200.0)
}

/// `delta` of the releases by the composition theorem: `1/m^3` for the norm and for each of `10/alpha^2`
/// counts, and `5/m^2` for failures. The proof counts one `1/m^3` for all counts.
pub fn composed_delta(alpha: f64, m: f64) -> f64 {
    (1.0 + 10.0 / alpha.powi(2)) / m.powi(3) + 5.0 / m.powi(2)
}

/// `delta` as the lemma states it: `6/m^2`.
pub fn stated_delta(m: f64) -> f64 {
    6.0 / m.powi(2)
}

/// The largest `c` for which `delta = 1/m^c` is at least `6/m^2`. Theorem 1.1 says any `c > 0`.
pub fn largest_c(m: f64) -> f64 {
    2.0 - 6.0_f64.ln() / m.ln()
}

/// Both sides of line 9 at their worst, in units of `alpha L_2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineNine {
    /// `f_k + Z_k` at most, for a key with `f_k = (alpha/2) L_2`.
    pub low: f64,
    /// The right-hand side at least. The key is surely left out if `low` is below.
    pub low_bar: f64,
    /// `f_k + Z_k` at least, for a key with `f_k = alpha L_2`.
    pub high: f64,
    /// The right-hand side at most. The key is surely listed if `high` is not below.
    pub high_bar: f64,
}

impl LineNine {
    /// Both sides if `|X| <= bound L_2` and `|Y_k|, |Z_k| <= bound alpha L_2`, and all else is exact.
    ///
    /// Event `E` has a bound of 1/10, from above only, where both sides are needed. The proof of the claim
    /// that implies `E` has 1/20 for both sides.
    pub fn new(bound: f64) -> Self {
        Self {
            low: 0.5 + bound,
            low_bar: 0.75 * (1.0 - bound) - bound,
            high: 1.0 - bound,
            high_bar: 0.75 * (1.0 + bound) + bound,
        }
    }

    /// Returns true if a key at `alpha/2` is surely left out.
    pub fn leaves_out(&self) -> bool {
        self.low < self.low_bar
    }

    /// Returns true if a key at `alpha` is surely listed.
    pub fn lists(&self) -> bool {
        self.high >= self.high_bar
    }
}

/// `eps'` for each of `10/alpha^2` counts by basic composition: together `eps/3`. The remark after Theorem
/// 1.1's proof prints `eps/(30 alpha^2)`.
pub fn epsilon_each(alpha: f64, epsilon: f64) -> f64 {
    epsilon * alpha.powi(2) / 30.0
}

/// The epsilon of `10/alpha^2` counts at the `eps/(30 alpha^2)` that the remark prints.
pub fn epsilon_of_remark(alpha: f64, epsilon: f64) -> f64 {
    10.0 / alpha.powi(2) * epsilon / (30.0 * alpha.powi(2))
}

/// `eps'` for each of `10/alpha^2` counts by advanced composition with `delta' = 1/m^3`, by its leading term:
/// `eps' sqrt(2 (10/alpha^2) ln m^3) = eps/3`. It is `O(eps alpha/sqrt(log m))`; the text prints
/// `eps/(alpha sqrt(log m))`.
pub fn epsilon_each_advanced(alpha: f64, epsilon: f64, m: f64) -> f64 {
    epsilon * alpha / (3.0 * (60.0 * m.ln()).sqrt())
}

/// `eta` of both theorems as printed: `max(1, eps)`. Memory then is the same for all `eps` up to 1, and the
/// proof has `1/eps^4`.
pub fn printed_eta(epsilon: f64) -> f64 {
    epsilon.max(1.0)
}

/// `eta` of the proof: `min(1, eps)`.
pub fn eta(epsilon: f64) -> f64 {
    epsilon.min(1.0)
}

/// The power of `eta` in the memory of the theorem on advanced composition. Its timestamps give `1/eps^2` and
/// its CountSketch `1/eps^2`, together 4; the theorem prints 3.
pub fn power_of_eta_advanced() -> i32 {
    2 + 2
}

/// The scale of line 7 in Section 4 over the `2/eps` that the proof requires: `1/(2 alpha log m)`. Below 1
/// it is too small.
pub fn l1_noise_over_needed(alpha: f64, m: f64) -> f64 {
    1.0 / (2.0 * alpha * m.ln())
}

/// The sensitivity of Section 4's Misra-Gries on a window by the fact that its proof cites: the threshold
/// `alpha/16` times the length. The proof says "at most 2".
pub fn l1_sensitivity_by_fact(alpha: f64, window: f64) -> f64 {
    alpha / 16.0 * window
}

/// The error of Section 4's estimate in units of `alpha W`: Counter's 1/32 and the 1/16 that Misra-Gries
/// may miss before Counter starts, over a window and a hundredth. The proof has Counter's only, and states
/// 1/16.
pub fn l1_error() -> f64 {
    1.01 * (1.0 / 32.0 + 1.0 / 16.0)
}

/// The sensitivity of Misra-Gries as stated: `alpha m`.
pub fn misra_gries_sensitivity_by_fact(alpha: f64, m: f64) -> f64 {
    alpha * m
}

/// The `L_1` distance of two tables of Misra-Gries with `c` counters after `c + 1` events: `c` keys once
/// each, and then one of them again, or another key. In the second stream all counters fall to zero.
pub fn misra_gries_distance(counters: f64) -> f64 {
    counters + 1.0
}

/// `S_1 = alpha sqrt(W)/(200 log W)` in events.
pub fn shortest_block(alpha: f64, window: f64) -> f64 {
    alpha * window.sqrt() / (200.0 * window.log2())
}

/// The least window whose shortest block has one event.
pub fn least_window_of_blocks(alpha: f64) -> f64 {
    least_window_with(|window| shortest_block(alpha, window) >= 1.0)
}

/// `L = ceil(log((100 eps/alpha) sqrt(W)) + log log W) + 2`.
pub fn levels(alpha: f64, epsilon: f64, window: f64) -> f64 {
    let exponent = (100.0 * epsilon / alpha * window.sqrt()).log2() + window.log2().log2();
    (exponent.ceil() + 2.0).max(1.0)
}

/// `S_L`, the longest block: from `eps W` to twice that. For a small `eps` no block is as long as the window.
pub fn longest_block(alpha: f64, epsilon: f64, window: f64) -> f64 {
    shortest_block(alpha, window) * (levels(alpha, epsilon, window) - 1.0).exp2()
}

/// The least window with `L <= log W`, which the lemma on accuracy uses in its last display. Its conclusion
/// does not need it: the errors that it sums are over `log^3 W` and not `log W`.
pub fn least_window_of_accuracy(alpha: f64, epsilon: f64) -> f64 {
    least_window_with(|window| levels(alpha, epsilon, window) <= window.log2())
}

/// The sensitivity that the proof states for a block: `phi alpha sqrt(W)/(16 log^3 W)`.
pub fn block_sensitivity(alpha: f64, epsilon: f64, window: f64) -> f64 {
    epsilon.min(1.0) * alpha * window.sqrt() / (16.0 * window.log2().powi(3))
}

/// The loss of Misra-Gries in a block by the threshold of the text before the algorithm, `1/(2^{l+1} L)`,
/// over its loss by the algorithm's, `phi alpha sqrt(W)/(16 S_l log^3 W)`. Both are the
/// same at all levels.
pub fn block_loss_in_text_over_algorithm(alpha: f64, epsilon: f64, window: f64) -> f64 {
    let in_text = shortest_block(alpha, window) / (4.0 * levels(alpha, epsilon, window));
    in_text / block_sensitivity(alpha, epsilon, window)
}

/// The least window where [`block_sensitivity`] is 1. Below it, the noise hides less than one event, and an
/// event moves a count by 1.
pub fn least_window_of_sensitivity(alpha: f64, epsilon: f64) -> f64 {
    least_window_with(|window| block_sensitivity(alpha, epsilon, window) >= 1.0)
}

/// The scale of line 10: `alpha sqrt(W)/(16 log^2 W)`.
pub fn block_noise(alpha: f64, window: f64) -> f64 {
    alpha * window.sqrt() / (16.0 * window.log2().powi(2))
}

/// The two scales in the proof: `sqrt(alpha W)/(8 log^2 W)` for privacy and `alpha sqrt(W)/(8 log^2 W)` for
/// accuracy.
pub fn block_noise_in_proof(alpha: f64, window: f64) -> [f64; 2] {
    let log = window.log2();
    [(alpha * window).sqrt() / (8.0 * log.powi(2)), alpha * window.sqrt() / (8.0 * log.powi(2))]
}

/// The scale that follows from the proof's sensitivity at `eps/(2 log W)` for each block.
pub fn block_noise_needed(alpha: f64, epsilon: f64, window: f64) -> f64 {
    block_sensitivity(alpha, epsilon, window) / (epsilon / (2.0 * window.log2()))
}

/// The memory of Algorithm 7 in bits, with 1 for the constant: `sqrt(W) log^4 W/(eps alpha)`.
pub fn continual_bits(alpha: f64, epsilon: f64, window: f64) -> f64 {
    window.sqrt() * window.log2().powi(4) / (epsilon * alpha)
}

/// The least window for which [`continual_bits`] is less than the window itself, at 64 bits an event.
pub fn least_window_of_memory(alpha: f64, epsilon: f64) -> f64 {
    least_window_with(|window| continual_bits(alpha, epsilon, window) <= 64.0 * window)
}

/// The least window from 2^10 on that satisfies a monotone condition.
fn least_window_with(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (10.0_f64, 200.0_f64);
    while high - low > 1e-9 {
        let middle = (low + high) / 2.0;
        if holds(middle.exp2()) { high = middle } else { low = middle }
    }
    high.exp2()
}
