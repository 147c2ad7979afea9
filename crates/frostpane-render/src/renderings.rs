//! A release in all forms that are kept with it.

use std::collections::BTreeMap;
use std::io;
use std::slice::from_ref;

use frostpane::{Key, Release, Span};
use jiff::Timestamp;

use crate::layout::{TextLayout, WindowLabel};
use crate::page::{self, PageInfo};
use crate::{csv, guarantee, table};

/// The table, the CSV, the guarantee and the page of a release by name: `table`, `csv`, `guarantee`,
/// `report`.
pub fn renderings<K: Key>(
    window: Span,
    release: &Release<K>,
    info: &PageInfo,
    made: Timestamp,
) -> io::Result<BTreeMap<String, String>> {
    let (label, layout) = (WindowLabel::from(window), TextLayout::default());
    let releases = [(label.clone(), release.clone())];
    let [mut in_table, mut in_csv, mut in_guarantee, mut in_page] = [const { Vec::new() }; 4];
    table::write(&mut in_table, &releases, &layout, None)?;
    csv::write(&mut in_csv, &releases)?;
    guarantee::write(&mut in_guarantee, &releases, &layout)?;
    page::write(&mut in_page, from_ref(release), &[label], info, made)?;
    [("table", in_table), ("csv", in_csv), ("guarantee", in_guarantee), ("report", in_page)]
        .into_iter()
        .map(|(name, bytes)| Ok((name.to_owned(), String::from_utf8(bytes).map_err(io::Error::other)?)))
        .collect()
}
