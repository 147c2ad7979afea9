//! Open connections, and which of them gives way when no place is left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::crowd::{Crowd, Place, Who};

/// One place of so many is kept for callers with a token.
const KEPT: usize = 8;
/// Places beyond all others, for probes alone.
const FOR_PROBES: usize = 16;

/// All connections of a listener.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    /// Connections that were told to close and are still counted.
    closing: usize,
    next: u64,
    /// Connections without a request: those that never had a token first, then those that have waited longest.
    idle: BTreeMap<(bool, u64), Arc<Notify>>,
}

/// What a new connection may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Anything.
    Free,
    /// Requests with a token, and probes: the other places are taken.
    Tokens,
    /// Probes: all places are taken.
    Probes,
}

/// An open connection. It may be closed while it has no request.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    /// What the connection may be used for.
    pub room: Room,
    close: Arc<Notify>,
    state: Mutex<State>,
    /// Its place among those of a token.
    owner: Mutex<Option<(Who, Place<Who>)>>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    has_token: bool,
    /// Its place among the idle ones; it stays when it is told to close.
    idle: Option<(bool, u64)>,
}

/// A request on a connection, until its answer has been sent.
#[derive(Debug)]
pub struct Busy(Arc<Connection>);

impl Connections {
    /// So many at the most, and a few for probes.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            open: Mutex::default(),
        })
    }

    /// A place for one more connection. Where few are left, the connection that has waited longest without a request gives its place.
    pub fn enter(self: &Arc<Self>) -> Option<Arc<Connection>> {
        let mut open = self.open();
        let free = self.most - self.most / KEPT;
        let taken = open.count - open.closing;
        let room = match taken {
            taken if taken < free || open.close_one() => Room::Free,
            taken if taken < self.most => Room::Tokens,
            taken if taken < self.most + FOR_PROBES => Room::Probes,
            _ => return None,
        };
        open.count += 1;
        drop(open);
        let connection = Arc::new(Connection {
            all: self.clone(),
            room,
            close: Arc::new(Notify::new()),
            state: Mutex::new(State {
                has_token: false,
                idle: None,
            }),
            owner: Mutex::default(),
        });
        connection.wait();
        Some(connection)
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.open().count
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Tells a connection without a request to close, if there is one.
    fn close_one(&mut self) -> bool {
        // Those that are told are gone in a moment; no more than a few wait for that.
        if self.closing >= FOR_PROBES {
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
    /// Returns when it has to close.
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    /// A request has come.
    pub fn begin(self: &Arc<Self>) -> Busy {
        let mut open = self.all.open();
        let mut state = self.state();
        if state.idle.is_some_and(|place| open.idle.remove(&place).is_some()) {
            state.idle = None;
        }
        Busy(self.clone())
    }

    /// Its requests have a token. Returns false if that has so many connections already.
    pub fn belongs_to(&self, who: &Who, all: &Crowd<Who>, most: usize) -> bool {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if owner.as_ref().is_some_and(|(owner, _)| owner == who) {
            return true;
        }
        *owner = all.enter(who.clone(), most).map(|place| (who.clone(), place));
        self.state().has_token = owner.is_some();
        owner.is_some()
    }

    /// It has no request.
    fn wait(&self) {
        let mut open = self.all.open();
        let mut state = self.state();
        // One that was told to close is not told again.
        if state.idle.is_none() {
            open.next += 1;
            let place = (state.has_token, open.next);
            state.idle = Some(place);
            open.idle.insert(place, self.close.clone());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.wait();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.all.open();
        let state = *self.state();
        open.count -= 1;
        if state.idle.is_some_and(|place| open.idle.remove(&place).is_none()) {
            open.closing -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_told(connection: &Connection) -> bool {
        let open = connection.all.open();
        let place = connection.state().idle;
        place.is_some_and(|place| !open.idle.contains_key(&place))
    }

    #[test]
    fn whoever_waits_gives_way_and_whoever_has_a_token_last() {
        let all = Connections::new(8);
        let mut held: Vec<Arc<Connection>> = (0..7).filter_map(|_| all.enter()).collect();
        let first = held[0].begin();
        let (one, crowd) = (Who::Token("one".to_owned()), Crowd::default());
        assert!(held[0].belongs_to(&one, &crowd, 1) && held[0].belongs_to(&one, &crowd, 1));
        assert!(!held[1].belongs_to(&one, &crowd, 1), "it has its share");
        drop(first);
        let busy = held[1].begin();
        held.extend(all.enter());
        assert!(is_told(&held[2]), "the first that waits and never had a token");
        assert_eq!(held[7].room, Room::Free);
        drop(held.remove(2));
        let all_busy: Vec<Busy> = held.iter().skip(2).map(Connection::begin).collect();
        let next = all.enter().unwrap();
        assert!(is_told(&held[0]) && next.room == Room::Free, "nobody else waits");
        drop((busy, all_busy));
    }

    #[test]
    fn where_all_are_busy_places_are_kept_for_tokens_and_then_for_probes() {
        let all = Connections::new(8);
        let enter = || {
            all.enter().map(|connection| {
                let room = connection.room;
                (room, connection.begin())
            })
        };
        let held: Vec<(Room, Busy)> = (0..40).map_while(|_| enter()).collect();
        let rooms: Vec<Room> = held.iter().map(|(room, _)| *room).collect();
        assert_eq!(rooms[..7], [Room::Free; 7]);
        assert_eq!(rooms[7], Room::Tokens);
        assert_eq!(rooms[8..], [Room::Probes; FOR_PROBES]);
        drop(held);
        assert_eq!(all.count(), 0);
        assert!(all.open().idle.is_empty() && all.open().closing == 0);
    }
}
