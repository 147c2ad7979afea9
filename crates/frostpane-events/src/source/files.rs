//! Names of files to read, and of similar ones where one does not exist.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::glob;

use crate::error::Error;

type Result<T> = std::result::Result<T, Error>;

const STANDARD_INPUT: &str = "-";
/// Letters by which a name that a message suggests differs at most.
const SLIPS: usize = 2;

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
        if !seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())) {
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

/// The number of bytes of a file on disk, unless it is a pipe.
pub fn bytes_on_disk(file: &Path) -> Option<u64> {
    let data = fs::metadata(file).ok()?;
    (data.is_file() && !is_standard_input(file)).then_some(data.len())
}

fn missing(file: &Path) -> String {
    let advice = match similar(file) {
        None => place_of(file),
        Some(near) => format!("; did you mean {near}?"),
    };
    format!("cannot read {}: there is no such file{advice}", name(file))
}

fn place_of(file: &Path) -> String {
    let parents = file.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    match parents.into_iter().find(|parent| !parent.is_dir() && !is_pattern(&parent.to_string_lossy())) {
        Some(parent) => format!("; there is no folder {} either", parent.display()),
        None if file.is_relative() => match std::env::current_dir() {
            Ok(folder) => format!("; it was looked for in {}", folder.display()),
            Err(_) => String::new(),
        },
        None => String::new(),
    }
}

/// The file beside this one that is called nearly the same.
fn similar(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let asked = file.file_name()?.to_string_lossy();
    // A link to nothing has the name that was asked for.
    let names: Vec<String> = names.filter(|name| *name != asked).collect();
    Some(file.with_file_name(nearest(&asked, &names)?).display().to_string())
}

/// The name that differs from this one by the fewest slips, if they are few.
pub fn nearest<'a>(asked: &str, names: &'a [String]) -> Option<&'a String> {
    let asked = asked.to_lowercase();
    let slips = |name: &&String| slips(&asked, &name.to_lowercase());
    names.iter().min_by_key(slips).filter(|name| slips(name) <= SLIPS && slips(name) < asked.len())
}

/// The edit distance of two names; an ending more or less, such as `.gz`, counts as one.
fn slips(one: &str, other: &str) -> usize {
    let ending = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
    if !one.is_empty() && !other.is_empty() && (ending(one, other) || ending(other, one)) {
        return 1;
    }
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, there) in other.iter().enumerate() {
            let changed = diagonal + usize::from(*there != letter);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_as_people_make_them() {
        for (one, other, count) in [
            ("log.csv", "log.csv", 0),
            ("log.csv", "logs.csv", 1),
            ("lgo.csv", "log.csv", 2),
            ("log.csv", "log.csv.gz", 1),
            ("log", "", 3),
            ("", "log", 3),
        ] {
            assert_eq!(slips(one, other), count, "{one} {other}");
        }
    }
}
