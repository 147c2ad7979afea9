//! What a release is asked to be, as options that commands share.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use frostpane::plan::Reason;
use frostpane::{Builder, Bytes, HeavyHitters, Key, Keys, Policy, Span, Window};

use crate::failure::{Failure, Result};
use crate::units::{Asked, Declared, Extent, duration, memory, plain};

/// What the program takes beside the window: its code, and what it reads into.
const PROGRAM: u64 = 6_000_000;
const DEFAULT_WINDOW: u64 = 1_000_000;
/// Panes of the shortest of several windows, by count and by time, unless the slide is given.
const PANES: (u64, u32) = (64, 60);
/// Panes of fewer events take longer to close than to fill, where there are many of them.
const WORTH_CLOSING: u64 = 64;
/// Steps of a clock, in seconds.
const STEPS: [u64; 10] = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 86_400];

#[derive(clap::Args, Clone)]
#[command(next_help_heading = "What to release")]
pub struct RequestArgs {
    /// What heavy is relative to: the number of events (l1), or the root of the sum of all squared counts
    /// (l2), which is smaller and so finds more [default: l2; compare: both]
    #[arg(long, value_enum, ignore_case = true)]
    pub norm: Option<NormArg>,

    /// A key is heavy from this share of the norm on
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    pub alpha: f64,

    /// The privacy loss: smaller is more private, larger more accurate
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub epsilon: f64,

    /// The chance with which the loss may be larger; declared keys need none
    #[arg(long, default_value = "1e-9", allow_negative_numbers = true)]
    pub delta: f64,

    /// How far back to look: a number of events, or a time such as 12h or 30d; given several times, a list
    /// for each, and each costs its epsilon [default: 1000000]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub window: Vec<Asked>,

    /// The step by which the window slides; it begins at a multiple of that, so it may be up to one step
    /// shorter than asked for [default: a 64th of the window, by time a 60th; of several windows, of the
    /// shortest, or less; watch: a 32nd, and the window is rounded up to whole steps]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub slide: Option<Extent>,

    /// Where the panes end of which a window is made; plan says what auto chooses, and why
    #[arg(long, value_enum, ignore_case = true, default_value_t = PolicyArg::Auto)]
    pub policy: PolicyArg,

    /// How long to wait for events that come late, by time
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = duration)]
    pub lateness: Duration,

    /// The keys that may be listed, known in advance: a range of integers without its end, or a file with one
    /// a line [default: any]
    #[arg(long, value_name = "START..END|FILE", allow_hyphen_values = true)]
    pub keys: Option<Declared>,

    /// The most memory to take
    #[arg(long, default_value = "64MB", value_name = "SIZE", value_parser = memory)]
    pub memory: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NormArg {
    L1,
    L2,
}

impl From<NormArg> for frostpane::Norm {
    fn from(norm: NormArg) -> Self {
        match norm {
            NormArg::L1 => frostpane::Norm::L1,
            NormArg::L2 => frostpane::Norm::L2,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyArg {
    /// Exponential for several windows, and else uniform, unless smooth is foreseen to promise clearly more
    Auto,
    /// After equal steps
    Uniform,
    /// After equal steps, and merged as they age: for windows of many lengths
    Exponential,
    /// Where the norm has grown enough, which takes a quarter of epsilon: for long windows by count
    Smooth,
}

/// The keys of a request, of whichever type.
pub enum AnyKeys {
    Bytes(Keys<Bytes>),
    Integers(Keys<u64>),
}

impl RequestArgs {
    /// The keys that may be listed. `lines` reads the keys of a file.
    pub fn keys(&self, lines: impl FnOnce(&Path) -> Result<Vec<Bytes>>) -> Result<AnyKeys> {
        Ok(match &self.keys {
            None => AnyKeys::Bytes(Keys::open()),
            Some(Declared::Range(range)) => AnyKeys::Integers(Keys::range(range.clone())?),
            Some(Declared::File(file)) => AnyKeys::Bytes(Keys::list(lines(file)?)?),
        })
    }

    /// The request as the library takes it, and why it has its policy, if that was not given.
    pub fn builder<K: Key>(&self, keys: Keys<K>) -> Result<(Builder<K>, Option<Reason>)> {
        let windows = self.windows()?;
        let builder = HeavyHitters::builder(keys)
            .norm(self.norm().into())
            .alpha(self.alpha)
            .epsilon(self.epsilon)
            .delta(self.delta)
            .window(self.window(self.slide)?)
            .releases(u32::try_from(windows.len()).unwrap_or(u32::MAX))
            .memory(self.memory)
            .program(PROGRAM);
        let (policy, reason) = match self.policy {
            PolicyArg::Uniform => (Policy::Uniform, None),
            PolicyArg::Exponential => (Policy::Exponential, None),
            PolicyArg::Smooth => (Policy::Smooth, None),
            PolicyArg::Auto => {
                let spans: Vec<Span> = windows.iter().map(|window| window.extent.into()).collect();
                let choice = builder.choose(&spans)?;
                (choice.policy, Some(choice.reason))
            }
        };
        let builder = builder.policy(policy);
        if windows.len() == 1 || self.slide.is_some() {
            return Ok((builder, reason));
        }
        let slide = self.slide_for(&windows, builder.plan()?.layout.slide);
        Ok((builder.window(self.window(Some(slide))?), reason))
    }

    /// What heavy is relative to.
    pub fn norm(&self) -> NormArg {
        self.norm.unwrap_or(NormArg::L2)
    }

    pub fn by_clock(&self) -> bool {
        matches!(self.extent(), Extent::Clock(_))
    }

    /// How far back to look, at the most.
    pub fn extent(&self) -> Extent {
        let extents = self.window.iter().map(|window| window.extent);
        extents
            .max_by_key(Extent::length)
            .unwrap_or(Extent::Events(DEFAULT_WINDOW))
    }

    /// All windows, in the order in which they were given.
    pub fn windows(&self) -> Result<Vec<Asked>> {
        if self.window.is_empty() {
            return Ok(vec![self.extent().into()]);
        }
        for (index, window) in self.window.iter().enumerate() {
            for earlier in &self.window[..index] {
                if let (Extent::Events(_), Extent::Clock(_)) | (Extent::Clock(_), Extent::Events(_)) =
                    (earlier.extent, window.extent)
                {
                    return Err(Failure::Message(format!(
                        "--window {} and --window {} were given, but they must all be numbers of events or all be times: \
                         ask for the others in another run",
                        earlier.text, window.text
                    )));
                }
                if earlier.extent == window.extent {
                    return Err(Failure::Message(format!(
                        "--window {} and --window {} are the same window, and it would cost its epsilon twice: give it once",
                        earlier.text, window.text
                    )));
                }
            }
        }
        Ok(self.window.clone())
    }

    /// The slide that gives the shortest of several windows as many panes as it would have alone, unless the
    /// usual one is shorter. By time it is one that a clock shows.
    fn slide_for(&self, windows: &[Asked], usual: u64) -> Extent {
        let extents = windows.iter().map(|window| window.extent);
        match extents.min_by_key(Extent::length).unwrap_or(self.extent()) {
            Extent::Events(length) => {
                let slide = length.div_ceil(PANES.0).max(WORTH_CLOSING.min(length));
                Extent::Events(slide.min(usual))
            }
            Extent::Clock(length) => {
                Extent::Clock(round_step((length / PANES.1).min(Duration::from_micros(usual))))
            }
        }
    }

    fn window(&self, slide: Option<Extent>) -> Result<Window> {
        match (self.extent(), slide) {
            (Extent::Events(length), None) => Ok(Window::events(length).into()),
            (Extent::Events(length), Some(Extent::Events(slide))) => {
                Ok(Window::events(length).slide(slide).into())
            }
            (Extent::Clock(length), None) => Ok(Window::clock(length).lateness(self.lateness).into()),
            (Extent::Clock(length), Some(Extent::Clock(slide))) => {
                Ok(Window::clock(length).slide(slide).lateness(self.lateness).into())
            }
            _ => Err(Failure::Message(
                "--window and --slide must both be numbers of events or both be times".to_owned(),
            )),
        }
    }
}

/// The longest step of a clock that is no longer than this.
fn round_step(longest: Duration) -> Duration {
    let steps = STEPS.into_iter().map(Duration::from_secs);
    steps.rev().find(|step| *step <= longest).unwrap_or(longest)
}

/// What so many releases cost together: what they share is spent once.
pub fn total_epsilon(releases: usize, epsilon: f64, boundaries: f64) -> f64 {
    plain(releases as f64 * (epsilon - boundaries) + boundaries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_a_clock() {
        for (seconds, step) in [
            (0.2, 0.2),
            (1.0, 1.0),
            (59.0, 15.0),
            (5_062.5, 3_600.0),
            (1e6, 86_400.0),
        ] {
            assert_eq!(round_step(Duration::from_secs_f64(seconds)).as_secs_f64(), step);
        }
    }

    #[test]
    fn what_releases_share_is_paid_for_once() {
        assert_eq!(total_epsilon(1, 0.7, 0.175), 0.7);
        assert_eq!(total_epsilon(3, 0.1, 0.0), 0.3);
        assert_eq!(total_epsilon(3, 1.0, 0.25), 2.5);
    }
}
