//! Metrics for the operator, in the format of Prometheus. Where users are protected, none reveals the number
//! of events.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::stream::{Status, StreamHandle};

#[derive(Debug, Default)]
pub struct StreamMetrics {
    events: AtomicU64,
    commits: AtomicU64,
    committing: AtomicU64,
    releases: AtomicU64,
    refused: AtomicU64,
}

impl StreamMetrics {
    pub fn took(&self, events: u64) {
        self.events.fetch_add(events, Ordering::Relaxed);
    }

    pub fn committed(&self, time: Duration) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.committing.fetch_add(micros, Ordering::Relaxed);
    }

    pub fn released(&self) {
        self.releases.fetch_add(1, Ordering::Relaxed);
    }

    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Transactions, and the microseconds that they took together.
    pub fn commits(&self) -> (u64, u64) {
        (self.commits.load(Ordering::Relaxed), self.committing.load(Ordering::Relaxed))
    }

    pub fn overloads(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub fn releases(&self) -> u64 {
        self.releases.load(Ordering::Relaxed)
    }
}

type Labels = [(&'static str, String); 1];

/// All metrics as text.
pub fn text(streams: &[Arc<StreamHandle>], failed: &BTreeSet<String>, connections: usize) -> String {
    let mut registry = Registry::with_prefix("frostpane");
    let ready = gauges(&mut registry, "stream_ready", "Whether a stream takes events");
    let releases = counters(&mut registry, "releases", "Releases since the start");
    let events = counters(&mut registry, "events", "Events taken since the start, of streams of events");
    let commits = counters(&mut registry, "commits", "Transactions since the start, of streams of events");
    let overloads = counters(
        &mut registry,
        "overloads",
        "Requests that were told to come again later, of streams of events",
    );
    let waiting = gauges(&mut registry, "waiting_bytes", "Bytes of events that wait, of streams of events");
    let open = Gauge::<i64>::default();
    registry.register("connections", "Connections that are open", open.clone());
    open.set(connections as i64);
    for name in failed {
        let label: Labels = [("stream", name.clone())];
        ready.get_or_create(&label).set(0);
    }
    for stream in streams {
        let label: Labels = [("stream", stream.name().to_owned())];
        let metrics = stream.metrics();
        let is_ready = i64::from(stream.status() == Status::Ready);
        ready.get_or_create(&label).set(is_ready);
        releases.get_or_create(&label).inc_by(metrics.releases());
        if !stream.spec().unit.is_user() {
            events.get_or_create(&label).inc_by(metrics.events());
            commits.get_or_create(&label).inc_by(metrics.commits().0);
            overloads.get_or_create(&label).inc_by(metrics.overloads());
            waiting.get_or_create(&label).set(stream.waiting().0 as i64);
        }
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, &registry);
    text
}

fn counters(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Counter> {
    let family = Family::<Labels, Counter>::default();
    registry.register(name, help, family.clone());
    family
}

fn gauges(registry: &mut Registry, name: &str, help: &str) -> Family<Labels, Gauge> {
    let family = Family::<Labels, Gauge>::default();
    registry.register(name, help, family.clone());
    family
}
