//! The size and the styles of a terminal.

use std::env;
use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use frostpane::{Key, Release};
use frostpane_render::{FILE_WIDTH, Styles, TextLayout};
use terminal_size::{Height, Width};

/// The height of files and pipes.
const FILE_HEIGHT: usize = 40;
/// The number of rows that leave the guarantee in sight.
const ROWS_ON_A_TERMINAL: u64 = 25;

/// The width and the styles of `out`. The variables `COLUMNS`, `NO_COLOR` and `TERM` have their usual meaning.
pub fn layout_of(out: &impl IsTerminal) -> TextLayout {
    let asked = env::var("COLUMNS").ok();
    let forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let in_colour = out.is_terminal() && !forbidden && env::var_os("TERM").is_none_or(|term| term != "dumb");
    let width = asked
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0)
        .or(size_of(out).map(|(width, _)| width.0.into()))
        .unwrap_or(FILE_WIDTH);
    TextLayout { width, styles: if in_colour { coloured() } else { Styles::default() } }
}

pub fn height_of(out: &impl IsTerminal) -> usize {
    size_of(out).map_or(FILE_HEIGHT, |(_, height)| height.0.into())
}

fn size_of(out: &impl IsTerminal) -> Option<(Width, Height)> {
    terminal_size::terminal_size().filter(|_| out.is_terminal())
}

/// The rows of a list on a terminal, unless more were asked for.
pub fn rows_on_a_terminal<K: Key>(release: &Release<K>) -> usize {
    ROWS_ON_A_TERMINAL.max(release.top.unwrap_or(0)) as usize
}

fn coloured() -> Styles {
    Styles {
        bar: AnsiColor::Cyan.on_default(),
        interval: Style::new().dimmed(),
        warning: AnsiColor::Yellow.on_default().bold(),
        heading: Style::new().bold(),
    }
}
