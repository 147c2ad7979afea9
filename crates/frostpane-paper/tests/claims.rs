//! The paper's formulas have the values that the documentation states.

use frostpane_paper::claims::{
    Composition, best_epsilon_each, block_noise, block_sensitivity, epsilon_each, epsilon_each_advanced,
    least_window, least_window_of_blocks, least_window_with, levels, norm_accuracy, shortest_block,
    timestamps,
};
use frostpane_paper::l1::L1Constants;
use frostpane_paper::l2::L2Constants;

const M: f64 = 1e9;

/// Compares after rounding to the significant digits of the text.
fn reads(value: f64, text: &str) {
    let digits = text.chars().take_while(|&c| c != 'e').filter(char::is_ascii_digit).count();
    assert_eq!(format!("{value:.*e}", digits - 1), text);
}

#[test]
fn the_main_theorem_needs_a_window_longer_than_the_stream() {
    reads(least_window(0.1, 1.0, M), "4.3e14");
}

#[test]
fn the_main_theorem_keeps_more_timestamps_than_there_are_events() {
    reads(timestamps(1.0, M), "8.9e9");
}

/// The paper's theorem on smooth histograms requires the accuracy `beta = rho^2/2` of each instance, since values with a
/// larger error cannot tell which timestamps are `beta` apart; Section 3 takes `rho`.
#[test]
fn each_timestamp_has_a_hundred_million_sums_and_by_the_histograms_theorem_far_more() {
    let rho = norm_accuracy(1.0, M);
    reads(rho.powi(-2), "1.1e8");
    reads((rho.powi(2) / 2.0).powi(-2), "4.6e16");
}

/// The constants `c` of the bounds `S` on the sensitivity of the norm, `c eps L/log m`: twice the error in force, by the
/// triangle inequality; the `S(f)` that the lemma states; the bound for which the proof of privacy cites the lemma.
const NORM_SENSITIVITIES: [f64; 3] = [2.0 / 500.0, 1.0 / 200.0, 1.0 / 125.0];

/// The scale `2S/eps'` that the theorem on smooth sensitivity requires, with `eps' = eps/3`, over `L/(40 log m)`.
fn norm_noise_shortfalls() -> [f64; 3] {
    NORM_SENSITIVITIES.map(|sensitivity| 2.0 * sensitivity * 3.0 * 40.0)
}

/// `2S/eps'` with `eps' = eps alpha^2/30` over `alpha L/(75 log m)`, where `S` is `c alpha^3 eps L/log m`.
fn count_noise_shortfall(sensitivity: f64) -> f64 {
    2.0 * sensitivity * 30.0 * 75.0
}

/// `c` is 2/1000 by the triangle inequality, and 2/500 if Counter's error is the one of its own lemma.
const COUNT_SENSITIVITY: f64 = 2.0 / 1000.0;

#[test]
fn line_8_has_9_to_22_times_too_little_noise() {
    reads(count_noise_shortfall(COUNT_SENSITIVITY), "9.00e0");
    reads(count_noise_shortfall(1.0 / 200.0), "2.25e1");
    reads(count_noise_shortfall(2.0 * COUNT_SENSITIVITY), "1.80e1");
}

/// By the advanced composition of the remark: at `alpha = 0.1` a third of that, and below 0.03 the least bound asks for
/// no more than is printed. Both orders occur: few releases compose better by adding up.
#[test]
fn advanced_composition_asks_for_less_where_many_counts_are_released() {
    let shortfall = |alpha: f64, sensitivity: f64| {
        let gain = epsilon_each_advanced(alpha, 1.0, M) / epsilon_each(alpha, 1.0);
        count_noise_shortfall(sensitivity) / gain
    };
    reads(shortfall(0.1, COUNT_SENSITIVITY), "3.2e0");
    reads(shortfall(0.1, 1.0 / 200.0), "7.9e0");
    assert!(shortfall(0.031, COUNT_SENSITIVITY) < 1.0 && shortfall(0.032, COUNT_SENSITIVITY) > 1.0);
    reads(epsilon_each_advanced(0.05, 1.0, 2e6) / epsilon_each(0.05, 1.0), "6.8e0");
    assert_eq!(best_epsilon_each(0.05, 1.0, 2e6).1, Composition::Advanced);
    assert_eq!(best_epsilon_each(0.9, 1.0, M), (epsilon_each(0.9, 1.0), Composition::Basic));
    for (alpha, epsilon) in [(0.05_f64, 1.0), (0.3, 8.0)] {
        let (each, k) = (epsilon_each_advanced(alpha, epsilon, M), 10.0 / alpha.powi(2));
        let composed =
            each * (2.0 * k * M.powi(3).ln()).sqrt() + k * each * (each.exp() - 1.0) / (each.exp() + 1.0);
        assert!((composed - epsilon / 3.0).abs() < 1e-9, "{composed}");
    }
}

/// Counter's error over the printed scale is `(alpha^3 eps/1000)/(alpha/75)`: one count that moves by all of it loses
/// `0.075 alpha^2 eps`, and all `10/alpha^2` counts together `0.75 eps`. No pair of streams is known that refutes
/// line 8 in windows as long as Theorem 1.2 asks for.
#[test]
fn counters_error_is_a_small_part_of_the_printed_noise_of_a_count() {
    let constants = L2Constants::published(0.1, 1.0, M as u64).unwrap();
    let each = constants.counter * 1e9 / constants.printed_noise(1e9)[1];
    assert!((each - 0.075 * 0.1_f64.powi(2)).abs() < 1e-12);
    assert!((each * 10.0 / 0.1_f64.powi(2) - 0.75).abs() < 1e-9);
}

#[test]
fn line_4_has_just_enough_noise_or_up_to_1_9_times_too_little() {
    for (shortfall, text) in norm_noise_shortfalls().into_iter().zip(["9.60e-1", "1.20e0", "1.92e0"]) {
        reads(shortfall, text);
    }
}

/// The proof states `Lap(L/40)`, without `log m`. Event `E` allows it to be beyond `L/10` with probability `1/m^2`.
#[test]
fn the_proofs_noise_for_the_norm_suffices_for_privacy_and_not_for_accuracy() {
    assert!(norm_noise_shortfalls()[2] / M.ln() < 1.0);
    assert!((-40.0_f64 / 10.0).exp() > 0.018);
}

/// For large norms, where the 2 in `S` is negligible.
#[test]
fn the_presets_draw_what_the_calculations_say() {
    for (alpha, epsilon) in [(0.1, 1.0), (0.01, 0.3)] {
        let constants = L2Constants::published(alpha, epsilon, M as u64).unwrap();
        let ([x, z], [x_needed, z_needed]) = (constants.printed_noise(1e30), constants.proof_noise(1e30));
        assert!((x_needed / x - norm_noise_shortfalls()[0]).abs() < 1e-9);
        let shortfall = count_noise_shortfall(COUNT_SENSITIVITY) / constants.composition_gain();
        assert!((z_needed / z - shortfall).abs() < 1e-9);
        let constants = L1Constants::published(alpha, epsilon, M as u64).unwrap();
        let over = constants.printed_noise() / constants.proof_noise();
        assert!((over - l1_noise_over_needed(alpha, M)).abs() < 1e-9);
    }
}

/// `S(f) = c h + 2` against `2 + (c/5)(2 L_2)`, where the count is `h` and the other keys make up the norm. The proof
/// goes from `L_2(f)` to a single count, dividing by `1 - alpha^3 eps/(1000 log m)`; a count can be any smaller.
#[test]
fn a_count_below_two_fifths_of_the_norm_breaks_the_lemma() {
    let (alpha, epsilon): (f64, f64) = (0.1, 1.0);
    let c = alpha.powi(3) * epsilon / (200.0 * M.ln());
    let norm = 1e12;
    for (share, holds) in [(0.39, false), (0.41, true)] {
        let lemma = c * share * norm + 2.0;
        let local = 2.0 + c / 5.0 * 2.0 * norm;
        assert_eq!(lemma >= local, holds, "a count of {share} of the norm");
    }
}

/// AMS and the histogram both err by `rho`; the lemma on the norm's sensitivity cuts at `1 + rho`.
#[test]
fn the_norm_is_within_twice_what_the_lemma_cuts_at() {
    let rho = norm_accuracy(1.0, M);
    assert!((1.0 + rho).powi(2) - 1.0 > 2.0 * rho);
}

/// `delta` as the lemma states it.
fn stated_delta(m: f64) -> f64 {
    6.0 / m.powi(2)
}

/// By the composition theorem: `1/m^3` for the norm and for each of `10/alpha^2` counts, and `5/m^2` for failures. The
/// proof counts one `1/m^3` for all counts.
#[test]
fn delta_is_not_multiplied_by_the_releases_and_need_not_be_in_long_streams() {
    let composed = |m: f64| (1.0 + 10.0 / 0.1_f64.powi(2)) / m.powi(3) + 5.0 / m.powi(2);
    assert!(composed(M) < stated_delta(M));
    assert!(composed(900.0) > stated_delta(900.0));
}

/// Theorem 1.2 says `1/m^c` for any `c > 0`.
#[test]
fn delta_cannot_be_any_power_of_the_length() {
    let largest = 2.0 - 6.0_f64.ln() / M.ln();
    assert!(largest < 2.0);
    assert!((M.powf(-largest) / stated_delta(M) - 1.0).abs() < 1e-9);
}

/// Both sides of line 9 in units of `alpha L_2` if `|X| <= bound L_2` and `|Y_k|, |Z_k| <= bound alpha L_2`: event `E`
/// has a bound of 1/10, from above only, and the proof of the claim that implies it 1/20.
#[test]
fn neither_lemma_on_line_9_follows_from_event_e_and_both_from_the_claim() {
    for (bound, follows) in [(0.1, false), (0.05, true)] {
        let (count_at_half, least_bar) = (0.5 + bound, 0.75 * (1.0 - bound) - bound);
        assert_eq!(count_at_half < least_bar, follows, "a key at alpha/2 is left out, {bound}");
        let (count_at_alpha, most_bar) = (1.0 - bound, 0.75 * (1.0 + bound) + bound);
        assert_eq!(count_at_alpha >= most_bar, follows, "a key at alpha is listed, {bound}");
    }
}

/// The remark after Theorem 1.2's proof prints `eps/(30 alpha^2)` for each of `10/alpha^2` counts. By the leading term of
/// advanced composition with `delta' = 1/m^3` each has `O(eps alpha/sqrt(log m))`; the text prints `eps/(alpha sqrt(log m))`.
#[test]
fn alpha_is_on_the_wrong_side_of_both_budgets() {
    let (alpha, epsilon): (f64, f64) = (0.1, 1.0);
    let releases = 10.0 / alpha.powi(2);
    assert!((releases * epsilon_each(alpha, epsilon) - epsilon / 3.0).abs() < 1e-12);
    let of_remark = releases * epsilon / (30.0 * alpha.powi(2));
    assert!((of_remark - epsilon / (3.0 * alpha.powi(4))).abs() < 1e-9);
    let each = epsilon * alpha / (3.0 * (60.0 * M.ln()).sqrt());
    let leading = each * (2.0 * releases * M.powi(3).ln()).sqrt();
    assert!((leading - epsilon / 3.0).abs() < 1e-12);
    assert!(each > epsilon_each(alpha, epsilon));
    assert!(each < epsilon / (alpha * M.ln().sqrt()) * alpha.powi(2));
}

/// Both theorems print `eta = max(1, eps)`, by which memory is the same for all `eps` up to 1. The proof has `1/eps^4`.
#[test]
fn eta_must_be_the_smaller_of_the_two() {
    let sums = |epsilon: f64| norm_accuracy(epsilon, M).powi(-2);
    let timestamps = |epsilon: f64| timestamps(epsilon, M);
    for epsilon in [0.5, 0.1] {
        let memory = sums(epsilon) * timestamps(epsilon) / (sums(1.0) * timestamps(1.0));
        assert!((memory * epsilon.min(1.0).powi(4) - 1.0).abs() < 1e-6, "{memory}");
    }
}

/// The scale of line 7 in Section 4 over the `2/eps` that the proof requires.
fn l1_noise_over_needed(alpha: f64, m: f64) -> f64 {
    1.0 / (2.0 * alpha * m.ln())
}

#[test]
fn l1_draws_too_little_where_alpha_log_m_is_above_a_half() {
    reads(l1_noise_over_needed(0.1, M), "2.41e-1");
    let m = 5.0_f64.exp();
    assert!(l1_noise_over_needed(0.099, m) > 1.0);
    assert!(l1_noise_over_needed(0.101, m) < 1.0);
}

/// The threshold `alpha/16` times the length of the window, where the proof says "at most 2".
#[test]
fn the_l1_proof_cites_a_fact_that_says_something_else() {
    assert!((0.1 / 16.0 * 1e6 - 6_250.0_f64).abs() < 1e-6);
}

/// In units of `alpha W`: Counter's 1/32 and the 1/16 that Misra-Gries may miss before Counter starts, over a window and
/// a hundredth. The lemma has Counter's only, and states 1/16.
#[test]
fn the_l1_theorem_has_room_for_what_its_lemma_leaves_out() {
    let (error, noise) = (1.01 * (1.0 / 32.0 + 1.0 / 16.0), 1.0 / 16.0);
    assert!(error > 1.0 / 16.0, "the lemma's own bound does not hold");
    assert!(error + noise < 1.0 / 4.0);
    assert!(1.0 - error - noise >= 0.75, "a key at alpha is listed");
    assert!(0.5 + noise < 0.75, "a key at alpha/2 is left out");
}

/// The proof's sensitivity at `eps/(2 log W)` for each block asks for one scale; its text has `sqrt(alpha W)/(8 log^2 W)`
/// for privacy and `alpha sqrt(W)/(8 log^2 W)` for accuracy.
#[test]
fn continual_noise_is_stated_three_times_and_half_of_what_is_needed() {
    for (alpha, window) in [(0.1, 1e9_f64), (0.03, 1e12)] {
        let (printed, log) = (block_noise(alpha, window), window.log2());
        let needed = block_sensitivity(alpha, 1.0, window) * 2.0 * log;
        let privacy = (alpha * window).sqrt() / (8.0 * log.powi(2));
        let accuracy = alpha * window.sqrt() / (8.0 * log.powi(2));
        assert!((needed / printed - 2.0).abs() < 1e-9);
        assert!((accuracy / printed - 2.0).abs() < 1e-9);
        assert!((privacy / accuracy - 1.0 / alpha.sqrt()).abs() < 1e-9);
    }
}

#[test]
fn the_shortest_block_is_shorter_than_an_event_below_four_billion() {
    let least = least_window_of_blocks(0.1);
    reads(least, "4.1e9");
    assert!(shortest_block(0.1, 0.99 * least) < 1.0);
    assert!(shortest_block(0.1, 1.01 * least) > 1.0);
}

#[test]
fn the_longest_block_is_epsilon_times_the_window() {
    for (epsilon, window) in [(1.0, 1e9), (0.1, 1e10), (0.01, 1e12)] {
        let longest = shortest_block(0.1, window) * (levels(0.1, epsilon, window) - 1.0).exp2();
        let over = longest / (epsilon * window);
        assert!((0.999..2.001).contains(&over), "{over}");
    }
}

/// The lemma on accuracy uses `L <= log W` in its last display. The errors that it sums are over `log^3 W`.
#[test]
fn the_accuracy_lemma_needs_more_than_thirty_billion_events_where_it_divides_by_log_w() {
    reads(least_window_with(|window| levels(0.1, 1.0, window) <= window.log2()), "3.4e10");
    let per_block = |window: f64| 2.0 * levels(0.1, 1.0, window) / window.log2().powi(3);
    assert!(per_block(1e6) <= 1.0, "its conclusion holds all the same, with two blocks a level");
}

/// Below the least window the noise hides less than one event, and an event moves a count by 1.
#[test]
fn a_block_is_said_to_move_by_less_than_one_event() {
    reads(block_sensitivity(0.1, 1.0, 1e9), "7.4e-3");
    reads(least_window_with(|window| block_sensitivity(0.1, 1.0, window) >= 1.0), "3.2e14");
}

#[test]
fn text_and_algorithm_have_different_thresholds_for_misra_gries() {
    let (alpha, window) = (0.1, 1e9_f64);
    for level in [1, 5, 30] {
        let length = shortest_block(alpha, window) * 2.0_f64.powi(level - 1);
        let text = 1.0 / (2.0_f64.powi(level + 1) * levels(alpha, 1.0, window));
        let algorithm = alpha * window.sqrt() / (16.0 * length * window.log2().powi(3));
        assert!(text / algorithm < 0.6, "{text} {algorithm}");
    }
}

/// `sqrt(W) log^4 W/(eps alpha)` bits, with 1 for the constant, against 64 bits an event.
#[test]
fn continual_memory_is_more_than_the_window_below_seventy_billion() {
    let bits = |window: f64| window.sqrt() * window.log2().powi(4) / 0.1;
    assert!(bits(1e6) > 20.0 * 64e6);
    reads(least_window_with(|window| bits(window) <= 64.0 * window), "6.9e10");
}
