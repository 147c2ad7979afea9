//! Validation of user-level privacy.

use super::policy::Policy;
use super::{Edge, Spec};
use crate::error::{Error, Result};
use crate::privacy::Bounds;
use crate::quantity::span::{Span, micros};

/// The most keys of a user that still are a bound.
const MOST_KEYS: u32 = 10_000;
const MOST_TIMES: u32 = 100_000;
/// Keeps every sensitivity, also of all levels of a tree, far below 32 bits, so none saturates.
const MOST_TOGETHER: u64 = 1_000_000;
/// Each epoch has an account.
pub(crate) const MOST_EPOCHS: u64 = 1 << 24;
/// Bounds the sensitivity of the norm times the windows of an epoch. The scale of the noise of a norm,
/// in parts of its share of epsilon, then stays far below 64 bits.
const MOST_NORMS: u64 = 1 << 32;

/// Checks that noise can be drawn for every window's part of epsilon.
pub(super) fn check_norms(norm: u32, windows: u64) -> Result<()> {
    if u64::from(norm).saturating_mul(windows) <= MOST_NORMS {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "an epoch would be in {windows} windows, and each norm move by up to {norm}: slide by more, or take a smaller per_key or per_user"
        )))
    }
}

pub(super) fn check_users(spec: &Spec, bounds: &Bounds) -> Result<()> {
    within(bounds.per_user, MOST_KEYS, "per_user", "keys")?;
    within(bounds.per_key, MOST_TIMES, "per_key", "times a key")?;
    if u64::from(bounds.per_user) * u64::from(bounds.per_key) > MOST_TOGETHER {
        return Err(Error::parameter(format!(
            "per_user is {} and per_key {}, but a user may contribute at most {MOST_TOGETHER} together in an epoch: take less of either",
            bounds.per_user, bounds.per_key
        )));
    }
    check_policy(spec)?;
    for window in &spec.windows {
        check_window(*window, bounds)?;
    }
    check_slide(spec, bounds)?;
    check_offset(spec, bounds)?;
    check_end(spec, bounds)?;
    if spec.entries.is_some() || spec.sketch.is_some() {
        return Err(Error::parameter(
            "entries or a sketch were given, but where users are protected all counts are exact: leave them out",
        ));
    }
    Ok(())
}

fn within(given: u32, most: u32, name: &str, what: &str) -> Result<()> {
    match given {
        0 => Err(Error::parameter(format!(
            "{name} is 0, but a user must be allowed at least 1: 1 is the most private and has the least noise"
        ))),
        given if given > most => Err(Error::parameter(format!(
            "{name} is {given}, but a user may contribute at most {most} {what} in an epoch: noise grows with it, so take as few as \
             will do"
        ))),
        _ => Ok(()),
    }
}

fn check_policy(spec: &Spec) -> Result<()> {
    let refused = match (spec.continual, spec.policy) {
        (_, None) | (true, Some(Policy::Uniform)) | (false, Some(Policy::Fixed)) => return Ok(()),
        (_, Some(policy)) => policy,
    };
    let why = match refused {
        Policy::Smooth => "a user may be in many of its blocks",
        _ => "every epoch of the clock has a pane of its own",
    };
    Err(Error::parameter(format!(
        "the policy {} was asked for, but where users are protected {why}: leave the policy out",
        format!("{refused:?}").to_lowercase()
    )))
}

fn check_window(window: Span, bounds: &Bounds) -> Result<()> {
    let Span::Clock(length) = window else {
        return Err(Error::parameter(format!(
            "the window is {window} events, but where users are protected one user's events would move it for everybody: give a time \
             such as 7d"
        )));
    };
    let (length, epoch) = (micros(length), micros(bounds.epoch));
    let said = Span::Clock(bounds.epoch);
    if epoch == 0 {
        return Err(Error::parameter(
            "the epoch is 0, but it must be a time in which users are protected: 1d is a common choice",
        ));
    }
    if epoch > length {
        return Err(Error::parameter(format!(
            "the epoch is {said}, but can be at most the window's {window}: protect people for less time, or look further back"
        )));
    }
    if length % epoch != 0 {
        return Err(Error::parameter(format!(
            "the window of {window} would cut an epoch of {said} in two: make it a whole number of epochs"
        )));
    }
    if length / epoch > MOST_EPOCHS {
        return Err(Error::parameter(format!(
            "the window of {window} has {} epochs of {said}, but may have at most {MOST_EPOCHS}: protect people for more time",
            length / epoch
        )));
    }
    Ok(())
}

fn check_slide(spec: &Spec, bounds: &Bounds) -> Result<()> {
    let Some(Span::Clock(slide)) = spec.slide else {
        // Windows of another kind are refused elsewhere.
        return Ok(());
    };
    let (slide, epoch) = (micros(slide), micros(bounds.epoch));
    let whole = slide > 0 && slide.is_multiple_of(epoch);
    let part = spec.continual && slide > 0 && epoch.is_multiple_of(slide);
    if whole || part {
        return Ok(());
    }
    let may = if spec.continual {
        "a whole number of epochs, or a whole part of one"
    } else {
        "a whole number of epochs"
    };
    Err(Error::parameter(format!(
        "the slide is {}, which cuts an epoch of {} in two: make it {may}",
        spec.slide.unwrap_or(Span::Events(0)),
        Span::Clock(bounds.epoch)
    )))
}

fn check_offset(spec: &Spec, bounds: &Bounds) -> Result<()> {
    let slide = match spec.slide {
        Some(Span::Clock(slide)) => slide,
        _ => bounds.epoch,
    };
    if bounds.offset < bounds.epoch.max(slide) {
        Ok(())
    } else {
        Err(Error::parameter(format!(
            "the offset is {}, but must be below the epoch of {} and the slide, whichever is longer",
            Span::Clock(bounds.offset),
            Span::Clock(bounds.epoch)
        )))
    }
}

fn check_end(spec: &Spec, bounds: &Bounds) -> Result<()> {
    let Some(Edge::Instant(until)) = spec.until else {
        return Ok(());
    };
    let (epoch, offset) = (micros(bounds.epoch) as i64, micros(bounds.offset) as i64);
    let end = until.as_microsecond();
    let into = (end - offset).rem_euclid(epoch);
    if into == 0 {
        return Ok(());
    }
    let at = |position: i64| match jiff::Timestamp::from_microsecond(position) {
        Ok(moment) => moment.to_string(),
        Err(_) => "another moment".to_owned(),
    };
    Err(Error::parameter(format!(
        "the windows end at {until}, which cuts an epoch of {} in two: let them end at {} or {}",
        Span::Clock(bounds.epoch),
        at(end - into),
        at(end - into + epoch)
    )))
}
