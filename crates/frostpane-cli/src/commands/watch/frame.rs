//! The current list on a terminal: the rows, then as much of the guarantee as fits, and never more lines.

use std::io::{self, Write};

use anstyle::Style;
use frostpane::{Key, Release};
use frostpane_render::table::write_list;
use frostpane_render::text::write_wrapped;
use frostpane_render::{
    Statement, TextLayout, empty_note, meaning, percent, privacy, statements, sure, title,
};

use crate::settings::values::grouped;

/// From the top left corner, with everything erased.
const FROM_THE_TOP: &str = "\x1b[H\x1b[2J";
/// A line that is too long is cut, and does not push the others up.
const CUT_LINES: &str = "\x1b[?7l";
const WRAP_LINES: &str = "\x1b[?7h";
/// In fewer lines there is no title.
const FEWEST_WITH_TITLE: usize = 6;

/// Writes a list on a screen with this layout and height.
pub fn write<K: Key>(
    out: &mut impl Write,
    release: &Release<K>,
    number: u64,
    screen: (&TextLayout, usize),
    most: usize,
) -> io::Result<()> {
    write!(out, "{FROM_THE_TOP}{CUT_LINES}")?;
    for line in lines(release, number, screen, most)? {
        writeln!(out, "{line}")?;
    }
    write!(out, "{WRAP_LINES}")
}

fn lines<K: Key>(
    release: &Release<K>,
    number: u64,
    (screen, height): (&TextLayout, usize),
    most: usize,
) -> io::Result<Vec<String>> {
    // The last line is for the cursor.
    let height = height.saturating_sub(1).max(1);
    let title = if height < FEWEST_WITH_TITLE {
        Vec::new()
    } else {
        wrapped("", &title(release), Style::new(), screen)?
    };
    let paragraphs = paragraphs(release, screen)?;
    let whole: usize = 1 + paragraphs.iter().map(Vec::len).sum::<usize>();

    let foot = wrapped("", &format!("Release {}. Ctrl-C ends.", grouped(number)), Style::new(), screen)?;
    let room = height.saturating_sub(title.len() + foot.len());
    let list = list(release, screen, most, room)?;
    if list.len() + whole <= room {
        return Ok([title, list, vec![String::new()], paragraphs.concat(), foot].concat());
    }
    let foot = wrapped("", &essence(release, number), Style::new(), screen)?;
    let room = height.saturating_sub(title.len() + foot.len());
    let list = self::list(release, screen, most, room)?;
    let fine_print = fitting(&paragraphs, room.saturating_sub(list.len()));
    let mut lines = [title, list, fine_print, foot].concat();
    lines.truncate(height);
    Ok(lines)
}

/// The most important statement, where there is no room for all.
fn essence<K: Key>(release: &Release<K>, number: u64) -> String {
    format!(
        "Release {}. With {} % confidence, all keys from {} on are listed. Ctrl-C ends.",
        grouped(number),
        percent(release.confidence),
        grouped(release.complete_above)
    )
}

/// The rows, with a heading and the number of those left out, in `room` lines.
fn list<K: Key>(
    release: &Release<K>,
    screen: &TextLayout,
    most: usize,
    room: usize,
) -> io::Result<Vec<String>> {
    if let Some(why) = empty_note(release) {
        let mut why = wrapped("  ", &why, Style::new(), screen)?;
        why.truncate(room);
        return Ok(why);
    }
    let with_heading = 1 + release.heavy.len();
    let rows = if with_heading <= room && release.heavy.len() <= most {
        release.heavy.len()
    } else {
        most.min(room.saturating_sub(2)).max(1)
    };
    split(|out| write_list(out, &release.heavy, screen, rows))
}

/// The statements, the meaning of counts and the privacy; the confidence goes with the first statement.
fn paragraphs<K: Key>(release: &Release<K>, screen: &TextLayout) -> io::Result<Vec<Vec<String>>> {
    let mut first = wrapped("", &sure(release), Style::new(), screen)?;
    let mut paragraphs = Vec::new();
    for statement in statements(release) {
        let style = match statement {
            Statement::Promise(_) => Style::new(),
            Statement::Warning(_) => screen.styles.warning,
        };
        first.extend(wrapped("- ", statement.text(), style, screen)?);
        paragraphs.push(std::mem::take(&mut first));
    }
    for text in meaning(release.unit).into_iter().chain([privacy(release)]) {
        paragraphs.push(wrapped("", &text, Style::new(), screen)?);
    }
    Ok(paragraphs)
}

/// The first paragraphs, after an empty line, as far as they fit.
fn fitting(paragraphs: &[Vec<String>], room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for paragraph in paragraphs {
        if lines.len() + paragraph.len() > room {
            break;
        }
        lines.extend_from_slice(paragraph);
    }
    if lines.len() == 1 { Vec::new() } else { lines }
}

fn wrapped(bullet: &str, text: &str, style: Style, screen: &TextLayout) -> io::Result<Vec<String>> {
    split(|out| write_wrapped(out, bullet, text, screen.width, style))
}

fn split(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use frostpane::{Bytes, Heavy, HeavyHitters, Keys, Window};
    use frostpane_render::Styles;

    fn release(keys: u64) -> Release<Bytes> {
        let mut release = HeavyHitters::<Bytes>::builder(Keys::open())
            .window(Window::events(100))
            .build()
            .unwrap()
            .release()
            .unwrap();
        let heavy = |rank| Heavy {
            key: format!("tree {rank}").as_bytes().into(),
            count: 1_000 - rank,
            low: 900,
            high: 1_100,
        };
        release.heavy = (0..keys).map(heavy).collect();
        release
    }

    fn frame(keys: u64, width: usize, height: usize, most: usize) -> Vec<String> {
        let styles = Styles::default();
        lines(&release(keys), 12, (&TextLayout { width, styles }, height), most).unwrap()
    }

    fn rows(frame: &[String]) -> usize {
        frame.iter().filter(|line| line.contains("tree ")).count()
    }

    #[test]
    fn a_frame_is_never_taller_than_its_terminal() {
        for width in [20, 40, 80, 200] {
            for height in 1..60 {
                for keys in [0, 1, 7, 40] {
                    let frame = frame(keys, width, height, 25);
                    assert!(frame.len() <= (height - 1).max(1), "{height}: {frame:#?}");
                    assert!(keys == 0 || height < 4 || rows(&frame) > 0, "{height}: {frame:#?}");
                }
            }
        }
    }

    #[test]
    fn rows_come_before_the_fine_print_and_in_it_what_matters_most_first() {
        assert_eq!([12, 24, 30].map(|height| rows(&frame(40, 80, height, 25))), [7, 19, 25]);
        let whole = frame(5, 80, 40, 25);
        assert_eq!(rows(&whole), 5);
        assert!(whole.concat().contains("Privacy: ") && whole.concat().ends_with("Release 12. Ctrl-C ends."));
        let cut = frame(40, 80, 42, 25);
        assert_eq!(rows(&cut), 25);
        assert!(cut.concat().contains("... and 15 more") && cut.concat().contains("Privacy: "));
        assert_eq!(rows(&frame(40, 80, 60, 40)), 40);
        let small = frame(40, 80, 12, 25);
        assert!(small.last().unwrap().starts_with("Release 12. With 95 % confidence, all keys from "));
        let partly = frame(5, 80, 16, 25);
        assert!(partly.concat().contains("all of this holds at once:"), "{partly:#?}");
        assert!(!partly.concat().contains("Privacy: "), "{partly:#?}");
    }
}
