//! What a release is asked to be.

mod budget;
mod checked;
mod choice;
mod edge;
mod keys;
mod norm;
mod policy;
mod quantity;
mod ratio;
mod size;
mod span;
mod unit;
pub(crate) mod users;
pub(crate) mod window;

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de};

pub use budget::Budget;
pub(crate) use checked::{Checked, check_windows};
pub use choice::{Choice, Reason};
pub use edge::Edge;
pub use keys::KeySpec;
pub use norm::Norm;
pub use policy::Policy;
pub use ratio::Ratio;
pub use size::Size;
pub use span::Span;
pub use unit::{Bounds, Unit};
pub use window::Window;

use crate::budget::{Delta, Epsilon};
use crate::sketch::count_sketch::Dimensions;

/// The version of specifications that this library writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// Memory unless told: 64 MB.
const MEMORY: u64 = 64_000_000;
/// The mean length of keys made of bytes unless told.
const KEY_BYTES: u64 = 16;
/// The window unless told.
const WINDOW: u64 = 1_000_000;
/// The horizon unless told: almost two years by the minute. With the defaults, ten times as far costs a threshold 3 % higher.
const HORIZON: u64 = 1_000_000;
/// How many releases of a list at every slide are right together, unless told.
const TOGETHER: u64 = 1_000;

/// Everything that a release is asked to be. The options of the program, a file and [`Builder`](crate::Builder)'s methods
/// have these names.
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
    /// What is protected.
    pub unit: Unit,
    /// The keys that may be named: `open`, a range of integers `START..END`, a list, or a file with one a line.
    pub keys: KeySpec,
    /// What heavy is relative to.
    pub norm: Norm,
    /// A key is heavy from this share of the norm on, and heavy keys are listed; unless `top` or `all` say which.
    pub alpha: f64,
    /// At most so many keys are listed, those with the highest counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<u64>,
    /// Whether every key is listed that may be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// The privacy loss, in whole millionths: of one release, or of a list at every slide for ever.
    pub epsilon: Epsilon,
    /// The chance with which the loss may be larger. Declared keys need none and spend none.
    pub delta: Delta,
    /// How far back to look: one window or several, all in events or all in time.
    #[serde(rename = "window", with = "span::one_or_more")]
    pub windows: Vec<Span>,
    /// The step by which the window slides, if it is not to be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slide: Option<Span>,
    /// Where all windows end, if that is known before the first event: then each begins where it was asked to, and its events may
    /// come in any order. A moment as in RFC 3339 or, by count, a number of events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Edge>,
    /// How long to wait for events that come late, by the clock.
    #[serde(with = "span::time")]
    pub lateness: Duration,
    /// How panes are kept; none to choose the one that suits the windows.
    #[serde(with = "policy::or_auto")]
    pub policy: Option<Policy>,
    /// With what probability the statements of a release hold together.
    pub confidence: f64,
    /// Whether a list is released at every slide.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub continual: bool,
    /// In how many releases an event may be, each at this epsilon and delta; as many as there are windows unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub releases: Option<u32>,
    /// What a pane, or an epoch, may lose by all releases of a stream that is kept, instead of `releases` times what one costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// **A privacy parameter** of a list at every slide with open keys: [`Builder::horizon`](crate::Builder::horizon).
    /// 1,000,000 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
    /// Over how many releases of a list at every slide the statements hold together; 1,000 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<u64>,
    /// The most memory to take.
    pub memory: Size,
    /// The mean length of keys made of bytes, for the reckoning of memory.
    pub key_bytes: u64,
    /// The most keys that a pane keeps, instead of as many as the memory allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<u32>,
    /// The sketch of panes that are not exact, instead of one that fits the memory.
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
    /// Whether it is alpha that decides what is listed, and not privacy alone.
    pub fn lists_heavy(&self) -> bool {
        self.top.is_none() && !self.all
    }

    /// The longest window.
    pub fn longest(&self) -> Span {
        let longest = self.windows.iter().copied().max_by_key(Span::length);
        longest.unwrap_or(Span::Events(WINDOW))
    }

    /// In how many releases an event may be.
    pub fn releases(&self) -> u32 {
        let windows = u32::try_from(self.windows.len()).unwrap_or(u32::MAX);
        self.releases.unwrap_or(windows)
    }

    /// For how many releases delta holds against those who choose by what was released.
    pub fn horizon(&self) -> u64 {
        self.horizon.unwrap_or(HORIZON)
    }

    /// How many releases of a list at every slide are right together.
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
        Window {
            length: self.longest(),
            slide: self.slide,
            lateness: self.lateness,
        }
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
