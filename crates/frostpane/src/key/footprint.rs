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
}
