//! Where text is shown: how wide it may be, and in which styles.

use std::env;
use std::ffi::OsStr;
use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

/// For files and pipes.
const USUAL_WIDTH: usize = 100;
const USUAL_HEIGHT: usize = 40;

/// The room and the styles that an output has.
pub struct Screen {
    /// In columns.
    pub width: usize,
    /// In lines.
    pub height: usize,
    pub styles: Styles,
}

/// All plain, unless a person looks at them.
#[derive(Default)]
pub struct Styles {
    pub bar: Style,
    pub interval: Style,
    pub warning: Style,
    pub heading: Style,
}

impl Screen {
    /// What every file offers, wherever the program runs.
    pub fn of_files() -> Self {
        Self {
            width: USUAL_WIDTH,
            height: USUAL_HEIGHT,
            styles: Styles::default(),
        }
    }

    /// What `out` offers. The variables `COLUMNS`, `NO_COLOR` and `TERM` have their usual meaning.
    pub fn of(out: &impl IsTerminal) -> Self {
        let terminal = out.is_terminal();
        let asked = env::var("COLUMNS").ok();
        let measured = terminal_size::terminal_size().filter(|_| terminal);
        let in_colour = terminal && allows_colour(env::var_os("NO_COLOR"), env::var_os("TERM"));
        Self {
            width: asked
                .and_then(|columns| columns.parse().ok())
                .filter(|columns| *columns > 0)
                .or(measured.map(|(width, _)| width.0.into()))
                .unwrap_or(USUAL_WIDTH),
            height: measured.map_or(USUAL_HEIGHT, |(_, height)| height.0.into()),
            styles: if in_colour {
                Styles::coloured()
            } else {
                Styles::default()
            },
        }
    }
}

impl Styles {
    fn coloured() -> Self {
        Self {
            bar: AnsiColor::Cyan.on_default(),
            interval: Style::new().dimmed(),
            warning: AnsiColor::Yellow.on_default().bold(),
            heading: Style::new().bold(),
        }
    }
}

fn allows_colour(no_color: Option<impl AsRef<OsStr>>, term: Option<impl AsRef<OsStr>>) -> bool {
    let forbidden = no_color.is_some_and(|value| !value.as_ref().is_empty());
    let dumb = term.is_some_and(|value| value.as_ref() == "dumb");
    !forbidden && !dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_can_be_refused() {
        assert!(allows_colour(None::<&str>, Some("xterm")));
        assert!(allows_colour(Some(""), None::<&str>));
        assert!(!allows_colour(Some("1"), Some("xterm")));
        assert!(!allows_colour(None::<&str>, Some("dumb")));
    }
}
