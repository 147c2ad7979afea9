//! Disk, for users that do not fit into the memory.

use std::fmt;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::people::contributions::LOGS;

/// Bytes that are written at a time.
const TOGETHER: usize = 1 << 16;

/// A file that nobody else sees.
pub trait File: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> File for T {}

/// Makes such files, empty, which are gone when they are dropped or the process ends.
#[derive(Clone)]
pub struct Scratch(Arc<dyn Fn() -> io::Result<Box<dyn File>> + Send + Sync>);

impl Scratch {
    /// By this.
    pub fn new(create: impl Fn() -> io::Result<Box<dyn File>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(create))
    }

    pub fn create(&self) -> Result<Box<dyn File>> {
        (self.0)().map_err(|cause| full(&cause))
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scratch")
    }
}

/// Users that went to disk, log by log.
pub struct Run {
    file: Box<dyn File>,
    /// Where each log ends.
    ends: Vec<u64>,
}

impl Run {
    /// Writes the logs, each in blocks.
    pub fn write<'a, B: Iterator<Item = &'a [u8]>>(
        file: Box<dyn File>,
        blocks: impl Fn(usize) -> B,
    ) -> Result<Self> {
        let (mut file, mut ends, mut end) = (BufWriter::with_capacity(TOGETHER, file), Vec::new(), 0);
        for log in 0..LOGS {
            for block in blocks(log) {
                file.write_all(block).map_err(|cause| full(&cause))?;
                end += block.len() as u64;
            }
            ends.push(end);
        }
        let file = file.into_inner().map_err(|cause| full(cause.error()))?;
        Ok(Self { file, ends })
    }

    fn start(&self, log: usize) -> u64 {
        log.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// How many bytes a log has.
    pub fn length(&self, log: usize) -> usize {
        (self.ends[log] - self.start(log)) as usize
    }

    /// Reads a log again, in place of other bytes.
    pub fn read(&mut self, log: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let start = self.start(log);
        bytes.resize(self.length(log), 0);
        let read = self
            .file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.file.read_exact(bytes));
        read.map_err(|cause| full(&cause))
    }
}

/// The same words whatever it was: how many users there are is nobody's business.
fn full(cause: &io::Error) -> Error {
    Error::new(
        ErrorKind::Memory,
        format!(
            "the users do not fit into the memory, and the disk that the rest should go to gave an error ({}): nothing was \
             released; make room, or give more memory",
            cause.kind()
        ),
    )
}

/// There is no disk to go to.
pub fn no_room() -> Error {
    Error::new(
        ErrorKind::Memory,
        "the users do not fit into the memory: nothing was released; give more memory, or sample the users",
    )
}
