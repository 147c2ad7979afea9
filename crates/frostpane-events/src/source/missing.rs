//! Files that do not exist, and similar names.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::files::{is_pattern, name};

/// Files that a message names in place of one that is not there, at most.
const SIMILAR: usize = 3;
/// Letters by which such names differ at most.
const SLIPS: usize = 2;

pub fn missing(file: &Path) -> String {
    let similar = similar(file);
    let advice = match &similar[..] {
        [] => place_of(file),
        names => format!("; did you mean {}?", names.join(" or ")),
    };
    format!("cannot read {}: there is no such file{advice}", name(file))
}

pub fn place_of(file: &Path) -> String {
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

/// Files beside this one that are called nearly the same.
fn similar(file: &Path) -> Vec<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Vec::new();
    };
    let text = |name: &OsStr| name.to_string_lossy().to_lowercase();
    let asked = file.file_name().map(text).unwrap_or_default();
    let mut near: Vec<(usize, String)> = entries
        .flatten()
        // A link to nothing has the name that was asked for.
        .filter(|entry| Some(entry.file_name().as_os_str()) != file.file_name())
        .map(|entry| (slips(&asked, &text(&entry.file_name())), entry.file_name()))
        .filter(|(slips, _)| *slips <= SLIPS)
        .map(|(slips, name)| (slips, file.with_file_name(name).display().to_string()))
        .collect();
    near.sort();
    near.into_iter().take(SIMILAR).map(|(_, name)| name).collect()
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
