//! Disk for people who do not fit into the memory.

use std::env;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::process;

use frostpane::File;

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
