//! What users contribute, bounded.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Found;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::names::Names;
use crate::key::Key;
use crate::key::mix::mix;
use crate::key::number::{pack_number, unpack_number};
use crate::spec::Bounds;

/// Users are spread over so many parts by a hash of their id: each is small enough for a near cache, and for memory where all
/// together are not.
pub const PARTS: usize = 64;
const PART_SHIFT: u32 = u64::BITS - PARTS.ilog2();
/// Ends the list of slots of an entry.
const NONE: u32 = u32::MAX;
/// Odd, so that periods that differ stay different.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Of every user and period the keys that may count, each with how often it came. Users are compared whole, and what is kept
/// of one follows from the events of that user alone.
#[derive(Debug)]
pub struct Contributions<K> {
    per_user: u32,
    per_key: u32,
    seed: u64,
    pub names: Names<K>,
    parts: Vec<Part>,
}

/// Some of the users.
#[derive(Debug, Default)]
struct Part {
    places: HashTable<u32>,
    entries: Vec<Entry>,
    slots: Vec<Slot>,
    /// Ids of users, each with its length before it.
    ids: Vec<u8>,
}

/// One user in one period.
#[derive(Clone, Copy, Debug)]
struct Entry {
    period: u32,
    /// Where the id begins.
    id: u32,
    /// The first of the slots.
    first: u32,
    slots: u32,
}

/// A key that may count.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u32,
    times: u32,
    next: u32,
}

/// A user, as far as hashes tell: in which order their keys are taken in one epoch.
#[derive(Clone, Copy)]
pub struct Preference(u64);

impl Preference {
    /// Where a key with this hash stands: the lower, the sooner it is taken.
    #[inline]
    fn rank(self, hash: u64) -> u64 {
        mix(self.0 ^ hash.rotate_left(32))
    }
}

/// One user in one period, with the keys that may count by the order in which they are taken.
pub struct Contribution<'a> {
    pub period: u32,
    pub user: &'a [u8],
    /// Each with how often.
    pub keys: &'a [(u32, u32)],
}

impl<K: Key> Contributions<K> {
    /// None so far. The seed is secret: who knew it could foresee which keys of a user are taken.
    pub fn new(bounds: &Bounds, seed: u64) -> Self {
        Self {
            per_user: bounds.per_user,
            per_key: bounds.per_key,
            seed,
            names: Names::new(mix(seed ^ 1)),
            parts: (0..PARTS).map(|_| Part::default()).collect(),
        }
    }

    /// In which order the keys of a user are taken in an epoch.
    pub fn preference(&self, user: &[u8], epoch: i64) -> Preference {
        Preference(mix(self.hash(user) ^ mix(epoch as u64 ^ self.seed)))
    }

    fn hash(&self, user: &[u8]) -> u64 {
        xxh3_64_with_seed(user, self.seed)
    }

    /// The part of a user, and in it the entry of a period.
    #[inline]
    fn entry(&mut self, user: &[u8], period: u32) -> (&mut Part, usize, &Names<K>) {
        let (hash, seed) = (self.hash(user), self.seed);
        let part = &mut self.parts[(hash >> PART_SHIFT) as usize];
        let rehash = |user: &[u8], period| place(xxh3_64_with_seed(user, seed), period);
        let entry = part.entry(place(hash, period), user, period, rehash);
        (part, entry, &self.names)
    }

    /// A user came to a key in a period, so often. Of all keys that come those are kept, in whatever order they come, that are first
    /// in the user's order of preference.
    #[inline]
    pub fn offer(&mut self, user: &[u8], period: u32, preference: Preference, key: K::Ref<'_>, times: u32) {
        let (per_user, per_key) = (self.per_user, self.per_key);
        let key = self.names.number(key);
        let (part, entry, names) = self.entry(user, period);
        if let Some(slot) = part.find(entry, key) {
            let slot = &mut part.slots[slot];
            slot.times = slot.times.saturating_add(times).min(per_key);
        } else if part.entries[entry].slots < per_user {
            part.push(entry, key, times.min(per_key));
        } else {
            let rank = |key: u32| (preference.rank(names.hash(key)), names.key(key));
            if let Some(last) = part.last(entry, rank)
                && rank(key) < rank(part.slots[last].key)
            {
                let slot = &mut part.slots[last];
                (slot.key, slot.times) = (key, times.min(per_key));
            }
        }
    }

    /// Takes a key of a user for good, if they have named fewer than they may, and as often as it may still count. How often that
    /// is.
    pub fn admit(&mut self, user: &[u8], period: u32, key: K::Ref<'_>, times: u32) -> u32 {
        let (per_user, per_key) = (self.per_user, self.per_key);
        let key = self.names.number(key);
        let (part, entry, _) = self.entry(user, period);
        match part.find(entry, key) {
            Some(slot) => {
                let slot = &mut part.slots[slot];
                let more = times.min(per_key - slot.times);
                slot.times += more;
                more
            }
            None if part.entries[entry].slots == per_user => 0,
            None => {
                let times = times.min(per_key);
                part.push(entry, key, times);
                times
            }
        }
    }

    /// Breaks it: a key that comes later may take the place of one that has been counted.
    pub fn revise(&mut self, user: &[u8], epoch: i64, key: K::Ref<'_>, times: u32) -> u32 {
        let preference = self.preference(user, epoch);
        let number = self.names.number(key);
        let (part, entry, _) = self.entry(user, 0);
        let before = part.find(entry, number).map_or(0, |slot| part.slots[slot].times);
        self.offer(user, 0, preference, key, times);
        let (part, entry, _) = self.entry(user, 0);
        part.find(entry, number)
            .map_or(0, |slot| part.slots[slot].times - before)
    }

    /// Visits everything that may count of the users of a part, periods in their order.
    pub fn for_each_of_part(
        &self,
        part: usize,
        epoch_of: impl Fn(u32) -> i64,
        mut visit: impl FnMut(Contribution<'_>),
    ) {
        let part = &self.parts[part];
        let mut order: Vec<u32> = (0..part.entries.len() as u32).collect();
        order.sort_unstable_by_key(|entry| part.entries[*entry as usize].period);
        let mut keys = Vec::new();
        for entry in order {
            let Entry { period, first, .. } = part.entries[entry as usize];
            let user = part.id(entry as usize);
            keys.clear();
            keys.extend(part.list(first).map(|slot| (slot.key, slot.times)));
            if keys.len() > 1 {
                let preference = self.preference(user, epoch_of(period));
                let rank = |key: u32| (preference.rank(self.names.hash(key)), self.names.key(key));
                keys.sort_unstable_by(|(a, _), (b, _)| rank(*a).cmp(&rank(*b)));
            }
            visit(Contribution {
                period,
                user,
                keys: &keys,
            });
        }
    }

    /// About how many bytes all of it takes.
    pub fn bytes(&self) -> u64 {
        self.names.bytes() + self.parts.iter().map(Part::bytes).sum::<u64>()
    }

    /// Forgets the users of a part, and gives their memory back.
    pub fn clear_part(&mut self, part: usize) {
        self.parts[part] = Part::default();
    }

    /// What may count of the users of a part, as bytes: it can be read again into others with the same bounds and seed.
    pub fn pack_part(&self, part: usize, bytes: &mut Vec<u8>) {
        let part = &self.parts[part];
        for (index, entry) in part.entries.iter().enumerate() {
            pack_number(u64::from(entry.period), bytes);
            let user = part.id(index);
            pack_number(user.len() as u64, bytes);
            bytes.extend_from_slice(user);
            pack_number(u64::from(entry.slots), bytes);
            for slot in part.list(entry.first) {
                if let Some(key) = self.names.key(slot.key) {
                    K::pack(key, bytes);
                }
                pack_number(u64::from(slot.times), bytes);
            }
        }
    }

    /// Offers what was packed. Nothing if it is not whole.
    pub fn offer_packed(&mut self, mut bytes: &[u8], epoch_of: impl Fn(u32) -> i64) -> Option<()> {
        while !bytes.is_empty() {
            let period = u32::try_from(unpack_number(&mut bytes)?).ok()?;
            let length = usize::try_from(unpack_number(&mut bytes)?).ok()?;
            let (user, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            let preference = self.preference(user, epoch_of(period));
            for _ in 0..unpack_number(&mut bytes)? {
                let key = K::unpack(&mut bytes)?;
                let times = u32::try_from(unpack_number(&mut bytes)?).ok()?;
                self.offer(user, period, preference, key, times);
            }
        }
        Some(())
    }
}

impl Part {
    /// Where the entry of a user and period is, which is made if there is none.
    #[inline]
    fn entry(&mut self, hash: u64, user: &[u8], period: u32, rehash: impl Fn(&[u8], u32) -> u64) -> usize {
        let (entries, ids) = (&self.entries, &self.ids);
        let is_same = |entry: &u32| {
            let entry = &entries[*entry as usize];
            entry.period == period && id_at(ids, entry.id) == user
        };
        let place = |entry: &u32| {
            let entry = &entries[*entry as usize];
            rehash(id_at(ids, entry.id), entry.period)
        };
        match self.places.entry(hash, is_same, place) {
            Found::Occupied(entry) => *entry.get() as usize,
            Found::Vacant(vacant) => {
                vacant.insert(self.entries.len() as u32);
                self.entries.push(Entry {
                    period,
                    id: self.ids.len() as u32,
                    first: NONE,
                    slots: 0,
                });
                pack_number(user.len() as u64, &mut self.ids);
                self.ids.extend_from_slice(user);
                self.entries.len() - 1
            }
        }
    }

    fn id(&self, entry: usize) -> &[u8] {
        id_at(&self.ids, self.entries[entry].id)
    }

    fn list(&self, first: u32) -> impl Iterator<Item = &Slot> {
        std::iter::successors(self.slots.get(first as usize), |slot| {
            self.slots.get(slot.next as usize)
        })
    }

    /// The slot of a key, if it has one.
    #[inline]
    fn find(&self, entry: usize, key: u32) -> Option<usize> {
        let mut next = self.entries[entry].first;
        while next != NONE {
            let slot = &self.slots[next as usize];
            if slot.key == key {
                return Some(next as usize);
            }
            next = slot.next;
        }
        None
    }

    #[inline]
    fn push(&mut self, entry: usize, key: u32, times: u32) {
        let entry = &mut self.entries[entry];
        let next = entry.first;
        entry.first = self.slots.len() as u32;
        entry.slots += 1;
        self.slots.push(Slot { key, times, next });
    }

    /// The slot whose key comes last.
    fn last<R: Ord>(&self, entry: usize, rank: impl Fn(u32) -> R) -> Option<usize> {
        let place = |place: &u32| *place != NONE;
        let first = Some(self.entries[entry].first).filter(place);
        let places = std::iter::successors(first, |at| Some(self.slots[*at as usize].next).filter(place));
        places
            .map(|place| place as usize)
            .max_by_key(|place| rank(self.slots[*place].key))
    }

    fn bytes(&self) -> u64 {
        let slots = self.places.capacity() * (size_of::<u32>() + 1);
        (slots
            + self.entries.capacity() * size_of::<Entry>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.ids.capacity()) as u64
    }
}

/// Where a user with this hash is looked for in a period.
#[inline]
fn place(hash: u64, period: u32) -> u64 {
    mix(hash.wrapping_add(u64::from(period).wrapping_mul(SPREAD)))
}

/// The id that begins here.
#[inline]
fn id_at(ids: &[u8], start: u32) -> &[u8] {
    let mut rest = &ids[start as usize..];
    let length = unpack_number(&mut rest).unwrap_or(0) as usize;
    &rest[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All in one place of one table, because all ids have one hash: through all its sizes ids are compared whole, and periods too.
    #[test]
    fn users_whose_ids_collide_are_two_users() {
        let mut part = Part::default();
        let mut entry = |user: u64, period| part.entry(7, &user.to_be_bytes(), period, |_, _| 7);
        for user in 0..300 {
            let entries = [0, 1].map(|period| entry(user, period));
            assert_eq!(entries, [2 * user as usize, 2 * user as usize + 1]);
        }
        for user in 0..300 {
            assert_eq!(entry(user, 0), 2 * user as usize, "it is found again");
        }
        let id = part.id(598).to_vec();
        assert_eq!(id, 299_u64.to_be_bytes());
    }

    #[test]
    fn an_id_that_begins_like_another_is_another() {
        let bounds = Bounds::new(1);
        let mut contributions = Contributions::<u64>::new(&bounds, 5);
        for user in [&b"a"[..], b"a\0", b"aa", b"a", b"aa"] {
            let preference = contributions.preference(user, 0);
            contributions.offer(user, 0, preference, 1, 1);
        }
        let mut kept = 0;
        for part in 0..PARTS {
            contributions.for_each_of_part(part, |_| 0, |user| kept += user.keys.len());
        }
        assert_eq!(kept, 3);
    }
}
