//! What a release is asked to be, as options that commands share.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use frostpane::{Builder, Bytes, HeavyHitters, Key, Keys, Window};

use crate::failure::{Failure, Result};
use crate::units::{Declared, Extent, duration, memory};

/// What the program takes beside the window: its code, and what it reads into.
const PROGRAM: u64 = 6_000_000;

#[derive(clap::Args, Clone)]
#[command(next_help_heading = "What to release")]
pub struct RequestArgs {
    /// What heavy is relative to: the number of events (l1), or the root of the sum of all squared counts
    /// (l2), which is smaller and so finds more
    #[arg(long, value_enum, ignore_case = true, default_value_t = NormArg::L2)]
    pub norm: NormArg,

    /// A key is heavy from this share of the norm on
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    pub alpha: f64,

    /// The privacy loss: smaller is more private, larger more accurate
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub epsilon: f64,

    /// The chance with which the loss may be larger; declared keys need none
    #[arg(long, default_value = "1e-9", allow_negative_numbers = true)]
    pub delta: f64,

    /// How far back to look: a number of events, or a time such as 12h or 30d [default: 1000000]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub window: Option<Extent>,

    /// The step by which the window slides; it begins at a multiple of that, so it may be up to one step
    /// shorter than asked for [default: a 64th of the window, by time a 60th]
    #[arg(long, value_name = "EVENTS|TIME")]
    pub slide: Option<Extent>,

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

    /// The request as the library takes it.
    pub fn builder<K: Key>(&self, keys: Keys<K>) -> Result<Builder<K>> {
        Ok(HeavyHitters::builder(keys)
            .norm(self.norm.into())
            .alpha(self.alpha)
            .epsilon(self.epsilon)
            .delta(self.delta)
            .window(self.window()?)
            .memory(self.memory)
            .program(PROGRAM))
    }

    pub fn by_clock(&self) -> bool {
        matches!(self.extent(), Extent::Clock(_))
    }

    /// How far back to look.
    pub fn extent(&self) -> Extent {
        self.window.unwrap_or(Extent::Events(1_000_000))
    }

    fn window(&self) -> Result<Window> {
        match (self.extent(), self.slide) {
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
