//! Files that their owner alone can read, replaced atomically.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use frostpane_store::AtomicFile;

/// Writes bytes in the place of a file, all of them or none, and syncs.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path, 0o600)?;
    file.write_all(bytes)?;
    file.commit(true)
}

/// Creates a folder and its parents for their owner alone.
pub fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
