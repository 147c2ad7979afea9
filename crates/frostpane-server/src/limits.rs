//! Limits of requests, streams and connections.

use std::time::Duration;

/// Limits of one service.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of a body of events, decompressed.
    pub body: usize,
    /// The most events of one request.
    pub events: usize,
    /// The most bytes of memory that a new stream may be asked to take.
    pub memory: u64,
    /// The most bytes on disk of one stream, which stops above them.
    pub disk: u64,
    /// The most transactions a second of one stream: requests that arrive meanwhile share one.
    pub commits: u32,
    /// The most bytes of any other body.
    pub small_body: usize,
    /// The most bytes of a specification for which anyone may ask a plan.
    pub plan_body: usize,
    /// The most time for a body, or for an answer.
    pub time: Duration,
    /// The most time for the headers of a request.
    pub header_time: Duration,
    /// The most time between two requests on a connection: longer than proxies wait before they reuse one.
    pub idle_time: Duration,
    /// The time after which a transaction counts as hung.
    pub hung: Duration,
    /// The most connections at once.
    pub connections: usize,
    /// The most requests a second from one address that have no token.
    pub rate: u32,
    /// Trusts the clock of the machine, even for a stream that stood still for more than a day.
    pub accept_clock: bool,
    /// By how much an event may be ahead of the clock.
    pub tolerance: Duration,
    /// Streams that are pulled into: messages that wait at their sources are taken before the clock ends
    /// slides.
    pub pulled: Vec<String>,
    /// Trusts a proxy in front of the service to name the client.
    pub behind_proxy: bool,
    /// Origins whose pages may read.
    pub cors: Vec<String>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 32 << 20,
            events: 1_000_000,
            memory: 1 << 30,
            disk: 16 << 30,
            commits: 100,
            small_body: 1 << 20,
            plan_body: 64 << 10,
            time: Duration::from_secs(30),
            header_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            hung: Duration::from_secs(10),
            connections: 4_096,
            rate: 100,
            accept_clock: false,
            tolerance: Duration::from_secs(5),
            pulled: Vec::new(),
            behind_proxy: false,
            cors: Vec::new(),
        }
    }
}
