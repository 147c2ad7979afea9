//! The formulas of the proofs, restated in floats for tests and independent of the code under test.

use std::borrow::Cow;

use crate::fault::Fault;
use crate::key::Keys;
pub use crate::noise::discrete_laplace::tests::laplace;
use crate::pane::{OpenPane, Pane, PaneShape};
use crate::privacy::{Delta, Epsilon};
use crate::release::request::Request;
use crate::sketch::CountSketch;
use crate::sketch::count_sketch::Dimensions;
use crate::spec::{Norm, Policy, Spec, ValidSpec};

pub const SEED: u64 = 11;
pub const CONFIDENCE: f64 = 0.95;
pub const DELTA: f64 = 1e-6;

pub fn spec(norm: Norm, epsilon: f64) -> Spec {
    Spec {
        norm,
        alpha: 0.1,
        epsilon: Epsilon::new(epsilon).unwrap(),
        delta: Delta::new(DELTA),
        confidence: CONFIDENCE,
        ..Spec::default()
    }
}

pub fn request(norm: Norm, epsilon: f64, keys: Keys<u64>, shape: PaneShape) -> Request<u64> {
    request_of(spec(norm, epsilon), keys, shape)
}

pub fn request_of(spec: Spec, keys: Keys<u64>, shape: PaneShape) -> Request<u64> {
    let declared = match &keys {
        Keys::Open => None,
        Keys::Declared(universe) => Some(universe.size()),
    };
    let spec = ValidSpec::new(spec, Policy::Uniform, declared).unwrap();
    Request::new(spec, keys, shape, 1, Fault::default())
}

/// Panes that keep `entries` keys, with a sketch of three rows.
pub fn shape(entries: u32, width: usize) -> PaneShape {
    PaneShape::new(entries, 0, Some(Dimensions { rows: 3, width }), SEED).unwrap()
}

pub fn pane(events: impl IntoIterator<Item = Option<u64>>, shape: PaneShape) -> Cow<'static, Pane<u64>> {
    let mut open = OpenPane::new(shape);
    events.into_iter().for_each(|event| open.update(event));
    Cow::Owned(open.close())
}

/// A key `count` times.
pub fn times(key: u64, count: usize) -> impl Iterator<Item = Option<u64>> + Clone {
    std::iter::repeat_n(Some(key), count)
}

pub fn sketch(events: impl IntoIterator<Item = Option<u64>>, dimensions: Dimensions) -> CountSketch {
    use crate::key::Key;
    let mut sketch = CountSketch::new(dimensions, SEED);
    for key in events.into_iter().flatten() {
        sketch.add(u64::hash(key, SEED), 1);
    }
    sketch
}

/// The least `m` with `Pr[noise >= m] = p^m / (1 + p) <= chance`, `p = exp(-epsilon / sensitivity)`.
pub fn reach(sensitivity: f64, epsilon: f64, chance: f64) -> u64 {
    let p = (-epsilon / sensitivity).exp();
    (0..).find(|m| p.powi(*m) / (1.0 + p) <= chance).unwrap() as u64
}

/// The least `q` such that the noise of all keys lies within `-q..=q`, except with probability `failure`.
pub fn quantile(sensitivity: f64, epsilon: f64, keys: u64, failure: f64) -> u64 {
    reach(sensitivity, epsilon, failure / 2.0 / keys as f64) - 1
}
