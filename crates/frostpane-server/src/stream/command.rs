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
    /// What was answered to a request that had this identity, if it was taken.
    Recall(Identity, Reply<Option<Acknowledged>>),
    /// To let go of the state, after everything that was asked before.
    Stop(oneshot::Sender<()>),
}

/// What tells a request from all others of its stream, and what it stands for.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its id.
    pub id: String,
    /// A hash of what it brought.
    pub digest: [u8; 32],
    /// How that is to be read.
    pub terms: String,
}

/// Events that are there for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// They came for the first time.
    First,
    /// They had come before, and this was answered then; none if an earlier program took them.
    Again(Option<String>),
}

/// Events of one request.
pub struct Taking {
    /// What tells the request from others, if it may come again.
    pub identity: Option<Identity>,
    /// What is kept of the answer, for when it comes again.
    pub receipt: String,
    /// The events.
    pub batch: AnyBatch,
    /// Room in the queue, which they give back when they are taken.
    pub room: tokio::sync::OwnedSemaphorePermit,
    /// Where the answer goes.
    pub reply: Reply<Acknowledged>,
}
