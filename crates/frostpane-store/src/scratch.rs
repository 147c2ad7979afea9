//! Temporary files for users that do not fit into the memory.

use std::path::Path;
use std::{env, fs, io, process};

use frostpane::File;
use frostpane::stream::SpillFactory;

use crate::files::create_private;

/// The name that a new file has in the folder of a store for a moment.
const NAME: &str = "scratch";

/// Creates a temporary file without a name: no other process can open it, and it disappears with this one.
pub fn scratch() -> io::Result<Box<dyn File>> {
    for number in 0_u32.. {
        let path = env::temp_dir().join(format!("frostpane-{}-{number}", process::id()));
        match create_private(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(Box::new(file));
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Creates such files on the disk of a store, which one process has open at a time.
pub(crate) fn scratch_in(folder: &Path) -> SpillFactory {
    let path = folder.join(NAME);
    SpillFactory::new(move || {
        // A process may have ended between the two steps below.
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => {}
        }
        let file = create_private(&path)?;
        fs::remove_file(&path)?;
        Ok(Box::new(file))
    })
}
