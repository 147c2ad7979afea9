//! The guarantee as a file.

use std::path::Path;

use frostpane::{Key, Release};
use frostpane_render::{Layout, WindowLabel, guarantee};

use crate::atomic_file::AtomicFile;
use crate::failure::Result;

/// The name of the file in messages.
const WHAT: &str = "guarantee";

/// Fails if the guarantee cannot be written there: called before any budget is spent.
pub fn check(file: &Path) -> Result<()> {
    AtomicFile::check(WHAT, file)
}

/// Writes the guarantee of releases to a file, as a whole or not at all.
pub fn save<K: Key>(file: &Path, releases: &[(WindowLabel, Release<K>)]) -> Result<()> {
    let mut draft = AtomicFile::create(WHAT, file)?;
    let written = guarantee::write(&mut draft, releases, &Layout::default());
    draft.finish(written)
}
