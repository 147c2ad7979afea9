//! Specifications: everything that a release is asked to be.

mod choice;
mod edge;
mod keys;
mod policy;
pub(crate) mod users;
mod valid;
pub(crate) mod window;

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de};

pub use choice::{Choice, Reason};
pub use edge::Edge;
pub use keys::KeySpec;
pub use policy::Policy;
pub(crate) use valid::{ValidSpec, check_windows};
pub use window::Window;

pub use crate::privacy::{Bounds, Unit};
use crate::privacy::{Delta, Epsilon};
pub use crate::quantity::{Ratio, Size, Span};
use crate::sketch::count_sketch::Dimensions;

/// The version of specifications that this library writes, and the only one that it reads.
pub const VERSION: u32 = 1;

const MEMORY: u64 = 64_000_000;
/// Default mean length of keys made of bytes.
const KEY_BYTES: u64 = 16;
const WINDOW: u64 = 1_000_000;
/// Default number of continual releases whose statements hold together.
const TOGETHER: u64 = 1_000;

/// Everything that a release is asked to be. The options of the program, the fields of a file and the
/// methods of [`Builder`](crate::Builder) have these names.
///
/// ```
/// use frostpane::{Norm, Spec};
///
/// let spec: Spec = serde_json::from_str(r#"{ "norm": "l1", "alpha": 0.02, "window": ["7d", "30d"], "slide": "1d" }"#)?;
/// assert_eq!((spec.norm, spec.alpha, spec.epsilon.as_f64()), (Norm::L1, 0.02, 1.0));
/// assert_eq!(serde_json::from_str::<Spec>(&serde_json::to_string(&spec)?)?, spec);
///
/// assert!(serde_json::from_str::<Spec>(r#"{ "epsilom": 1 }"#).is_err());
/// assert!(serde_json::from_str::<Spec>(r#"{ "version": 2 }"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Spec {
    /// The version of this specification: 1.
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// The unit of privacy.
    pub unit: Unit,
    /// The keys that may be named: `open`, a range of integers `START..END`, a list, or a file with one key per line.
    pub keys: KeySpec,
    /// The norm that frequency is relative to.
    pub norm: Norm,
    /// A key with at least this share of the norm is heavy. Heavy keys are listed, unless `top` or `all` is given.
    pub alpha: f64,
    /// List at most this many keys, those with the highest counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<u64>,
    /// List every key that privacy allows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// The privacy loss, in whole millionths: of one release, or of all continual releases together.
    pub epsilon: Epsilon,
    /// The probability that the loss exceeds epsilon. Declared keys need none and spend none.
    pub delta: Delta,
    /// Lengths of the windows, all in events or all in time.
    #[serde(rename = "window", with = "crate::quantity::span::one_or_more")]
    pub windows: Vec<Span>,
    /// The step by which the window slides; chosen by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slide: Option<Span>,
    /// The end of all windows, if it is known before the first event: then each begins exactly where it was
    /// asked to, and events may come in any order. A moment as in RFC 3339 or, by count, a number of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Edge>,
    /// The time to wait for late events, in windows by the clock.
    #[serde(with = "crate::quantity::span::time")]
    pub lateness: Duration,
    /// The policy of the panes; by default the one that suits the windows.
    #[serde(with = "policy::or_auto")]
    pub policy: Option<Policy>,
    /// The probability with which all statements of a release hold together.
    pub confidence: f64,
    /// Release at the end of every slide (continual release).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub continual: bool,
    /// The most releases that an event may be in, each at this epsilon and delta; by default the number of windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<u32>,
    /// The largest total loss of a pane, or of a user's epoch, in a stored stream; by default `releases` times the cost of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Read and not used: continual release had a horizon once.
    #[serde(skip_serializing)]
    pub horizon: Option<u64>,
    /// The number of continual releases whose statements hold together; 1,000 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<u64>,
    /// The most memory to use.
    pub memory: Size,
    /// The mean length of keys made of bytes, to plan memory.
    pub key_bytes: u64,
    /// The most keys that a pane keeps; by default as many as the memory allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u32>,
    /// The sketch of panes that are not exact; by default one that fits the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sketch: Option<Dimensions>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            version: VERSION,
            unit: Unit::Event,
            keys: KeySpec::Open,
            norm: Norm::L2,
            alpha: 0.05,
            top: None,
            all: false,
            epsilon: Epsilon::ONE,
            delta: Delta::new(1e-9),
            windows: vec![Span::Events(WINDOW)],
            slide: None,
            until: None,
            lateness: Duration::ZERO,
            policy: None,
            confidence: 0.95,
            continual: false,
            releases: None,
            budget: None,
            horizon: None,
            together: None,
            memory: Size(MEMORY),
            key_bytes: KEY_BYTES,
            entries: None,
            sketch: None,
        }
    }
}

impl Spec {
    /// Returns true if alpha decides what is listed, and not privacy alone.
    pub fn lists_heavy(&self) -> bool {
        self.top.is_none() && !self.all
    }

    /// The longest window.
    pub fn longest(&self) -> Span {
        self.windows.iter().copied().max_by_key(Span::length).unwrap_or(Span::Events(WINDOW))
    }

    /// The most releases that an event may be in.
    pub fn releases(&self) -> u32 {
        let windows = u32::try_from(self.windows.len()).unwrap_or(u32::MAX);
        self.releases.unwrap_or(windows)
    }

    /// The number of continual releases whose statements hold together.
    pub fn together(&self) -> u64 {
        self.together.unwrap_or(TOGETHER)
    }

    pub(crate) fn set_window(&mut self, window: Window) {
        self.windows = vec![window.length];
        self.slide = window.slide;
        self.lateness = window.lateness;
    }

    /// The longest window, with its slide and lateness.
    pub(crate) fn window(&self) -> Window {
        Window { length: self.longest(), slide: self.slide, lateness: self.lateness }
    }
}

/// The norm that frequency is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// The number of events.
    L1,
    /// The Euclidean length of the vector of counts.
    L2,
}

/// The largest total loss of a pane, or of a user's epoch, over all releases of a stored stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The privacy loss.
    pub epsilon: Epsilon,
    /// The probability that the loss exceeds epsilon.
    pub delta: Delta,
}

impl Budget {
    /// Half of delta: the slack that lets many small releases be accounted by their rho.
    pub(crate) fn slack(&self) -> Delta {
        Delta::new(self.delta.as_f64() / 2.0)
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(de::Error::custom(format!(
            "the specification has version {other}, but this program knows version {VERSION} alone: use a program that knows it"
        ))),
    }
}
