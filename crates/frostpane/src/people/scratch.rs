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

/// What went to disk, all in one file: run after run, log by log.
#[derive(Default)]
pub struct OnDisk {
    file: Option<Box<dyn File>>,
    /// Of each run, where it begins and where each log of it ends.
    runs: Vec<Vec<u64>>,
}

impl OnDisk {
    /// Writes a run, whose logs are given in blocks.
    pub fn write<'a, B: Iterator<Item = &'a [u8]>>(
        &mut self,
        scratch: &Scratch,
        blocks: impl Fn(usize) -> B,
    ) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(scratch.create()?),
        };
        let mut end = self.runs.last().and_then(|run| run.last()).copied().unwrap_or(0);
        file.seek(SeekFrom::Start(end)).map_err(|cause| full(&cause))?;
        let mut file = BufWriter::with_capacity(TOGETHER, file);
        let mut ends = vec![end];
        for log in 0..LOGS {
            for block in blocks(log) {
                file.write_all(block).map_err(|cause| full(&cause))?;
                end += block.len() as u64;
            }
            ends.push(end);
        }
        file.flush().map_err(|cause| full(&cause))?;
        self.runs.push(ends);
        Ok(())
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// How many bytes a log has in all runs.
    pub fn length(&self, log: usize) -> usize {
        self.runs
            .iter()
            .map(|ends| (ends[log + 1] - ends[log]) as usize)
            .sum()
    }

    /// Reads what a run has of a log, in place of other bytes.
    pub fn read(&mut self, run: usize, log: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let (start, end) = (self.runs[run][log], self.runs[run][log + 1]);
        bytes.resize((end - start) as usize, 0);
        let Some(file) = &mut self.file else { return Ok(()) };
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| file.read_exact(bytes));
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
