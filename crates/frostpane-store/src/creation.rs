//! Creation of a store: the folder is a store once its database has its final name. An interrupted creation
//! can be repeated.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::atomic_file::DRAFT;
use crate::checksums;
use crate::error::{Error, Result};
use crate::files::{open_private, points, sync_folder};
use crate::store::{SECRETS, STATUS};
use crate::tables::FILE;

pub(crate) struct Creation {
    folder: PathBuf,
    draft: PathBuf,
}

impl Creation {
    /// Creates the folder for its owner alone, which must be new, empty, or left by an interrupted creation, and opens the file
    /// of the database for this process alone.
    pub fn begin(folder: &Path) -> Result<(Self, File)> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|cause| Error::file(folder, cause))?;
        let draft = folder.join(format!("{FILE}{DRAFT}"));
        let left = leftovers(folder)?;
        let file = open_private(&draft)?;
        let fail = |cause| Error::file(&draft, cause);
        if let Err(TryLockError::WouldBlock) = points::try_lock(&file) {
            return Err(Error::Busy(format!(
                "another process is beginning a state in {}: wait until it has ended",
                folder.display()
            )));
        }
        // Another process may have finished in between.
        if folder.join(FILE).exists() {
            return Err(not_empty(folder));
        }
        for name in left.iter().filter(|path| **path != draft) {
            fs::remove_file(name).map_err(fail)?;
        }
        file.set_len(0).map_err(fail)?;
        let folder = folder.to_owned();
        Ok((Self { folder, draft }, file))
    }

    /// Gives the database its final name.
    pub fn finish(self) -> Result<()> {
        let file = self.folder.join(FILE);
        points::reached();
        fs::rename(&self.draft, &file).map_err(|cause| Error::file(&file, cause))?;
        points::reached();
        sync_folder(&self.folder)?;
        let absolute = std::path::absolute(&self.folder).ok();
        absolute.as_deref().and_then(Path::parent).map_or(Ok(()), sync_folder)
    }
}

/// Files of an interrupted creation; an error if there are others.
fn leftovers(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |cause| Error::file(folder, cause);
    let names = fs::read_dir(folder).map_err(fail)?.map(|entry| Ok(entry?.file_name()));
    let names: Vec<_> = names.collect::<std::io::Result<_>>().map_err(fail)?;
    let drafts = [FILE, STATUS].map(|name| format!("{name}{DRAFT}"));
    let known = [&drafts[0], &drafts[1], SECRETS, STATUS, checksums::FILE];
    let is_unfinished = names.iter().any(|name| *name == *drafts[0]) || names.is_empty();
    if !is_unfinished || !names.iter().all(|name| known.iter().any(|known| name == *known)) {
        return Err(not_empty(folder));
    }
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

fn not_empty(folder: &Path) -> Error {
    Error::conflict(format!("{} is not empty: a state is begun in a folder of its own", folder.display()))
}
