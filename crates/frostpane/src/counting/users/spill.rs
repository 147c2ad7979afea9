//! Disk, for users that do not fit into the memory.

use std::fmt;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use crate::codec::{Reader, Writer, check};
use crate::counting::users::contributions::LOGS;
use crate::error::{Error, ErrorKind, Result};

const TOGETHER: usize = 1 << 16;
/// Bytes of a piece of a run, but for the last.
const PIECE: u64 = 1 << 18;

/// A file that nobody else sees.
pub trait File: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> File for T {}

/// Makes such files, empty, which are gone when they are dropped or the process ends.
#[derive(Clone)]
pub struct SpillFactory(Arc<dyn Fn() -> io::Result<Box<dyn File>> + Send + Sync>);

impl SpillFactory {
    /// By this.
    pub fn new(create: impl Fn() -> io::Result<Box<dyn File>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(create))
    }
}

impl fmt::Debug for SpillFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpillFactory")
    }
}

/// Users on disk, all in one file: run after run, log by log.
#[derive(Default)]
pub struct SpillFile {
    file: Option<Box<dyn File>>,
    pub runs: Vec<SpillRun>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillRun {
    /// Offsets: the start of the run, and the end of each log.
    ends: Vec<u64>,
    /// A hash of its bytes.
    digest: u64,
}

impl SpillRun {
    fn range(&self) -> std::ops::Range<u64> {
        self.ends[0]..self.ends[LOGS]
    }

    pub fn pieces(&self) -> u64 {
        let range = self.range();
        (range.end - range.start).div_ceil(PIECE)
    }

    pub fn save(&self, to: &mut Writer) {
        for log in self.ends.windows(2) {
            to.number(log[1] - log[0]);
        }
        to.raw(&self.digest.to_le_bytes());
    }

    fn load(from: &mut Reader<'_>, start: u64) -> Result<Self> {
        let mut ends = vec![start];
        for log in 0..LOGS {
            ends.push(ends[log] + from.count_of_pane()?);
        }
        let digest = u64::from_le_bytes(from.array()?);
        Ok(Self { ends, digest })
    }
}

impl SpillFile {
    pub fn write<B: AsRef<[u8]>, I: Iterator<Item = B>>(
        &mut self,
        scratch: &SpillFactory,
        blocks: impl Fn(usize) -> I,
    ) -> Result<()> {
        let mut end = self.end();
        let mut ends = vec![end];
        let mut hasher = Xxh3::new();
        let mut file = self.writer(scratch)?;
        for log in 0..LOGS {
            for block in blocks(log) {
                let block = block.as_ref();
                file.write_all(block).map_err(|cause| full(&cause))?;
                hasher.update(block);
                end += block.len() as u64;
            }
            ends.push(end);
        }
        file.flush().map_err(|cause| full(&cause))?;
        drop(file);
        let digest = hasher.digest();
        self.runs.push(SpillRun { ends, digest });
        Ok(())
    }

    fn writer(&mut self, scratch: &SpillFactory) -> Result<BufWriter<&mut Box<dyn File>>> {
        let end = self.end();
        let file = self.file.take().map_or_else(|| (scratch.0)(), Ok).map_err(|cause| full(&cause))?;
        let file = self.file.insert(file);
        file.seek(SeekFrom::Start(end)).map_err(|cause| full(&cause))?;
        Ok(BufWriter::with_capacity(TOGETHER, file))
    }

    fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.range().end)
    }

    pub fn length(&self, log: usize) -> usize {
        self.runs.iter().map(|run| (run.ends[log + 1] - run.ends[log]) as usize).sum()
    }

    pub fn read(&mut self, run: usize, log: usize, bytes: &mut Vec<u8>) -> Result<()> {
        let ends = &self.runs[run].ends;
        self.read_range(ends[log]..ends[log + 1], bytes)
    }

    pub fn piece(&mut self, run: usize, piece: u64) -> Result<Vec<u8>> {
        let range = self.runs[run].range();
        let start = range.start + piece * PIECE;
        let mut bytes = Vec::new();
        self.read_range(start..range.end.min(start + PIECE), &mut bytes)?;
        Ok(bytes)
    }

    fn read_range(&mut self, range: std::ops::Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.resize((range.end - range.start) as usize, 0);
        let Some(file) = &mut self.file else { return Ok(()) };
        let read = file.seek(SeekFrom::Start(range.start)).and_then(|_| file.read_exact(bytes));
        read.map_err(|cause| full(&cause))
    }

    pub fn append(
        &mut self,
        scratch: &SpillFactory,
        from: &mut Reader<'_>,
        mut piece: impl FnMut(u64) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let run = SpillRun::load(from, self.end())?;
        let range = run.range();
        let (mut left, mut hasher) = (range.end - range.start, Xxh3::new());
        let mut file = self.writer(scratch)?;
        for number in 0..run.pieces() {
            let bytes = piece(number)?;
            check(bytes.len() as u64 == left.min(PIECE), "users on disk have another length")?;
            left -= bytes.len() as u64;
            hasher.update(&bytes);
            file.write_all(&bytes).map_err(|cause| full(&cause))?;
        }
        file.flush().map_err(|cause| full(&cause))?;
        drop(file);
        check(hasher.digest() == run.digest, "users on disk are not what was written")?;
        self.runs.push(run);
        Ok(())
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

/// Returns an error if there was no room for some: then nothing is made of the others.
pub fn check_room(is_full: bool) -> Result<()> {
    if is_full { Err(no_room()) } else { Ok(()) }
}

pub fn no_room() -> Error {
    Error::new(
        ErrorKind::Memory,
        "the users do not fit into the memory: nothing was released; give more memory, or sample the users",
    )
}
