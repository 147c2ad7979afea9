//! Metrics in the format of Prometheus. Where users are protected, none reveals the number of events.

use std::collections::BTreeSet;
use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde::Serialize;
use utoipa::ToSchema;

use crate::stream::{Status, StreamHandle};

/// Numbers since the service was started.
#[derive(Debug, Default)]
pub struct StreamMetrics {
    pub events: Counter,
    pub commits: Counter,
    /// Microseconds of all transactions.
    pub committing: Counter,
    pub releases: Counter,
    /// Requests that were told to come again later.
    pub refused: Counter,
}

/// Statistics of events since the service was started.
#[derive(Serialize, ToSchema)]
#[schema(as = Ingest)]
pub struct IngestStatistics {
    /// Events.
    pub events: u64,
    /// Events that came too late, and are not counted.
    pub late: u64,
    /// Transactions.
    pub commits: u64,
    /// The mean time of a transaction.
    pub commit_milliseconds: f64,
    /// Bytes of events that wait.
    pub waiting_bytes: usize,
    /// Requests that were refused because of overload.
    pub overloads: u64,
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
    let label = |name: &str| [("stream", name.to_owned())];
    for name in failed {
        ready.get_or_create(&label(name)).set(0);
    }
    for stream in streams {
        let label = label(&stream.shared.name);
        ready.get_or_create(&label).set(i64::from(stream.status() == Status::Ready));
        releases.get_or_create(&label).inc_by(stream.shared.metrics.releases.get());
        if let Some(statistics) = stream.statistics() {
            events.get_or_create(&label).inc_by(statistics.events);
            commits.get_or_create(&label).inc_by(statistics.commits);
            overloads.get_or_create(&label).inc_by(statistics.overloads);
            waiting.get_or_create(&label).set(statistics.waiting_bytes as i64);
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
