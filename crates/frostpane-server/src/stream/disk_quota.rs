//! The disk space of a stream.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The least time between two looks at the files.
const SELDOM: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct DiskQuota {
    most: u64,
    pub is_over: bool,
    looked: Option<Instant>,
}

impl DiskQuota {
    pub fn new(most: u64) -> Self {
        Self { most, is_over: false, looked: None }
    }

    pub fn look(&mut self, folder: &Path) -> bool {
        if self.looked.is_none_or(|looked| looked.elapsed() >= SELDOM) {
            self.looked = Some(Instant::now());
            self.is_over = size(folder) > self.most;
        }
        self.is_over
    }
}

/// The bytes of the files in a folder. Files may come and go meanwhile.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok());
    sizes.filter(|file| file.is_file()).map(|file| file.len()).sum()
}
