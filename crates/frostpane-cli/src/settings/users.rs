//! Options on users as the unit of privacy: how much of each is counted.

use std::time::Duration;

use frostpane::{Ratio, Span, Spec, Unit};
use jiff::tz::TimeZone;

use super::values::{duration, number};
use crate::failure::{Failure, Result};

#[derive(clap::Args, Clone, Default)]
#[command(next_help_heading = "Who is protected")]
pub struct UserArgs {
    /// Protect users (see --user): count at most so many different keys of a user in an epoch; noise grows
    /// with it [default: 1]
    #[arg(long, value_name = "C", value_parser = number)]
    pub per_user: Option<u64>,

    /// Count each of these keys at most so often in an epoch; with 1 a count is a number of users, in each
    /// epoch anew [default: 1]
    #[arg(long, value_name = "M", value_parser = number)]
    pub per_key: Option<u64>,

    /// Protect all that a user does within such a time; epochs begin at its multiples by the clock, in UTC or
    /// at the fixed offset of --timezone [default: 1d]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub epoch: Option<Duration>,

    /// Count only this share of the users, chosen by a secret hash, such as 1/4
    #[arg(long, value_name = "SHARE")]
    pub sample_users: Option<Ratio>,
}

impl UserArgs {
    /// Options take precedence over the specification.
    pub fn apply(&self, spec: &mut Spec) {
        if let Self { per_user: None, per_key: None, epoch: None, sample_users: None } = self {
            return;
        }
        let bound = |given: Option<u64>| given.map(|given| u32::try_from(given).unwrap_or(u32::MAX));
        let mut bounds = spec.unit.bounds().unwrap_or_default();
        bounds.per_user = bound(self.per_user).unwrap_or(bounds.per_user);
        bounds.per_key = bound(self.per_key).unwrap_or(bounds.per_key);
        bounds.epoch = self.epoch.unwrap_or(bounds.epoch);
        bounds.sample_users = self.sample_users.or(bounds.sample_users);
        spec.unit = Unit::User(bounds);
    }
}

/// Protects users, by default with the usual bounds.
pub fn protect_users(spec: &mut Spec) {
    spec.unit = Unit::User(spec.unit.bounds().unwrap_or_default());
}

/// Begins epochs by the clock of a zone.
pub fn in_zone(spec: &mut Spec, zone: &TimeZone) -> Result<()> {
    let Unit::User(mut bounds) = spec.unit else {
        return Ok(());
    };
    let Ok(offset) = zone.to_fixed_offset() else {
        return Err(Failure::Message(format!(
            "--timezone {} changes its offset within a year, so that one epoch of people would be longer \
             than another: give a fixed offset such as +01:00, or none for UTC",
            zone.iana_name().unwrap_or("that was given")
        )));
    };
    // Slides of several epochs begin at midnight of the zone, too.
    let slide = match spec.slide {
        Some(Span::Clock(slide)) => slide,
        _ => Duration::ZERO,
    };
    let longest = bounds.epoch.max(slide).as_secs();
    if offset.seconds() != 0 {
        let longest = i64::try_from(longest).unwrap_or(i64::MAX).max(1);
        let behind = (-i64::from(offset.seconds())).rem_euclid(longest);
        bounds.offset = Duration::from_secs(behind.unsigned_abs());
    }
    spec.unit = Unit::User(bounds);
    Ok(())
}
