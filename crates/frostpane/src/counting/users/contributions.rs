//! Contributions of users, bounded.
//!
//! An event costs a look at a user's slot, which is in no cache where there are many users: so a slot has all that is needed in most
//! cases, the first key included, in 24 bytes.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::key_interner::{KeyInterner, Nearby};
use crate::key::mix::mix;
use crate::key::{Bytes, Key};
use crate::spec::Bounds;

/// Users are spread over so many parts by a hash of their id: where all together do not fit into the memory, one part does.
pub const PARTS: usize = 64;
const PART_SHIFT: u32 = u64::BITS - PARTS.ilog2();
/// Each part again over several logs.
pub const LOGS: usize = 4 * PARTS;
const LOG_SHIFT: u32 = u64::BITS - LOGS.ilog2();
/// Ends the list of keys of a user.
const NONE: u32 = u32::MAX;
/// Odd, so that periods that differ stay different.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Assumed length of an id, where none is known.
const USUAL_ID: u64 = 16;
const FEWEST: usize = 16;
/// And at the most, for users that are only expected.
const MOST_AT_FIRST: usize = 1 << 15;

/// Of every user and period the keys that may count, each with how often it came. Users are compared whole, and what is kept
/// of one follows from the events of that user alone.
#[derive(Debug)]
pub struct Contributions<K> {
    pub rule: Rule,
    pub names: KeyInterner<K>,
    parts: Vec<UserTable>,
}

/// How much of a user is kept, and of what.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    per_user: u32,
    per_key: u32,
    seed: u64,
}

/// Some of the users: a table that is looked through from the place on that a hash says.
#[derive(Debug, Default)]
pub struct UserTable {
    slots: Vec<UserSlot>,
    taken: usize,
    /// Keys after the first of each user.
    more: Vec<KeyTimes>,
    /// Ids of users, each with its length before it.
    ids: Vec<u8>,
    pub is_full: bool,
}

#[derive(Clone, Copy, Debug)]
struct UserSlot {
    tag: u32,
    period: u32,
    /// Where the id begins; [`NONE`] in a slot that is free.
    id: u32,
    first: KeyTimes,
}

#[derive(Clone, Copy, Debug)]
struct KeyTimes {
    key: u32,
    times: u32,
    next: u32,
}

const FREE: UserSlot = UserSlot { tag: 0, period: 0, id: NONE, first: NO_KEY };
const NO_KEY: KeyTimes = KeyTimes { key: NONE, times: 0, next: NONE };

/// About how many bytes a user takes in a period, with as many keys as may count: tables are half full at the least.
pub const fn bytes_of_one(per_user: u32) -> u64 {
    let own = size_of::<UserSlot>() as u64 + 1 + USUAL_ID;
    let more = (per_user as u64).saturating_sub(1).saturating_mul(size_of::<KeyTimes>() as u64);
    own.saturating_add(more).saturating_mul(2)
}

/// The place at which a user in a period is looked up.
#[derive(Clone, Copy, Debug)]
pub struct UserPlace {
    hash: u64,
    period: u32,
}

impl UserPlace {
    fn part(self) -> usize {
        (self.hash >> PART_SHIFT) as usize
    }

    #[inline]
    pub fn log(self) -> usize {
        (self.hash >> LOG_SHIFT) as usize
    }

    fn tag(self) -> u32 {
        mix(self.hash.wrapping_add(u64::from(self.period).wrapping_mul(SPREAD))) as u32
    }
}

/// In which order the keys of a user are taken in one epoch.
#[derive(Clone, Copy)]
struct Preference(u64);

impl Preference {
    #[inline]
    fn rank(self, hash: u64) -> u64 {
        mix(self.0 ^ hash.rotate_left(32))
    }

    /// Which of two keys comes first. Only where their hashes are the same are they looked at themselves.
    #[inline]
    fn compare<K: Key>(self, names: &KeyInterner<K>, a: u32, b: u32) -> Ordering {
        let rank = |key| self.rank(names.hash(key));
        rank(a).cmp(&rank(b)).then_with(|| names.key(a).cmp(&names.key(b)))
    }
}

/// One user in one period, with the keys that may count in the order in which they are taken.
pub struct Contribution<'a> {
    pub period: u32,
    pub user: &'a [u8],
    /// Each with how often.
    pub keys: &'a [(u32, u32)],
}

impl Rule {
    /// The seed is secret: who knew it could foresee which keys of a user are taken.
    pub fn new(bounds: &Bounds, seed: u64) -> Self {
        Self { per_user: bounds.per_user, per_key: bounds.per_key, seed }
    }

    #[inline]
    pub fn place(self, user: &[u8], period: u32) -> UserPlace {
        let hash = xxh3_64_with_seed(user, self.seed);
        UserPlace { hash, period }
    }

    pub fn names<K: Key>(self) -> KeyInterner<K> {
        KeyInterner::new(self.seed_of_keys())
    }

    #[inline]
    pub fn nearby<K: Key>(self, key: K::Ref<'_>) -> Nearby {
        Nearby { hash: K::hash(key, self.seed_of_keys()), held: None }
    }

    #[inline]
    fn seed_of_keys(self) -> u64 {
        mix(self.seed ^ 1)
    }

    fn preference(self, place: UserPlace, epoch: i64) -> Preference {
        Preference(mix(place.hash ^ mix(epoch as u64 ^ self.seed)))
    }
}

impl<K: Key> Contributions<K> {
    pub fn new(rule: Rule) -> Self {
        Self { rule, names: rule.names(), parts: (0..PARTS).map(|_| UserTable::default()).collect() }
    }

    /// A user came to a key in a period of an epoch, so often: [`UserTable::offer`] says which keys are kept.
    #[inline]
    pub fn offer(&mut self, user: &[u8], place: UserPlace, epoch: i64, key: K::Ref<'_>, times: u32) {
        let key = self.names.number(key);
        self.offer_number(user, place, epoch, key, times);
    }

    #[inline]
    pub fn offer_number(&mut self, user: &[u8], place: UserPlace, epoch: i64, key: u32, times: u32) {
        let offer = Candidate { user, place, epoch, key, times };
        self.parts[place.part()].offer(self.rule, &self.names, &offer);
    }

    /// Takes a key of a user for good, if they have named fewer than they may. Returns how often it may still count.
    pub fn admit(&mut self, user: &[u8], place: UserPlace, key: K::Ref<'_>, times: u32) -> u32 {
        let key = self.names.number(key);
        let part = &mut self.parts[place.part()];
        let slot = part.slot(user, place);
        if let Some(named) = part.find(slot, key) {
            let more = times.min(self.rule.per_key - named.times);
            named.times += more;
            return more;
        }
        let times = times.min(self.rule.per_key);
        match part.keys(slot).count() {
            0 => (part.slots[slot].first.key, part.slots[slot].first.times) = (key, times),
            number if number < self.rule.per_user as usize => part.push(slot, key, times),
            _ => return 0,
        }
        times
    }

    /// Breaks it: a key that comes later may take the place of one that has been counted.
    pub fn revise(&mut self, user: &[u8], place: UserPlace, epoch: i64, key: K::Ref<'_>, times: u32) -> u32 {
        let number = self.names.number(key);
        let part = &mut self.parts[place.part()];
        let slot = part.slot(user, place);
        let before = part.find(slot, number).map_or(0, |named| named.times);
        self.offer(user, place, epoch, key, times);
        let part = &mut self.parts[place.part()];
        let slot = part.slot(user, place);
        part.find(slot, number).map_or(0, |named| named.times - before)
    }

    /// Visits everything that may count, of users all of whose periods are in one epoch.
    pub fn for_each(&self, epoch: i64, mut visit: impl FnMut(Contribution<'_>)) {
        self.parts.iter().for_each(|part| part.for_each(self.rule, &self.names, |_| epoch, &mut visit));
    }

    /// Visits everything that may count, with whom it is of, in no order: user, period, key and how often.
    pub fn for_each_entry(&self, mut visit: impl FnMut(&[u8], u32, u32, u32)) {
        self.parts.iter().for_each(|part| part.for_each_entry(&mut visit));
    }

    pub fn for_each_of_log(&self, log: usize, mut visit: impl FnMut(&[u8], u32, u32)) {
        self.parts[log / (LOGS / PARTS)].for_each_entry(|user, period, key, times| {
            if self.rule.place(user, period).log() == log {
                visit(user, key, times);
            }
        });
    }

    /// Returns true if there was no number for a user or a key: what is kept is then not within the bounds, and must not be released.
    pub fn is_full(&self) -> bool {
        self.names.is_full || self.parts.iter().any(|part| part.is_full)
    }

    pub fn bytes(&self) -> u64 {
        self.names.bytes() + self.parts.iter().map(UserTable::bytes).sum::<u64>()
    }
}

pub struct Candidate<'a> {
    pub user: &'a [u8],
    pub place: UserPlace,
    pub epoch: i64,
    pub key: u32,
    pub times: u32,
}

impl UserTable {
    /// Forgets everybody, and makes room for so many users: more or fewer may come.
    pub fn begin(&mut self, users: usize) {
        self.slots.clear();
        self.slots.resize((users.min(MOST_AT_FIRST) * 3 / 2).max(FEWEST), FREE);
        self.taken = 0;
        self.more.clear();
        self.ids.clear();
    }

    /// Of all keys that come those are kept, in whatever order they come, that are first in the user's order of preference.
    #[inline]
    pub fn offer<K: Key>(&mut self, rule: Rule, names: &KeyInterner<K>, offer: &Candidate<'_>) {
        let (key, times) = (offer.key, offer.times.min(rule.per_key));
        let slot = self.slot(offer.user, offer.place);
        let mut number = 0;
        let mut named = &mut self.slots[slot].first;
        loop {
            if named.key == key {
                named.times = named.times.saturating_add(times).min(rule.per_key);
                return;
            }
            if named.key == NONE {
                (named.key, named.times) = (key, times);
                return;
            }
            number += 1;
            match named.next {
                NONE => break,
                next => named = &mut self.more[next as usize],
            }
        }
        match number < rule.per_user {
            true => self.push(slot, key, times),
            false => self.replace(rule.preference(offer.place, offer.epoch), names, slot, (key, times)),
        }
    }

    /// A key comes that there is no room for: it takes the place of the one that comes last, unless it comes last itself.
    #[cold]
    fn replace<K: Key>(
        &mut self,
        preference: Preference,
        names: &KeyInterner<K>,
        slot: usize,
        (key, times): (u32, u32),
    ) {
        let keys = self.keys(slot).map(|named| named.key);
        let last = keys.max_by(|a, b| preference.compare(names, *a, *b));
        if let Some(last) = last.filter(|last| preference.compare(names, key, *last).is_lt())
            && let Some(named) = self.find(slot, last)
        {
            (named.key, named.times) = (key, times);
        }
    }

    /// Visits everything that may count, in no order: period, key and how often.
    pub fn for_each_key(&self, mut visit: impl FnMut(u32, u32, u32)) {
        for (index, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.id != NONE) {
            self.keys(index).for_each(|named| visit(slot.period, named.key, named.times));
        }
    }

    pub fn for_each_entry(&self, mut visit: impl FnMut(&[u8], u32, u32, u32)) {
        for (index, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.id != NONE) {
            let user = id_at(&self.ids, slot.id);
            self.keys(index).for_each(|named| visit(user, slot.period, named.key, named.times));
        }
    }

    pub fn for_each<K: Key>(
        &self,
        rule: Rule,
        names: &KeyInterner<K>,
        epoch_of: impl Fn(u32) -> i64,
        mut visit: impl FnMut(Contribution<'_>),
    ) {
        let taken = |slot: &u32| self.slots[*slot as usize].id != NONE;
        let mut order: Vec<u32> = (0..self.slots.len() as u32).filter(taken).collect();
        order.sort_by_key(|slot| self.slots[*slot as usize].period);
        let mut keys = Vec::new();
        for slot in order {
            let UserSlot { period, id, .. } = self.slots[slot as usize];
            let user = id_at(&self.ids, id);
            keys.clear();
            keys.extend(self.keys(slot as usize).map(|named| (named.key, named.times)));
            if keys.len() > 1 {
                let preference = rule.preference(rule.place(user, period), epoch_of(period));
                keys.sort_unstable_by(|(a, _), (b, _)| preference.compare(names, *a, *b));
            }
            visit(Contribution { period, user, keys: &keys });
        }
    }

    #[inline]
    fn slot(&mut self, user: &[u8], place: UserPlace) -> usize {
        if self.taken * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let tag = place.tag();
        let mut at = start(tag, self.slots.len());
        loop {
            let slot = &self.slots[at];
            if slot.id == NONE {
                break;
            }
            if slot.tag == tag && slot.period == place.period && id_at(&self.ids, slot.id) == user {
                return at;
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
        let Some(id) = numbered(self.ids.len()) else {
            self.is_full = true;
            return 0;
        };
        self.slots[at] = UserSlot { tag, period: place.period, id, first: NO_KEY };
        self.taken += 1;
        Bytes::pack(user, &mut self.ids);
        at
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 3 / 2).max(FEWEST);
        let before = std::mem::replace(&mut self.slots, vec![FREE; size]);
        for slot in before.into_iter().filter(|slot| slot.id != NONE) {
            let mut at = start(slot.tag, size);
            while self.slots[at].id != NONE {
                at = if at + 1 == size { 0 } else { at + 1 };
            }
            self.slots[at] = slot;
        }
    }

    fn keys(&self, slot: usize) -> impl Iterator<Item = &KeyTimes> {
        let first = Some(&self.slots[slot].first).filter(|named| named.key != NONE);
        std::iter::successors(first, |named| self.more.get(named.next as usize))
    }

    fn find(&mut self, slot: usize, key: u32) -> Option<&mut KeyTimes> {
        let first = self.slots[slot].first;
        if first.key == key {
            return Some(&mut self.slots[slot].first);
        }
        let mut next = first.next;
        while next != NONE {
            if self.more[next as usize].key == key {
                return Some(&mut self.more[next as usize]);
            }
            next = self.more[next as usize].next;
        }
        None
    }

    fn push(&mut self, slot: usize, key: u32, times: u32) {
        let Some(place) = numbered(self.more.len()) else {
            self.is_full = true;
            return;
        };
        let first = &mut self.slots[slot].first;
        let next = std::mem::replace(&mut first.next, place);
        self.more.push(KeyTimes { key, times, next });
    }

    fn bytes(&self) -> u64 {
        (self.slots.capacity() * size_of::<UserSlot>()
            + self.more.capacity() * size_of::<KeyTimes>()
            + self.ids.capacity()) as u64
    }
}

/// The number of a place, if there is one: the last stands for none.
pub fn numbered(place: usize) -> Option<u32> {
    u32::try_from(place).ok().filter(|number| *number != NONE)
}

#[inline]
fn start(tag: u32, size: usize) -> usize {
    ((u64::from(tag) * size as u64) >> 32) as usize
}

#[inline]
fn id_at(ids: &[u8], start: u32) -> &[u8] {
    Bytes::unpack(&mut &ids[start as usize..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All in one place of one table, because all ids have one hash: through all its sizes ids are compared whole, and periods too.
    #[test]
    fn users_whose_ids_collide_are_two_users() {
        for hash in [0, 7, u64::MAX] {
            let mut part = UserTable::default();
            for _ in 0..2 {
                for user in 0..300_u64 {
                    for period in 0..2 {
                        let slot = part.slot(&user.to_be_bytes(), UserPlace { hash, period });
                        let UserSlot { id, period: of, .. } = part.slots[slot];
                        assert_eq!((id_at(&part.ids, id), of), (&user.to_be_bytes()[..], period));
                    }
                }
            }
            assert_eq!(part.taken, 600);
        }
    }

    /// Bounds are for each of two whose hash is the same, in whatever order their events come.
    #[test]
    fn users_whose_ids_collide_have_bounds_of_their_own() {
        let mut contributions = Contributions::<u64>::new(Rule::new(&Bounds::new(2), 5));
        let place = UserPlace { hash: 7, period: 0 };
        for (user, key) in [(b"a", 1), (b"b", 1), (b"a", 2), (b"a", 3), (b"b", 1), (b"a", 4)] {
            contributions.offer(user, place, 0, key, 1);
        }
        let mut kept = Vec::new();
        let visit = |user: Contribution<'_>| kept.push((user.user.to_vec(), user.keys.len()));
        contributions.for_each(0, visit);
        kept.sort_unstable();
        assert_eq!(kept, [(b"a".to_vec(), 2), (b"b".to_vec(), 1)]);
    }

    /// Ids of a part end after four gigabytes (which are asked for here and never touched): a number that begins again at 0 would be
    /// that of somebody else, and a user who came later would be somebody new with every event.
    #[test]
    fn users_without_a_number_are_noticed() {
        let mut contributions = Contributions::<u64>::new(Rule::new(&Bounds::new(1), 7));
        let place = contributions.rule.place(b"ann", 0);
        for (length, is_full) in [(0, false), (u32::MAX as usize, true)] {
            contributions.parts[place.part()] = UserTable { ids: vec![0; length], ..UserTable::default() };
            (0..3).for_each(|key| contributions.offer(b"ann", place, 0, key, 1));
            assert_eq!(contributions.is_full(), is_full);
            assert_eq!(contributions.parts[place.part()].taken, usize::from(!is_full));
        }
    }
}
