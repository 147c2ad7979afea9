//! The sentences in the JSON of a release.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::numbers::grouped;
use crate::quantity::{Ratio, Size};
use crate::release::alternatives::Alternatives;
use crate::release::note::{Note, Obstacle, Remedy, Shortfall};
use crate::spec::Unit;

macro_rules! serialize_as_text {
    ($($type:ident)*) => {
        $(
            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }
        )*
    };
}

serialize_as_text! { Note Shortfall Alternatives Size Ratio }

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unit::User(bounds) = self else {
            return f.write_str("the key of one event");
        };
        let name = bounds.epoch_name();
        let preposition = match &*name {
            "day" => "on",
            "minute" | "hour" | "week" => "in",
            _ => "within",
        };
        write!(f, "whether one person took part {preposition} one {name}, when, how often and in what")
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::WithinOnePane => f.write_str(
                "the window lies within one pane that began before it, and so covers nothing: ask for a longer window, or \
                 another policy",
            ),
            Note::NoEvents => f.write_str("the window has no events"),
            Note::BelowFloor { threshold } => write!(
                f,
                "no noisy count reached {}, the least that may be listed at this epsilon and delta: ask \
                 for a window with more events or a larger epsilon",
                grouped(*threshold)
            ),
            Note::BelowThreshold {
                threshold,
                complete_above,
            } => write!(
                f,
                "no noisy count reached the threshold of {}, and every key with a count of at least {} would be listed: ask for a \
                 smaller alpha",
                grouped(*threshold),
                grouped(*complete_above)
            ),
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.obstacle, self.remedy)?;
        match self.holds {
            Some((alpha, least)) => {
                write!(f, "; at alpha {alpha} all three hold for the keys listed with {least} or more")
            }
            None => f.write_str("; as it is they hold at no alpha"),
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Inaccurate(by, limit) => write!(
                f,
                "a listed count may be off by {by}, more than a quarter of alpha times the norm ({limit:.0})"
            ),
            Obstacle::Incomplete(from, limit) => write!(
                f,
                "only keys with a count of {from} are surely listed, more than alpha times the norm ({limit:.0})"
            ),
            Obstacle::Unclean(from, limit) => write!(
                f,
                "a key with a count of {from} may be listed, no more than half of alpha times the norm ({limit:.0})"
            ),
            Obstacle::Missed(events) => {
                write!(f, "{} events of the window came too late to be counted", grouped(*events))
            }
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::ShorterSlide => {
                "slide by less, or by another policy, so that the window begins closer to where it was asked to"
            }
            Remedy::WiderSketch => "allow more memory for a wider sketch",
            Remedy::SmallerCut => "allow more memory or slide by more, so that less is cut",
            Remedy::LessNoise => "ask for a larger epsilon or a window with more events",
            Remedy::InTime => "read files rather than a pipe, or wait longer for late events",
        })
    }
}

impl fmt::Display for Alternatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tree.levels() {
            1 => write!(f, "each key has one noise value a pane, the same in every window")?,
            levels => write!(
                f,
                "each key has one noise value for each node of a tree of {levels} levels over the panes, {} to one, the same in \
                 every window",
                self.tree.branching()
            )?,
        }
        write!(
            f,
            ": standard deviation {:.1} in a window; fresh noise for each window would have {:.1} under basic composition",
            self.deviation, self.basic
        )?;
        match &self.with_delta {
            None => Ok(()),
            Some(with_delta) => write!(
                f,
                ", {:.1} under advanced composition, {:.1} as Gaussian noise under zero-concentrated privacy",
                with_delta.advanced, with_delta.concentrated
            ),
        }
    }
}
