//! Users of periods and epochs that have not ended, as bytes.

use std::collections::BTreeMap;

use super::contributions::{Contributions, Rule};
use super::spill::no_room;
use super::streaming_bounder::{StreamingBounder, Users};
use crate::codec::{Reader, Writer, check, damaged};
use crate::counting::Tally;
use crate::error::Result;
use crate::key::Key;

/// What users have in a period of their own, or in an epoch: the number of either.
type ByNumber<K> = BTreeMap<i64, Users<K>>;

/// A run of users that went to disk. Runs are written once, and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunOfUsers {
    /// True if it is of what was admitted in an epoch, and not of what users came to in a period.
    pub is_admitted: bool,
    /// The number of the epoch, or of the period.
    pub number: i64,
    /// Which run of these users it is, from 0.
    pub run: u32,
}

impl<K: Key> StreamingBounder<K> {
    pub(crate) fn save(&self, to: &mut Writer) {
        self.filter.tally.save(to);
        save_all(&self.open, to);
        to.each(self.offered.iter(), |to, (period, events)| {
            to.signed(*period);
            to.number(*events);
        });
        save_all(&self.admitted, to);
    }

    /// Goes on from what was written. It depends on nothing but what each user did, so it is the same map.
    pub(crate) fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        self.filter.tally = Tally::load(from)?;
        self.open = load_all(from, self.rule)?;
        self.offered = from.each(|from| Ok((from.position()?, from.count_of_pane()?)))?;
        self.admitted = load_all(from, self.rule)?;
        let offered = |period: &i64| self.offered.get(period).copied().unwrap_or(0);
        let were_there = |(period, open): (&i64, &Users<K>)| open.memory.total() <= offered(period);
        check(self.open.iter().all(were_there), "users have more events than there were")
    }

    pub(crate) fn runs(&self) -> Vec<(RunOfUsers, u64)> {
        let mut runs = Vec::new();
        for (is_admitted, all) in [(false, &self.open), (true, &self.admitted)] {
            for (number, users) in all {
                let numbered = (0..).zip(&users.on_disk.runs);
                runs.extend(numbered.map(|(run, on_disk)| {
                    (RunOfUsers { is_admitted, number: *number, run }, on_disk.pieces())
                }));
            }
        }
        runs
    }

    pub(crate) fn piece(&mut self, run: &RunOfUsers, piece: u64) -> Result<Vec<u8>> {
        let all = if run.is_admitted { &mut self.admitted } else { &mut self.open };
        match all.get_mut(&run.number) {
            Some(users) if (run.run as usize) < users.on_disk.runs.len() => {
                users.on_disk.piece(run.run as usize, piece)
            }
            _ => Err(damaged("users on disk are not there")),
        }
    }

    pub(crate) fn save_runs(&self, to: &mut Writer) {
        for all in [&self.open, &self.admitted] {
            let on_disk: Vec<_> = all.iter().filter(|(_, users)| users.are_on_disk()).collect();
            to.each(on_disk.into_iter(), |to, (number, users)| {
                to.signed(*number);
                to.each(users.on_disk.runs.iter(), |to, run| run.save(to));
            });
        }
    }

    pub(crate) fn load_runs(
        &mut self,
        from: &mut Reader<'_>,
        mut piece: impl FnMut(&RunOfUsers, u64) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let scratch = self.scratch.clone().ok_or_else(no_room)?;
        for (is_admitted, all) in [(false, &mut self.open), (true, &mut self.admitted)] {
            for _ in 0..from.length()? {
                let number = from.position()?;
                let users = all.get_mut(&number);
                let users = users.ok_or_else(|| damaged("users on disk are of no time"))?;
                for run in 0..from.length()? {
                    let run = RunOfUsers { is_admitted, number, run: run as u32 };
                    users.on_disk.append(&scratch, from, |number| piece(&run, number))?;
                }
            }
        }
        Ok(())
    }
}

fn save_all<K: Key>(all: &ByNumber<K>, to: &mut Writer) {
    to.each(all.iter(), |to, (number, users)| {
        to.signed(*number);
        users.memory.save(to);
    });
}

fn load_all<K: Key>(from: &mut Reader<'_>, rule: Rule) -> Result<ByNumber<K>> {
    from.each(|from| {
        let (number, memory) = (from.position()?, Contributions::load(from, rule)?);
        Ok((number, Users { memory, ..Users::new(rule) }))
    })
}

impl<K: Key> Contributions<K> {
    /// The keys, then each user with the numbers of theirs.
    fn save(&self, to: &mut Writer) {
        let keys = (0..self.names.len() as u32).filter_map(|number| self.names.key(number));
        let keys: Vec<_> = keys.collect();
        to.each(keys.into_iter(), |to, key| {
            let mut packed = Vec::new();
            K::pack(key, &mut packed);
            to.bytes(&packed);
        });
        let mut entries = 0;
        let mut users = Writer::default();
        self.for_each_entry(|user, _, key, times| {
            users.bytes(user);
            users.number(key.into());
            users.number(times.into());
            entries += 1;
        });
        to.number(entries);
        to.raw(&users.finish());
    }

    fn total(&self) -> u64 {
        let mut total = 0;
        self.for_each_entry(|_, _, _, times| total += u64::from(times));
        total
    }

    fn load(from: &mut Reader<'_>, rule: Rule) -> Result<Self> {
        let mut loaded = Self::new(rule);
        let keys = from.length()?;
        for number in 0..keys {
            let mut packed = from.bytes()?;
            let key = K::unpack(&mut packed).filter(|key| packed.is_empty() && K::fits(*key));
            let key = key.ok_or_else(|| damaged("a key of users cannot be read"))?;
            check(loaded.names.number(key) as usize == number, "a key of users stands twice")?;
        }
        for _ in 0..from.length()? {
            let user = from.bytes()?;
            let key = from.number()?;
            let times = from.at_most(u32::MAX.into())? as u32;
            let key = u32::try_from(key).ok().filter(|key| (*key as usize) < keys);
            let key = key.ok_or_else(|| damaged("a user came to a key that is none"))?;
            // Of no more keys than may be kept there is no choice, so the epoch does not matter.
            loaded.offer_number(user, rule.place(user, 0), 0, key, times);
        }
        check(!loaded.is_full(), "there are more users than there can be").map(|()| loaded)
    }
}
