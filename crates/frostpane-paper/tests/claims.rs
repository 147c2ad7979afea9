//! The paper's formulas have the values that the documentation states.

use frostpane_paper::claims::{self, Bound, LineNine};
use frostpane_paper::l2::{self, Composition};
use frostpane_paper::{PublishedMisraGries, l1};

const M: f64 = 1e9;

/// Compares after rounding to the significant digits of the text.
fn reads(value: f64, text: &str) {
    let digits = text.chars().take_while(|&c| c != 'e').filter(char::is_ascii_digit).count();
    assert_eq!(format!("{value:.*e}", digits - 1), text);
}

#[test]
fn theorem_1_1_needs_a_window_longer_than_the_stream() {
    reads(claims::least_window(0.1, 1.0, M), "4.3e14");
    assert!(claims::least_window(0.1, 1.0, M) > M);
}

#[test]
fn theorem_1_1_keeps_more_timestamps_than_there_are_events() {
    reads(claims::timestamps(1.0, M), "8.9e9");
    assert!(claims::timestamps(1.0, M) > M);
}

#[test]
fn each_timestamp_has_a_hundred_million_sums_and_by_the_histograms_theorem_far_more() {
    reads(claims::ams_sums(1.0, M), "1.1e8");
    reads(claims::ams_sums_for_histogram(1.0, M), "4.6e16");
}

#[test]
fn line_8_has_9_to_22_times_too_little_noise() {
    reads(claims::count_noise_shortfall(Bound::Triangle), "9.00e0");
    reads(claims::count_noise_shortfall(Bound::Lemma), "2.25e1");
    reads(claims::count_noise_shortfall_with_late_start(), "1.80e1");
}

#[test]
fn line_4_has_just_enough_noise_or_up_to_1_9_times_too_little() {
    reads(claims::norm_noise_shortfall(Bound::Triangle), "9.60e-1");
    reads(claims::norm_noise_shortfall(Bound::Lemma), "1.20e0");
    reads(claims::norm_noise_shortfall(Bound::Proof), "1.92e0");
}

#[test]
fn the_proofs_noise_for_the_norm_suffices_for_privacy_and_not_for_accuracy() {
    assert!(claims::norm_noise_shortfall_of_proof(Bound::Proof, M) < 1.0);
    assert!(claims::norm_noise_of_proof_beyond_bound() > 0.018);
}

/// For large norms, where the 2 in `S` is negligible.
#[test]
fn the_presets_draw_what_the_calculations_say() {
    for (alpha, epsilon) in [(0.1, 1.0), (0.01, 0.3)] {
        let constants = l2::L2Constants::published(alpha, epsilon, M as u64, Composition::Basic).unwrap();
        let ([x, z], [x_needed, z_needed]) = (constants.printed_noise(1e30), constants.proof_noise(1e30));
        assert!((x_needed / x - claims::norm_noise_shortfall(Bound::Triangle)).abs() < 1e-9);
        assert!((z_needed / z - claims::count_noise_shortfall(Bound::Triangle)).abs() < 1e-9);
        let constants = l1::L1Constants::published(alpha, epsilon, M as u64).unwrap();
        let over = constants.printed_noise() / constants.proof_noise();
        assert!((over - claims::l1_noise_over_needed(alpha, M)).abs() < 1e-9);
    }
}

/// `S(f) = c h + 2` against `2 + (c/5)(2 L_2)`, where the count is `h` and the other keys make up the norm.
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
    assert!((claims::least_share_for_lemma() - 0.4).abs() < 1e-12);
}

#[test]
fn the_norm_is_within_twice_what_the_lemma_cuts_at() {
    assert!(claims::norm_error_over_cut(1.0, M) > 2.0);
}

#[test]
fn delta_is_not_multiplied_by_the_releases_and_need_not_be_in_long_streams() {
    assert!(claims::composed_delta(0.1, M) < claims::stated_delta(M));
    assert!(claims::composed_delta(0.1, 900.0) > claims::stated_delta(900.0));
}

#[test]
fn delta_cannot_be_any_power_of_the_length() {
    let c = claims::largest_c(M);
    assert!(c < 2.0);
    assert!((M.powf(-c) / claims::stated_delta(M) - 1.0).abs() < 1e-9);
}

#[test]
fn neither_lemma_on_line_9_follows_from_event_e_and_both_from_the_claim() {
    let event = LineNine::new(0.1);
    assert!((event.low - 0.6).abs() < 1e-12 && (event.low_bar - 0.575).abs() < 1e-12);
    assert!((event.high - 0.9).abs() < 1e-12 && (event.high_bar - 0.925).abs() < 1e-12);
    assert!(!event.leaves_out() && !event.lists());
    let claim = LineNine::new(0.05);
    assert!(claim.leaves_out() && claim.lists());
}

#[test]
fn alpha_is_on_the_wrong_side_of_both_budgets() {
    let (alpha, epsilon): (f64, f64) = (0.1, 1.0);
    let releases = 10.0 / alpha.powi(2);
    assert!((releases * claims::epsilon_each(alpha, epsilon) - epsilon / 3.0).abs() < 1e-12);
    assert!((claims::epsilon_of_remark(alpha, epsilon) - epsilon / (3.0 * alpha.powi(4))).abs() < 1e-9);
    let each = claims::epsilon_each_advanced(alpha, epsilon, M);
    let leading = each * (2.0 * releases * M.powi(3).ln()).sqrt();
    assert!((leading - epsilon / 3.0).abs() < 1e-12);
    assert!(each > claims::epsilon_each(alpha, epsilon));
    assert!(each < epsilon / (alpha * M.ln().sqrt()) * alpha.powi(2));
}

#[test]
fn eta_must_be_the_smaller_of_the_two() {
    assert_eq!((claims::printed_eta(0.1), claims::eta(0.1)), (1.0, 0.1));
    assert_eq!((claims::printed_eta(3.0), claims::eta(3.0)), (3.0, 1.0));
}

#[test]
fn l1_draws_too_little_where_alpha_log_m_is_above_a_half() {
    reads(claims::l1_noise_over_needed(0.1, M), "2.41e-1");
    let m = 5.0_f64.exp();
    assert!(claims::l1_noise_over_needed(0.099, m) > 1.0);
    assert!(claims::l1_noise_over_needed(0.101, m) < 1.0);
}

#[test]
fn the_l1_proof_cites_a_fact_that_says_something_else() {
    assert!((claims::l1_sensitivity_by_fact(0.1, 1e6) - 6_250.0).abs() < 1e-6);
}

#[test]
fn the_l1_theorem_has_room_for_what_its_lemma_leaves_out() {
    let (error, noise) = (claims::l1_error(), 1.0 / 16.0);
    assert!(error > 1.0 / 16.0, "the lemma's own bound does not hold");
    assert!(error + noise < 1.0 / 4.0);
    assert!(1.0 - error - noise >= 0.75, "a key at alpha is listed");
    assert!(0.5 + noise < 0.75, "a key at alpha/2 is left out");
}

/// 100 keys once each, and then one of them again, or another.
#[test]
fn misra_gries_moves_by_its_counters_where_the_fact_says_one() {
    let table = |last: u64| {
        let mut misra_gries = PublishedMisraGries::for_threshold(0.01);
        (1..=100).chain([last]).for_each(|key| misra_gries.update(key));
        misra_gries
    };
    let (one, other) = (table(1), table(101));
    let distance: u64 = (1..=101).map(|key| one.estimate(key).abs_diff(other.estimate(key))).sum();
    assert_eq!(distance as f64, claims::misra_gries_distance(100.0));
    assert!(distance as f64 > 50.0 * claims::misra_gries_sensitivity_by_fact(0.01, 101.0));
}

#[test]
fn continual_noise_is_stated_three_times_and_half_of_what_is_needed() {
    for (alpha, window) in [(0.1, 1e9_f64), (0.03, 1e12)] {
        let printed = claims::block_noise(alpha, window);
        let [privacy, accuracy] = claims::block_noise_in_proof(alpha, window);
        assert!((claims::block_noise_needed(alpha, 1.0, window) / printed - 2.0).abs() < 1e-9);
        assert!((accuracy / printed - 2.0).abs() < 1e-9);
        assert!((privacy / accuracy - 1.0 / alpha.sqrt()).abs() < 1e-9);
    }
}

#[test]
fn the_shortest_block_is_shorter_than_an_event_below_four_billion() {
    let least = claims::least_window_of_blocks(0.1);
    reads(least, "4.1e9");
    assert!(claims::shortest_block(0.1, 0.99 * least) < 1.0);
    assert!(claims::shortest_block(0.1, 1.01 * least) > 1.0);
}

#[test]
fn the_longest_block_is_epsilon_times_the_window() {
    for (epsilon, window) in [(1.0, 1e9), (0.1, 1e10), (0.01, 1e12)] {
        let over = claims::longest_block(0.1, epsilon, window) / (epsilon * window);
        assert!((0.999..2.001).contains(&over), "{over}");
    }
}

#[test]
fn the_accuracy_lemma_needs_more_than_thirty_billion_events_where_it_divides_by_log_w() {
    let holds = |window: f64| claims::levels(0.1, 1.0, window) <= window.log2();
    assert!(!holds(1e9) && !holds(1e10) && holds(1e11));
    reads(claims::least_window_of_accuracy(0.1, 1.0), "3.4e10");
    let per_block = |window: f64| 2.0 * claims::levels(0.1, 1.0, window) / window.log2().powi(3);
    assert!(per_block(1e6) <= 1.0, "its conclusion holds all the same, with two blocks a level");
}

#[test]
fn a_block_is_said_to_move_by_less_than_one_event() {
    reads(claims::block_sensitivity(0.1, 1.0, 1e9), "7.4e-3");
    reads(claims::least_window_of_sensitivity(0.1, 1.0), "3.2e14");
}

#[test]
fn text_and_algorithm_have_different_thresholds_for_misra_gries() {
    let (alpha, window) = (0.1, 1e9_f64);
    let levels = claims::levels(alpha, 1.0, window);
    for level in [1, 5, 30] {
        let length = claims::shortest_block(alpha, window) * 2.0_f64.powi(level - 1);
        let text = 1.0 / (2.0_f64.powi(level + 1) * levels);
        let algorithm = alpha * window.sqrt() / (16.0 * length * window.log2().powi(3));
        let over = claims::block_loss_in_text_over_algorithm(alpha, 1.0, window);
        assert!((text / algorithm - over).abs() < 1e-9);
        assert!(over < 0.6, "{over}");
    }
}

#[test]
fn continual_memory_is_more_than_the_window_below_seventy_billion() {
    assert!(claims::continual_bits(0.1, 1.0, 1e6) > 20.0 * 64e6);
    reads(claims::least_window_of_memory(0.1, 1.0), "6.9e10");
}
