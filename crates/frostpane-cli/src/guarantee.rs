//! What the numbers of a release mean, in words.

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;
use frostpane::words::{
    Statement, holds, meaning, of_sequence, panes, privacy, source, statements, sure, title, together,
    why_empty,
};
use frostpane::{Key, Release};

use crate::draft::Draft;
use crate::failure::Result;
use crate::screen::Screen;
use crate::table::write_heading;
use crate::text::write_wrapped;
use crate::units::Asked;

/// What the file is called in a message.
const WHAT: &str = "guarantee";

/// What a release can be trusted for, and what it protects.
pub fn write_guarantee<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    screen: &Screen,
) -> io::Result<()> {
    write_statements(out, release, screen)?;
    write_about(out, release, &privacy(release, "", ""), screen)
}

/// Whether the guarantee can be written there: asked before any budget is spent.
pub fn check(file: &Path) -> Result<()> {
    Draft::check(WHAT, file)
}

/// Writes what releases are, what they can be trusted for and what they cost to a file, as a whole or not at all.
pub fn save<K: Key>(file: &Path, releases: &[(Asked, Release<K>)]) -> Result<()> {
    let mut draft = Draft::create(WHAT, file)?;
    let written = write_guarantees(&mut draft, releases, &Screen::of_files());
    draft.finish(written)
}

/// For whoever reads the lists: without advice to whoever made them.
pub fn write_guarantees<K: Key>(
    out: &mut impl Write,
    releases: &[(Asked, Release<K>)],
    screen: &Screen,
) -> io::Result<()> {
    for (asked, release) in releases {
        if releases.len() > 1 {
            write_heading(out, asked, screen)?;
        }
        write_wrapped(out, "", &title(release), screen.width, Style::new())?;
        let why = why_empty(release);
        for text in why.into_iter().chain([sure(release)]) {
            write_wrapped(out, "", &text, screen.width, Style::new())?;
        }
        for sentence in holds(release) {
            write_wrapped(out, "- ", &sentence, screen.width, Style::new())?;
        }
    }
    write_privacy(out, releases, screen)
}

/// What holds of a release.
pub fn write_statements<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    screen: &Screen,
) -> io::Result<()> {
    write_wrapped(out, "", &sure(release), screen.width, Style::new())?;
    for statement in statements(release) {
        let style = match statement {
            Statement::Promise(_) => Style::new(),
            Statement::Warning(_) => screen.styles.warning,
        };
        write_wrapped(out, "- ", statement.text(), screen.width, style)?;
    }
    match source(release) {
        None => Ok(()),
        Some(source) => write_wrapped(out, "", source, screen.width, Style::new()),
    }
}

/// What releases protect, and at what price.
pub fn write_privacy<K: Key>(
    out: &mut impl Write,
    releases: &[(Asked, Release<K>)],
    screen: &Screen,
) -> io::Result<()> {
    match releases {
        [] => Ok(()),
        [(_, release)] => write_about(out, release, &privacy(release, "", &of_sequence(release)), screen),
        [(_, release), ..] => {
            let all = releases.iter().map(|(_, release)| release);
            let more = format!("; {}", together(all));
            write_about(out, release, &privacy(release, " a list", &more), screen)
        }
    }
}

/// How panes were kept, where that is not the usual way, what counts of people are, and what is protected.
fn write_about<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    privacy: &str,
    screen: &Screen,
) -> io::Result<()> {
    let panes = panes(release).map(str::to_owned);
    let texts = panes.into_iter().chain(meaning(release.unit));
    for text in texts.chain([privacy.to_owned()]) {
        write_wrapped(out, "", &text, screen.width, Style::new())?;
    }
    Ok(())
}
