//! What keys take.

/// What a key takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// In a table of the open pane, beside its slot.
    pub held: u64,
    /// Whether it can be listed instead.
    pub listed: bool,
    /// In a closed pane.
    pub packed: u64,
    /// As a reference while a release is made.
    pub reference: u64,
    /// As a key of its own, beside a reference: the block that was allocated for it.
    pub block: u64,
}

impl Footprint {
    /// In a list, with its count and what that lies between.
    pub(crate) fn in_list(&self) -> u64 {
        self.block
            .saturating_add(self.reference + 3 * size_of::<u64>() as u64)
    }
}
