//! Specifications in JSON, and the keys and builders that they describe.

use std::path::Path;

use frostpane::{Builder, Bytes, Edge, Key, KeySpec, Keys, Policy, Span, Spec};
use frostpane_events::Times;
use frostpane_store::scratch;

use crate::error::{CallError, Result};

/// Memory of the process besides the window, as the program assumes it: then both keep as many keys.
const PROGRAM: u64 = 11_000_000;

pub fn parse(json: &str) -> Result<Spec> {
    serde_json::from_str(json).map_err(|cause| {
        let message = cause.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        CallError::Parameter(format!("the specification cannot be used: {}", &message[..end]))
    })
}

/// The columns that events need besides their keys.
#[derive(Clone, Copy)]
pub struct NeededColumns {
    /// True if windows are by the clock.
    pub time: bool,
    /// True if users are protected.
    pub user: bool,
}

impl NeededColumns {
    pub fn of(spec: &Spec) -> Self {
        Self { time: !spec.longest().is_by_count(), user: spec.unit.is_user() }
    }
}

/// A value whose keys are bytes or integers.
pub enum ByKeyKind<B, I> {
    Bytes(B),
    Integers(I),
}

pub type DeclaredKeys = ByKeyKind<Keys<Bytes>, Keys<u64>>;

/// Evaluates the same expression for both kinds of keys.
macro_rules! with_keys {
    ($value:expr, $name:pat => $expression:expr) => {
        match $value {
            $crate::spec::ByKeyKind::Bytes($name) => $expression,
            $crate::spec::ByKeyKind::Integers($name) => $expression,
        }
    };
}
pub(crate) use with_keys;

/// Makes another value of the same kind of keys.
macro_rules! map_keys {
    ($value:expr, $name:pat => $expression:expr) => {
        match $value {
            $crate::spec::ByKeyKind::Bytes($name) => $crate::spec::ByKeyKind::Bytes($expression),
            $crate::spec::ByKeyKind::Integers($name) => $crate::spec::ByKeyKind::Integers($expression),
        }
    };
}
pub(crate) use map_keys;

/// The keys that may be listed. Open keys are bytes unless `integers` is set. The type of a column never
/// decides that: it may follow from the events of one user.
pub fn keys(spec: &Spec, integers: bool) -> Result<DeclaredKeys> {
    Ok(match &spec.keys {
        KeySpec::Open if integers => DeclaredKeys::Integers(Keys::open()),
        KeySpec::Range(range) => DeclaredKeys::Integers(Keys::range(range.clone())?),
        KeySpec::List(keys) => {
            DeclaredKeys::Bytes(Keys::list(keys.iter().map(|key| Bytes::from(key.as_bytes())))?)
        }
        KeySpec::File(file) => DeclaredKeys::Bytes(Keys::list(lines(file)?)?),
        _ => DeclaredKeys::Bytes(Keys::open()),
    })
}

fn lines(file: &Path) -> Result<Vec<Bytes>> {
    let bytes = std::fs::read(file).map_err(|cause| {
        CallError::Parameter(format!("the keys {} cannot be read: {cause}", file.display()))
    })?;
    let line = |line: &[u8]| Bytes::from(line.strip_suffix(b"\r").unwrap_or(line));
    Ok(bytes.split(|byte| *byte == b'\n').map(line).filter(|line| !line.is_empty()).collect())
}

pub fn builder<K: Key>(spec: &Spec, keys: Keys<K>) -> Builder<K> {
    Builder::from_spec(spec.clone(), keys).program(PROGRAM).scratch(scratch)
}

/// Evaluates the same expression with a builder for either kind of keys.
macro_rules! with_builder {
    ($spec:expr, $builder:ident => $value:expr) => {
        $crate::spec::with_keys!($crate::spec::keys($spec, false)?, keys => {
            let $builder = $crate::spec::builder($spec, keys);
            $value
        })
    };
}
pub(crate) use with_builder;

pub fn span(text: Option<&str>) -> Result<Option<Span>> {
    Ok(text.map(str::parse::<Span>).transpose()?)
}

/// Parses a moment as the reader of events does, in microseconds since 1970.
pub fn moment(text: &str) -> Result<i64> {
    Times::default().parse(text.as_bytes()).ok_or_else(|| {
        CallError::Parameter(format!(
            "{text} is no time: give one such as 2025-12-01 or 2025-12-01T08:00:00Z"
        ))
    })
}

/// Sets the end of a complete set of events. Unless the length of panes is given, they become as long as the
/// windows if that cuts less: many short panes keep more keys in all, a long one keeps each of them once.
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
        Ok(with_builder!(spec, builder => builder.forecast(events, Some(events))?).cut)
    };
    match (cut(&longest), cut(&spec)) {
        (Ok(long), Ok(usual)) if long < usual => Ok(longest),
        _ => Ok(spec),
    }
}
