//! Which files to read.

use std::path::{Path, PathBuf};

use glob::glob;

use crate::failure::{Failure, Result};

const STANDARD_INPUT: &str = "-";

pub fn is_standard_input(file: &Path) -> bool {
    file == Path::new(STANDARD_INPUT)
}

/// What to call a file in a message.
pub fn name(file: &Path) -> String {
    if is_standard_input(file) {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    }
}

/// The files that are meant: standard input if there are none, and those that match a pattern that the shell
/// has left as it is, in the order of their names.
pub fn expand(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if given.is_empty() {
        return Ok(vec![STANDARD_INPUT.into()]);
    }
    let mut files = Vec::new();
    for file in given {
        match file.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) && !file.exists() => {
                files.extend(matching(pattern)?);
            }
            _ => files.push(file.clone()),
        }
    }
    Ok(files)
}

fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let found = glob(pattern).map_err(|cause| {
        format!(
            "{pattern:?} is neither a file nor a pattern of file names: {}",
            cause.msg
        )
    })?;
    let files: Vec<PathBuf> = found.flatten().filter(|file| !file.is_dir()).collect();
    if files.is_empty() {
        return Err(Failure::Message(format!("no file matches {pattern:?}")));
    }
    Ok(files)
}

/// How many bytes the files have on disk together, unless one of them is a pipe.
pub fn total_bytes(files: &[PathBuf]) -> Option<u64> {
    files.iter().map(|file| bytes_on_disk(file)).sum()
}

/// How many bytes a file has on disk, unless it is a pipe.
pub fn bytes_on_disk(file: &Path) -> Option<u64> {
    let data = std::fs::metadata(file).ok()?;
    (data.is_file() && !is_standard_input(file)).then_some(data.len())
}
