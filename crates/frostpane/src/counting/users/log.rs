//! Log of contributions, in the order of their arrival.
//!
//! To look a user up costs a wait for the memory where there are many of them. So events are not looked up as they come but written at
//! the end of one of many logs, by a hash of the user: the ends of all logs are in the cache, and later the users of one log are, too.

use std::marker::PhantomData;

use super::contributions::LOGS;
use crate::codec::{pack_number, unpack_number};
use crate::key::Key;

/// Bytes of a block of a log: what is taken and not used is less than one for each log.
const BLOCK: usize = 1 << 12;
/// The most bytes that the numbers of an entry take.
const NUMBERS: usize = 32;
/// Packed numbers below this have one byte.
const ONE_BYTE: u8 = 0x80;
/// In place of a number, for a key that has none.
const UNNAMED: u32 = u32::MAX;

/// Users, spread over logs by a hash of their ids. An entry has the length of the id, the period, how often, the number of the key as four
/// bytes, the id, and a key that has no number.
#[derive(Debug)]
pub struct Logs<K> {
    logs: Vec<Log>,
    /// Empty blocks.
    spare: Vec<Vec<u8>>,
    bytes: usize,
    keys: PhantomData<K>,
}

#[derive(Debug, Default)]
struct Log {
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
}

pub struct Entry<'a, K: Key> {
    pub user: &'a [u8],
    pub period: u32,
    pub times: u32,
    pub key: KeyRef<'a, K>,
}

pub enum KeyRef<'a, K: Key> {
    Number(u32),
    Key(K::Ref<'a>),
}

impl<K: Key> Logs<K> {
    pub fn new() -> Self {
        Self {
            logs: (0..LOGS).map(|_| Log::default()).collect(),
            spare: Vec::new(),
            bytes: 0,
            keys: PhantomData,
        }
    }

    #[inline]
    pub fn push(&mut self, log: usize, entry: &Entry<'_, K>) {
        let key_length = match entry.key {
            KeyRef::Number(_) => 0,
            KeyRef::Key(key) => K::length(key) as usize,
        };
        let most = entry.user.len() + key_length + NUMBERS;
        let last = &self.logs[log].last;
        if last.capacity() - last.len() < most {
            self.begin_block(log, most);
        }
        pack(entry, &mut self.logs[log].last);
    }

    #[cold]
    fn begin_block(&mut self, log: usize, least: usize) {
        let spare = self.spare.pop_if(|_| least <= BLOCK);
        let block = spare.unwrap_or_else(|| {
            let block = Vec::with_capacity(least.max(BLOCK));
            self.bytes += block.capacity();
            block
        });
        let log = &mut self.logs[log];
        let full = std::mem::replace(&mut log.last, block);
        if !full.is_empty() {
            log.full.push(full);
        }
    }

    /// The entries of a log, as bytes in blocks, none of which ends within an entry.
    pub fn blocks(&self, log: usize) -> impl Iterator<Item = &[u8]> {
        let log = &self.logs[log];
        log.full.iter().chain([&log.last]).map(Vec::as_slice)
    }

    pub fn length(&self, log: usize) -> usize {
        self.blocks(log).map(<[u8]>::len).sum()
    }

    pub fn is_empty(&self, log: usize) -> bool {
        self.logs[log].last.is_empty()
    }

    pub fn take(&mut self, log: usize) -> Vec<Vec<u8>> {
        let Log { mut full, last } = std::mem::take(&mut self.logs[log]);
        full.push(last);
        self.bytes -= full.iter().map(Vec::capacity).sum::<usize>();
        full
    }

    /// Forgets everything, and keeps the memory for what comes.
    pub fn clear(&mut self) {
        for log in &mut self.logs {
            let Log { full, last } = std::mem::take(log);
            for mut block in full.into_iter().chain([last]) {
                if block.capacity() == BLOCK {
                    block.clear();
                    self.spare.push(block);
                } else {
                    self.bytes -= block.capacity();
                }
            }
        }
    }

    /// Gives the memory back that is kept for what comes.
    pub fn keep_none(&mut self) {
        self.bytes -= self.spare.len() * BLOCK;
        self.spare = Vec::new();
    }

    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    pub fn bytes_in_use(&self) -> u64 {
        (self.bytes - self.spare.len() * BLOCK) as u64
    }
}

/// Writes the numbers that an entry begins with: at once, where each of three has one byte.
#[inline]
fn pack_head([length, period, times]: [u64; 3], number: u32, block: &mut Vec<u8>) {
    let [a, b, c, d] = number.to_le_bytes();
    if length | period | times < ONE_BYTE.into() {
        block.extend_from_slice(&[length as u8, period as u8, times as u8, a, b, c, d]);
    } else {
        for number in [length, period, times] {
            pack_number(number, block);
        }
        block.extend_from_slice(&[a, b, c, d]);
    }
}

#[inline]
fn unpack_head(bytes: &mut &[u8]) -> Option<([u64; 3], u32)> {
    if let Some(([length, period, times, number @ ..], rest)) = bytes.split_first_chunk::<7>()
        && length | period | times < ONE_BYTE
    {
        *bytes = rest;
        let numbers = [*length, *period, *times].map(u64::from);
        return Some((numbers, u32::from_le_bytes(*number)));
    }
    let [length, period, times] = [(); 3].map(|()| unpack_number(bytes));
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(([length?, period?, times?], u32::from_le_bytes(*number)))
}

#[inline]
pub fn pack<K: Key>(entry: &Entry<'_, K>, block: &mut Vec<u8>) {
    let number = match entry.key {
        KeyRef::Number(number) => number,
        KeyRef::Key(_) => UNNAMED,
    };
    let numbers = [entry.user.len() as u64, u64::from(entry.period), u64::from(entry.times)];
    pack_head(numbers, number, block);
    block.extend_from_slice(entry.user);
    if let KeyRef::Key(key) = entry.key {
        K::pack(key, block);
    }
}

/// Takes an entry from the front. Nothing if there is no whole one.
#[inline]
pub fn unpack<'a, K: Key>(bytes: &mut &'a [u8]) -> Option<Entry<'a, K>> {
    let ([length, period, times], number) = unpack_head(bytes)?;
    let (user, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    let [period, times] = [period, times].map(|number| u32::try_from(number).ok());
    let (period, times) = (period?, times?);
    let key = match number {
        UNNAMED => KeyRef::Key(K::unpack(bytes)?),
        number => KeyRef::Number(number),
    };
    Some(Entry { user, period, times, key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Bytes;

    fn unnamed(key: &[u8]) -> KeyRef<'_, Bytes> {
        KeyRef::Key(key)
    }

    fn entry<'a>(user: &'a [u8], period: u32, times: u32, key: KeyRef<'a, Bytes>) -> Entry<'a, Bytes> {
        Entry { user, period, times, key }
    }

    fn shown(entry: &Entry<'_, Bytes>) -> String {
        let key = match &entry.key {
            KeyRef::Number(number) => number.to_string(),
            KeyRef::Key(key) => format!("{} bytes", key.len()),
        };
        format!("{} bytes {} {} {key}", entry.user.len(), entry.period, entry.times)
    }

    /// Short ones and such as are longer than a block, so many that each log has several blocks.
    #[test]
    fn what_is_written_is_read_again() {
        let (long, long_key) = (vec![b'u'; 3 * BLOCK], vec![b'k'; 60_000]);
        let mut logs = Logs::new();
        let mut written = vec![Vec::new(); LOGS];
        for round in 0..400_u32 {
            for log in [0, 7, LOGS - 1] {
                let entry = match round % 100 {
                    0 => entry(&long, round, 1, KeyRef::Number(round)),
                    1 => entry(b"u", u32::MAX, u32::MAX, unnamed(&long_key)),
                    2 => entry(b"u", 0, 1, unnamed(b"")),
                    _ => entry(b"user", round, round + 1, KeyRef::Number(UNNAMED - 1 - round)),
                };
                logs.push(log, &entry);
                written[log].push(shown(&entry));
            }
        }
        let held = logs.bytes();
        for (log, written) in written.iter().enumerate() {
            let mut read = Vec::new();
            for mut bytes in logs.blocks(log) {
                while !bytes.is_empty() {
                    read.push(shown(&unpack::<Bytes>(&mut bytes).unwrap()));
                }
            }
            assert_eq!(read, *written, "{log}");
        }
        assert_eq!(logs.bytes_in_use(), held);
        logs.clear();
        assert!((1..held).contains(&logs.bytes()));
        assert_eq!(logs.bytes_in_use(), 0);
        assert!((0..LOGS).all(|log| logs.blocks(log).all(<[u8]>::is_empty)));
        logs.keep_none();
        assert_eq!(logs.bytes(), 0);
    }

    #[test]
    fn what_is_not_whole_is_no_entry() {
        let mut logs = Logs::new();
        logs.push(3, &entry(b"user", 300, 2, unnamed(b"key")));
        let whole = logs.take(3).concat();
        assert_eq!(logs.bytes(), 0);
        assert!(unpack::<Bytes>(&mut whole.as_slice()).is_some());
        for length in 0..whole.len() {
            assert!(unpack::<Bytes>(&mut &whole[..length]).is_none(), "{length}");
        }
    }
}
