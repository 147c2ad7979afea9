//! A folder in which a state is being begun: it is a state when its database has its name, and can be begun again until then.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::checksums;
use crate::error::{Error, Result};
use crate::files::{DRAFT, create_folder, open_private, points, sync_folder};
use crate::store::{SECRETS, STATUS};
use crate::tables::FILE;

pub(crate) struct Creation {
    folder: PathBuf,
    draft: PathBuf,
}

impl Creation {
    /// Makes the folder, which must be new, empty, or one in which a state was begun and never finished; and opens the file of the
    /// database, for this process alone.
    pub fn begin(folder: &Path) -> Result<(Self, File)> {
        create_folder(folder)?;
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
        // It may have ended in between.
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

    /// From now on it is a state.
    pub fn finish(self) -> Result<()> {
        let file = self.folder.join(FILE);
        points::reached();
        fs::rename(&self.draft, &file).map_err(|cause| Error::file(&file, cause))?;
        points::reached();
        sync_folder(&self.folder)?;
        let absolute = std::path::absolute(&self.folder).ok();
        match absolute.as_deref().and_then(Path::parent) {
            Some(parent) => sync_folder(parent),
            None => Ok(()),
        }
    }
}

/// Files of a state that was never finished, with its database under the first of its names; or an error if there is anything else.
fn leftovers(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |cause| Error::file(folder, cause);
    let entries = fs::read_dir(folder).map_err(fail)?;
    let names = entries.map(|entry| Ok(entry?.file_name()));
    let names: Vec<_> = names.collect::<std::io::Result<_>>().map_err(fail)?;
    let drafts = [FILE, STATUS].map(|name| format!("{name}{DRAFT}"));
    let known = [&drafts[0], &drafts[1], SECRETS, STATUS, checksums::FILE];
    let is_unfinished = names.iter().any(|name| *name == *drafts[0]) || names.is_empty();
    match is_unfinished && names.iter().all(|name| known.iter().any(|known| name == *known)) {
        true => Ok(names.iter().map(|name| folder.join(name)).collect()),
        false => Err(not_empty(folder)),
    }
}

fn not_empty(folder: &Path) -> Error {
    Error::conflict(format!(
        "{} is not empty: a state is begun in a folder of its own",
        folder.display()
    ))
}
