//! How much a request may ask for.

use std::time::Duration;

/// Limits of one service.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of a body of events, unpacked.
    pub body: usize,
    /// The most events of one request.
    pub events: usize,
    /// The most bytes of memory that a new stream may be asked to take.
    pub memory: u64,
    /// The most bytes on disk of one stream: it stops when it has more.
    pub disk: u64,
    /// The most transactions a second of one stream: what comes meanwhile shares one.
    pub commits: u32,
    /// The most bytes of any other body.
    pub small_body: usize,
    /// The most bytes of a specification that anyone may ask a plan of.
    pub plan_body: usize,
    /// How long a body, or an answer, may take.
    pub time: Duration,
    /// How long the headers of a request may take.
    pub header_time: Duration,
    /// How long a connection may wait for its next request: longer than proxies wait, which use connections again.
    pub idle_time: Duration,
    /// How long a transaction may take before the disk is said to hang.
    pub hung: Duration,
    /// The most connections at once.
    pub connections: usize,
    /// The most requests a second from one address that have no token.
    pub rate: u32,
    /// Whether the clock of the machine is right, also where a state stood still for long.
    pub accept_clock: bool,
    /// How much later than the clock an event may be, and still count as of now.
    pub tolerance: Duration,
    /// Streams that are pulled into: what waits at their sources is taken before the clock ends slides.
    pub pulled: Vec<String>,
    /// Whether a proxy stands in front of it, and says who asks.
    pub behind_proxy: bool,
    /// Origins whose pages may read, if any.
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
