//! Open connections, and which of them is closed when no place is left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::http::connection_limit::{ConnectionLimit, Holder, Permit};
use crate::sync;

/// One of so many connections is kept for clients with a token.
const TOKEN_SHARE: usize = 8;
/// Connections beyond all others, for probes alone.
const PROBE_CONNECTIONS: usize = 16;

#[derive(Debug)]
pub struct Connections {
    most: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    count: usize,
    /// Connections that were told to close and are still counted.
    closing: usize,
    next: u64,
    /// Connections without a request: those that never had a token first, then the longest idle.
    idle: BTreeMap<(bool, u64), Arc<Notify>>,
}

/// The requests that a new connection may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionUse {
    /// Any request.
    Any,
    /// Requests with a token, and probes: only the places kept for them are left.
    Tokens,
    /// Probes: all other places are taken.
    Probes,
}

/// An open connection, which may be closed while it has no request.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    pub admits: ConnectionUse,
    close: Arc<Notify>,
    state: Mutex<ConnectionState>,
}

#[derive(Debug, Default)]
struct ConnectionState {
    /// Its permit among the connections of a token.
    owner: Option<(Holder, Permit)>,
    /// Its key among the idle connections; kept when it is told to close.
    idle: Option<(bool, u64)>,
}

/// A request on a connection, until its answer has been sent.
#[derive(Debug)]
pub struct ActiveRequest(Arc<Connection>);

impl Connections {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Admits one more connection. Where few places are left, the longest idle connection is closed.
    pub fn admit(self: &Arc<Self>) -> Option<Arc<Connection>> {
        let mut open = sync::lock(&self.open);
        let free = self.most - self.most / TOKEN_SHARE;
        let taken = open.count - open.closing;
        let admits = match taken {
            taken if taken < free || open.close_one() => ConnectionUse::Any,
            taken if taken < self.most => ConnectionUse::Tokens,
            taken if taken < self.most + PROBE_CONNECTIONS => ConnectionUse::Probes,
            _ => return None,
        };
        open.count += 1;
        drop(open);
        let connection = Arc::new(Connection {
            all: self.clone(),
            admits,
            close: Arc::new(Notify::new()),
            state: Mutex::default(),
        });
        connection.wait();
        Some(connection)
    }

    pub fn count(&self) -> usize {
        sync::lock(&self.open).count
    }
}

impl OpenConnections {
    /// Tells an idle connection to close. Returns false if there is none.
    fn close_one(&mut self) -> bool {
        // Connections that were told to close end in a moment; only a few are waited for.
        if self.closing >= PROBE_CONNECTIONS {
            return false;
        }
        match self.idle.pop_first() {
            Some((_, close)) => {
                close.notify_one();
                self.closing += 1;
                true
            }
            None => false,
        }
    }
}

impl Connection {
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    pub fn begin(self: &Arc<Self>) -> ActiveRequest {
        let mut open = sync::lock(&self.all.open);
        let mut state = sync::lock(&self.state);
        if state.idle.is_some_and(|key| open.idle.remove(&key).is_some()) {
            state.idle = None;
        }
        ActiveRequest(self.clone())
    }

    /// Counts the connection to a token. Returns false if that has so many already.
    pub fn belongs_to(&self, holder: &Holder, all: &ConnectionLimit, most: usize) -> bool {
        let owner = &mut sync::lock(&self.state).owner;
        if owner.as_ref().is_some_and(|(owner, _)| owner == holder) {
            return true;
        }
        *owner = all.acquire(holder.clone(), most).map(|permit| (holder.clone(), permit));
        owner.is_some()
    }

    fn wait(&self) {
        let mut open = sync::lock(&self.all.open);
        let mut state = sync::lock(&self.state);
        // One that was told to close is not told again.
        if state.idle.is_none() {
            open.next += 1;
            let key = (state.owner.is_some(), open.next);
            state.idle = Some(key);
            open.idle.insert(key, self.close.clone());
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.wait();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = sync::lock(&self.all.open);
        let idle = sync::lock(&self.state).idle;
        open.count -= 1;
        if idle.is_some_and(|key| open.idle.remove(&key).is_none()) {
            open.closing -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_told(connection: &Connection) -> bool {
        let open = sync::lock(&connection.all.open);
        let key = sync::lock(&connection.state).idle;
        key.is_some_and(|key| !open.idle.contains_key(&key))
    }

    #[test]
    fn connections_that_wait_give_way_and_those_with_a_token_last() {
        let all = Connections::new(8);
        let mut held: Vec<Arc<Connection>> = (0..7).filter_map(|_| all.admit()).collect();
        let first = held[0].begin();
        let (one, limit) = (Holder::Token("one".to_owned()), ConnectionLimit::default());
        assert!(held[0].belongs_to(&one, &limit, 1) && held[0].belongs_to(&one, &limit, 1));
        assert!(!held[1].belongs_to(&one, &limit, 1), "the token has its share");
        drop(first);
        let busy = held[1].begin();
        held.extend(all.admit());
        assert!(is_told(&held[2]), "the longest idle that never had a token");
        assert_eq!(held[7].admits, ConnectionUse::Any);
        drop(held.remove(2));
        let all_busy: Vec<ActiveRequest> = held.iter().skip(2).map(Connection::begin).collect();
        let next = all.admit().unwrap();
        assert!(is_told(&held[0]) && next.admits == ConnectionUse::Any, "no other is idle");
        drop((busy, all_busy));
    }

    #[test]
    fn where_all_are_busy_places_are_kept_for_tokens_and_then_for_probes() {
        let all = Connections::new(8);
        let admit = || {
            all.admit().map(|connection| {
                let admits = connection.admits;
                (admits, connection.begin())
            })
        };
        let held: Vec<(ConnectionUse, ActiveRequest)> = (0..40).map_while(|_| admit()).collect();
        let rooms: Vec<ConnectionUse> = held.iter().map(|(admits, _)| *admits).collect();
        assert_eq!(rooms[..7], [ConnectionUse::Any; 7]);
        assert_eq!(rooms[7], ConnectionUse::Tokens);
        assert_eq!(rooms[8..], [ConnectionUse::Probes; PROBE_CONNECTIONS]);
        drop(held);
        assert_eq!(all.count(), 0);
        assert!(sync::lock(&all.open).idle.is_empty() && sync::lock(&all.open).closing == 0);
    }
}
