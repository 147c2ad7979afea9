//! Specifications as Python writes them, and what is made of them.

use std::path::Path;

use frostpane::{Builder, Bytes, Edge, Key, KeySpec, Keys, Policy, Span, Spec};
use frostpane_store::scratch;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use crate::error::{Failure, Result};

/// What the process takes beside the window, as the program reckons: then both keep as many keys.
const PROGRAM: u64 = 11_000_000;

/// Reads one.
pub fn parse(json: &str) -> Result<Spec> {
    serde_json::from_str(json).map_err(|cause| {
        let message = cause.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        Failure::Parameter(format!("the specification cannot be used: {}", &message[..end]))
    })
}

/// Keys of either type.
pub enum AnyKeys {
    Bytes(Keys<Bytes>),
    Integers(Keys<u64>),
}

/// The keys that may be named; open ones are bytes, unless they are said to be integers. No column decides that: its type may follow from
/// what one user did.
pub fn keys(spec: &Spec, integers: bool) -> Result<AnyKeys> {
    Ok(match &spec.keys {
        KeySpec::Open if integers => AnyKeys::Integers(Keys::open()),
        KeySpec::Range(range) => AnyKeys::Integers(Keys::range(range.clone())?),
        KeySpec::List(keys) => {
            let bytes = keys.iter().map(|key| Bytes::from(key.as_bytes()));
            AnyKeys::Bytes(Keys::list(bytes)?)
        }
        KeySpec::File(file) => AnyKeys::Bytes(Keys::list(lines(file)?)?),
        _ => AnyKeys::Bytes(Keys::open()),
    })
}

fn lines(file: &Path) -> Result<Vec<Bytes>> {
    let bytes = std::fs::read(file).map_err(|cause| {
        Failure::Parameter(format!("the keys {} cannot be read: {cause}", file.display()))
    })?;
    let line = |line: &[u8]| Bytes::from(line.strip_suffix(b"\r").unwrap_or(line));
    let lines = bytes.split(|byte| *byte == b'\n').map(line);
    Ok(lines.filter(|line| !line.is_empty()).collect())
}

/// As the library takes it.
pub fn builder<K: Key>(spec: &Spec, keys: Keys<K>) -> Builder<K> {
    Builder::from_spec(spec.clone(), keys)
        .program(PROGRAM)
        .scratch(scratch)
}

/// Does the same with keys of either type.
macro_rules! with_builder {
    ($spec:expr, $builder:ident => $value:expr) => {
        match $crate::spec::keys($spec, false)? {
            $crate::spec::AnyKeys::Bytes(keys) => {
                let $builder = $crate::spec::builder($spec, keys);
                $value
            }
            $crate::spec::AnyKeys::Integers(keys) => {
                let $builder = $crate::spec::builder($spec, keys);
                $value
            }
        }
    };
}
pub(crate) use with_builder;

/// A window, where one was asked for.
pub fn span(text: Option<&str>) -> Result<Option<Span>> {
    Ok(text.map(str::parse::<Span>).transpose()?)
}

/// A moment as people write it, in UTC unless it says otherwise, in microseconds since 1970.
pub fn moment(text: &str) -> Result<i64> {
    let utc = |civil: DateTime| civil.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    let moment = text
        .parse::<Timestamp>()
        .or_else(|_| text.parse::<DateTime>().and_then(utc))
        .or_else(|_| text.parse::<Date>().and_then(|date| utc(date.into())));
    match moment {
        Ok(moment) => Ok(moment.as_microsecond()),
        Err(_) => Err(Failure::Parameter(format!(
            "{text} is no time: give one such as 2025-12-01 or 2025-12-01T08:00:00Z"
        ))),
    }
}

/// The end of events that are all there: with panes as long as the windows, unless their length was given, if less is then cut. Many
/// short panes keep more keys in all, a long one keeps each of them once.
pub fn ending(mut spec: Spec, end: Edge, events: u64) -> Result<Spec> {
    spec.until = Some(end);
    if spec.policy.is_none() {
        spec.policy = Some(Policy::Fixed);
    }
    if spec.slide.is_some() || spec.policy != Some(Policy::Fixed) {
        return Ok(spec);
    }
    let mut longest = spec.clone();
    longest.slide = Some(longest.longest());
    let cut = |spec: &Spec| -> Result<u64> {
        let forecast = with_builder!(spec, builder => builder.forecast(events, Some(events))?);
        Ok(forecast.cut)
    };
    match (cut(&longest), cut(&spec)) {
        (Ok(long), Ok(usual)) if long < usual => Ok(longest),
        _ => Ok(spec),
    }
}
