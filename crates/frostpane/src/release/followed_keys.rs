//! Keys that were listed in the latest windows.

use hashbrown::HashTable;

use crate::codec::{Reader, Writer, check, damaged};
use crate::error::Result;
use crate::key::Key;

/// The keys of the latest lists of continual release, which are public. A key is followed in the `panes - 1` windows after each that
/// lists it: there it is evaluated whatever its count ([why](crate::proofs::continual)).
#[derive(Debug)]
pub(crate) struct FollowedKeys<K> {
    keys: HashTable<Followed<K>>,
    /// The panes of a window.
    panes: i64,
    /// The last pane of the latest window whose list is known.
    latest: Option<i64>,
    seed: u64,
}

/// A key with the last panes of the latest two windows that list it.
#[derive(Clone, Debug)]
struct Followed<K> {
    key: K,
    listed: i64,
    before: Option<i64>,
}

impl<K> Followed<K> {
    /// The last pane of the latest window before this one that lists the key.
    fn listed_before(&self, pane: i64) -> Option<i64> {
        if self.listed < pane { Some(self.listed) } else { self.before }
    }
}

impl<K: Key> FollowedKeys<K> {
    /// None so far, for windows of so many panes.
    pub fn new(panes: u64, seed: u64) -> Self {
        Self { keys: HashTable::new(), panes: panes as i64, latest: None, seed }
    }

    /// Returns true if the list of the window that ends with this pane is known.
    pub fn knows(&self, pane: i64) -> bool {
        self.latest == Some(pane)
    }

    /// The keys that are followed in the window that ends with this pane.
    pub fn keys_in(&self, pane: i64) -> Vec<K> {
        let keys = self.keys.iter().filter(|followed| self.is_followed(followed, pane));
        keys.map(|followed| followed.key.clone()).collect()
    }

    /// Returns true if the key is followed in the window that ends with this pane.
    pub fn contains(&self, key: K::Ref<'_>, pane: i64) -> bool {
        let found = self.keys.find(K::hash(key, self.seed), |followed| followed.key.is(key));
        found.is_some_and(|followed| self.is_followed(followed, pane))
    }

    fn is_followed(&self, followed: &Followed<K>, pane: i64) -> bool {
        followed.listed_before(pane).is_some_and(|listed| pane - listed < self.panes)
    }

    /// Adds the list of the window that ends with this pane, which is later than all others or the latest again.
    pub fn add<'a>(&mut self, pane: i64, list: impl Iterator<Item = &'a K>) {
        let seed = self.seed;
        for key in list {
            let borrowed = key.borrowed();
            let is_same = |followed: &Followed<K>| followed.key.is(borrowed);
            let rehash = |followed: &Followed<K>| K::hash(followed.key.borrowed(), seed);
            let entry = self.keys.entry(K::hash(borrowed, seed), is_same, rehash);
            let entry = entry.or_insert_with(|| Followed { key: key.clone(), listed: pane, before: None });
            let followed = entry.into_mut();
            followed.before = followed.listed_before(pane);
            followed.listed = pane;
        }
        self.latest = Some(pane);
        let panes = self.panes;
        self.keys.retain(|followed| pane - followed.listed < panes);
    }

    /// Forgets all keys: the noise of none of them is in that of a window to come.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.latest = None;
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> u64 {
        let keys: u64 = self.keys.iter().map(|followed| K::length(followed.key.borrowed())).sum();
        (self.keys.capacity() * size_of::<Followed<K>>()) as u64 + keys
    }

    /// Writes the keys in their order.
    pub fn save(&self, to: &mut Writer) {
        let mut keys: Vec<&Followed<K>> = self.keys.iter().collect();
        keys.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        to.maybe(self.latest, Writer::signed);
        to.each(keys.into_iter(), |to, followed| {
            let mut packed = Vec::new();
            K::pack(followed.key.borrowed(), &mut packed);
            to.raw(&packed);
            to.signed(followed.listed);
            to.maybe(followed.before, Writer::signed);
        });
    }

    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        self.latest = from.maybe(Reader::signed)?;
        let keys: Vec<Followed<K>> = from.each(|from| {
            let key = K::unpack(from.rest()).ok_or_else(|| damaged("a followed key is cut off"))?;
            Ok(Followed { key: K::owned(key), listed: from.signed()?, before: from.maybe(Reader::signed)? })
        })?;
        let rise = keys.windows(2).all(|pair| pair[0].key < pair[1].key);
        let are_past = keys.iter().all(|followed| {
            self.latest >= Some(followed.listed)
                && followed.before.is_none_or(|before| before < followed.listed)
        });
        check(rise && are_past, "followed keys contradict each other")?;
        let seed = self.seed;
        self.keys.clear();
        for followed in keys {
            let hash = K::hash(followed.key.borrowed(), seed);
            self.keys.insert_unique(hash, followed, |followed| K::hash(followed.key.borrowed(), seed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PANES: i64 = 4;

    /// Key `k` is listed in every `k`-th window.
    fn list(pane: i64) -> Vec<u64> {
        (1..12).filter(|key| pane.rem_euclid(*key) == 0).map(|key| key as u64).collect()
    }

    fn expected(pane: i64) -> BTreeSet<u64> {
        (pane - PANES + 1..pane).filter(|pane| *pane >= 0).flat_map(list).collect()
    }

    fn followed_in(keys: &FollowedKeys<u64>, pane: i64) -> BTreeSet<u64> {
        let found: BTreeSet<u64> = keys.keys_in(pane).into_iter().collect();
        assert!((0..20).all(|key| keys.contains(key, pane) == found.contains(&key)));
        found
    }

    /// Also of the latest window itself once its list is known, read again, and after a restart.
    #[test]
    fn keys_are_followed_in_the_windows_that_share_panes_with_one_that_lists_them() {
        let mut keys = FollowedKeys::<u64>::new(PANES as u64, 7);
        for pane in 0..200 {
            assert_eq!(followed_in(&keys, pane), expected(pane), "{pane}");
            for _ in 0..2 {
                keys.add(pane, list(pane).iter());
                assert!(keys.knows(pane) && !keys.knows(pane + 1));
                assert_eq!(followed_in(&keys, pane), expected(pane), "{pane}, again");
            }
            let bytes = Writer::written(|to| keys.save(to));
            let mut again = FollowedKeys::new(PANES as u64, 8);
            Reader::read_all(&bytes, |from| again.load(from)).unwrap();
            assert_eq!(followed_in(&again, pane), expected(pane), "{pane}, after a restart");
            assert_eq!(Writer::written(|to| again.save(to)), bytes);
        }
        assert!(keys.keys.len() <= 11);
        keys.clear();
        assert_eq!((followed_in(&keys, 200).len(), keys.knows(199)), (0, false));
    }
}
