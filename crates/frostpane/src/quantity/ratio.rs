use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::error::Error;

/// A share of a whole, above 0 and at most 1: `1/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    part: u32,
    whole: u32,
}

impl Ratio {
    /// The number of 64-bit values that make up this share of all of them; `None` for all.
    pub(crate) fn limit(self) -> Option<u64> {
        u64::try_from((u128::from(self.part) << 64) / u128::from(self.whole)).ok()
    }

    /// The value as a float.
    pub fn as_f64(self) -> f64 {
        f64::from(self.part) / f64::from(self.whole)
    }
}

impl FromStr for Ratio {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        match text.split_once('/').map(|(part, whole)| (number(part), number(whole))) {
            Some((Some(part), Some(whole))) if part > 0 && part <= whole => Ok(Self { part, whole }),
            _ => Err(Error::parameter(format!(
                "{text:?} is no share: give one such as 1/4, above 0 and at most 1/1"
            ))),
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.whole)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
