//! The guarantee of releases as text.

use std::io::{self, Write};

use anstyle::Style;
use frostpane::{Key, Release};

use crate::layout::{TextLayout, WindowLabel};
use crate::privacy::privacy_of_all;
use crate::statements::{Statement, panes, source, statements, sure};
use crate::summary::ReaderSummary;
use crate::table::write_heading;
use crate::text::write_wrapped;
use crate::unit::meaning;

/// Writes the guarantee of releases for readers of the lists: without advice to their operator.
pub fn write<K: Key>(
    out: &mut impl Write,
    releases: &[(WindowLabel, Release<K>)],
    layout: &TextLayout,
) -> io::Result<()> {
    for (window, release) in releases {
        if releases.len() > 1 {
            write_heading(out, window, layout)?;
        }
        let summary = ReaderSummary::of(release);
        for text in [Some(summary.title), summary.why_empty, Some(summary.sure)].into_iter().flatten() {
            write_plain(out, "", &text, layout)?;
        }
        for sentence in summary.holds {
            write_plain(out, "- ", &sentence, layout)?;
        }
    }
    write_privacy(out, releases.iter().map(|(_, release)| release), layout)
}

/// Writes the guarantee of one release for its operator.
pub fn write_for_operator<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    layout: &TextLayout,
) -> io::Result<()> {
    write_statements(out, release, layout)?;
    write_privacy(out, [release], layout)
}

pub(crate) fn write_statements<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    layout: &TextLayout,
) -> io::Result<()> {
    write_plain(out, "", &sure(release), layout)?;
    for statement in statements(release) {
        let style = match statement {
            Statement::Promise(_) => Style::new(),
            Statement::Warning(_) => layout.styles.warning,
        };
        write_wrapped(out, "- ", statement.text(), layout.width, style)?;
    }
    source(release).map_or(Ok(()), |source| write_plain(out, "", source, layout))
}

/// Writes how panes were kept, if not as usual, the meaning of counts, and what is protected at what cost.
pub(crate) fn write_privacy<'a, K: Key>(
    out: &mut impl Write,
    releases: impl IntoIterator<Item = &'a Release<K>>,
    layout: &TextLayout,
) -> io::Result<()> {
    let releases: Vec<&Release<K>> = releases.into_iter().collect();
    let Some(release) = releases.first() else {
        return Ok(());
    };
    let panes = panes(release).map(str::to_owned);
    for text in panes.into_iter().chain(meaning(release.unit)).chain([privacy_of_all(&releases)]) {
        write_plain(out, "", &text, layout)?;
    }
    Ok(())
}

fn write_plain(out: &mut impl Write, bullet: &str, text: &str, layout: &TextLayout) -> io::Result<()> {
    write_wrapped(out, bullet, text, layout.width, Style::new())
}
