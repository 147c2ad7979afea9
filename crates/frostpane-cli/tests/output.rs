//! The output of the real executable, to pipes and to terminals.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{assert_contains, command, run, stdout, temporary};

const PROGRAM: &str = env!("CARGO_BIN_EXE_frostpane");

fn list(options: &[&str], input: &[u8]) -> Output {
    run(&mut command(&[&["list"], options].concat()), input)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// So much epsilon that there is no noise.
const EXACT: [&str; 4] = ["--epsilon", "100000", "--alpha", "0.01"];

/// Every key as often as it says, one event a line.
fn lines(keys: &[(&str, usize)]) -> Vec<u8> {
    let events = keys.iter().map(|(key, times)| format!("{key}\n").repeat(*times));
    events.collect::<String>().into_bytes()
}

fn trees() -> Vec<u8> {
    lines(&[("elm", 3_000), ("oak", 1_000), ("yew", 500)])
}

fn bars(table: &str) -> Vec<usize> {
    let rows = table.lines().filter(|line| line.contains('█'));
    rows.map(|row| row.matches('█').count()).collect()
}

#[test]
fn csv_has_a_header_and_a_row_for_each_listed_key() {
    let keys = lines(&[("elm, \"old\"", 3_000), ("oak", 1_000), ("東京", 500)]);
    let guarantee = temporary("csv-guarantee.txt", b"before");
    let options = ["--csv", "--guarantee", guarantee.to_str().unwrap()];
    let output = list(&[&EXACT[..], &options].concat(), &keys);
    assert_eq!(
        stdout(&output),
        "key,count,low,high\n\
         \"elm, \"\"old\"\"\",3000,3000,3000\n\
         oak,1000,1000,1000\n\
         東京,500,500,500\n"
    );
    let guarantee = std::fs::read_to_string(guarantee).unwrap();
    for holds in [
        "L2 heavy hitters at alpha 0.01 of 4,500 events, number 0 up to 4,500\n",
        "With 95 % confidence",
        "\nPrivacy: epsilon 100000",
    ] {
        assert!(guarantee.contains(holds), "{guarantee}");
        assert!(!text(&output.stderr).contains(holds));
    }
}

/// Notes for the operator are in nothing that may be published.
#[test]
fn what_is_for_the_operator_is_in_nothing_that_is_published() {
    let events = [trees(), b"\n".repeat(37)].concat();
    let file = |name| temporary(name, b"").to_str().unwrap().to_owned();
    let (guarantee, report) = (file("published.txt"), file("published.html"));
    for form in [&[][..], &["--json"], &["--csv"]] {
        let files = ["--guarantee", &guarantee, "--report", &report];
        let output = list(&[&EXACT[..], &files, form].concat(), &events);
        assert!(text(&output.stderr).contains("37 of 4,537 events had no key that counts"));
        assert!(
            text(&output.stderr).lines().all(|line| line.starts_with("frostpane: ")),
            "{}",
            text(&output.stderr)
        );
        let read = |file: &str| std::fs::read_to_string(file).unwrap();
        for published in [stdout(&output), read(&guarantee), read(&report)] {
            assert!(!published.contains("37 of") && !published.contains("no key that counts"), "{published}");
        }
    }
}

#[test]
fn rows_cut_the_table_and_nothing_else() {
    let with = |more: &[&str]| stdout(&list(&[&EXACT[..], &["--rows", "1"], more].concat(), &trees()));
    let table = with(&[]);
    assert_eq!(bars(&table).len(), 1, "{table}");
    assert!(table.contains("  ... and 2 more\n"), "{table}");
    assert_eq!(with(&["--csv"]).lines().count(), 4);
    assert_eq!(with(&["--json"]).matches("\"key\"").count(), 3);

    let whole = stdout(&list(&[&EXACT[..], &["--rows", "3"]].concat(), &trees()));
    assert!(!whole.contains("more\n"), "{whole}");
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
        let widest = table.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{table}");
        assert!(table.contains("a very lo") && table.contains('…'), "{table}");
    }
    assert_eq!(at("no number"), at("100"), "files and pipes have 100 columns");
}

#[test]
fn pipes_see_no_colours() {
    for options in [&[][..], &["--csv"], &["--json"]] {
        let output = list(options, &trees());
        for written in [&output.stdout, &output.stderr] {
            assert!(!written.contains(&0x1b), "{}", text(written));
        }
    }
}

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&run(&mut command(&["completions", shell]), b""));
        for word in ["list", "epsilon", "window", "csv", "rows", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let unknown = run(&mut command(&["completions", "dos"]), b"");
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn manual_pages_know_commands_options_and_exit_codes() {
    let page = |args: &[&str]| stdout(&run(&mut command(args), b"")).replace("\\-", "-");
    let whole = page(&["man"]);
    for word in [".TH frostpane", "frostpane-list", "frostpane-demo", "Exit codes"] {
        assert!(whole.contains(word), "{word}: {whole}");
    }
    let list = page(&["man", "list"]);
    for word in ["--epsilon", "--window", "--csv", "--rows", "Examples", "Exit codes"] {
        assert!(list.contains(word), "{word}: {list}");
    }
    let unknown = run(&mut command(&["man", "lost"]), b"");
    assert_eq!(unknown.status.code(), Some(2));
    let told = text(&unknown.stderr);
    assert_contains(&told, "there is no command \"lost\", only demo, list");
}

#[test]
fn the_help_says_what_is_read_and_fits_eighty_columns() {
    let help = |args: &[&str]| stdout(&run(command(args).env("COLUMNS", "80"), b""));
    let long = help(&["list", "--help"]);
    assert_contains(&long, "Reads text (the whole line is the key), CSV and TSV");
    for page in [long, help(&["list", "-h"]), help(&["--help"])] {
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    }
    assert!(help(&["--help"]).contains("Exit codes:\n  0  "));
}

/// The warnings of a run, each without its beginning.
fn warnings(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told = text(&output.stderr);
    let warnings = told.lines().filter_map(|line| line.strip_prefix("frostpane: warning: "));
    warnings.map(str::to_owned).collect()
}

#[test]
fn weak_privacy_is_told() {
    let options = ["--epsilon", "11", "--delta", "0.001", "--window", "4500"];
    assert_eq!(
        warnings(&list(&options, &trees())),
        [
            "epsilon is 11, but above 10 protects nobody; take 1, or less where it matters",
            "delta is 1e-3, but should be far below 2.2e-4, one over the 4,500 events covered: \
             so much may give whole keys away; take 1e-9",
        ]
    );
}

#[test]
fn nothing_is_told_where_nothing_is_wrong() {
    let output = list(&["--window", "4500"], &trees());
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn a_stream_shorter_than_the_window_is_told() {
    assert_eq!(
        warnings(&list(&["--window", "10000"], &trees())),
        ["the stream is shorter than the window of 10,000 events: the release covers all of its 4,500 \
             events; if there are more, give them too"]
    );
    let day: String = (0..2_000).map(|i| format!("{}\telm\n", 1_772_409_600 + 43 * i)).collect();
    let columns = ["--format", "tsv", "--key", "2", "--time", "1"];
    let by_clock = |window| [&columns[..], &["--slide", "1h", "--window", window]].concat();
    assert_eq!(
        warnings(&list(&by_clock("30d"), day.as_bytes())),
        ["the stream is shorter than the window of 30 days: the release covers 23 hours 53 minutes of it, \
             from 2026-03-02T00:00:00Z up to 2026-03-02T23:52:38Z; if there are events before, give them too"]
    );
    assert!(warnings(&list(&by_clock("1d"), day.as_bytes())).is_empty());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [&["completions", "zsh"][..], &["man", "list"], &["list", "--csv"]] {
        let mut child = command(args).spawn().unwrap();
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(&trees());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_an_error() {
    for args in [&["completions", "zsh"][..], &["man"], &["list"], &["list", "--csv"], &["list", "--json"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = run(command(args).stdout(full), &trees());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let told = text(&output.stderr);
        assert_contains(&told, "frostpane: cannot write the result: No space left");
    }
}

#[test]
fn nobody_has_to_read_what_the_operator_is_told() {
    let mut child = command(&["list", "--csv", "--epsilon", "20"]).spawn().unwrap();
    drop(child.stderr.take());
    child.stdin.take().unwrap().write_all(&trees()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(stdout(&output).contains("elm,"));
}

/// Runs a line of shell in a terminal of 90 columns and returns all that it shows, or `None` without
/// `script`.
fn in_a_terminal(line: &str) -> Option<String> {
    in_a_terminal_of(90, 40, line)
}

fn in_a_terminal_of(columns: u32, rows: u32, line: &str) -> Option<String> {
    let programs = Path::new(PROGRAM).parent().unwrap().display();
    let line = format!(
        "stty cols {columns} rows {rows}; unset COLUMNS NO_COLOR; export TERM=xterm PATH='{programs}':\"$PATH\"; {line}"
    );
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Some(text(&output.stdout)),
        Ok(output) => panic!("{line}: {}", text(&output.stdout)),
        Err(cause) => {
            eprintln!("skipped: script (of util-linux) cannot be run: {cause}");
            None
        }
    }
}

#[test]
fn a_terminal_sees_colours_unless_they_are_refused() {
    let file = temporary("trees.txt", &trees());
    let line = format!("frostpane list --epsilon 100000 --alpha 1e-9 '{}'", file.display());
    let Some(shown) = in_a_terminal(&line) else {
        return;
    };
    let (cyan, dim, yellow) = ("\x1b[36m", "\x1b[2m", "\x1b[1m\x1b[33m");
    for expected in [
        format!("{cyan}{}", "█".repeat(40)),
        format!("{dim}3,000 to 3,000"),
        format!("{yellow}the three promises are not made"),
    ] {
        assert!(shown.contains(&expected), "{expected}: {shown}");
    }
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
        let shown = in_a_terminal(&line)?;
        Some(shown.lines().filter(|line| line.contains("tree ")).count())
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
    assert!(shown.contains("131,072 events, ") && shown.contains("million a second"), "{shown}");
    let last = shown.rfind("\r\x1b[K").unwrap();
    assert!(!shown[last..].contains("million a second"), "{shown}");

    let hidden = in_a_terminal(&format!("{slowly} --json 2>/dev/null")).unwrap();
    assert!(!hidden.contains("million a second"), "{hidden}");
}

/// The lines of the last of several lists that are drawn over each other.
fn last_frame(shown: &str) -> Vec<&str> {
    let (_, frame) = shown.rsplit_once("\x1b[H\x1b[2J").unwrap();
    frame.lines().collect()
}

/// Forty keys, the first most often; twenty slides.
fn forty_trees() -> Vec<u8> {
    let events = (0..20_000_u64).map(|i| format!("tree {:02}\n", (i * i + i / 7) % 40));
    events.collect::<String>().into_bytes()
}

#[test]
fn a_small_terminal_shows_the_list_rather_than_the_fine_print() {
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
        let essence = frame.concat();
        assert!(essence.contains("Release 20. With 95 % confidence"), "{frame:#?}");
    }
    let tall = in_a_terminal_of(80, 60, &format!("{line} --rows 3")).unwrap();
    let frame = last_frame(&tall);
    assert_eq!(frame.iter().filter(|line| line.contains("tree ")).count(), 3);
    assert!(frame.concat().contains("... and ") && frame.concat().contains("Privacy: epsilon 1"));
}
