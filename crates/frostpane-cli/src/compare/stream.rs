//! The end of a stream, with its keys numbered.

use std::collections::{HashMap, VecDeque};

use frostpane::{Bytes, KeySpec, Keys, Span};

use crate::args::CompareArgs;
use crate::failure::{Failure, Result};
use crate::input::Source;
use crate::list::{lines_of, selection};
use crate::progress::Progress;
use crate::request::Request;

/// The last two windows of a stream: what came before does not reach the last one.
const WINDOWS: u64 = 2;

/// Events with a key that counts, each as the number of its key.
pub struct Stream {
    pub events: Vec<Event>,
    /// How many of them are in the window.
    pub window: usize,
    /// The keys that may be listed.
    pub keys: Keys<u64>,
}

#[derive(Clone, Copy)]
pub struct Event {
    /// In microseconds; 0 if the window is by count.
    pub time: i64,
    pub key: u64,
}

impl Stream {
    pub fn read(args: &CompareArgs, request: &Request) -> Result<Self> {
        let mut numbers = Numbers::new(&request.spec.keys)?;
        let (extent, by_clock) = (request.longest(), request.by_clock());
        let mut source = Source::new(&args.input.files, selection(&args.input, extent)?)?;
        let mut progress = Progress::new(source.total_bytes());
        let bytes_read = source.bytes_read();
        let mut events = VecDeque::new();
        let mut latest = i64::MIN;
        source.for_each(|event| {
            progress.step(bytes_read.get());
            let Some(key) = event.key.and_then(|key| numbers.number(key)) else {
                return Ok(());
            };
            let time = event.time.filter(|_| by_clock).unwrap_or(0);
            latest = latest.max(time);
            events.push_back(Event { time, key });
            while is_beyond(&events, extent, latest, WINDOWS) {
                events.pop_front();
            }
            Ok(())
        })?;
        progress.finish();
        let mut events = Vec::from(events);
        events.sort_by_key(|event: &Event| event.time);
        let window = match extent {
            Span::Events(length) => events.len().min(length as usize),
            Span::Clock(length) => {
                let since = latest.saturating_add(1).saturating_sub(length.as_micros() as i64);
                events.iter().filter(|event| event.time >= since).count()
            }
        };
        if window < 3 {
            return Err(Failure::Message(format!(
                "there are {window} events with a key in the window, but a comparison needs at least 3: give a longer window or another file"
            )));
        }
        Ok(Self {
            events,
            window,
            keys: numbers.keys()?,
        })
    }

    /// The keys of the window's events.
    pub fn in_window(&self) -> impl Iterator<Item = u64> {
        self.events[self.events.len() - self.window..]
            .iter()
            .map(|event| event.key)
    }
}

/// Whether the first event lies further back than so many windows.
fn is_beyond(events: &VecDeque<Event>, extent: Span, latest: i64, windows: u64) -> bool {
    match extent {
        Span::Events(length) => events.len() as u64 > windows.saturating_mul(length),
        Span::Clock(length) => events.front().is_some_and(|first| {
            let age = latest.saturating_sub(first.time) as u64;
            age >= windows.saturating_mul(length.as_micros() as u64)
        }),
    }
}

/// The number of each key: its own, its place in the list that was declared, or that of its first event.
enum Numbers {
    Open(HashMap<Bytes, u64>),
    Range(std::ops::Range<u64>),
    List(HashMap<Bytes, u64>),
}

impl Numbers {
    fn new(keys: &KeySpec) -> Result<Self> {
        let mut list = match keys {
            KeySpec::Range(range) => return Ok(Numbers::Range(range.clone())),
            KeySpec::File(file) => lines_of(file)?,
            KeySpec::List(keys) => keys.iter().map(|key| Bytes::from(key.as_bytes())).collect(),
            _ => return Ok(Numbers::Open(HashMap::new())),
        };
        list.sort_unstable();
        list.dedup();
        Ok(Numbers::List(list.into_iter().zip(0..).collect()))
    }

    fn number(&mut self, key: &[u8]) -> Option<u64> {
        match self {
            Numbers::Open(numbers) => {
                if let Some(number) = numbers.get(key) {
                    return Some(*number);
                }
                let number = numbers.len() as u64;
                numbers.insert(key.into(), number);
                Some(number)
            }
            Numbers::Range(range) => {
                let number = str::from_utf8(key).ok()?.parse().ok()?;
                range.contains(&number).then_some(number)
            }
            Numbers::List(numbers) => numbers.get(key).copied(),
        }
    }

    fn keys(self) -> Result<Keys<u64>> {
        Ok(match self {
            Numbers::Open(_) => Keys::open(),
            Numbers::Range(range) => Keys::range(range)?,
            Numbers::List(numbers) => Keys::range(0..numbers.len() as u64)?,
        })
    }
}
