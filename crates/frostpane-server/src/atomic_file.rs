//! Files that their owner alone can read, replaced atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Writes bytes in the place of a file, all of them or none, and syncs.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".draft");
    let draft = path.with_file_name(name);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Creates a folder and its parents for their owner alone.
pub fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
