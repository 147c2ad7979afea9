//! Disk, for users that do not fit into the memory.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::people::contributions::PARTS;

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

/// Users that went to disk, part by part.
pub struct Run {
    file: Box<dyn File>,
    /// Where each part ends.
    ends: Vec<u64>,
}

impl Run {
    /// Writes the parts, each as `pack` makes it.
    pub fn write(mut file: Box<dyn File>, mut pack: impl FnMut(usize, &mut Vec<u8>)) -> Result<Self> {
        let (mut bytes, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
        for part in 0..PARTS {
            bytes.clear();
            pack(part, &mut bytes);
            file.write_all(&bytes).map_err(|cause| full(&cause))?;
            end += bytes.len() as u64;
            ends.push(end);
        }
        file.flush().map_err(|cause| full(&cause))?;
        Ok(Self { file, ends })
    }

    /// Reads a part again.
    pub fn read(&mut self, part: usize) -> Result<Vec<u8>> {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut bytes = vec![0; (self.ends[part] - start) as usize];
        let read = self
            .file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|cause| full(&cause))?;
        Ok(bytes)
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
