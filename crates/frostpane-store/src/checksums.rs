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
/// Bytes with one checksum: a page of the database is one or several blocks.
pub(crate) const BLOCK: usize = 4096;
const SUM: usize = size_of::<u64>();
/// The part of the first block that never changes: kind of the file, sizes of pages and regions.
const FIXED: [std::ops::Range<usize>; 2] = [0..9, 12..24];
const HEADER: usize = 24;
const TOGETHER: usize = 256;

/// The file of checksums. The first one is of the part of the first block that never changes, and is zero
/// while the others are unreliable.
#[derive(Debug)]
pub(crate) struct Checksums {
    file: File,
    /// Blocks are compared with their checksums, and checksums are written with blocks.
    known: AtomicBool,
    unsynced: AtomicBool,
}

impl Checksums {
    /// Opens or creates the file. The checksums of a database are known if it was written with them.
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
        Ok(Self { file, known: AtomicBool::new(known), unsynced: AtomicBool::new(false) })
    }

    pub fn are_known(&self) -> bool {
        self.known.load(Relaxed)
    }

    /// Compares a part of the database with its checksums. If they differ, the checksums are unreliable until
    /// all pages have been checked.
    pub fn compare(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if !self.are_known() || offset == 0 {
            return Ok(());
        }
        let (first, blocks) = blocks_of(offset, bytes)?;
        let sums = read_sums(&self.file, first, blocks.len())?;
        if blocks.zip(sums.chunks(SUM)).all(|(block, sum)| sum_of(block).to_le_bytes() == sum) {
            return Ok(());
        }
        self.doubt()?;
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a page is not what was written; open it again and all pages are checked",
        ))
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if !self.are_known() {
            return Ok(());
        }
        points::writing()?;
        let sums: Vec<u8> = match offset {
            0 if bytes.len() < HEADER => return Ok(()),
            0 => fixed(bytes).to_le_bytes().to_vec(),
            _ => blocks_of(offset, bytes)?.1.flat_map(|block| sum_of(block).to_le_bytes()).collect(),
        };
        self.unsynced.fetch_or(offset > 0, Relaxed);
        self.file.write_all_at(&sums, offset / BLOCK as u64 * SUM as u64)
    }

    /// Follows a change of the length of the database.
    pub fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes.div_ceil(BLOCK as u64) * SUM as u64)
    }

    pub fn sync(&self) -> io::Result<()> {
        if self.unsynced.swap(false, Relaxed) {
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Makes the checksums unreliable, also for the next opening.
    pub fn doubt(&self) -> io::Result<()> {
        self.known.store(false, Relaxed);
        self.file.write_all_at(&[0; SUM], 0)
    }

    /// Writes the checksums of a database whose pages have all been checked.
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
            self.file.write_all_at(&sums, offset / BLOCK as u64 * SUM as u64)?;
        }
        self.file.sync_data()?;
        points::writing()?;
        self.file.write_all_at(&fixed(&header).to_le_bytes(), 0)?;
        self.file.sync_data()?;
        self.known.store(true, Relaxed);
        Ok(())
    }
}

/// The number of the first block, and the blocks. Only the first of the file is read or written in parts.
fn blocks_of(offset: u64, bytes: &[u8]) -> io::Result<(u64, std::slice::Chunks<'_, u8>)> {
    if !offset.is_multiple_of(BLOCK as u64) || !bytes.len().is_multiple_of(BLOCK) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a part of a block of the database"));
    }
    Ok((offset / BLOCK as u64, bytes.chunks(BLOCK)))
}

/// Reads checksums from a block on; zero beyond the end of the file.
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

/// The checksum of a block; zero for a block that was never written.
fn sum_of(block: &[u8]) -> u64 {
    if block.iter().all(|byte| *byte == 0) { 0 } else { xxh3_64(block).max(1) }
}

fn fixed(header: &[u8]) -> u64 {
    xxh3_64(&FIXED.map(|part| &header[part]).concat()).max(1)
}
