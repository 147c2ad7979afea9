//! Streams of synthetic events for `--demo`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use frostpane::{Batch, Bytes, Event, Spec};
use frostpane_store::{Begin, Delivery, Store};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::auth::Scope;
use crate::key::AnyBatch;
use crate::problem::{Problem, Result};
use crate::service::Service;
use crate::stream::{EventColumns, Settings, StreamHandle, now};

const SECOND: i64 = 1_000_000;
const STEP: Duration = Duration::from_millis(250);
/// The length of the synthetic past, which is made in steps of `STRIDE`.
const PAST: i64 = 240 * SECOND;
const STRIDE: i64 = 2 * SECOND;
const RATE: u64 = 4_000;
const USERS: u64 = 20_000;

/// The most popular first.
static SEARCHES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "weather, news, train times, recipe, translate, maps, football, bank opening hours, cinema, \
     pharmacy, bus delay, bread, jobs, second-hand bike, flat to rent, swimming pool, \
     doctor near me, school holidays, concert, tax return, snow, ski slopes, winter tyres, \
     heating repair, power cut, road closed, soup, museum, library, phone contract, flu symptoms, \
     hotel, flights, currency, birthday cake, guitar chords, knitting, chess, star map, sourdough"
        .split(", ")
        .collect()
});
/// Searches that come and go: the moment of their peak in a cycle, and its height.
const TRENDS: [(&str, f64, f64); 4] = [
    ("first snow", 0.2, 0.30),
    ("power cut city", 0.45, 0.40),
    ("match result", 0.7, 0.28),
    ("train strike", 0.95, 0.34),
];
const CYCLE: f64 = 90.0 * SECOND as f64;

/// Generates events until it is dropped.
pub struct Demo {
    pub token: String,
    _feeding: JoinSet<()>,
}

impl Demo {
    pub fn folder() -> std::result::Result<PathBuf, String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|cause| cause.to_string())?;
        Ok(std::env::temp_dir().join(format!("frostpane-demo-{:016x}", u64::from_le_bytes(random))))
    }

    pub fn prepare(folder: &Path) -> std::result::Result<(), String> {
        // The stream with the shortest slide comes last, so that it has no gap.
        for (name, spec) in specs().into_iter().rev() {
            create_with_past(&folder.join("streams").join(name), spec)?;
        }
        Ok(())
    }

    /// Feeds the streams from now on.
    pub fn begin(service: &Service) -> std::result::Result<Self, String> {
        let all = [Scope::Ingest, Scope::Read, Scope::Release, Scope::Admin];
        let (_, token) = service.tokens.make("demo", "*", &all)?;
        let streams = specs().iter().filter_map(|(name, _)| service.stream(name)).collect();
        let mut feeding = JoinSet::new();
        feeding.spawn(feed(streams));
        Ok(Self { token, _feeding: feeding })
    }
}

fn specs() -> [(&'static str, Value); 3] {
    let people = |per_user: u32| json!({ "user": { "per_user": per_user, "epoch": "1m" } });
    [
        (
            "searches",
            json!({ "window": "1m", "slide": "2s", "lateness": "1s", "top": 15, "continual": true, "together": 100 }),
        ),
        (
            "searches-of-people",
            json!({ "window": "2m", "slide": "10s", "lateness": "1s", "top": 15, "unit": people(2), "continual": true, "together": 100 }),
        ),
        (
            "searches-on-demand",
            json!({ "window": "10m", "slide": "1m", "lateness": "1s", "top": 15, "unit": people(2), "epsilon": 0.5, "releases": 4 }),
        ),
    ]
}

/// Creates a stream with a past, as if the service had run all the time.
fn create_with_past(folder: &Path, spec: Value) -> Result<()> {
    let spec: Spec = serde_json::from_value(spec)
        .map_err(|_| Problem::unavailable("what the demo asks for cannot be used"))?;
    let settings = Settings {
        public: true,
        columns: EventColumns { key: "search".to_owned(), ..EventColumns::default() },
        ..Settings::default()
    };
    let mut begin = Begin::default();
    let mut told = now() - PAST;
    begin.from = Some(told);
    StreamHandle::create_in(folder, spec, &settings, begin)?;
    let mut store = Store::<Bytes>::open(folder)?;
    let mut random = DemoRandom(told as u64);
    // Bounded: a slow machine leaves a gap before the present.
    for _ in 0..2 * PAST / STRIDE {
        if now() - told <= STRIDE {
            break;
        }
        let until = told + STRIDE;
        let batch = synthetic_events(told, until, &mut random);
        let delivery = Delivery {
            id: None,
            digest: [0; 32],
            terms: "",
            receipt: &|_| String::new(),
            batch: &batch,
            timed: true,
        };
        store.take_deliveries(&[delivery], until)?;
        store.tick(until)?;
        told = until;
    }
    Ok(())
}

async fn feed(streams: Vec<Arc<StreamHandle>>) {
    let mut random = DemoRandom(now() as u64);
    let mut told = now() - SECOND;
    loop {
        let until = now().min(told + SECOND);
        let batch = synthetic_events(told, until, &mut random);
        for stream in &streams {
            let _ = stream.take(None, None, AnyBatch::Bytes(batch.clone())).await;
        }
        told = until;
        if now() - told < STEP.as_micros() as i64 {
            tokio::time::sleep(STEP).await;
        }
    }
}

fn synthetic_events(from: i64, until: i64, random: &mut DemoRandom) -> Batch<Bytes> {
    let mut batch = Batch::new();
    let number = (until - from).max(0) as u64 * RATE / SECOND as u64;
    for index in 0..number {
        let time = from + (until - from) * index as i64 / number as i64;
        let user = random.below(USERS).to_string();
        let search = search(time, random);
        batch.push(Event::by(user.as_bytes(), time, search.as_bytes()));
    }
    batch
}

fn search(time: i64, random: &mut DemoRandom) -> String {
    let along = (time as f64 / CYCLE).fract();
    for (search, peak, height) in TRENDS {
        let far = (along - peak).abs();
        let far = far.min(1.0 - far);
        if random.share() < height * (-(far / 0.09).powi(2)).exp() {
            return search.to_owned();
        }
    }
    if random.below(5) == 0 {
        return format!("where is parcel {:08}", random.below(100_000_000));
    }
    // By Zipf's law.
    let rank = (SEARCHES.len() as f64).powf(random.share()) - 1.0;
    SEARCHES[(rank as usize).min(SEARCHES.len() - 1)].to_owned()
}

/// SplitMix64: synthetic events must look random, not be secret.
struct DemoRandom(u64);

impl DemoRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Uniform between 0 and 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
