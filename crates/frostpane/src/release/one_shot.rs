#![doc = include_str!("one_shot.md")]

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::counting::window::BoundaryPane;
use crate::error::Result;
use crate::fault::Mutant;
use crate::key::{Key, Keys};
use crate::mechanism::Threshold;
use crate::noise::Entropy;
use crate::pane::Pane;
use crate::privacy::Epsilon;
use crate::release::by_sketch::BySketch;
use crate::release::guarantee::{AccuracyStatement, Guarantee};
use crate::release::norm::NormEstimate;
use crate::release::published::{Coverage, Estimator, Heavy, Release, RequestedWindow};
use crate::release::request::Request;
use crate::release::slack::Slack;
use crate::release::total::Total;
use crate::release::window::ReleaseWindow;
use crate::release::window_counts::{CountSource, WindowCounts};
use crate::search::first;
use crate::sketch::CountSketch;
use crate::spec::Norm;

/// Releases the heavy hitters of the covered panes.
pub(crate) fn release<K: Key>(
    request: &Request<K>,
    view: ReleaseWindow<'_, K>,
    entropy: &mut impl Entropy,
) -> Result<Release<K>> {
    let panes = view.panes();
    request.check(panes)?;
    let total = measure_total(request, panes, entropy)?;
    let cut = panes.iter().map(|pane| pane.cut()).sum();
    let norm = measure_norm(request, panes, &CountSource::of_panes(panes, request), &total, entropy)?;
    let keys_with_noise = if total.is_public {
        request.keys_with_noise(panes.iter().map(|pane| (1, pane.events())))
    } else {
        request.keys_of_users(&total)
    };
    let floor = request.floor();
    let (by_counts, prior) = request.by_counts(floor, &total, cut, norm, keys_with_noise);
    let by_sketch = BySketch::new(request, norm).filter(|sketch| sketch.is_better_than(&by_counts));
    let (noisy, guarantee, estimator) = match by_sketch {
        Some(sketch) => (sketch.select(request, panes, entropy)?, sketch.guarantee, Estimator::Sketch),
        None => {
            let mut seen = select(request, panes, &floor.raised_to(prior.least), entropy)?;
            let bounds = prior.observing(seen.iter().map(|(_, noisy)| *noisy), by_counts.threshold);
            seen.retain(|(_, noisy)| *noisy >= by_counts.threshold);
            (seen, Guarantee { bounds, ..by_counts }, Estimator::Counts)
        }
    };
    let asked = ask(request, &view, guarantee, entropy)?;
    Ok(Findings {
        coverage: view.coverage,
        total,
        norm,
        guarantee,
        deviation: (estimator == Estimator::Counts).then(|| floor.noise().variance().sqrt()),
        estimator,
        asked,
        asked_events: view.asked_events[1],
    }
    .into_release(request, noisy))
}

/// All of a release but its list.
pub(crate) struct Findings {
    pub coverage: Coverage,
    pub total: Total,
    pub norm: NormEstimate,
    pub guarantee: Guarantee,
    pub estimator: Estimator,
    /// The standard deviation of the noise of a count, if counts have noise.
    pub deviation: Option<f64>,
    pub asked: RequestedWindow,
    /// The most events that the window asked for can have.
    pub asked_events: u64,
}

impl Findings {
    /// The release, given the noisy counts that reached the threshold.
    pub fn into_release<K: Key>(self, request: &Request<K>, mut noisy: Vec<(K, u64)>) -> Release<K> {
        if !request.fault.is(Mutant::TableOrder) {
            noisy.sort_unstable_by(|(a, more), (b, less)| (Reverse(more), a).cmp(&(Reverse(less), b)));
        }
        let Guarantee { cut, threshold, .. } = self.guarantee;
        let statement = cut_short(&mut noisy, request.spec.top, self.guarantee.state());
        let (total, missed) = (self.total, self.coverage.missed);
        let spec = &request.spec;
        let boundaries = spec.split(spec.epsilon).boundaries;
        Release {
            version: env!("CARGO_PKG_VERSION"),
            norm: spec.norm,
            alpha: request.alpha(),
            top: spec.top,
            epsilon: spec.epsilon.as_f64(),
            delta: spec.delta().as_f64(),
            boundaries_epsilon: boundaries.map_or(0.0, Epsilon::as_f64),
            unit: spec.unit,
            policy: spec.policy(),
            estimator: self.estimator,
            threshold: threshold + cut,
            norm_estimate: self.norm.value.clamp(0, total.high.min(i64::MAX as u64) as i64) as u64,
            cut,
            noise: statement.noise,
            deviation: self.deviation,
            confidence: request.confidence,
            complete_above: statement.complete_above,
            nothing_below: statement.nothing_below,
            note: noisy.is_empty().then(|| statement.why_empty(&total, self.asked_events)),
            heavy: noisy
                .into_iter()
                .map(|(key, noisy)| {
                    let [count, low, high] = statement.interval(noisy);
                    Heavy { key, count, low, high }
                })
                .collect(),
            promises: statement.promises.map(|promises| promises.without(missed)),
            asked: self.asked,
            window: Coverage { events: total.value, between: total.between(), ..self.coverage },
            continual: None,
        }
    }
}

/// Keeps the first `top` keys, if that is set. A full list may have left out others.
fn cut_short<K>(
    noisy: &mut Vec<(K, u64)>,
    top: Option<u64>,
    statement: AccuracyStatement,
) -> AccuracyStatement {
    let most = top.map_or(usize::MAX, |top| usize::try_from(top).unwrap_or(usize::MAX));
    if noisy.len() < most {
        return statement;
    }
    noisy.truncate(most);
    match noisy.last() {
        Some((_, least)) => statement.up_to(*least),
        None => statement,
    }
}

/// The statements about the window that was asked for, given the guarantee of the one that is covered.
fn ask<K: Key>(
    request: &Request<K>,
    view: &ReleaseWindow<'_, K>,
    guarantee: Guarantee,
    entropy: &mut impl Entropy,
) -> Result<RequestedWindow> {
    let boundary = view.covered.as_ref().and_then(|covered| covered.boundary.as_ref());
    let slack = match boundary {
        None => Some(Slack::NONE),
        Some(BoundaryPane::Paid(pane)) => Some(Slack::measure(request, pane, entropy)?),
        Some(BoundaryPane::Spent) => None,
    };
    let norm = guarantee.norm;
    let widened = |slack: Slack| match request.spec.norm {
        // With user-level privacy, windows begin exactly where they were asked to.
        Norm::L1 if request.unit().is_user() => norm,
        Norm::L1 => {
            NormEstimate { low: view.asked_events[0] as f64, high: view.asked_events[1] as f64, ..norm }
        }
        Norm::L2 => NormEstimate { high: norm.high + slack.norm, ..norm },
    };
    Ok(RequestedWindow {
        from: view.asked_from,
        slack: slack.map(|slack| slack.count),
        promises: slack.and_then(|slack| {
            let guarantee = Guarantee { slack: slack.count, norm: widened(slack), ..guarantee };
            let missed = view.covered.as_ref().map_or(0, |covered| covered.missed_of_asked);
            let promises = guarantee.state().promises;
            promises.map(|promises| promises.without(missed))
        }),
    })
}

/// The number of events of the window.
fn measure_total<K: Key>(
    request: &Request<K>,
    panes: &[Cow<'_, Pane<K>>],
    entropy: &mut impl Entropy,
) -> Result<Total> {
    let events = panes.iter().map(|pane| pane.events()).sum();
    match request.split.total {
        None => Ok(Total::public(events)),
        Some(_) if request.fault.is(Mutant::TrueTotal) => Ok(Total::around(events as i64, 0)),
        Some(epsilon) => {
            Total::measure(events, request.noise_unit(), epsilon, request.total_failure(), entropy)
        }
    }
}

/// The norm of the window: of its events, of its counts if they are exact, or of its sketch.
pub(crate) fn measure_norm<K: Key>(
    request: &Request<K>,
    panes: &[Cow<'_, Pane<K>>],
    counts: &CountSource<'_, K>,
    total: &Total,
    entropy: &mut impl Entropy,
) -> Result<NormEstimate> {
    let Some(epsilon) = request.split.norm else {
        return Ok(total.norm());
    };
    let (unit, failure) = (request.noise_unit(), request.norm_failure());
    match norm_of(request, panes, counts)? {
        NormSource::Sketch(sketch) => NormEstimate::of_sketch(&sketch, unit, epsilon, failure, entropy),
        NormSource::Squares(squares) => {
            NormEstimate::of_exact_counts(squares, unit, epsilon, failure, entropy)
        }
    }
}

/// The source of an L2 norm.
enum NormSource {
    Squares(u128),
    Sketch(CountSketch),
}

fn norm_of<K: Key>(
    request: &Request<K>,
    panes: &[Cow<'_, Pane<K>>],
    counts: &CountSource<'_, K>,
) -> Result<NormSource> {
    let cut: u64 = panes.iter().map(|pane| pane.cut()).sum();
    if cut > 0
        && let Some(mut sketch) = request.shape.parameters().empty_sketch()
    {
        panes.iter().try_for_each(|pane| pane.add_to(&mut sketch))?;
        return Ok(NormSource::Sketch(sketch));
    }
    Ok(NormSource::Squares(counts.squares()?))
}

/// The values that a release adds noise to, without noise: **they must not be published**.
#[cfg(feature = "internals")]
#[derive(Clone, Debug)]
pub struct Unnoised<K> {
    /// The keys of the window with a count of at least 1.
    pub counts: Vec<(K, u64)>,
    /// Draws the noise of the counts and decides which are listed, unless the norm asks for more.
    pub threshold: Threshold,
    /// With user-level privacy the number of counted events, and its noise.
    pub total: Option<(u64, crate::noise::DiscreteLaplace)>,
    /// For L2 the norm, and its noise.
    pub norm: Option<(u64, crate::noise::DiscreteLaplace)>,
}

/// The values that a release of this window adds noise to.
#[cfg(feature = "internals")]
pub(crate) fn unnoised<K: Key>(request: &Request<K>, view: &ReleaseWindow<'_, K>) -> Result<Unnoised<K>> {
    let panes = view.panes();
    let mut counts = Vec::new();
    WindowCounts::new(panes, request).for_each_table(|table| {
        counts.extend(table.iter().map(|(key, sum)| (K::owned(*key), *sum)));
        Ok(())
    })?;
    let unit = request.noise_unit();
    let norm = match request.split.norm {
        None => None,
        Some(epsilon) => Some(match norm_of(request, panes, &CountSource::of_panes(panes, request))? {
            NormSource::Sketch(sketch) => (sketch.norm(), unit.sketched_norm(), epsilon),
            NormSource::Squares(squares) => (squares.isqrt() as u64, unit.norm(), epsilon),
        }),
    };
    let events = panes.iter().map(|pane| pane.events()).sum();
    let total = request.split.total.map(|epsilon| (events, unit.total(), epsilon));
    let with_noise =
        |(value, sensitivity, epsilon)| (value, crate::noise::DiscreteLaplace::new(sensitivity, epsilon));
    Ok(Unnoised {
        counts,
        threshold: request.floor(),
        norm: norm.map(with_noise),
        total: total.map(with_noise),
    })
}

/// The keys that reach the threshold, with their noisy counts, in no order.
fn select<K: Key>(
    request: &Request<K>,
    panes: &[Cow<'_, Pane<K>>],
    threshold: &Threshold,
    entropy: &mut impl Entropy,
) -> Result<Vec<(K, u64)>> {
    let mut passed = Vec::new();
    let mut present = Vec::new();
    WindowCounts::new(panes, request).for_each_table(|table| {
        let selected = threshold.select(table.iter().copied(), entropy)?;
        passed.extend(selected.into_iter().map(|(key, noisy)| (K::owned(key), noisy)));
        if let Keys::Declared(universe) = &request.keys {
            present.extend(table.iter().filter_map(|(key, _)| universe.rank(*key)));
        }
        Ok(())
    })?;
    if let Keys::Declared(universe) = &request.keys
        && !request.fault.is(Mutant::SilentAbsentKeys)
    {
        present.sort_unstable();
        let absent = universe.size() - present.len() as u64;
        for (number, noisy) in threshold.select_absent(absent, entropy)? {
            passed.push((universe.key(nth_absent(&present, number)), noisy));
        }
    }
    Ok(passed)
}

/// The `number`-th integer, from 0, that is not in a sorted list.
fn nth_absent(taken: &[u64], number: u64) -> u64 {
    number + first(0, taken.len() as u64, |place| taken[place as usize] - place > number)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet, HashMap};

    use super::*;
    use crate::counting::window::WindowView;
    use crate::error::ErrorKind;
    use crate::noise::InsecureSeededEntropy;
    use crate::pane::PaneShape;
    use crate::release::Promises;
    use crate::release::test_oracle::{
        CONFIDENCE, SEED, laplace, pane, quantile, request, request_of, shape, sketch, spec, times,
    };
    use crate::sketch::count_sketch::{Dimensions, sum_of_squares};
    use crate::spec::{Edge, Policy, Spec, Unit};

    const EPSILON: f64 = 0.5;
    const FAILURE: f64 = 1.0 - CONFIDENCE;

    type Event = Option<u64>;

    /// A window of these panes, which begins at position 3 of an earlier pane, if there is one.
    fn view<'a>(
        panes: Vec<Cow<'a, Pane<u64>>>,
        boundary: Option<Cow<'a, Pane<u64>>>,
        may_measure: bool,
    ) -> ReleaseWindow<'a, u64> {
        let events = panes.iter().map(|pane| pane.events()).sum();
        let before = boundary.as_ref().map_or(0, |pane| pane.events());
        let [asked, from, to] = [before.min(3), before, before + events];
        ReleaseWindow {
            covered: Some(WindowView {
                since: asked as i64,
                from: from as i64,
                latest: to as i64 - 1,
                known_end: None,
                missed: 0,
                missed_of_asked: 0,
                panes,
                left_out: before,
                boundary: boundary
                    .map(|pane| if may_measure { BoundaryPane::Paid(pane) } else { BoundaryPane::Spent }),
            }),
            coverage: Coverage {
                events,
                between: None,
                from: Some(Edge::Event(from)),
                to: Some(Edge::Event(to)),
                missed: 0,
            },
            asked_from: Some(Edge::Event(asked)),
            asked_events: [to - asked; 2],
        }
    }

    /// The alpha at which the promises hold: the given one, or the least of `0.1, 0.101, ..., 0.999`,
    /// from the numbers that they follow from.
    fn promised(release: &Release<u64>, norm: (i64, [f64; 2]), slack: u64) -> [Option<f64>; 2] {
        let (value, [low, high]) = norm;
        let holds = |thousandths: &u64| {
            let alpha = *thousandths as f64 / 1e3;
            let raised = (3 * u128::from(*thousandths) * value.max(0) as u128).div_ceil(4_000) as u64;
            let threshold = release.threshold.max(raised);
            (threshold + slack + release.noise) as f64 <= alpha * low
                && (threshold as f64 - (release.cut + release.noise) as f64) > alpha / 2.0 * high
                && (release.noise + release.cut.max(slack)) as f64 <= alpha / 4.0 * low
        };
        let alpha = (100..1_000).find(holds).map(|thousandths| thousandths as f64 / 1e3);
        [alpha.filter(|alpha| *alpha == 0.1), alpha]
    }

    fn assert_promises(found: &Promises, [held, alpha]: [Option<f64>; 2]) {
        assert_eq!((found.held, found.alpha), (held.is_some(), alpha), "{found:?}");
        assert_eq!(found.reason.is_some(), !found.held);
    }

    /// The same number of events, of two keys and of five hundred: what is said of all of them is the same.
    #[test]
    fn statements_do_not_follow_from_how_many_keys_there_are() {
        let shape = shape(20_000, 1 << 12);
        let request = request_of(Spec { all: true, ..spec(Norm::L1, EPSILON) }, Keys::Open, shape);
        let said = [2, 500].map(|keys| {
            let view = view(vec![pane((0..10_000).map(|event| Some(event % keys)), shape)], None, true);
            let found = release(&request, view, &mut InsecureSeededEntropy::new(1)).unwrap();
            (found.threshold, found.complete_above, found.nothing_below)
        });
        assert_eq!(said[0], said[1]);
    }

    /// Key 7 comes 11,000 times in two panes, and in the earlier pane in which the window begins, key 3
    /// comes 400 times and key 4 300 times. With an equal source of noise every number of the release
    /// is known: the draws, their order and scale, and all that follows.
    #[test]
    fn every_number_is_its_truth_with_its_own_noise() {
        let one_key = || Keys::list([7]).unwrap();
        let mut seen = BTreeSet::new();
        for (norm, entries, keys) in [
            (Norm::L1, 20_000, Keys::Open),
            (Norm::L1, 20_000, one_key()),
            (Norm::L1, 39, Keys::Open),
            (Norm::L1, 39, one_key()),
            (Norm::L2, 20_000, Keys::Open),
            (Norm::L2, 20_000, one_key()),
            (Norm::L2, 39, Keys::Open),
        ] {
            let shape = shape(entries, 1 << 12);
            let request = request(norm, EPSILON, keys.clone(), shape);
            let left_out: Vec<Event> = times(3, 400).chain(times(4, 300)).collect();
            let panes = || vec![pane(times(7, 6_000), shape), pane(times(7, 5_000), shape)];
            for seed in 0..15 {
                let mut entropy = InsecureSeededEntropy::new(seed);
                let view = view(panes(), Some(pane(left_out.clone(), shape)), true);
                let found = release(&request, view, &mut entropy).unwrap();

                let mut again = InsecureSeededEntropy::new(seed);
                let mut draw = |sensitivity, share: f64| {
                    laplace(sensitivity, share * EPSILON).sample(&mut again).unwrap()
                };
                let [cut, cut_before]: [u64; 2] = match entries {
                    39 => [150 + 125, 17],
                    _ => [0, 0],
                };
                let error = |failure: f64| {
                    let dimensions = shape.sketch().unwrap();
                    dimensions.squared_error(failure * 2.0 / 3.0)
                };
                // The norm and its bounds.
                let (counts_share, counts_failure) = match norm {
                    Norm::L1 => (1.0, 0.9 * FAILURE),
                    Norm::L2 => (0.9, 0.7 * FAILURE),
                };
                let (value, bounds) = match (norm, cut) {
                    (Norm::L1, _) => (11_000, [11_000.0; 2]),
                    (Norm::L2, 0) => {
                        let value = 11_000 + draw(1, 0.1);
                        let spread = quantile(1.0, 0.1 * EPSILON, 1, 0.2 * FAILURE) as i64;
                        (value, [(value - spread) as f64, (value + spread + 1) as f64])
                    }
                    (Norm::L2, _) => {
                        let value = 11_000 + draw(2, 0.1);
                        let spread = quantile(2.0, 0.1 * EPSILON, 1, 0.2 * FAILURE / 3.0) as i64;
                        let error = error(0.2 * FAILURE);
                        let low = (value - spread) as f64 / (1.0 + error).sqrt();
                        (value, [low, (value + spread + 1) as f64 / (1.0 - error).sqrt()])
                    }
                };
                // Three quarters of a tenth of it, rounded up.
                let threshold = (3 * value as u64).div_ceil(40);
                // One key was seen, and a fifth of the failure probability is for keys that were not.
                let noise = quantile(2.0, counts_share * EPSILON, 1, 0.8 * counts_failure);
                let noisy = (11_000 - cut as i64 + draw(2, counts_share)) as u64;
                // The slack: the largest count, and the norm.
                let share = if norm == Norm::L1 { 1.0 } else { 0.5 };
                let failure = 0.05 * FAILURE;
                let largest = 400 - cut_before as i64 + draw(1, share);
                let slack = largest + quantile(1.0, share * EPSILON, 1, failure) as i64 + cut_before as i64;
                let norm_before = match (norm, cut_before) {
                    (Norm::L1, _) => 0.0,
                    (Norm::L2, 0) => {
                        (501 + draw(1, 0.5)) as f64 + quantile(1.0, 0.5 * EPSILON, 1, failure) as f64
                    }
                    (Norm::L2, _) => {
                        let spread = quantile(2.0, 0.5 * EPSILON, 1, failure / 3.0) as f64;
                        ((501 + draw(2, 0.5)) as f64 + spread) / (1.0 - error(failure)).sqrt()
                    }
                };
                assert_eq!(entropy.word().unwrap(), again.word().unwrap(), "more or less was drawn");

                assert_eq!(found.estimator, Estimator::Counts);
                assert_eq!((found.threshold, found.cut, found.noise), (threshold, cut, noise));
                assert_eq!(found.norm_estimate, (value as u64).min(11_000));
                assert_eq!(found.complete_above, threshold + noise);
                assert_eq!(found.nothing_below, threshold - cut - noise);
                let deviation = laplace(2, counts_share * EPSILON).variance().sqrt();
                assert_eq!(found.deviation, Some(deviation));
                let heavy =
                    Heavy { key: 7, count: noisy + cut, low: noisy - noise, high: noisy + cut + noise };
                assert_eq!(found.heavy, [heavy]);
                assert_eq!(found.note, None);
                assert_eq!(found.asked.slack, Some(slack as u64));
                assert_promises(found.promises.as_ref().unwrap(), promised(&found, (value, bounds), 0));
                let asked_bounds = match norm {
                    Norm::L1 => [11_697.0; 2],
                    Norm::L2 => [bounds[0], bounds[1] + norm_before],
                };
                let asked = promised(&found, (value, asked_bounds), slack as u64);
                assert_promises(found.asked.promises.as_ref().unwrap(), asked);
                seen.insert((
                    found.held(),
                    found.promises.as_ref().unwrap().alpha.is_some(),
                    asked[1].is_some(),
                ));

                assert_eq!(found.delta, if matches!(keys, Keys::Declared(_)) { 0.0 } else { 1e-6 });
                assert_eq!((found.norm, found.alpha, found.epsilon), (norm, Some(0.1), EPSILON));
                assert_eq!((found.confidence, found.boundaries_epsilon), (0.95, 0.0));
                assert_eq!((found.policy, found.unit), (Policy::Uniform, Unit::Event));
                assert_eq!(found.window.events, 11_000);
                assert_eq!(found.window.from, Some(Edge::Event(700)));
                assert_eq!(found.window.to, Some(Edge::Event(11_700)));
                assert_eq!(found.asked.from, Some(Edge::Event(3)));
                assert!(found.continual.is_none());
            }
        }
        assert!(seen.len() > 1, "promises were kept, and not: {seen:?}");
    }

    /// Counts of 2, 2 and 4 have norm 4, rounded down. Where one is cut off the sketch is used.
    #[test]
    fn the_norm_is_that_of_all_events_with_a_cut_or_without() {
        for (entries, cut) in [(8, 0), (7, 1), (3, 2)] {
            let shape = shape(entries, 1 << 14);
            let request = request(Norm::L2, 1_000.0, Keys::Open, shape);
            let events = times(1, 2).chain(times(2, 2)).chain(times(3, 4));
            let view = view(vec![pane(events, shape)], None, true);
            let found = release(&request, view, &mut InsecureSeededEntropy::new(1)).unwrap();
            assert_eq!((found.cut, found.norm_estimate), (cut, 4));
        }
    }

    #[test]
    fn panes_that_were_made_for_something_else_are_refused() {
        let ours = shape(9, 64);
        let request = request(Norm::L2, 1.0, Keys::Open, ours);
        for (theirs, fits) in [
            (shape(9, 64).listing(1_000), true),
            (shape(8, 64), false),
            (shape(9, 128), false),
            (PaneShape::new(9, 0, ours.sketch(), SEED + 1).unwrap(), false),
        ] {
            let panes = vec![pane(times(1, 5), ours), pane(times(1, 5), theirs)];
            let released = release(&request, view(panes, None, true), &mut InsecureSeededEntropy::new(1));
            assert_eq!(released.err().map(|error| error.kind()), (!fits).then_some(ErrorKind::Pane));
        }
    }

    /// Then nothing is stated about the window asked for and no noise is drawn for it; nor where it
    /// equals the covered one.
    #[test]
    fn a_pane_that_cannot_pay_is_not_measured() {
        for norm in [Norm::L1, Norm::L2] {
            let shape = shape(2_000, 64);
            let request = request(norm, EPSILON, Keys::Open, shape);
            let released = |boundary: Option<Cow<'static, Pane<u64>>>, may_measure| {
                let mut entropy = InsecureSeededEntropy::new(5);
                let view = view(vec![pane(times(7, 1_000), shape)], boundary, may_measure);
                let release = release(&request, view, &mut entropy).unwrap();
                (release, entropy.word().unwrap())
            };
            let before = || Some(pane(times(3, 400), shape));
            let (plain, after) = released(None, false);
            assert_eq!(plain.asked.slack, Some(0));
            assert_eq!(plain.asked.promises, plain.promises);
            let (unmeasured, after_unmeasured) = released(before(), false);
            assert_eq!((unmeasured.asked.slack, unmeasured.asked.promises), (None, None));
            assert_eq!(after_unmeasured, after);
            let (measured, after_measured) = released(before(), true);
            assert!(measured.asked.slack.is_some() && measured.asked.promises.is_some());
            assert_ne!(after_measured, after);
            assert_eq!(unmeasured.heavy, measured.heavy);
        }
    }

    /// The values that noise is added to, of a window of three panes that begins within the first: the
    /// norm, the counts, and the largest count and the norm of what is left out.
    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct TrueValues {
        norm: u64,
        counts: BTreeMap<u64, u64>,
        largest: u64,
        norm_before: u64,
    }

    fn inside(stream: &[Event], shape: PaneShape) -> TrueValues {
        let norm_of = |events: &[Event], exact: bool| {
            if exact {
                let counts =
                    (0..2).map(|key| events.iter().filter(|event| **event == Some(key)).count() as u64);
                sum_of_squares(counts).isqrt() as u64
            } else {
                sketch(events.iter().copied(), shape.sketch().unwrap()).norm()
            }
        };
        let parts = [&stream[..2], &stream[2..4], &stream[4..]];
        let [before, panes @ ..] = parts.map(|events| pane(events.iter().copied(), shape));
        let mut counts = BTreeMap::new();
        for (key, count) in panes.iter().flat_map(|pane| pane.counts().iter()) {
            *counts.entry(key).or_insert(0) += count;
        }
        TrueValues {
            norm: norm_of(&stream[2..], panes.iter().all(|pane| pane.cut() == 0)),
            counts,
            largest: before.counts().iter().map(|(_, count)| count).max().unwrap_or(0),
            norm_before: norm_of(parts[0], before.cut() == 0),
        }
    }

    /// Without noise, over all streams of five events over two keys or none. Neighbours differ in these
    /// values by at most the sensitivity. And a release is a function of them: streams that agree in them, of
    /// which the first few and the last are compared, give the same release in every number and word.
    #[test]
    fn a_release_says_nothing_but_what_noise_was_added_to() {
        const SIZE: usize = 3;
        let alphabet: [Event; SIZE] = [None, Some(0), Some(1)];
        let streams: Vec<Vec<Event>> = (0..SIZE.pow(5))
            .map(|number| (0..5).map(|digit| alphabet[number / SIZE.pow(digit) % SIZE]).collect())
            .collect();
        let declared = || Keys::range(0..2).unwrap();
        for (norm, entries, keys) in [
            (Norm::L1, 1, Keys::Open),
            (Norm::L1, 9, declared()),
            (Norm::L2, 1, Keys::Open),
            (Norm::L2, 1, declared()),
            (Norm::L2, 9, declared()),
        ] {
            let shape = shape(entries, 4);
            let insides: Vec<TrueValues> = streams.iter().map(|stream| inside(stream, shape)).collect();
            let steps = (0..5).flat_map(|digit| (0..SIZE).map(move |other| (SIZE.pow(digit), other)));
            for (number, (place, other)) in
                (0..streams.len()).flat_map(|n| steps.clone().map(move |s| (n, s)))
            {
                let neighbour = number - number / place % SIZE * place + other * place;
                let in_window = u64::from(place >= SIZE.pow(2));
                assert_neighbours(&insides[number], &insides[neighbour], in_window, entries == 9);
            }
            let request = request_of(Spec { alpha: 0.7, ..spec(norm, 1_000.0) }, keys, shape);
            let mut alike: HashMap<TrueValues, Vec<&Vec<Event>>> = HashMap::new();
            for (stream, inside) in streams.iter().zip(insides) {
                let inside = match norm {
                    Norm::L1 => TrueValues { norm: 0, norm_before: 0, ..inside },
                    Norm::L2 => inside,
                };
                alike.entry(inside).or_default().push(stream);
            }
            for (inside, streams) in alike {
                let said = |stream: &[Event]| {
                    let panes =
                        [&stream[2..4], &stream[4..]].map(|events| pane(events.iter().copied(), shape));
                    let before = pane(stream[..2].iter().copied(), shape);
                    let view = view(panes.to_vec(), Some(before), true);
                    release(&request, view, &mut InsecureSeededEntropy::new(1)).unwrap()
                };
                let expected = said(streams[0]);
                let last = streams.len() - 1;
                for other in [1, 2, last] {
                    let other = streams[other.min(last)];
                    assert_eq!(said(other), expected, "{inside:?}: {other:?}");
                }
            }
        }
    }

    /// At most one count is higher by 1 and at most one lower, a norm moves by 1 or, by a sketch, by 2,
    /// and only where the event is.
    fn assert_neighbours(one: &TrueValues, two: &TrueValues, in_window: u64, exact: bool) {
        let most = if exact { 1 } else { 2 };
        assert!(one.norm.abs_diff(two.norm) <= most * in_window, "{one:?} {two:?}");
        assert!(one.norm_before.abs_diff(two.norm_before) <= most * (1 - in_window));
        assert!(one.largest.abs_diff(two.largest) <= 1 - in_window);
        let [first, second] = [0, 1].map(|key| {
            let [a, b] = [one, two].map(|inside| inside.counts.get(&key).copied().unwrap_or(0) as i64);
            a - b
        });
        let most = in_window as i64;
        assert!(first.abs() <= most && second.abs() <= most && (first + second).abs() <= most);
    }

    /// Two streams of a thousand events with similar norms: the cut leaves nothing of one and something
    /// of the other. The choice of the estimator, and all statements, follow from the noisy norm and
    /// public numbers.
    #[test]
    fn the_estimator_follows_from_the_noisy_norm_and_not_from_what_panes_keep() {
        // A cut of 90 leaves nothing of 100 keys, and one of 4 nothing of 250.
        for (entries, often, peak, expected) in
            [(10, 10, 95, Estimator::Sketch), (200, 4, 55, Estimator::Counts)]
        {
            let flat = (0..1_000).map(|event| Some(event / often)).collect::<Vec<Event>>();
            let peaked = times(0, peak).chain((peak as u64..1_000).map(Some)).collect::<Vec<Event>>();
            let dimensions = Dimensions { rows: 3, width: 1 << 14 };
            let shape = PaneShape::new(entries, 1_000, Some(dimensions), SEED).unwrap();
            let asked = Spec { alpha: 0.5, ..spec(Norm::L2, 20.0) };
            let request = request_of(asked, Keys::range(0..1_000).unwrap(), shape);
            let streams = [flat, peaked].map(|stream| pane(stream, shape));
            assert_eq!([0, 1].map(|number| streams[number].counts().len()), [0, 1]);
            let mut said: HashMap<u64, [Vec<String>; 2]> = HashMap::new();
            for (seed, number) in (0..6).flat_map(|seed| [(seed, 0), (seed, 1)]) {
                let view = view(vec![streams[number].clone()], None, true);
                let mut found = release(&request, view, &mut InsecureSeededEntropy::new(seed)).unwrap();
                assert_eq!(found.estimator, expected);
                found.heavy.clear();
                found.note = None;
                said.entry(found.norm_estimate).or_default()[number].push(format!("{found:?}"));
            }
            assert!(said.values().any(|[flat, peaked]| !flat.is_empty() && !peaked.is_empty()));
            for same_norm in said.values() {
                let mut all = same_norm.iter().flatten();
                let first = all.next();
                assert!(all.all(|other| Some(other) == first), "{same_norm:?}");
            }
        }
    }

    #[test]
    fn absent_keys_are_numbered_past_the_present_ones() {
        let taken = [0, 1, 4, 9];
        let absent: Vec<u64> = (0..6).map(|number| nth_absent(&taken, number)).collect();
        assert_eq!(absent, [2, 3, 5, 6, 7, 8]);
        assert_eq!(nth_absent(&[], 7), 7);
    }
}
