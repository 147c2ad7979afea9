//! States, with the real executable: what is kept from one run to the next.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::common::{
    assert_contains, assert_has, assert_refused, assert_told, command, folder, frostpane, heavy, json, read,
    releases, stderr, stdout, text, words, written,
};

/// Lines of time, user and key, from a day of November 2025 on: the hours of so many days.
fn days(first: i64, days: i64) -> String {
    let mut lines = String::new();
    for hour in 0..24 * days {
        for person in 0..40 {
            let key = ["yoga", "visa", "rent", "snow"][(person * person + hour) as usize % 4];
            let time = 1_761_955_200 + (first * 24 + hour) * 3_600 + person;
            lines += &format!("{time}\tu{person}\t{key}\n");
        }
    }
    lines
}

const USERS: &str =
    "--key 3 --time 1 --user 2 --per-user 4 --window 3d --top 5 --epsilon 5 --from 2025-11-01";
const EVENTS: &str = "--key 3 --time 1 --window 3d --slide 1d --top 5 --epsilon 5";

/// A state in a folder of the test, and a file beside it.
fn begun(name: &str, options: &[&str]) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    let state = folder.join("state");
    stdout(&on("init", &state, options));
    (state, folder.join("events.tsv"))
}

fn on(command: &str, state: &Path, more: &[&str]) -> Output {
    frostpane(&[&[command, text(state)], more].concat(), b"")
}

fn ingest(state: &Path, file: &Path, until: &str) -> String {
    stderr(&on("ingest", state, &[text(file), "--until", until]))
}

#[test]
fn a_list_every_day_is_charged_to_every_day_and_the_budget_renews_itself() {
    for (name, options) in [("people", words(USERS)), ("events", words(EVENTS))] {
        let folder = folder(&format!("state-daily-{name}"));
        let state = folder.join("state");
        let begun = on("init", &state, &[&options[..], &["--releases", "2"]].concat());
        assert_told(&begun, "next: frostpane ingest");
        let mut refused = 0;
        for day in 0..8 {
            let file = written(&folder, &format!("{day}.tsv"), days(day, 1).as_bytes());
            let until = format!("2025-11-{:02}", day + 2);
            assert_contains(ingest(&state, &file, &until), "960 events were taken");
            assert_contains(ingest(&state, &file, &until), "nothing is new");
            let release = || on("release", &state, &["--id", &until, "--json"]);
            let first = release();
            if first.status.success() {
                let list = &releases(&stdout(&first))[0];
                assert!(day < 1 || heavy(list).len() == 4, "{list}");
                let again = release();
                assert_eq!(again.stdout, first.stdout);
                assert_told(&again, "nothing was charged");
            } else {
                assert_refused(&first, "leaves the window at 2025-11-");
                // Who cannot pay, by the days.
                assert_told(&first, "from 2025-11-");
                refused += 1;
            }
        }
        assert!((1..=4).contains(&refused), "{name}: {refused} were refused");
        assert_has(stdout(&on("budget", &state, &[])), ["release", "of 10 spent"]);
    }
}

/// Byte for byte what was written first, in every form.
#[test]
fn an_id_is_written_the_same_in_every_form() {
    let (state, file) = begun("state-forms", &words(USERS));
    fs::write(&file, days(0, 4)).unwrap();
    ingest(&state, &file, "2025-11-05");
    let [page, guarantee] = ["page.html", "guarantee.txt"].map(|name| file.with_file_name(name));
    let write = |form: &[&str]| {
        let files = ["--id", "one", "--report", text(&page), "--guarantee", text(&guarantee)];
        (stdout(&on("release", &state, &[form, &files].concat())), read(&page), read(&guarantee))
    };
    for form in [&[][..], &["--csv"], &["--json"]] {
        assert_eq!(write(form), write(form));
        assert!(write(form).0.contains("yoga"));
    }
}

#[test]
fn lists_at_every_slide_go_on_across_restarts_with_one_noise() {
    let (state, file) = begun("state-watch", &[&words(EVENTS)[..], &["--watch"]].concat());
    let mut lists = Vec::new();
    for day in 0..6 {
        let mut log = OpenOptions::new().create(true).append(true).open(&file).unwrap();
        log.write_all(days(day, 1).as_bytes()).unwrap();
        lists.extend(stdout(&on("watch", &state, &[text(&file), "--json"])).lines().map(str::to_owned));
    }
    assert_eq!(lists.len(), 5, "the last day goes on");
    let again = stdout(&on("watch", &state, &[text(&file), "--after", "0"]));
    assert_eq!(again.lines().collect::<Vec<_>>(), lists);
    let numbers = releases(&again).into_iter().map(|list| list["continual"]["number"].clone());
    assert!(numbers.eq((1..=5).map(Value::from)));
    assert_told(&on("release", &state, &[]), "has one at every slide");
    assert_contains(stdout(&on("budget", &state, &[])), "has paid epsilon 5, delta 1e-9 and rho 12.5 for");
}

/// Killed at any time, an ingest is run again until it has taken everything: the events are the lines.
#[test]
fn an_ingest_that_was_killed_is_simply_run_again() {
    let (state, file) = begun("state-killed", &words("--window 3000000 --top 5 --epsilon 100000"));
    let lines: String = (0..3_000_000).map(|number| format!("key {}\n", number * 7 % 1_000)).collect();
    fs::write(&file, lines).unwrap();
    let ingest = ["ingest", text(&state), text(&file), "--format", "text"];
    for round in 0..6 {
        let mut process = command(&ingest).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(40 + 60 * round));
        let _ = process.kill();
        process.wait().unwrap();
    }
    stdout(&frostpane(&ingest, b""));
    let list = json(&["release", text(&state), "--json"], b"");
    assert_eq!(list["window"]["events"], 3_000_000);
    assert!(heavy(&list).iter().all(|(_, count)| *count == 3_000));
}

/// Each with its exit code, and one sentence that says what to do.
#[test]
fn what_is_wrong_is_said_in_a_sentence_and_changes_nothing() {
    let (state, file) = begun("state-wrong", &words(USERS));
    fs::write(&file, days(0, 2)).unwrap();
    let none = state.with_file_name("none");
    let [state, file, none] = [&state, &file, &none].map(|path| text(path));
    for (args, says) in [
        ("release {none}", "it has no file frostpane.redb; `frostpane init` begins one"),
        ("budget {none}", "is no state of Frostpane"),
        ("restore {state}", "if you know that it is one, say so, with `frostpane restore DIR --force`"),
        ("init {state} --window 10", "is not empty"),
        ("init {none} --window 7d", "say which column holds them, with --time"),
        ("init {none} --window 7d --time 1 --key 2 --until 2025-11-02", "a state goes on"),
        ("init {none} --budget -1", "epsilon is -1"),
        ("init {none} --budget 2 --budget-delta 2", "must be at least 0 and below 1"),
        ("ingest {state}", "give it one, with --id"),
        ("ingest {state} {none}", "none"),
        ("ingest {state} {file}", "says that it is right, with --accept-clock"),
        ("release {state} --window 30h", "no whole number of epochs"),
        ("release {state} --window 5000", "ask for a duration"),
        ("release {state} --window 9d", "at most the longest window"),
        ("watch {state} {file}", "has no continual release"),
        ("watch {file} --id x", "are for a state"),
        ("forget {state} --from 2025-11-01", "give --until"),
    ] {
        let path = |word| match word {
            "{none}" => none,
            "{state}" => state,
            "{file}" => file,
            word => word,
        };
        let output = frostpane(&words(args).into_iter().map(path).collect::<Vec<_>>(), b"");
        assert_refused(&output, says);
        let said = stderr(&output);
        assert!(said.lines().count() <= 4 && !said.contains("panicked"), "{said}");
    }
    assert_eq!(stdout(&frostpane(&["inspect", state, "--json"], b"")).matches("\"generation\":1").count(), 1);
    let database = Path::new(state).join("frostpane.redb");
    let mut bytes = fs::read(&database).unwrap();
    bytes[4_096..4_112].fill(0x55);
    fs::write(&database, bytes).unwrap();
    fs::remove_file(Path::new(state).join("checksums")).unwrap();
    let damaged = stderr(&frostpane(&["check", state], b""));
    assert!(damaged.starts_with("frostpane: the state is damaged ("), "{damaged}");
}

/// Each of the thousand counts once, also the one that was cut in two.
#[test]
fn a_pipe_that_broke_is_gone_on_with_under_its_id() {
    let (state, _) = begun("state-broken-pipe", &words("--window 1000 --top 3 --epsilon 1000"));
    let lines: String = (0..1_000).map(|number| format!("key {}\n", number % 3)).collect();
    let whole = lines.trim_end();
    for (more, lines, ended, said) in [
        (
            &[][..],
            &lines[..6 * 499 + 3],
            true,
            &["499 events were taken", "has no end, so it was left out", "--whole"][..],
        ),
        (&[], &lines[..6 * 300], false, &["give all of it again"]),
        (&[], whole, true, &["500 events were taken, after 499 before"]),
        (&["--whole"], whole, true, &["1 event was taken, after 999 before"]),
    ] {
        let args = [&["ingest", text(&state), "--id", "part"], more].concat();
        let output = frostpane(&args, lines.as_bytes());
        assert_eq!(output.status.success(), ended, "{}", stderr(&output));
        assert_has(stderr(&output), said.iter().copied());
    }
    let release = json(&["release", text(&state), "--json"], b"");
    assert_eq!(release["window"]["events"], 1_000);
    assert!(heavy(&release).iter().map(|(_, count)| *count).eq([334, 333, 333]));
}

/// A log that is turned over keeps growing under whatever name.
#[test]
fn half_a_last_line_is_taken_of_no_file_whatever_its_name() {
    let folder = folder("state-half-lines");
    for name in ["log.tsv", "log.tsv.1", "log.2025-11-01", "log"] {
        let state = folder.join(format!("state of {name}"));
        stdout(&on("init", &state, &words("--key 2 --window 1000 --top 3")));
        for (lines, said) in [
            ("1\tsnow\n2\tra", &["1 event was taken", "has no end"][..]),
            ("1\tsnow\n2\train\n3\tsnow\n", &["2 events were taken, after 1 before"]),
        ] {
            let file = written(&folder, name, lines.as_bytes());
            let taken = on("ingest", &state, &[text(&file), "--format", "tsv"]);
            assert_has(stderr(&taken), said.iter().copied());
        }
    }
}

/// Nothing that `budget`, `inspect` or a message of them shows tells how many events there are, or of what.
#[test]
fn budget_and_inspect_show_nothing_private() {
    let shown = |people: usize| {
        let (state, file) = begun(&format!("state-public-{people}"), &words(USERS));
        let lines: String =
            days(0, 3).lines().take(1 + 60 * people).map(|line| format!("{line}\n")).collect();
        fs::write(&file, lines).unwrap();
        ingest(&state, &file, "2025-11-04");
        let [budget, inspect] =
            ["budget", "inspect"].map(|command| json(&[command, text(&state), "--json"], b""));
        (budget, inspect["history"]["generation"].clone(), inspect["spec"].clone())
    };
    assert_eq!(shown(0), shown(40));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// Both go on at the same time: one of them shows every window, and the other none of them otherwise.
#[test]
fn of_two_copies_under_one_witness_one_goes_on() {
    let folder = folder("state-copies");
    let [state, other, witness] = ["state", "copy", "witness"].map(|name| folder.join(name));
    stdout(&on("init", &state, &[&words(EVENTS)[..], &["--watch", "--witness", text(&witness)]].concat()));
    copy(&state, &other);
    let mut both = [&state, &other].map(|state| {
        command(&["watch", text(state), "--format", "tsv", "--id", "log", "--json"]).spawn().unwrap()
    });
    let mut sources = both.each_mut().map(|process| process.stdin.take().unwrap());
    for number in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        for source in &mut sources {
            // The one that is refused does not read.
            let _ = source.write_all(days(number * 2, 2).as_bytes());
        }
    }
    drop(sources);
    let outputs = both.map(|process| process.wait_with_output().unwrap());
    let first = outputs[0].status.success();
    assert_ne!(first, outputs[1].status.success(), "one of them");
    let [done, refused] = if first { [0, 1] } else { [1, 0] };
    let (shown, said) = (stdout(&outputs[done]), stderr(&outputs[refused]));
    assert_eq!(shown.lines().count(), 5);
    let why = ["or a copy of it, open", "it is a copy", "nothing was shown"];
    assert!(why.iter().any(|why| said.contains(why)), "{said}");
    let otherwise = String::from_utf8_lossy(&outputs[refused].stdout).into_owned();
    assert!(otherwise.lines().all(|line| shown.contains(line)), "{otherwise}");
    // One is the latest that the witness knows of; the other is a copy, and can be accepted as one.
    let states = [&state, &other];
    assert_told(&on("restore", states[done], &[]), "no copy");
    stdout(&on("restore", states[refused], &[]));
    assert_told(&on("watch", states[done], &["--id", "log", "--json"]), "it is a copy");
}

#[test]
fn a_witness_is_outside_of_the_folder_by_whatever_path() {
    let folder = folder("state-witness");
    std::os::unix::fs::symlink(&folder, folder.join("link")).unwrap();
    let init = |witness: &str| {
        let args = ["init", "state", "--window", "10", "--witness", witness];
        command(&args).current_dir(&folder).output().unwrap()
    };
    for witness in words(
        "state/witness ./state/witness link/state/witness other/../state/witness state/deeper/witness state",
    ) {
        assert_refused(&init(witness), "would be restored with it");
        assert!(!folder.join("state").exists(), "nothing was begun");
    }
    assert!(stderr(&init("none/witness")).contains("has no folder to lie in"));
    stdout(&init("state/../witness"));
    let inspect = command(&["inspect", "state"]).current_dir(&folder).output().unwrap();
    assert!(stdout(&inspect).contains("witness /"), "it is found from elsewhere");
}

/// A forgotten day keeps what it has spent, whatever a file beside the database says.
#[test]
fn a_forgotten_day_stays_spent() {
    let folder = folder("state-forgotten");
    let [one, two] = ["one", "two"].map(|name| folder.join(name));
    let file = written(&folder, "days.tsv", days(0, 3).as_bytes());
    stdout(&on("init", &one, &[&words(USERS)[..], &["--releases", "2"]].concat()));
    stdout(&on("init", &two, &["--like", text(&one), "--from", "2025-11-01"]));
    ingest(&two, &file, "2025-11-04");
    for id in ["first", "second"] {
        stdout(&on("release", &two, &["--id", id]));
    }
    let forget = || on("forget", &two, &["--from", "2025-11-02", "--until", "2025-11-03"]);
    stdout(&forget());
    let inspect = || stdout(&on("inspect", &two, &["--json"]));
    let before = inspect();
    assert_told(&forget(), "nothing was done");
    assert_eq!(inspect(), before, "what was refused is in no history");
    let budget = || stdout(&on("budget", &two, &[]));
    let spent = budget();
    assert_contains(&spent, "10 of 10 spent");
    assert_refused(&on("release", &two, &["--id", "third"]), "leaves the window at");
    // A file beside the database cannot say otherwise.
    let status = read(&two.join("status.json"));
    written(&two, "status.json", status.replace("\"left\":0", "\"left\":7").as_bytes());
    assert_eq!(budget(), spent);
    // Nor is a state spent that nobody asked to be.
    assert_eq!(on("restore", &two, &[]).status.code(), Some(1));
    assert_eq!(budget(), spent);
    stdout(&on("restore", &two, &["--force"]));
}
