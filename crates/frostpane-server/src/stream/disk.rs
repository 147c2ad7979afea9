//! How much of the disk a stream has.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The files of a stream are looked at so often.
const SELDOM: Duration = Duration::from_secs(1);

/// The share of the disk that a stream has.
#[derive(Debug)]
pub struct Disk {
    most: u64,
    is_over: bool,
    looked: Option<Instant>,
}

impl Disk {
    /// So many bytes at the most.
    pub fn new(most: u64) -> Self {
        Self {
            most,
            is_over: false,
            looked: None,
        }
    }

    /// Whether it had more when it was last looked at.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the files of a folder have more.
    pub fn look(&mut self, folder: &Path) -> bool {
        if self.looked.is_none_or(|looked| looked.elapsed() >= SELDOM) {
            self.looked = Some(Instant::now());
            self.is_over = size(folder) > self.most;
        }
        self.is_over
    }
}

/// Bytes of the files in a folder. Files that come and go meanwhile do not matter.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    sizes.filter(|file| file.is_file()).map(|file| file.len()).sum()
}
