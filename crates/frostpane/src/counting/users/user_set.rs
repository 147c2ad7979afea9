//! Users of one period or epoch, in memory and on disk.

use super::contributions::{Contributions, Rule};
use super::log::{self, Entry, KeyRef};
use super::log_bounder::not_as_it_was;
use super::spill::{SpillFactory, SpillFile, check_room};
use crate::error::Result;
use crate::key::Key;

/// What users came to in one period, or what was admitted of them in one epoch. A user may be in memory and in several runs on disk:
/// all that counts is found log by log.
pub struct Users<K> {
    pub memory: Contributions<K>,
    pub on_disk: SpillFile,
}

impl<K: Key> Users<K> {
    pub fn new(rule: Rule) -> Self {
        Self { memory: Contributions::new(rule), on_disk: SpillFile::default() }
    }

    pub fn are_on_disk(&self) -> bool {
        !self.on_disk.runs.is_empty()
    }

    pub fn spill(&mut self, scratch: &SpillFactory) -> Result<()> {
        check_room(self.memory.is_full())?;
        let memory = &self.memory;
        self.on_disk.write(scratch, |log| std::iter::once(memory.packed_log(log)))?;
        self.memory = Contributions::new(memory.rule);
        Ok(())
    }

    /// All users of a log, in a table of their own. The order of preference is that of an epoch.
    pub fn of_log(&mut self, log: usize, epoch: i64) -> Result<Contributions<K>> {
        let mut gathered = Contributions::new(self.memory.rule);
        let mut packed = self.memory.packed_log(log);
        gathered.offer_packed(&packed, epoch)?;
        for run in 0..self.on_disk.runs.len() {
            self.on_disk.read(run, log, &mut packed)?;
            gathered.offer_packed(&packed, epoch)?;
        }
        check_room(gathered.is_full()).map(|()| gathered)
    }
}

impl<K: Key> Contributions<K> {
    fn packed_log(&self, log: usize) -> Vec<u8> {
        let mut packed = Vec::new();
        self.for_each_of_log(log, |user, number, times| {
            if let Some(key) = self.names.key(number) {
                let key = KeyRef::<K>::Key(key);
                let entry = Entry { user, period: 0, times, key };
                log::pack(&entry, &mut packed);
            }
        });
        packed
    }

    fn offer_packed(&mut self, mut packed: &[u8], epoch: i64) -> Result<()> {
        while !packed.is_empty() {
            let entry = log::unpack::<K>(&mut packed).ok_or_else(not_as_it_was)?;
            let KeyRef::Key(key) = entry.key else {
                return Err(not_as_it_was());
            };
            let place = self.rule.place(entry.user, 0);
            self.offer(entry.user, place, epoch, key, entry.times);
        }
        Ok(())
    }
}
