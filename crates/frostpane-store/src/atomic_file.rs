//! Files that are replaced as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::points;

/// Suffix of the name that a file has until it is complete.
pub(crate) const DRAFT: &str = ".frostpane-draft";

/// A file that is written beside its target, and takes its name by [`commit`](Self::commit). Dropped without
/// that, it is removed and the target stays as it was. One writer at a time: the name of the draft follows
/// from the target's.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    draft: PathBuf,
    file: File,
    is_committed: bool,
}

impl AtomicFile {
    /// Creates the draft with these permissions, less those that the umask withholds.
    pub fn create(target: &Path, mode: u32) -> io::Result<Self> {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(DRAFT);
        let draft = target.with_file_name(name);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(mode);
        Ok(Self { file: options.open(&draft)?, target: target.to_owned(), draft, is_committed: false })
    }

    /// Gives the file its name. If it is durable, file and name survive a power failure from then on.
    pub fn commit(mut self, durable: bool) -> io::Result<()> {
        if durable {
            points::reached();
            self.file.sync_all()?;
        }
        points::reached();
        fs::rename(&self.draft, &self.target)?;
        self.is_committed = true;
        if durable {
            points::reached();
            let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        points::writing()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.is_committed {
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// Replaces a file that only its owner can read.
pub(crate) fn replace(path: &Path, bytes: &[u8], durable: bool) -> Result<()> {
    let replaced = AtomicFile::create(path, 0o600).and_then(|mut file| {
        file.write_all(bytes)?;
        file.commit(durable)
    });
    replaced.map_err(|cause| Error::file(path, cause))
}
