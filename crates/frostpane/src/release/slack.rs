#![doc = include_str!("slack.md")]

use crate::error::Result;
use crate::key::Key;
use crate::noise::{DiscreteLaplace, Entropy};
use crate::pane::Pane;
use crate::release::norm::NormEstimate;
use crate::release::request::Request;
use crate::sketch::count_sketch::sum_of_squares;
use crate::spec::Norm;

/// Bounds on the part of the window asked for that lies in the pane before the covered ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slack {
    /// A bound on the count of every key.
    pub count: u64,
    /// A bound on the norm.
    pub norm: f64,
}

impl Slack {
    /// For a window that begins where a pane does.
    pub const NONE: Self = Self { count: 0, norm: 0.0 };

    /// Measures a pane, at the price of a release.
    pub fn measure<K: Key>(request: &Request<K>, pane: &Pane<K>, entropy: &mut impl Entropy) -> Result<Self> {
        let events = pane.events();
        let (epsilon, failure) = (request.split.slack, request.slack_failure() / 2.0);
        let laplace = DiscreteLaplace::new(request.unit().largest_count(), epsilon);
        let largest = pane.counts().iter().map(|(_, count)| count).max().unwrap_or(0);
        let noisy = largest as i64 + laplace.sample(entropy)? + laplace.quantile(1, failure) as i64;
        let count = (noisy.max(0) as u64).saturating_add(pane.cut()).min(events);
        let norm = match request.spec.norm {
            Norm::L1 => events as f64,
            Norm::L2 => measure_norm(request, pane, entropy)?.high.min(events as f64),
        };
        Ok(Self { count: count.min(norm.ceil() as u64), norm })
    }
}

fn measure_norm<K: Key>(
    request: &Request<K>,
    pane: &Pane<K>,
    entropy: &mut impl Entropy,
) -> Result<NormEstimate> {
    let (unit, epsilon, failure) = (request.unit(), request.split.slack, request.slack_failure() / 2.0);
    if pane.cut() > 0
        && let Some(mut sketch) = request.shape.parameters().empty_sketch()
    {
        pane.add_to(&mut sketch)?;
        return NormEstimate::of_sketch(&sketch, unit, epsilon, failure, entropy);
    }
    let squares = sum_of_squares(pane.counts().iter().map(|(_, count)| count));
    NormEstimate::of_exact_counts(squares, unit, epsilon, failure, entropy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Keys;
    use crate::noise::InsecureSeededEntropy;
    use crate::release::test_oracle::{CONFIDENCE, laplace, pane, quantile, request, shape, sketch, times};

    const EPSILON: f64 = 0.5;
    /// A tenth of the failure probability, half for the count and half for the norm.
    const FAILURE: f64 = (1.0 - CONFIDENCE) * 0.1 / 2.0;

    fn measure(request: &Request<u64>, pane: &Pane<u64>, seed: u64) -> Slack {
        Slack::measure(request, pane, &mut InsecureSeededEntropy::new(seed)).unwrap()
    }

    /// For L2 each has half of epsilon, the count first. The norm of an exact pane moves by 1.
    #[test]
    fn for_l2_count_and_norm_have_half_of_epsilon_each() {
        let shape = shape(1_000, 64);
        let request = request(Norm::L2, EPSILON, Keys::Open, shape);
        let pane = pane(times(3, 400).chain(times(4, 300)), shape);
        let spread = quantile(1.0, EPSILON / 2.0, 1, FAILURE) as i64;
        for seed in 0..100 {
            let mut entropy = InsecureSeededEntropy::new(seed);
            let half = laplace(1, EPSILON / 2.0);
            let (of_count, of_norm) =
                (half.sample(&mut entropy).unwrap(), half.sample(&mut entropy).unwrap());
            let (count, norm) = (400 + of_count + spread, 500 + of_norm + spread + 1);
            let expected = Slack { count: count as u64, norm: norm as f64 };
            assert_eq!(measure(&request, &pane, seed), expected, "seed {seed}");
        }
    }

    /// A cut pane: the cut is added, and the norm is that of the sketch, which moves by 2. A third of
    /// its failure probability is for the noise.
    #[test]
    fn where_a_pane_is_cut_the_cut_is_added_and_the_norm_is_that_of_its_sketch() {
        let shape = shape(9, 1 << 14);
        let request = request(Norm::L2, EPSILON, Keys::Open, shape);
        let events = times(3, 4_000).chain(times(4, 3_000)).chain((0..1_000).map(Some));
        let pane = pane(events.clone(), shape);
        let dimensions = shape.sketch().unwrap();
        let norm = sketch(events, dimensions).norm() as i64;
        let error = dimensions.squared_error(FAILURE * 2.0 / 3.0);
        for seed in 0..100 {
            let mut entropy = InsecureSeededEntropy::new(seed);
            let of_count = laplace(1, EPSILON / 2.0).sample(&mut entropy).unwrap();
            let of_norm = laplace(2, EPSILON / 2.0).sample(&mut entropy).unwrap();
            let spread = quantile(2.0, EPSILON / 2.0, 1, FAILURE / 3.0) as i64;
            let high = (norm + of_norm + spread + 1) as f64 / (1.0 - error).sqrt();
            let count = 4_001 - 800 + of_count + quantile(1.0, EPSILON / 2.0, 1, FAILURE) as i64;
            let measured = measure(&request, &pane, seed);
            assert_eq!(measured.count, count as u64 + 800, "seed {seed}");
            assert!((measured.norm / high - 1.0).abs() < 1e-12, "{} {high}", measured.norm);
        }
    }

    /// One is cut off each of the counts 4, 4 and 2, whose norm was 6: without noise, the bound is 1
    /// more plus the sketch's error.
    #[test]
    fn a_cut_of_one_is_a_cut() {
        let shape = shape(9, 1 << 14);
        let request = request(Norm::L2, 1e5, Keys::Open, shape);
        let pane = pane(times(1, 4).chain(times(2, 4)).chain(times(3, 2)), shape);
        assert_eq!(pane.cut(), 1);
        let error = shape.sketch().unwrap().squared_error(FAILURE * 2.0 / 3.0);
        let measured = measure(&request, &pane, 1);
        assert!((measured.norm - 7.0 / (1.0 - error).sqrt()).abs() < 1e-12, "{measured:?}");
        assert_eq!(measured.count, 4);
    }

    /// Neither the count nor the norm exceeds the number of events, nor the count the norm; none is below 0.
    #[test]
    fn what_is_stated_lies_within_what_can_be() {
        let shape = shape(1_000, 64);
        let one_key = pane(times(1, 50), shape);
        let flat = pane((0..900).map(Some), shape);
        let (mut at_most, mut above, mut at_least) = (false, false, false);
        for seed in 0..200 {
            for norm in [Norm::L1, Norm::L2] {
                // Noise with so little epsilon that it shows.
                let request = Request { confidence: 0.01, ..request(norm, 0.1, Keys::Open, shape) };
                let [one, many] = [&one_key, &flat].map(|pane| measure(&request, pane, seed));
                assert!(one.count <= 50 && one.norm <= 50.0, "{one:?}");
                at_most |= one.count == 50;
                if norm == Norm::L2 {
                    assert!(many.count <= many.norm.ceil() as u64, "{many:?}");
                    above |= many.count == many.norm.ceil() as u64;
                }
                at_least |= many.count == 0;
            }
        }
        assert!(at_most && above && at_least);
        assert_eq!(measure(&request(Norm::L2, 1e5, Keys::Open, shape), &pane([None], shape), 1).count, 0);
    }
}
