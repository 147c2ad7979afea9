//! Limits of requests, streams and connections.

use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Parser, value_parser};

/// Limits of one service, as options of the command line.
#[derive(Clone, Debug, Parser)]
pub struct Limits {
    /// Trust the clock of this machine, although a stream stood still for more than a day
    #[arg(long)]
    pub accept_clock: bool,

    /// By how many seconds an event may be ahead of the clock and count as of now; events further ahead are
    /// left out
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = value_parser!(u32).range(0..=3600).map(seconds))]
    pub tolerance: Duration,

    /// An origin whose pages may read, such as https://example.org; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Vec<String>,

    /// The most megabytes of events in one request, decompressed
    #[arg(long = "most-body", value_name = "MB", default_value = "32", value_parser = value_parser!(u32).range(1..=1024).map(|most| number(most) << 20))]
    pub body: usize,

    /// The most events in one request
    #[arg(long = "most-events", value_name = "N", default_value = "1000000", value_parser = value_parser!(u32).range(1..).map(number))]
    pub events: usize,

    /// The most megabytes of memory that a new stream may use
    #[arg(long = "most-memory", value_name = "MB", default_value = "1024", value_parser = value_parser!(u32).range(1..).map(megabytes))]
    pub memory: u64,

    /// The most megabytes on disk of one stream: above them it takes no events and ends no slides
    #[arg(long = "most-disk", value_name = "MB", default_value = "16384", value_parser = value_parser!(u32).range(1..).map(megabytes))]
    pub disk: u64,

    /// The most transactions a second of one stream: requests that arrive meanwhile share one
    #[arg(long = "most-commits", value_name = "N", default_value = "100", value_parser = value_parser!(u32).range(1..))]
    pub commits: u32,

    /// The most connections at once
    #[arg(long = "most-connections", value_name = "N", default_value = "4096", value_parser = value_parser!(u32).range(1..=1_000_000).map(number))]
    pub connections: usize,

    /// The most requests a second from one address without a token
    #[arg(long = "most-requests", value_name = "N", default_value = "100", value_parser = value_parser!(u32).range(1..))]
    pub rate: u32,

    /// The most seconds that a request may take
    #[arg(long = "most-seconds", value_name = "SECONDS", default_value = "30", value_parser = value_parser!(u32).range(1..=3600).map(seconds))]
    pub time: Duration,

    /// The most bytes of any other body.
    #[arg(skip = 1_usize << 20)]
    pub small_body: usize,
    /// The most bytes of a specification for which anyone may ask a plan.
    #[arg(skip = 64_usize << 10)]
    pub plan_body: usize,
    /// The most time for the headers of a request.
    #[arg(skip = Duration::from_secs(10))]
    pub header_time: Duration,
    /// The most time between two requests on a connection: longer than proxies wait before they reuse one.
    #[arg(skip = Duration::from_secs(75))]
    pub idle_time: Duration,
    /// The time after which a transaction counts as hung.
    #[arg(skip = Duration::from_secs(10))]
    pub hung: Duration,
    /// Streams that are pulled into: waiting messages are taken before the clock ends slides.
    #[arg(skip)]
    pub pulled: Vec<String>,
    /// Trusts a proxy in front of the service to name the client.
    #[arg(skip)]
    pub behind_proxy: bool,
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

fn megabytes(megabytes: u32) -> u64 {
    u64::from(megabytes) << 20
}

fn number(number: u32) -> usize {
    number as usize
}

impl Default for Limits {
    fn default() -> Self {
        Self::parse_from([""; 0])
    }
}
