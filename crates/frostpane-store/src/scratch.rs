//! Disk for people who do not fit into the memory.

use std::env;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process;

use frostpane::File;
use frostpane::stream::Scratch;

/// The name of a new file in the folder of a state, for a moment.
const NAME: &str = "scratch";

/// A new file where temporary ones are, which nobody else can open and which is gone with the process, however that ends.
pub fn scratch() -> io::Result<Box<dyn File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    for number in 0_u32.. {
        let path = env::temp_dir().join(format!("frostpane-{}-{number}", process::id()));
        match options.open(&path) {
            Ok(file) => {
                // It has no name from here on.
                fs::remove_file(&path)?;
                return Ok(Box::new(file));
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(cause),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The same on the disk of a state, which one process has at a time.
pub(crate) fn scratch_in(folder: &Path) -> Scratch {
    let path = folder.join(NAME);
    Scratch::new(move || {
        // A process may have ended between the two steps below.
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path)?;
        fs::remove_file(&path)?;
        Ok(Box::new(file))
    })
}
