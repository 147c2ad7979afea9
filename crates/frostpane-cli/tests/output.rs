//! The output of the real executable, to pipes and to terminals.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{
    assert_has, assert_told, command, frostpane, one_line, read, run, stderr, stdout, temporary, text, words,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_frostpane");

fn list(options: &[&str], input: &[u8]) -> Output {
    frostpane(&[&["list"], options].concat(), input)
}

/// So much epsilon that there is no noise.
const EXACT: [&str; 4] = ["--epsilon", "100000", "--alpha", "0.01"];

/// Every key as often as it says, one event a line.
fn lines(keys: &[(&str, usize)]) -> Vec<u8> {
    keys.iter().map(|(key, times)| format!("{key}\n").repeat(*times)).collect::<String>().into_bytes()
}

fn trees() -> Vec<u8> {
    lines(&[("elm", 3_000), ("oak", 1_000), ("yew", 500)])
}

#[test]
fn csv_has_a_header_and_a_row_for_each_listed_key() {
    let keys = lines(&[("elm, \"old\"", 3_000), ("oak", 1_000), ("東京", 500)]);
    let guarantee = temporary("csv-guarantee.txt", b"before");
    let output = list(&[&EXACT[..], &["--csv", "--guarantee", text(&guarantee)]].concat(), &keys);
    assert_eq!(
        stdout(&output),
        "key,count,low,high\n\
         \"elm, \"\"old\"\"\",3000,3000,3000\n\
         oak,1000,1000,1000\n\
         東京,500,500,500\n"
    );
    let guarantee = read(&guarantee);
    for holds in [
        "L2 heavy hitters at alpha 0.01 of 4,500 events, number 0 up to 4,500\n",
        "With 95 % confidence",
        "\nPrivacy: epsilon 100000",
    ] {
        assert!(guarantee.contains(holds) && !stderr(&output).contains(holds), "{guarantee}");
    }
}

/// And pipes see no colours.
#[test]
fn what_is_for_the_operator_is_in_nothing_that_is_published() {
    let events = [trees(), b"\n".repeat(37)].concat();
    let [guarantee, report] = ["published.txt", "published.html"].map(|name| temporary(name, b""));
    for form in [&[][..], &["--json"], &["--csv"]] {
        let files = ["--guarantee", text(&guarantee), "--report", text(&report)];
        let output = list(&[&EXACT[..], &files, form].concat(), &events);
        let told = stderr(&output);
        assert_has(&told, ["37 of 4,537 events had no key that counts"]);
        assert!(told.lines().all(|line| line.starts_with("frostpane: ")), "{told}");
        assert!(!told.contains('\x1b'), "{told}");
        for published in [stdout(&output), read(&guarantee), read(&report)] {
            for absent in ["37 of", "no key that counts", "\x1b"] {
                assert!(!published.contains(absent), "{published}");
            }
        }
    }
}

#[test]
fn rows_cut_the_table_and_nothing_else() {
    let with = |more: &[&str]| stdout(&list(&[&EXACT[..], &["--rows", "1"], more].concat(), &trees()));
    let table = with(&[]);
    assert_eq!(table.lines().filter(|line| line.contains('█')).count(), 1, "{table}");
    assert!(table.contains("  ... and 2 more\n"), "{table}");
    assert_eq!(with(&["--csv"]).lines().count(), 4);
    assert_eq!(with(&["--json"]).matches("\"key\"").count(), 3);

    let whole = stdout(&list(&[&EXACT[..], &["--rows", "3"]].concat(), &trees()));
    let title = "L2 heavy hitters at alpha 0.01 of 4,500 events, number 0 up to 4,500";
    assert!(whole.starts_with(title) && !whole.contains("more\n"), "{whole}");
    let rows: Vec<&str> = whole.lines().filter(|line| line.contains('█')).collect();
    assert!(rows.iter().zip(["elm", "oak", "yew"]).all(|(row, key)| row.ends_with(key)), "{whole}");
    assert!(rows.len() == 3 && whole.contains("With 95 % confidence"), "{whole}");
}

#[test]
fn a_table_fits_its_columns() {
    let keys = lines(&[("elm", 3_000), (&"a very long key ".repeat(20), 1_000)]);
    let at = |columns: &str| {
        let mut command = command(&[&["list"], &EXACT[..]].concat());
        stdout(&run(command.env("COLUMNS", columns), &keys))
    };
    for columns in [60, 80, 132] {
        let table = at(&columns.to_string());
        assert!(table.lines().map(|line| line.chars().count()).max() <= Some(columns), "{table}");
        assert!(table.contains("a very lo") && table.contains('…'), "{table}");
    }
    assert_eq!(at("no number"), at("100"), "files and pipes have 100 columns");
}

#[test]
fn completions_and_manual_pages_know_commands_options_and_exit_codes() {
    let page = |args: &[&str]| stdout(&frostpane(args, b"")).replace("\\-", "-");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let words = ["list", "epsilon", "window", "csv", "rows", "completions"];
        assert_has(page(&["completions", shell]), words);
    }
    assert_has(page(&["man"]), [".TH frostpane", "frostpane-list", "frostpane-demo", "Exit codes"]);
    let options = ["--epsilon", "--window", "--csv", "--rows", "Examples", "Exit codes"];
    assert_has(page(&["man", "list"]), options);
    let unknown = [["completions", "dos"], ["man", "lost"]].map(|args| frostpane(&args, b""));
    assert_eq!(unknown.each_ref().map(|output| output.status.code()), [Some(2); 2]);
    assert_told(&unknown[1], "there is no command \"lost\", only demo, list");
}

#[test]
fn the_help_says_what_is_read_and_fits_eighty_columns() {
    let help = |args: &[&str]| stdout(&run(command(args).env("COLUMNS", "80"), b""));
    let [long, short, program] = [&["list", "--help"][..], &["list", "-h"], &["--help"]].map(help);
    for page in [&long, &short, &program] {
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
    assert_has(long, ["Reads text (the whole line is the key), CSV and TSV"]);
    assert_has(&program, ["Exit codes:\n  0  "]);
    let four = "4 the result was written, but no event had a key that counts; with --user it is 0";
    assert_has(one_line(&program), [four]);
}

/// Asserts that a list has these warnings, and nothing else is told.
#[track_caller]
fn assert_warned(options: &str, input: &[u8], warnings: &[&str]) {
    let output = list(&words(options), input);
    stdout(&output);
    let expected = warnings.iter().map(|warning| format!("frostpane: warning: {warning}\n"));
    assert_eq!(stderr(&output), expected.collect::<String>());
}

#[test]
fn what_is_wrong_with_a_list_is_told_and_nothing_where_nothing_is() {
    assert_warned("--window 4500", &trees(), &[]);
    assert_warned(
        "--epsilon 11 --delta 0.001 --window 4500",
        &trees(),
        &[
            "epsilon is 11, but above 10 protects nobody; take 1, or less where it matters",
            "delta is 1e-3, but should be far below 2.2e-4, one over the 4,500 events covered: \
             so much may give whole keys away; take 1e-9",
        ],
    );
    assert_warned(
        "--window 10000",
        &trees(),
        &["the stream is shorter than the window of 10,000 events: the release covers all of its 4,500 \
             events; if there are more, give them too"],
    );
    let day: String = (0..2_000).map(|i| format!("{}\telm\n", 1_772_409_600 + 43 * i)).collect();
    let by_clock = "--format tsv --key 2 --time 1 --slide 1h --window";
    assert_warned(
        &format!("{by_clock} 30d"),
        day.as_bytes(),
        &["the stream is shorter than the window of 30 days: the release covers 23 hours 53 minutes of it, \
             from 2026-03-02T00:00:00Z up to 2026-03-02T23:52:38Z; if there are events before, give them too"],
    );
    assert_warned(&format!("{by_clock} 1d"), day.as_bytes(), &[]);
}

/// And the page is written all the same.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let page = temporary("unread.html", b"");
    let report = ["list", "--report", text(&page)];
    for args in [&["completions", "zsh"][..], &["man", "list"], &["list", "--csv"], &report] {
        let mut child = command(args).spawn().unwrap();
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(&trees());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    }
    assert!(read(&page).starts_with("<!doctype html>"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_an_error() {
    for args in [&["completions", "zsh"][..], &["man"], &["list"], &["list", "--csv"], &["list", "--json"]] {
        let output = run(command(args).stdout(std::fs::File::create("/dev/full").unwrap()), &trees());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_told(&output, "frostpane: cannot write the result: No space left");
    }
}

#[test]
fn nobody_has_to_read_what_the_operator_is_told() {
    let mut child = command(&["list", "--csv", "--epsilon", "20"]).spawn().unwrap();
    drop(child.stderr.take());
    child.stdin.take().unwrap().write_all(&trees()).unwrap();
    assert!(stdout(&child.wait_with_output().unwrap()).contains("elm,"));
}

/// Runs a line of shell in a terminal of so many columns and rows, and returns all that it shows, or `None`
/// without `script`.
fn in_a_terminal_of(columns: u32, rows: u32, line: &str) -> Option<String> {
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let line = format!(
        "stty cols {columns} rows {rows}; unset COLUMNS NO_COLOR; export TERM=xterm PATH='{programs}':\"$PATH\"; {line}"
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/sh").stdin(Stdio::null());
    match script.output() {
        Ok(output) => Some(stdout(&output)),
        Err(cause) => {
            eprintln!("skipped: script (of util-linux) cannot be run: {cause}");
            None
        }
    }
}

fn in_a_terminal(line: &str) -> Option<String> {
    in_a_terminal_of(90, 40, line)
}

#[test]
fn a_terminal_sees_colours_unless_they_are_refused() {
    let file = temporary("trees.txt", &trees());
    let line = format!("frostpane list --epsilon 100000 --alpha 1e-9 '{}'", file.display());
    let Some(shown) = in_a_terminal(&line) else {
        return;
    };
    let (cyan, dim, yellow) = ("\x1b[36m", "\x1b[2m", "\x1b[1m\x1b[33m");
    let bar = format!("{cyan}{}", "█".repeat(40));
    let warning = format!("{yellow}the three promises are not made");
    assert_has(shown, [&bar[..], &format!("{dim}3,000 to 3,000"), &warning]);
    let allowed = in_a_terminal(&format!("NO_COLOR= {line}")).unwrap();
    assert!(allowed.contains('\x1b'), "{allowed}");
    for refused in [
        format!("NO_COLOR=1 {line}"),
        format!("TERM=dumb {line}"),
        format!("{line} --json"),
        format!("{line} --csv 2>/dev/null"),
        format!("{line} | cat"),
    ] {
        let plain = in_a_terminal(&refused).unwrap();
        assert!(plain.contains("elm") && !plain.contains('\x1b'), "{refused}: {plain}");
    }
}

#[test]
fn a_terminal_gives_the_width() {
    let file = temporary("wide.txt", &lines(&[(&"long ".repeat(40), 3_000)]));
    let Some(shown) = in_a_terminal(&format!("NO_COLOR=1 frostpane list '{}'", file.display())) else {
        return;
    };
    let row = shown.lines().find(|line| line.contains('█')).unwrap();
    assert_eq!(row.trim_end().chars().count(), 90, "{row}");
}

#[test]
fn a_terminal_shows_as_many_as_the_top_has() {
    let file = temporary("forty-listed.txt", &forty_trees());
    let at = |options: &str| {
        let line = format!("NO_COLOR=1 frostpane list {options} '{}'", file.display());
        Some(in_a_terminal(&line)?.lines().filter(|line| line.contains("tree ")).count())
    };
    for (options, rows) in [("--all", 25), ("--top 30", 30), ("--top 30 --rows 7", 7)] {
        let Some(shown) = at(options) else { return };
        assert_eq!(shown, rows, "{options}");
    }
}

#[test]
fn a_terminal_sees_progress_that_is_erased() {
    let file = temporary("many.txt", &trees().repeat(20));
    let file = file.display();
    let slowly = format!("{{ cat '{file}'; sleep 0.3; cat '{file}'; }} | frostpane list");
    let Some(shown) = in_a_terminal(&format!("{slowly} --json >/dev/null")) else {
        return;
    };
    assert_has(&shown, ["131,072 events, ", "million a second"]);
    assert!(!shown[shown.rfind("\r\x1b[K").unwrap()..].contains("million a second"), "{shown}");

    let hidden = in_a_terminal(&format!("{slowly} --json 2>/dev/null")).unwrap();
    assert!(!hidden.contains("million a second"), "{hidden}");
}

/// Forty keys, the first most often; twenty slides.
fn forty_trees() -> Vec<u8> {
    let events = (0..20_000_u64).map(|i| format!("tree {:02}\n", (i * i + i / 7) % 40));
    events.collect::<String>().into_bytes()
}

#[test]
fn a_small_terminal_shows_the_list_rather_than_the_fine_print() {
    let last_frame = |shown: &str| -> Vec<String> {
        let (_, frame) = shown.rsplit_once("\x1b[H\x1b[2J").unwrap();
        frame.lines().map(str::to_owned).collect()
    };
    let file = temporary("forty.txt", &forty_trees());
    let line = format!("NO_COLOR=1 frostpane watch --window 10000 --slide 1000 --all '{}'", file.display());
    for (columns, rows, least) in [(80, 12, 7), (80, 24, 18), (40, 12, 4)] {
        let Some(shown) = in_a_terminal_of(columns, rows, &line) else {
            return;
        };
        let frame = last_frame(&shown);
        let listed = frame.iter().filter(|line| line.contains("tree ")).count();
        assert!(listed >= least, "{listed} rows at {columns} by {rows}: {frame:#?}");
        assert!(frame.len() <= rows as usize, "{frame:#?}");
        assert!(frame.concat().contains("Release 20. With 95 % confidence"), "{frame:#?}");
    }
    let frame = last_frame(&in_a_terminal_of(80, 60, &format!("{line} --rows 3")).unwrap());
    assert_eq!(frame.iter().filter(|line| line.contains("tree ")).count(), 3);
    assert!(frame.concat().contains("... and ") && frame.concat().contains("Privacy: epsilon 1"));
}
