//! Memory use of keys.

/// Memory use of one key, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// In a table of the open pane, beside its slot.
    pub held: u64,
    /// True if the key can be kept in a sorted list instead.
    pub listed: bool,
    /// In a closed pane.
    pub packed: u64,
    /// As a reference while a release is made.
    pub reference: u64,
    /// As an owned key, beside its reference: its allocated block.
    pub block: u64,
}

impl Footprint {
    /// In a release, with its count and interval.
    pub(crate) fn in_list(&self) -> u64 {
        self.block.saturating_add(self.reference + 3 * size_of::<u64>() as u64)
    }
}
