//! Checksums of the blocks of the database, in a file beside it.
//!
#![doc = include_str!("checksums.md")]

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::files::{open_private, points};

pub(crate) const FILE: &str = "checksums";
/// Bytes that have one checksum: a page of the database is one block or several.
pub(crate) const BLOCK: usize = 4096;
const SUM: usize = size_of::<u64>();
/// The part of the first block that is the same for ever: the kind of the file, and the sizes of its pages and regions.
const FIXED: [std::ops::Range<usize>; 2] = [0..9, 12..24];
const HEADER: usize = 24;
/// Blocks that are read together.
const TOGETHER: usize = 256;

/// The file. Its first checksum stands for the part of the first block that never changes, and is zero while the others cannot be relied on.
#[derive(Debug)]
pub(crate) struct Checksums {
    file: File,
    /// Whether blocks are compared with their checksums, and checksums written with blocks.
    known: AtomicBool,
    unsynced: AtomicBool,
}

impl Checksums {
    /// Opens the file of a folder, or makes it. Those of a database that is not empty are known if it was written with them.
    pub fn open(folder: &Path, database: &File) -> Result<Self> {
        let path = folder.join(FILE);
        let file = open_private(&path)?;
        let read = || -> io::Result<bool> {
            if database.metadata()?.len() == 0 {
                file.set_len(0)?;
                return Ok(true);
            }
            let mut header = [0; HEADER];
            let whole = database.read_exact_at(&mut header, 0).is_ok();
            Ok(whole && read_sums(&file, 0, 1)? == fixed(&header).to_le_bytes())
        };
        let known = read().map_err(|cause| Error::file(&path, cause))?;
        Ok(Self {
            file,
            known: AtomicBool::new(known),
            unsynced: AtomicBool::new(false),
        })
    }

    pub fn are_known(&self) -> bool {
        self.known.load(Relaxed)
    }

    /// That a part of the database is what was written there. If it is not, the checksums are not relied on again before all pages have been checked.
    pub fn compare(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if !self.are_known() || offset == 0 {
            return Ok(());
        }
        let (first, blocks) = blocks_of(offset, bytes)?;
        let sums = read_sums(&self.file, first, blocks.len())?;
        match blocks
            .zip(sums.chunks(SUM))
            .all(|(block, sum)| sum_of(block).to_le_bytes() == sum)
        {
            true => Ok(()),
            false => {
                self.doubt()?;
                Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a page is not what was written; open it again and all pages are checked",
                ))
            }
        }
    }

    /// A part of the database has been written.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if !self.are_known() {
            return Ok(());
        }
        points::writing()?;
        let sums: Vec<u8> = match offset {
            0 if bytes.len() < HEADER => return Ok(()),
            0 => fixed(bytes).to_le_bytes().to_vec(),
            _ => blocks_of(offset, bytes)?
                .1
                .flat_map(|block| sum_of(block).to_le_bytes())
                .collect(),
        };
        self.unsynced.fetch_or(offset > 0, Relaxed);
        self.file.write_all_at(&sums, offset / BLOCK as u64 * SUM as u64)
    }

    /// The database has so many bytes.
    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes.div_ceil(BLOCK as u64) * SUM as u64)
    }

    /// What was written is there whatever happens.
    pub fn sync(&self) -> io::Result<()> {
        match self.unsynced.swap(false, Relaxed) {
            true => self.file.sync_data(),
            false => Ok(()),
        }
    }

    /// They are not relied on, now and by whoever opens the database next.
    pub fn doubt(&self) -> io::Result<()> {
        self.known.store(false, Relaxed);
        self.file.write_all_at(&[0; SUM], 0)
    }

    /// Writes those of a database all of whose pages have been checked.
    pub fn rebuild(&self, database: &File) -> io::Result<()> {
        self.doubt()?;
        let length = database.metadata()?.len();
        self.set_len(0)?;
        self.set_len(length)?;
        let mut header = [0; HEADER];
        database.read_exact_at(&mut header, 0)?;
        let mut bytes = vec![0; TOGETHER * BLOCK];
        for offset in (BLOCK as u64..length).step_by(bytes.len()) {
            let left = (length - offset).min(bytes.len() as u64) as usize;
            database.read_exact_at(&mut bytes[..left], offset)?;
            let blocks = bytes[..left].chunks(BLOCK);
            let sums: Vec<u8> = blocks.flat_map(|block| sum_of(block).to_le_bytes()).collect();
            points::writing()?;
            self.file
                .write_all_at(&sums, offset / BLOCK as u64 * SUM as u64)?;
        }
        self.file.sync_data()?;
        points::writing()?;
        self.file.write_all_at(&fixed(&header).to_le_bytes(), 0)?;
        self.file.sync_data()?;
        self.known.store(true, Relaxed);
        Ok(())
    }
}

/// The number of the first block of a part, and its blocks. Whole ones are read and written, but for the first of the file.
fn blocks_of(offset: u64, bytes: &[u8]) -> io::Result<(u64, std::slice::Chunks<'_, u8>)> {
    match offset.is_multiple_of(BLOCK as u64) && bytes.len().is_multiple_of(BLOCK) {
        true => Ok((offset / BLOCK as u64, bytes.chunks(BLOCK))),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a part of a block of the database",
        )),
    }
}

/// Checksums from a block on; zero where the file ends before.
fn read_sums(file: &File, first: u64, count: usize) -> io::Result<Vec<u8>> {
    let mut sums = vec![0; count * SUM];
    let mut read = 0;
    while read < sums.len() {
        match file.read_at(&mut sums[read..], first * SUM as u64 + read as u64)? {
            0 => break,
            more => read += more,
        }
    }
    Ok(sums)
}

/// Zero of a block that was never written.
fn sum_of(block: &[u8]) -> u64 {
    match block.iter().all(|byte| *byte == 0) {
        true => 0,
        false => xxh3_64(block).max(1),
    }
}

fn fixed(header: &[u8]) -> u64 {
    xxh3_64(&FIXED.map(|part| &header[part]).concat()).max(1)
}
