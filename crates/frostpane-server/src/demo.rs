//! Streams that are made up, to be looked at.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use frostpane::{Batch, Bytes, Event, Spec};
use frostpane_store::{Begin, Delivery, Store};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::key::AnyBatch;
use crate::problem::{Problem, Result};
use crate::service::Service;
use crate::stream::{Columns, Settings, Stream, now};
use crate::token::Scope;

const SECOND: i64 = 1_000_000;
/// How often events are made up.
const STEP: Duration = Duration::from_millis(250);
/// How far back what is made up goes, and in which steps.
const PAST: i64 = 240 * SECOND;
const STRIDE: i64 = 2 * SECOND;
/// Searches in a second.
const RATE: u64 = 4_000;
/// People who search.
const PEOPLE: u64 = 20_000;

/// What people look for, the most popular first.
const SEARCHES: [&str; 40] = [
    "weather",
    "news",
    "train times",
    "recipe",
    "translate",
    "maps",
    "football",
    "bank opening hours",
    "cinema",
    "pharmacy",
    "bus delay",
    "bread",
    "jobs",
    "second-hand bike",
    "flat to rent",
    "swimming pool",
    "doctor near me",
    "school holidays",
    "concert",
    "tax return",
    "snow",
    "ski slopes",
    "winter tyres",
    "heating repair",
    "power cut",
    "road closed",
    "soup",
    "museum",
    "library",
    "phone contract",
    "flu symptoms",
    "hotel",
    "flights",
    "currency",
    "birthday cake",
    "guitar chords",
    "knitting",
    "chess",
    "star map",
    "sourdough",
];
/// What comes and goes: how popular it is at a moment of a minute and a half.
const TRENDS: [(&str, f64, f64); 4] = [
    ("first snow", 0.2, 0.30),
    ("power cut city", 0.45, 0.40),
    ("match result", 0.7, 0.28),
    ("train strike", 0.95, 0.34),
];
const CYCLE: f64 = 90.0 * SECOND as f64;

/// Something that goes on making events up until it is dropped.
pub struct Demo {
    /// With which the operator's view can be looked at.
    pub token: String,
    feeding: JoinHandle<()>,
}

impl Demo {
    /// A folder of its own.
    pub fn folder() -> std::result::Result<PathBuf, String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|cause| cause.to_string())?;
        let name = format!("frostpane-demo-{:016x}", u64::from_le_bytes(random));
        Ok(std::env::temp_dir().join(name))
    }

    /// Begins streams in a folder, with a past that is made up.
    pub fn prepare(folder: &Path) -> std::result::Result<(), String> {
        // That with the shortest slide last, so that it has no gap.
        for (name, spec) in specs().into_iter().rev() {
            let folder = folder.join("streams").join(name);
            past(&folder, spec)?;
        }
        Ok(())
    }

    /// Goes on with them.
    pub fn begin(service: &Service) -> std::result::Result<Self, String> {
        let all = [Scope::Ingest, Scope::Read, Scope::Release, Scope::Admin];
        let (_, token) = service.tokens.make("demo", "*", &all)?;
        let streams = specs()
            .iter()
            .filter_map(|(name, _)| service.stream(name))
            .collect();
        let feeding = tokio::spawn(feed(streams));
        Ok(Self { token, feeding })
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.feeding.abort();
    }
}

/// The streams, by their names.
fn specs() -> [(&'static str, Value); 3] {
    let people = |per_user: u32| json!({ "user": { "per_user": per_user, "epoch": "1m" } });
    [
        (
            "searches",
            json!({ "window": "1m", "slide": "2s", "lateness": "1s", "top": 15, "continual": true, "horizon": 100_000, "together": 100 }),
        ),
        (
            "searches-of-people",
            json!({ "window": "2m", "slide": "10s", "lateness": "1s", "top": 15, "unit": people(2), "continual": true,
                "horizon": 100_000, "together": 100 }),
        ),
        (
            "searches-on-demand",
            json!({ "window": "10m", "slide": "1m", "lateness": "1s", "top": 15, "unit": people(2), "epsilon": 0.5, "releases": 4 }),
        ),
    ]
}

/// A stream whose past is made up, as if the service had been there.
fn past(folder: &Path, spec: Value) -> Result<()> {
    let spec: Spec = serde_json::from_value(spec)
        .map_err(|_| Problem::unavailable("what the demo asks for cannot be used"))?;
    let settings = Settings {
        public: true,
        columns: Columns {
            key: "search".to_owned(),
            ..Columns::default()
        },
        ..Settings::default()
    };
    let mut begin = Begin::default();
    let mut told = now() - PAST;
    begin.from = Some(told);
    Stream::create_in(folder, spec, &settings, begin)?;
    let mut store = Store::<Bytes>::open(folder)?;
    let mut chance = Chance(told as u64);
    // A slow machine comes to an end too, with a gap before what is made up from then on.
    for _ in 0..2 * PAST / STRIDE {
        if now() - told <= STRIDE {
            break;
        }
        let until = told + STRIDE;
        let batch = made_up(told, until, &mut chance);
        let delivery = Delivery {
            id: None,
            digest: [0; 32],
            terms: "",
            receipt: "",
            batch: &batch,
            timed: true,
        };
        store.take_deliveries(&[delivery], until)?;
        store.tick(until)?;
        told = until;
    }
    Ok(())
}

/// Makes events up as time goes on.
async fn feed(streams: Vec<Arc<Stream>>) {
    let mut chance = Chance(now() as u64);
    let mut told = now() - SECOND;
    loop {
        let until = now().min(told + SECOND);
        let batch = made_up(told, until, &mut chance);
        for stream in &streams {
            let _ = stream
                .take(None, String::new(), AnyBatch::Bytes(batch.clone()))
                .await;
        }
        told = until;
        if now() - told < STEP.as_micros() as i64 {
            tokio::time::sleep(STEP).await;
        }
    }
}

/// The events from a moment up to another.
fn made_up(from: i64, until: i64, chance: &mut Chance) -> Batch<Bytes> {
    let mut batch = Batch::new();
    let number = (until - from).max(0) as u64 * RATE / SECOND as u64;
    for index in 0..number {
        let time = from + (until - from) * index as i64 / number as i64;
        let user = chance.below(PEOPLE).to_string();
        let search = search(time, chance);
        batch.push(Event::by(user.as_bytes(), time, search.as_bytes()));
    }
    batch
}

fn search(time: i64, chance: &mut Chance) -> String {
    let along = (time as f64 / CYCLE).fract();
    for (search, peak, height) in TRENDS {
        let far = (along - peak).abs();
        let far = far.min(1.0 - far);
        if chance.share() < height * (-(far / 0.09).powi(2)).exp() {
            return search.to_owned();
        }
    }
    if chance.below(5) == 0 {
        return format!("where is parcel {:08}", chance.below(100_000_000));
    }
    // Popular ones are far more so.
    let rank = (SEARCHES.len() as f64).powf(chance.share()) - 1.0;
    SEARCHES[(rank as usize).min(SEARCHES.len() - 1)].to_owned()
}

/// What is made up has to look random, not to be secret.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
