//! Plans for exact counting, to compare with.

use frostpane::{Builder, Forecast, Key, KeySpec, Plan};
use frostpane_render::megabytes;
use serde::Serialize;

use crate::failure::Result;
use crate::settings::ReleaseRequest;
use crate::settings::values::grouped;

/// Bytes of a slot of a hash table: a pointer to a key of bytes and its length, or a number, and its count.
const REFERENCE: u64 = 16;
const NUMBER: u64 = 8;
const COUNT: u64 = 8;
/// Bytes of the header of an allocated block, and of the smallest block.
const BLOCK_HEAD: u64 = 8;
const LEAST_BLOCK: u64 = 32;

/// Exact counts of all keys, with the same noise and the same threshold.
#[derive(Serialize)]
pub struct PlainCounting {
    /// The most keys that have a count.
    keys: u64,
    told: bool,
    /// About what a hash table of them takes, in bytes.
    memory: u64,
    noise: u64,
    threshold: u64,
    least_listed: u64,
}

impl PlainCounting {
    pub fn new<K: Key>(
        distinct: Option<u64>,
        request: &ReleaseRequest,
        builder: &Builder<K>,
        plan: &Plan,
        forecast: &Forecast,
    ) -> Result<Self> {
        let events = forecast.events;
        // Panes that keep as many keys as there are events are exact.
        let exact = builder.clone().entries(u32::try_from(events.max(1)).unwrap_or(u32::MAX));
        let exact = exact.forecast(events, forecast.norm)?;
        // Continual release has to forget the oldest slide, so each has counts of its own.
        let tables = if request.spec.continual { plan.layout.panes } else { 1 };
        let keys = distinct.map_or(events, |distinct| distinct.saturating_mul(tables).min(events));
        Ok(Self {
            keys,
            told: distinct.is_some(),
            memory: memory(keys, request),
            noise: exact.noise,
            threshold: exact.threshold,
            least_listed: exact.least_listed,
        })
    }

    pub fn words(&self, forecast: &Forecast) -> String {
        let (memory, keys) = (megabytes(self.memory), grouped(self.keys));
        let memory = if self.told {
            format!("about {memory} for {keys} counts")
        } else {
            format!(
                "up to {memory}, if no two of {keys} events have the same key (--distinct tells how many keys there are)"
            )
        };
        let costs = match forecast.least_listed.saturating_sub(self.least_listed) {
            0 => "so here bounded memory costs nothing".to_owned(),
            more => format!(
                "so here bounded memory costs {}, because up to {} of a count may be cut off",
                grouped(more),
                grouped(forecast.cut)
            ),
        };
        format!(
            "Plain counting, with the same noise and an exact count of every key, would surely list every \
             key that occurs {} times, and take {memory}: {costs}.",
            grouped(self.least_listed),
        )
    }
}

/// The bytes of a table with an eighth of its slots free, which doubles when full, and of its keys' blocks.
fn memory(keys: u64, request: &ReleaseRequest) -> u64 {
    let slots = (keys / 7).saturating_mul(8).saturating_add(8).next_power_of_two();
    let (slot, beside) = match request.spec.keys {
        KeySpec::Range(_) => (NUMBER, 0),
        _ => (REFERENCE, (request.spec.key_bytes + BLOCK_HEAD).next_multiple_of(16).max(LEAST_BLOCK)),
    };
    slots.saturating_mul(slot + COUNT + 1).saturating_add(keys.saturating_mul(beside))
}
