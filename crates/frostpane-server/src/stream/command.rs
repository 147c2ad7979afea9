//! What the thread that has a stream's state is asked to do.

use std::sync::Arc;

use frostpane::Span;
use frostpane_store::DryRun;
use tokio::sync::oneshot;

use super::published::{Most, Published};
use crate::key::AnyBatch;
use crate::problem::Result;

/// Where the answer goes. Who asked may have gone.
pub type Reply<T> = oneshot::Sender<Result<T>>;

/// Something to do.
pub enum Command {
    /// Events to be taken.
    Take(Taking),
    /// A release that is asked for by an id.
    Release {
        /// Its id.
        id: String,
        /// Its window; the longest unless told.
        window: Option<Span>,
        /// The release, and whether it had been made before.
        reply: Reply<(Arc<Published>, bool)>,
    },
    /// What a release would cost.
    DryRun {
        /// Its window; the longest unless told.
        window: Option<Span>,
        /// The cost, and from where up to where.
        reply: Reply<(DryRun, [String; 2])>,
    },
    /// Releases that are not held any more.
    After {
        /// After this number.
        number: u64,
        /// So many at the most.
        most: Most,
        /// Those.
        reply: Reply<Vec<Arc<Published>>>,
    },
    /// The release of an id.
    Find(String, Reply<Option<Arc<Published>>>),
    /// To let go of the state, after everything that was asked before.
    Stop(oneshot::Sender<()>),
}

/// Events of one request.
pub struct Taking {
    /// What tells the request from others, if it may come again.
    pub id: Option<String>,
    /// A hash of what it brought.
    pub digest: [u8; 32],
    /// The events.
    pub batch: AnyBatch,
    /// Room in the queue, which they give back when they are taken.
    pub room: tokio::sync::OwnedSemaphorePermit,
    /// Whether they had been taken before.
    pub reply: Reply<bool>,
}
