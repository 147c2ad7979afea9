//! Compressed texts of releases. Releases of one store resemble each other, so an earlier one serves as a
//! dictionary.
//!
//! A text begins with `{` if it is plain. Otherwise it begins with `z`, the number of its dictionary and its
//! length (32 bits each, little endian), and a Zstandard frame. A text that its dictionary compresses badly
//! becomes the next dictionary, so that the texts of a newer version of the program have one of their own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use redb::{Database, ReadableTable, WriteTransaction};
use zstd::bulk::{Compressor, Decompressor};

use crate::error::{Error, Result};
use crate::tables::{DICTIONARIES, open_existing};

const PACKED: u8 = b'z';
const HEADER: usize = 1 + 2 * size_of::<u32>();
const LEVEL: i32 = 6;
const DICTIONARY: usize = 1 << 17;
const DICTIONARIES_AT_MOST: u32 = 16;
/// A text of fewer bytes becomes no dictionary, nor does one that is compressed to less than a quarter.
const LARGE: usize = 1 << 10;
const SMALLER: usize = 4;
const TEXT: usize = 1 << 30;

pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.first() == Some(&PACKED)
}

/// The number of the dictionary of a text, if it has one.
pub(crate) fn dictionary_of(bytes: &[u8]) -> Option<u32> {
    let number = bytes.strip_prefix(&[PACKED])?.first_chunk()?;
    Some(u32::from_le_bytes(*number)).filter(|number| *number > 0)
}

/// Compresses a text, in the transaction that stores it.
pub(crate) fn pack(transaction: &WriteTransaction, text: &[u8]) -> Result<Vec<u8>> {
    let mut dictionaries = transaction.open_table(DICTIONARIES)?;
    let newest = dictionaries.last()?.map(|(number, bytes)| (number.value(), bytes.value().to_vec()));
    let number = newest.as_ref().map_or(0, |(number, _)| *number);
    if let Some((number, dictionary)) = &newest {
        let packed = packed_with(*number, dictionary, text)?;
        if packed.len() < LARGE || packed.len() * SMALLER < text.len() || *number >= DICTIONARIES_AT_MOST {
            return Ok(packed);
        }
    }
    let dictionary = &text[..text.len().min(DICTIONARY)];
    if dictionary.len() < LARGE {
        return packed_with(0, &[], text);
    }
    dictionaries.insert(number + 1, dictionary)?;
    packed_with(number + 1, dictionary, text)
}

fn packed_with(number: u32, dictionary: &[u8], text: &[u8]) -> Result<Vec<u8>> {
    let frame = Compressor::with_dictionary(LEVEL, dictionary).and_then(|mut packer| packer.compress(text));
    let frame = frame.map_err(|cause| Error::File(format!("a release cannot be compressed: {cause}")))?;
    let length =
        u32::try_from(text.len()).map_err(|_| Error::conflict("a release is too long to be kept"))?;
    Ok([&[PACKED], number.to_le_bytes().as_slice(), &length.to_le_bytes(), &frame].concat())
}

pub(crate) struct Unpacker<'a> {
    database: &'a Database,
    dictionaries: BTreeMap<u32, Decompressor<'static>>,
}

impl<'a> Unpacker<'a> {
    pub fn new(database: &'a Database) -> Self {
        Self { database, dictionaries: BTreeMap::new() }
    }

    pub fn unpack(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        if !is_packed(bytes) {
            return Ok(bytes.to_vec());
        }
        let damaged = || Error::damaged("a release cannot be decompressed");
        let (header, frame) = bytes.split_at_checked(HEADER).ok_or_else(damaged)?;
        let number = |from: usize| u32::from_le_bytes([0, 1, 2, 3].map(|place| header[from + place]));
        let length = number(5) as usize;
        if length > TEXT {
            return Err(damaged());
        }
        let text = self.dictionary(number(1))?.decompress(frame, length);
        text.ok().filter(|text| text.len() == length).ok_or_else(damaged)
    }

    fn dictionary(&mut self, number: u32) -> Result<&mut Decompressor<'static>> {
        match self.dictionaries.entry(number) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unknown) => {
                let made = Decompressor::with_dictionary(&read(self.database, number)?);
                let damaged = |cause| Error::damaged(format_args!("a dictionary of releases: {cause}"));
                Ok(unknown.insert(made.map_err(damaged)?))
            }
        }
    }
}

fn read(database: &Database, number: u32) -> Result<Vec<u8>> {
    if number == 0 {
        return Ok(Vec::new());
    }
    let table = open_existing(database, DICTIONARIES)?;
    let bytes = table.map(|table| table.get(number)).transpose()?.flatten();
    bytes
        .map(|bytes| bytes.value().to_vec())
        .ok_or_else(|| Error::damaged("a dictionary of releases is missing"))
}
