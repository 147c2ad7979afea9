//! Events between the files that they are read from and what counts them.

pub mod batch;
pub mod feed;
mod merge;
pub mod order_check;
pub mod time_filter;
pub mod window_end;

use std::path::Path;

use frostpane::Bytes;
use frostpane_store::StoredKey;

use crate::failure::Result;
use frostpane_events::{EventRef, Format, Schema, Source};

pub trait TextKey: StoredKey {
    fn parse(text: &[u8]) -> Option<Self::Ref<'_>>;

    #[inline]
    fn event(event: EventRef<'_>) -> frostpane::Event<'_, Self> {
        frostpane::Event { time: event.time, key: event.key.and_then(Self::parse), user: event.user }
    }
}

impl TextKey for Bytes {
    #[inline]
    fn parse(text: &[u8]) -> Option<&[u8]> {
        Some(text)
    }
}

impl TextKey for u64 {
    #[inline]
    fn parse(text: &[u8]) -> Option<u64> {
        str::from_utf8(text).ok()?.parse().ok()
    }
}

pub fn read_keys(file: &Path) -> Result<Vec<Bytes>> {
    let mut keys = Vec::new();
    let schema = Schema { format: Some(Format::Text), ..Schema::default() };
    Source::new(&[file.to_owned()], schema)?.for_each(|line| -> Result<()> {
        keys.extend(line.key.map(Bytes::from));
        Ok(())
    })?;
    Ok(keys)
}
