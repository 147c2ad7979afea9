//! Names of files to read.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::glob;

use super::missing::{missing, place_of};
use crate::error::Error;

type Result<T> = std::result::Result<T, Error>;

const STANDARD_INPUT: &str = "-";

pub fn is_standard_input(file: &Path) -> bool {
    file == Path::new(STANDARD_INPUT)
}

pub fn name(file: &Path) -> String {
    if is_standard_input(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// The files that names stand for: standard input if there are none, all below a folder, and those that match
/// a pattern that the shell has left as it is, in the order of their names.
pub fn expand(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if given.is_empty() {
        return Ok(vec![STANDARD_INPUT.into()]);
    }
    let mut files = Vec::new();
    for file in given {
        match file.to_str() {
            _ if file.is_dir() => files.extend(within(file)?),
            Some(text) if is_pattern(text) && !file.exists() => {
                files.extend(matching(text)?);
            }
            _ if is_standard_input(file) || file.try_exists().unwrap_or(true) => files.push(file.clone()),
            _ => return Err(Error::Input(missing(file))),
        }
    }
    check_once(&files)?;
    Ok(files)
}

/// Refuses a file that would be read twice: one event would move counts by two.
fn check_once(files: &[PathBuf]) -> Result<()> {
    let mut seen = HashSet::new();
    for file in files.iter().filter(|file| !is_standard_input(file)) {
        let place = fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        if !seen.insert(place) {
            return Err(Error::Input(format!(
                "{} is named twice, and its events would count twice, with half of the privacy that is stated: name it once",
                name(file)
            )));
        }
    }
    Ok(())
}

pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// The files that match; if none does, those below the folders that do.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let found = glob(pattern).map_err(|cause| {
        format!("{pattern:?} is neither a file nor a pattern of file names: {}", cause.msg)
    })?;
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = found.flatten().partition(|file| file.is_dir());
    if !files.is_empty() {
        return Ok(files);
    }
    if folders.is_empty() {
        return Err(Error::Input(format!("no file matches {pattern:?}{}", place_of(Path::new(pattern)))));
    }
    let files: Result<Vec<_>> = folders.iter().map(|folder| within(folder)).collect();
    Ok(files?.concat())
}

fn within(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    collect(folder, &mut files).map_err(|cause| unreadable(&name(folder), &cause))?;
    if files.is_empty() {
        return Err(Error::Input(format!(
            "there is no file to read in the folder {}: those whose names begin with a dot or _ are left out",
            name(folder)
        )));
    }
    files.sort();
    Ok(files)
}

/// Leaves out files beside the data, such as `_SUCCESS`, and links to folders, which may lead in a circle.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if let Some(b'.' | b'_') = entry.file_name().as_encoded_bytes().first() {
            continue;
        }
        if entry.file_type()?.is_dir() {
            collect(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

pub fn unreadable(name: &str, cause: &io::Error) -> String {
    let told = cause.to_string();
    let why = match cause.kind() {
        io::ErrorKind::UnexpectedEof => {
            "it ends in the middle of what was packed: it was cut off, so copy it again".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "you are not allowed to: ask its owner for the right to read it".to_owned()
        }
        io::ErrorKind::InvalidInput if told.contains("gzip header") => NOT_PACKED.replace("PACKING", "gzip"),
        io::ErrorKind::Other if told.contains("frame descriptor") => NOT_PACKED.replace("PACKING", "zstd"),
        _ => told,
    };
    format!("cannot read {name}: {why}")
}

const NOT_PACKED: &str =
    "it does not begin as what PACKING has packed does: if it is not packed, use --packing none";

/// The number of bytes of the files on disk together, unless one of them is a pipe.
pub fn total_bytes(files: &[PathBuf]) -> Option<u64> {
    files.iter().map(|file| bytes_on_disk(file)).sum()
}

/// The number of bytes of a file on disk, unless it is a pipe.
pub fn bytes_on_disk(file: &Path) -> Option<u64> {
    let data = fs::metadata(file).ok()?;
    (data.is_file() && !is_standard_input(file)).then_some(data.len())
}
