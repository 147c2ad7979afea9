//! The end of a stream, with its keys numbered.

use std::collections::{HashMap, VecDeque};

use frostpane::{Bytes, KeySpec, Keys, Span};
use jiff::tz::TimeZone;

use super::CompareArgs;
use crate::events::read_keys;
use crate::failure::{Failure, Result};
use crate::settings::ReleaseRequest;
use crate::terminal::progress::Progress;
use frostpane_events::Source;

/// Windows kept of a stream: what came before them does not affect the last one.
const WINDOWS: u64 = 2;

/// Events with a key that counts, each with the number of its key.
pub struct NumberedStream {
    pub events: Vec<NumberedEvent>,
    pub window: usize,
    pub keys: Keys<u64>,
}

#[derive(Clone, Copy)]
pub struct NumberedEvent {
    /// In microseconds; `None` if the window is by count.
    pub time: Option<i64>,
    pub key: u64,
}

impl NumberedStream {
    pub fn read(args: &CompareArgs, request: &ReleaseRequest) -> Result<Self> {
        let mut numbers = KeyNumbering::new(&request.spec.keys)?;
        let (extent, by_clock) = (request.longest(), request.by_clock());
        let mut source = Source::new(&args.input.files, args.input.schema(extent, &TimeZone::UTC)?)?;
        let mut progress = Progress::new(&source);
        let mut events = VecDeque::new();
        let mut latest = i64::MIN;
        source.for_each(|event| -> Result<()> {
            progress.step();
            let Some(key) = event.key.and_then(|key| numbers.number(key)) else {
                return Ok(());
            };
            let time = event.timed(by_clock).time;
            latest = latest.max(time.unwrap_or(i64::MIN));
            events.push_back(NumberedEvent { time, key });
            while is_beyond(&events, extent, latest) {
                events.pop_front();
            }
            Ok(())
        })?;
        progress.finish();
        let mut events = Vec::from(events);
        events.sort_by_key(|event: &NumberedEvent| event.time);
        let window = match extent {
            Span::Events(length) => events.len().min(length as usize),
            Span::Clock(length) => {
                let since = latest.saturating_add(1).saturating_sub(length.as_micros() as i64);
                events.iter().filter(|event| event.time >= Some(since)).count()
            }
        };
        if window < 3 {
            return Err(Failure::Message(format!(
                "there are {window} events with a key in the window, but a comparison needs at least 3: give \
                 a longer window or another file"
            )));
        }
        Ok(Self { events, window, keys: numbers.keys()? })
    }

    pub fn in_window(&self) -> impl Iterator<Item = u64> {
        self.events[self.events.len() - self.window..].iter().map(|event| event.key)
    }
}

/// True if the first event lies further back than the windows that are kept.
fn is_beyond(events: &VecDeque<NumberedEvent>, extent: Span, latest: i64) -> bool {
    match extent {
        Span::Events(length) => events.len() as u64 > WINDOWS.saturating_mul(length),
        Span::Clock(length) => events.front().is_some_and(|first| {
            let age = latest.saturating_sub(first.time.unwrap_or(latest)) as u64;
            age >= WINDOWS.saturating_mul(length.as_micros() as u64)
        }),
    }
}

/// Numbers keys: by their value, their position among declared keys, or their first event.
enum KeyNumbering {
    Open(HashMap<Bytes, u64>),
    Range(std::ops::Range<u64>),
    List(HashMap<Bytes, u64>),
}

impl KeyNumbering {
    fn new(keys: &KeySpec) -> Result<Self> {
        let mut list = match keys {
            KeySpec::Range(range) => return Ok(KeyNumbering::Range(range.clone())),
            KeySpec::File(file) => read_keys(file)?,
            KeySpec::List(keys) => keys.iter().map(|key| Bytes::from(key.as_bytes())).collect(),
            _ => return Ok(KeyNumbering::Open(HashMap::new())),
        };
        list.sort_unstable();
        list.dedup();
        Ok(KeyNumbering::List(list.into_iter().zip(0..).collect()))
    }

    fn number(&mut self, key: &[u8]) -> Option<u64> {
        match self {
            KeyNumbering::Open(numbers) => {
                if let Some(number) = numbers.get(key) {
                    return Some(*number);
                }
                let number = numbers.len() as u64;
                numbers.insert(key.into(), number);
                Some(number)
            }
            KeyNumbering::Range(range) => {
                let number = str::from_utf8(key).ok()?.parse().ok()?;
                range.contains(&number).then_some(number)
            }
            KeyNumbering::List(numbers) => numbers.get(key).copied(),
        }
    }

    fn keys(self) -> Result<Keys<u64>> {
        Ok(match self {
            KeyNumbering::Open(_) => Keys::open(),
            KeyNumbering::Range(range) => Keys::range(range)?,
            KeyNumbering::List(numbers) => Keys::range(0..numbers.len() as u64)?,
        })
    }
}
