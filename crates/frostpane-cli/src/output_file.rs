//! Writes files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// A file that is written under another name beside its own, and removed unless it was finished.
pub struct OutputFile {
    target: PathBuf,
    temporary: PathBuf,
    out: BufWriter<File>,
}

impl OutputFile {
    /// `what` is the name of its kind in messages.
    fn create(what: &str, file: &Path) -> Result<Self> {
        let refusal = |why: &str| refusal(what, file, why);
        // A link is followed, so that it stays.
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let name = match (target.file_name(), fs::metadata(&target)) {
            (Some(_), Ok(there)) if !there.is_file() => {
                return Err(refusal("it is there and no file: give another name"));
            }
            (Some(name), _) => name.display(),
            (None, _) => return Err(refusal("give the name of a file, such as report.html")),
        };
        let temporary = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let out = File::create(&temporary).map_err(|cause| refusal(&remedy(&cause)))?;
        Ok(Self { target, temporary, out: BufWriter::new(out) })
    }

    /// Writes a file, and gives it its name if all could be written.
    pub fn write(
        what: &str,
        file: &Path,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        let mut file = Self::create(what, file)?;
        let outcome = content(&mut file.out)
            .and_then(|()| file.out.flush())
            .and_then(|()| file.out.get_ref().sync_all())
            .and_then(|()| fs::rename(&file.temporary, &file.target));
        outcome.map_err(|cause| refusal(what, &file.target, &remedy(&cause)))
    }

    /// Refuses a file that cannot be written, before any budget is spent.
    pub fn check(what: &str, file: &Path) -> Result<()> {
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
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Not there any more if it was finished.
        let _ = fs::remove_file(&self.temporary);
    }
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
