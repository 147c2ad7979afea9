//! Which events of users are counted.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::counting::Tally;
use crate::key::mix::mix;
use crate::key::{Key, Keys};
use crate::spec::Bounds;

/// Says of each event whether it may count, by that event alone.
pub struct EventFilter<K: Key> {
    keys: Keys<K>,
    /// Users whose hash is below this are counted, if not all are.
    limit: Option<u64>,
    seed: u64,
    pub tally: Tally,
}

impl<K: Key> EventFilter<K> {
    pub fn new(keys: Keys<K>, bounds: &Bounds, seed: u64) -> Self {
        Self {
            keys,
            limit: bounds.sample_users.and_then(|share| share.limit()),
            seed: mix(seed ^ 2),
            tally: Tally::default(),
        }
    }

    /// The user and the key, of an event that counts if it comes in time.
    #[inline]
    pub fn admits<'a>(
        &mut self,
        user: Option<&'a [u8]>,
        key: Option<K::Ref<'a>>,
    ) -> Option<(&'a [u8], K::Ref<'a>)> {
        let Some(user) = user.filter(|user| !user.is_empty()) else {
            self.tally.without_user += 1;
            return None;
        };
        let Some(key) = key.filter(|key| self.keys.may_name(*key)) else {
            self.tally.without_key += 1;
            return None;
        };
        if self.limit.is_some_and(|limit| xxh3_64_with_seed(user, self.seed) >= limit) {
            self.tally.not_sampled += 1;
            return None;
        }
        Some((user, key))
    }
}
