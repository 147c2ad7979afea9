//! Writes files that are there as a whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// A file that is written under another name beside its own, and removed unless it was finished.
pub struct AtomicFile {
    /// The name of its kind in messages.
    what: &'static str,
    target: PathBuf,
    temporary: PathBuf,
    out: BufWriter<File>,
}

impl AtomicFile {
    pub fn create(what: &'static str, file: &Path) -> Result<Self> {
        Self::with_mode(what, file, 0o666)
    }

    fn with_mode(what: &'static str, file: &Path, mode: u32) -> Result<Self> {
        let refusal = |why: &str| refusal(what, file, why);
        // A link is followed, so that it stays.
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let name = match (target.file_name(), fs::metadata(&target)) {
            (Some(_), Ok(there)) if !there.is_file() => {
                return Err(refusal("it is there and no file: give another name"));
            }
            (Some(name), _) => name,
            (None, _) => return Err(refusal("give the name of a file, such as report.html")),
        };
        let temporary = target.with_file_name(temporary_name(name));
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(mode);
        let out = options.open(&temporary).map_err(|cause| refusal(&remedy(&cause)))?;
        Ok(Self { what, target, temporary, out: BufWriter::new(out) })
    }

    pub fn write_all(what: &'static str, file: &Path, bytes: &[u8]) -> Result<()> {
        let mut out = Self::create(what, file)?;
        let written = out.write_all(bytes);
        out.finish(written)
    }

    /// Writes a file that only its owner can read.
    pub fn write_private(what: &'static str, file: &Path, bytes: &[u8]) -> Result<()> {
        let mut out = Self::with_mode(what, file, 0o600)?;
        let written = out.write_all(bytes);
        out.finish(written)
    }

    /// Refuses a file that cannot be written, before any budget is spent.
    pub fn check(what: &'static str, file: &Path) -> Result<()> {
        Self::create(what, file).map(drop)
    }

    /// Refuses to write a file that is read, or written too.
    pub fn check_apart(outputs: &[&Path], inputs: &[&Path]) -> Result<()> {
        let same = |one: &Path, other: &Path| match (fs::canonicalize(one), fs::canonicalize(other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => one == other,
        };
        for (index, output) in outputs.iter().enumerate() {
            let others = inputs.iter().chain(&outputs[..index]);
            if others.into_iter().any(|other| same(output, other)) {
                return Err(Failure::Message(format!(
                    "{} would be written over, but it is read, or written too: give another name for the output",
                    output.display()
                )));
            }
        }
        Ok(())
    }

    /// Gives the file its name, if all could be written.
    pub fn finish(mut self, written: io::Result<()>) -> Result<()> {
        let outcome = written
            .and_then(|()| self.out.flush())
            .and_then(|()| self.out.get_ref().sync_all())
            .and_then(|()| fs::rename(&self.temporary, &self.target));
        outcome.map_err(|cause| refusal(self.what, &self.target, &remedy(&cause)))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // Not there any more if it was finished.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn temporary_name(name: &std::ffi::OsStr) -> OsString {
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.part", std::process::id()));
    temporary
}

fn refusal(what: &str, file: &Path, why: &str) -> Failure {
    Failure::Message(format!("cannot write the {what} {}: {why}", file.display()))
}

fn remedy(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::NotFound => "there is no such directory: make it, or give another name".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "the directory may not be written to: give a name in another".to_owned()
        }
        io::ErrorKind::StorageFull => "the disk is full: make room, or give a name on another".to_owned(),
        _ => format!("{cause}; give another name"),
    }
}
