//! Commands to the thread of a stream.

use std::sync::Arc;

use frostpane::{Span, Tally};
use frostpane_store::DryRun;
use tokio::sync::oneshot;

use super::release_cache::{Most, Published};
use crate::events::EventCounts;
use crate::key::AnyBatch;
use crate::problem::Result;

/// Receives the answer; the client may have gone.
pub type Reply<T> = oneshot::Sender<Result<T>>;

pub enum StreamCommand {
    Ingest(IngestRequest),
    Release {
        id: String,
        window: Option<Span>,
        reply: Reply<(Arc<Published>, bool)>,
    },
    /// Compute the cost of a release, and its window.
    DryRun {
        window: Option<Span>,
        reply: Reply<(DryRun, [String; 2])>,
    },
    /// Read releases that are no longer in memory.
    After {
        number: u64,
        most: Most,
        reply: Reply<Vec<Arc<Published>>>,
    },
    Find(String, Reply<Option<Arc<Published>>>),
    /// Look up the answer to a request, if it was taken before.
    Recall(Identity, Reply<Option<Acknowledged>>),
    /// Close the state, after all earlier commands.
    Stop(oneshot::Sender<()>),
}

#[derive(Clone, Debug)]
pub struct Identity {
    pub id: String,
    /// A hash of its body.
    pub digest: [u8; 32],
    /// The format and options with which the body is parsed.
    pub terms: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    First(EventCounts),
    /// They had come before and got this receipt; `None` if an earlier version took them.
    Again(Option<String>),
}

pub struct IngestRequest {
    pub identity: Option<Identity>,
    /// Answered, with the outcome of the events, and stored for when the request is repeated. `None` for a source that does not ask.
    pub counts: Option<EventCounts>,
    pub batch: AnyBatch,
    /// Permits for queue space, returned when the events are taken.
    pub queue_permit: tokio::sync::OwnedSemaphorePermit,
    pub reply: Reply<Acknowledged>,
}

impl IngestRequest {
    /// The text that is stored with its id: empty for a source that does not ask.
    pub fn receipt(&self, tally: &Tally) -> String {
        let counts = self.counts.map(|counts| serde_json::to_string(&counts.with(tally)));
        counts.transpose().ok().flatten().unwrap_or_default()
    }
}
