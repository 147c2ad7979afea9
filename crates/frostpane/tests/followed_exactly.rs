//! The exact delta of continual release with open keys against adaptive adversaries, over few panes, small counts and noise that ends:
//! at every pane the adversary chooses, by all that was released, how often other events have the key, and when the unit of privacy
//! comes. Probabilities are floats.

use std::collections::HashMap;

/// The noise ends here, which costs a delta of its own, about the chance that it comes so far.
const END: i64 = 4;
const ENDS_COST: f64 = 2e-4;

/// A continual release of one key that moves, or of several that move together.
#[derive(Clone, Debug)]
struct Sequence {
    /// Panes of a window; each pane has one noise value.
    panes: usize,
    /// In how many windows after a listing the key is evaluated.
    followed_for: usize,
    /// Probabilities of the noise of a pane, from `-END` on.
    noise: Vec<f64>,
    epsilon: f64,
    threshold: i64,
    /// A key that is not followed is evaluated from this count on.
    least: i64,
    /// How much a unit may add to the key's count, over how many panes.
    most: i64,
    epoch: usize,
    /// The unit comes in one of so many panes, or not at all, which is worth `later`.
    length: usize,
    later: f64,
    /// What other events may add to the key in the first pane, and in those after it.
    others: [Vec<i64>; 2],
    /// Which world has the unit is the more probable in the sets that are looked at.
    with_unit: bool,
    /// Less probable releases are not used any more.
    negligible: f64,
}

/// What is known and what is hidden after some windows.
#[derive(Clone)]
struct State {
    pane: usize,
    /// The key's count in the latest panes, without the unit and by the unit.
    counts: Vec<(i64, i64)>,
    /// The first pane of the epoch, if it has come, and what is left of the unit.
    began: Option<usize>,
    left: i64,
    listed: Option<usize>,
    /// The joint probability, without the unit and with it, of all that was released and of the noise of the latest panes.
    chances: HashMap<Vec<i64>, [f64; 2]>,
}

/// Probabilities of discrete Laplace noise that ends.
fn noise(scale: f64) -> Vec<f64> {
    let weights: Vec<f64> = (-END..=END).map(|value| (-(value.abs() as f64) / scale).exp()).collect();
    let all: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / all).collect()
}

/// The chance that the sum of so many values is at least `d`.
fn tail(noise: &[f64], terms: usize, d: i64) -> f64 {
    let mut sums = HashMap::from([(0, 1.0)]);
    for _ in 0..terms {
        let mut next = HashMap::new();
        for (sum, chance) in sums {
            for (value, each) in (-END..).zip(noise) {
                *next.entry(sum + value).or_insert(0.0) += chance * each;
            }
        }
        sums = next;
    }
    sums.into_iter().filter(|(sum, _)| *sum >= d).map(|(_, chance)| chance).sum()
}

impl Sequence {
    /// With the margin that users have by the proof at this delta.
    fn of_users(panes: usize, most: i64, epoch: usize, epsilon: f64, delta: f64) -> Self {
        let noise = noise(most as f64 / epsilon);
        let windows = if most == 1 { panes } else { panes + epoch - 1 } as f64;
        let margin = (1..).find(|d| windows * tail(&noise, panes, *d) <= delta).unwrap();
        let threshold = most + margin;
        let often = threshold + END * panes as i64;
        Self {
            panes,
            followed_for: panes - 1,
            noise,
            epsilon,
            threshold,
            least: 1,
            most,
            epoch,
            length: 2 * panes - 1,
            later: 0.0,
            others: [vec![0, often], if panes == 2 { vec![0, often] } else { vec![0] }],
            with_unit: true,
            negligible: 1e-9,
        }
    }

    /// The most that the probability of any set of releases exceeds `e^epsilon` times that in the other world by, over all adversaries.
    fn delta(&self) -> f64 {
        // Before it are panes whose noise nobody has seen.
        let mut chances = HashMap::from([(Vec::new(), [1.0; 2])]);
        for _ in 1..self.panes {
            chances = self.with_noise(&chances).collect();
        }
        let counts = vec![(0, 0); self.panes - 1];
        self.worst(&State { pane: 0, counts, began: None, left: self.most, listed: None, chances })
    }

    /// The noise of one more pane.
    fn with_noise(
        &self,
        chances: &HashMap<Vec<i64>, [f64; 2]>,
    ) -> impl Iterator<Item = (Vec<i64>, [f64; 2])> {
        chances.iter().flat_map(|(values, chances)| {
            let each = (-END..).zip(&self.noise);
            each.map(move |(value, each)| {
                ([&values[..], &[value]].concat(), chances.map(|chance| chance * each))
            })
        })
    }

    fn exceeds(&self, chances: [f64; 2]) -> f64 {
        let [other, this] = if self.with_unit { chances } else { [chances[1], chances[0]] };
        (this - self.epsilon.exp() * other).max(0.0)
    }

    fn worst(&self, state: &State) -> f64 {
        let total = state.chances.values().fold([0.0; 2], |sum, each| [sum[0] + each[0], sum[1] + each[1]]);
        let this = total[usize::from(self.with_unit)];
        match state.began {
            None if state.pane == self.length => return this * self.later,
            Some(began) if state.pane >= began + self.epoch => {
                let left = &state.counts[state.counts.len() + 1 - self.panes..];
                if left.iter().all(|(_, unit)| *unit == 0) {
                    return self.exceeds(total);
                }
            }
            _ => {}
        }
        if this < self.negligible {
            return this * if state.began.is_none() { self.later } else { 0.0 };
        }
        let may_come = state.began.is_none_or(|began| state.pane < began + self.epoch);
        let most = if may_come { state.left } else { 0 };
        let others = &self.others[state.pane.min(1)];
        let choices = others.iter().flat_map(|others| (0..=most).map(move |unit| (*others, unit)));
        choices.map(|choice| self.after(state, choice)).fold(0.0, f64::max)
    }

    /// The same after a pane with these events.
    fn after(&self, state: &State, (others, unit): (i64, i64)) -> f64 {
        let mut counts = state.counts.clone();
        counts.push((others, unit));
        let latest = &counts[counts.len() - self.panes..];
        let sum = |of: fn(&(i64, i64)) -> i64| latest.iter().map(of).sum::<i64>();
        let (without, by_unit) = (sum(|count| count.0), sum(|count| count.1));
        let is_followed = state.listed.is_some_and(|listed| state.pane - listed <= self.followed_for);
        let mut outcomes: HashMap<Option<i64>, HashMap<Vec<i64>, [f64; 2]>> = HashMap::new();
        for (mut values, chances) in self.with_noise(&state.chances) {
            let noise: i64 = values.iter().sum();
            values.remove(0);
            for world in 0..2 {
                let count = without + world as i64 * by_unit;
                let is_evaluated = is_followed || count >= self.least;
                let listed = Some(count + noise).filter(|noisy| is_evaluated && *noisy >= self.threshold);
                let hidden = outcomes.entry(listed).or_default().entry(values.clone()).or_default();
                hidden[world] += chances[world];
            }
        }
        let began = state.began.or((unit > 0).then_some(state.pane));
        let next = |(listed, chances): (Option<i64>, HashMap<_, _>)| {
            let listed = listed.map(|_| state.pane).or(state.listed);
            let left = state.left - unit;
            self.worst(&State { pane: state.pane + 1, counts: counts.clone(), began, left, listed, chances })
        };
        outcomes.into_iter().map(next).sum()
    }

    /// Returns true if an adversary who tries again and again, each time within `length` panes and then not before no noise that was seen
    /// is left, gets above `most`: whoever has that much by trying later has more by trying now.
    fn by_waiting_exceeds(&self, most: f64) -> bool {
        let now = Self { later: most, ..self.clone() }.delta();
        println!("{most:.4} by trying later is {now:.6} by trying now");
        now > most * (1.0 + 1e-9)
    }
}

/// How much of delta the best adversary needs, in both worlds, each against the other.
fn needed(sequence: &Sequence, delta: f64) -> f64 {
    let found = [true, false].map(|with_unit| Sequence { with_unit, ..sequence.clone() }.delta() / delta);
    println!("threshold {}: {found:.3?} of delta {delta}", sequence.threshold);
    found[0].max(found[1])
}

/// Units of one key, whose events may be spread over an epoch of two panes, with thresholds at the least and above it. One count lower is
/// too low.
#[test]
fn no_adaptive_adversary_exceeds_delta() {
    for (panes, most, epoch, epsilon, delta) in [
        (2, 1, 1, 2.5, 0.02),
        (2, 1, 1, 2.5, 0.003),
        (2, 2, 1, 4.0, 0.03),
        (2, 2, 2, 4.0, 0.03),
        (3, 1, 1, 4.0, 0.03),
    ] {
        let sequence = Sequence::of_users(panes, most, epoch, epsilon, delta);
        let share = needed(&sequence, delta);
        assert!(share <= 1.0 + ENDS_COST / delta && share > 0.05, "{sequence:?}: {share}");
        let lower = Sequence { threshold: sequence.threshold - 1, ..sequence.clone() };
        assert!(needed(&lower, delta) > 1.0, "{sequence:?}");
        let often = sequence.others[0][1];
        let others = [vec![0, 2, often], vec![0, often]];
        let raised = Sequence { threshold: sequence.threshold + 2, least: 3, others, ..sequence };
        assert!(panes == 3 || needed(&raised, delta) <= 1.0 + ENDS_COST / delta, "{raised:?}");
    }
}

/// Who waits for a high noise that a list shows, and brings the unit then, needs no more of delta than anybody, because the key is
/// followed; and many times delta if it is not, or not until no noise that was seen is left.
#[test]
fn waiting_for_high_noise_helps_where_keys_are_not_followed_to_the_end() {
    for (panes, epsilon, delta, followed_for) in [(2, 2.5, 0.02, 0), (3, 4.0, 0.03, 1)] {
        let sequence = Sequence::of_users(panes, 1, 1, epsilon, delta);
        assert!(!sequence.by_waiting_exceeds(delta));
        let too_short = Sequence { followed_for, ..sequence };
        assert!(too_short.by_waiting_exceeds(5.0 * delta));
    }
}
