//! States, with the real executable: what is kept from one run to the next.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::common::{assert_told, command, folder, frostpane, heavy, json, run, stderr, stdout, text, words};

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

fn init(state: &Path, options: &[&str]) -> String {
    let output = frostpane(&[&["init", text(state)], options].concat(), b"");
    stdout(&output);
    stderr(&output)
}

#[test]
fn a_list_every_day_is_charged_to_every_day_and_the_budget_renews_itself() {
    for (name, options) in [("people", words(USERS)), ("events", words(EVENTS))] {
        let folder = folder(&format!("state-daily-{name}"));
        let state = folder.join("state");
        let said = init(&state, &[&options[..], &["--releases", "2"]].concat());
        assert!(said.contains("next: frostpane ingest"), "{said}");
        let mut refused = 0;
        for day in 0..8 {
            let file = folder.join(format!("{day}.tsv"));
            fs::write(&file, days(day, 1)).unwrap();
            let until = format!("2025-11-{:02}", day + 2);
            let ingest = ["ingest", text(&state), text(&file), "--until", &until];
            assert!(stderr(&frostpane(&ingest, b"")).contains("960 events were taken"));
            assert!(stderr(&frostpane(&ingest, b"")).contains("nothing is new"));
            let release = ["release", text(&state), "--id", &until, "--json"];
            let first = frostpane(&release, b"");
            if first.status.success() {
                let list: Value = serde_json::from_str(&stdout(&first)).unwrap();
                assert!(day < 1 || heavy(&list).len() == 4, "{list}");
                let again = frostpane(&release, b"");
                assert_eq!(again.stdout, first.stdout);
                assert_told(&again, "nothing was charged");
            } else {
                let why = stderr(&first);
                assert!(why.contains("leaves the window at 2025-11-"), "{why}");
                assert!(why.contains("from 2025-11-"), "who cannot pay, by the days: {why}");
                assert!(first.stdout.is_empty());
                refused += 1;
            }
        }
        assert!((1..=4).contains(&refused), "{name}: {refused} were refused");
        let budget = stdout(&frostpane(&["budget", text(&state)], b""));
        assert!(budget.contains("release") && budget.contains("of 10 spent"), "{budget}");
    }
}

/// Byte for byte what was written first, in every form.
#[test]
fn an_id_is_written_the_same_in_every_form() {
    let folder = folder("state-forms");
    let (state, file) = (folder.join("state"), folder.join("days.tsv"));
    fs::write(&file, days(0, 4)).unwrap();
    init(&state, &words(USERS));
    frostpane(&["ingest", text(&state), text(&file), "--until", "2025-11-05"], b"");
    let (page, guarantee) = (folder.join("page.html"), folder.join("guarantee.txt"));
    let write = |form: &[&str]| {
        let files = ["--report", text(&page), "--guarantee", text(&guarantee)];
        let args = [&["release", text(&state), "--id", "one"], form, &files].concat();
        let output = stdout(&frostpane(&args, b""));
        (output, fs::read(&page).unwrap(), fs::read(&guarantee).unwrap())
    };
    for form in [&[][..], &["--csv"], &["--json"]] {
        assert_eq!(write(form), write(form));
        assert!(write(form).0.contains("yoga"));
    }
}

#[test]
fn lists_at_every_slide_go_on_across_restarts_with_one_noise() {
    let folder = folder("state-watch");
    let (state, file) = (folder.join("state"), folder.join("log.tsv"));
    init(&state, &[&words(EVENTS)[..], &["--watch"]].concat());
    let mut lists = Vec::new();
    for day in 0..6 {
        let mut log = OpenOptions::new().create(true).append(true).open(&file).unwrap();
        log.write_all(days(day, 1).as_bytes()).unwrap();
        let output = stdout(&frostpane(&["watch", text(&state), text(&file), "--json"], b""));
        lists.extend(output.lines().map(str::to_owned));
    }
    assert_eq!(lists.len(), 5, "the last day goes on");
    let again = frostpane(&["watch", text(&state), text(&file), "--after", "0"], b"");
    assert_eq!(stdout(&again).lines().collect::<Vec<_>>(), lists);
    let numbers =
        lists.iter().map(|list| serde_json::from_str::<Value>(list).unwrap()["continual"]["number"].clone());
    assert!(numbers.eq((1..=5).map(Value::from)));
    let single = frostpane(&["release", text(&state)], b"");
    assert_told(&single, "has one at every slide");
    let budget = stdout(&frostpane(&["budget", text(&state)], b""));
    assert!(budget.contains("has paid epsilon 5"), "{budget}");
}

/// Ended from outside at any time, an ingest is run again until it has taken everything: the number of events
/// is that of the lines.
#[test]
fn an_ingest_that_was_killed_is_simply_run_again() {
    let folder = folder("state-killed");
    let (state, file) = (folder.join("state"), folder.join("log.txt"));
    let lines: String = (0..3_000_000).map(|number| format!("key {}\n", number * 7 % 1_000)).collect();
    fs::write(&file, lines).unwrap();
    init(&state, &["--window", "3000000", "--top", "5", "--epsilon", "100000"]);
    let ingest = ["ingest", text(&state), text(&file)];
    for round in 0..6 {
        let mut process = command(&ingest).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(40 + 60 * round));
        let _ = process.kill();
        process.wait().unwrap();
    }
    stdout(&frostpane(&ingest, b""));
    let list: Value = json(&["release", text(&state), "--json"], b"");
    assert_eq!(list["window"]["events"], 3_000_000);
    assert!(heavy(&list).iter().all(|(_, count)| *count == 3_000));
}

/// Each with its exit code, and one sentence that says what to do.
#[test]
fn what_is_wrong_is_said_in_a_sentence_and_changes_nothing() {
    let folder = folder("state-wrong");
    let (state, file) = (folder.join("state"), folder.join("days.tsv"));
    fs::write(&file, days(0, 2)).unwrap();
    init(&state, &words(USERS));
    let (state, file, none) = (text(&state), text(&file), folder.join("none"));
    let none = text(&none);
    for (args, says) in [
        (vec!["release", none], "it has no file frostpane.redb; `frostpane init` begins one"),
        (vec!["budget", none], "is no state of Frostpane"),
        (vec!["restore", state], "if you know that it is one, say so, with `frostpane restore DIR --force`"),
        (vec!["init", state, "--window", "10"], "is not empty"),
        (vec!["init", none, "--window", "7d"], "say which column holds them, with --time"),
        (
            vec!["init", none, "--window", "7d", "--time", "1", "--key", "2", "--until", "2025-11-02"],
            "a state goes on",
        ),
        (vec!["init", none, "--budget", "-1"], "epsilon is -1"),
        (vec!["init", none, "--budget", "2", "--budget-delta", "2"], "must be at least 0 and below 1"),
        (vec!["ingest", state], "give it one, with --id"),
        (vec!["ingest", state, none], "none"),
        (vec!["ingest", state, file], "says that it is right, with --accept-clock"),
        (vec!["release", state, "--window", "30h"], "no whole number of epochs"),
        (vec!["release", state, "--window", "5000"], "ask for a duration"),
        (vec!["release", state, "--window", "9d"], "at most the longest window"),
        (vec!["watch", state, file], "has no list at every slide"),
        (vec!["watch", file, "--id", "x"], "are for a state"),
        (vec!["forget", state, "--from", "2025-11-01"], "give --until"),
    ] {
        let output = frostpane(&args, b"");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = stderr(&output);
        assert!(said.contains(says), "{args:?}: {said}");
        assert!(said.lines().count() <= 4 && !said.contains("panicked"), "{said}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert_eq!(stdout(&frostpane(&["inspect", state, "--json"], b"")).matches("\"generation\":1").count(), 1);
}

/// Each of the thousand counts once, also the one that was cut in two.
#[test]
fn a_pipe_that_broke_is_gone_on_with_under_its_id() {
    let folder = folder("state-broken-pipe");
    let state = folder.join("state");
    init(&state, &["--window", "1000", "--top", "3", "--epsilon", "1000"]);
    let lines: String = (0..1_000).map(|number| format!("key {}\n", number % 3)).collect();
    let ingest = |more: &[&str], lines: &str| {
        let args = [&["ingest", text(&state), "--id", "part"], more].concat();
        let output = run(&mut command(&args), lines.as_bytes());
        (output.status.success(), stderr(&output))
    };
    let (ended, said) = ingest(&[], &lines[..6 * 499 + 3]);
    assert!(ended && said.contains("499 events were taken"), "{said}");
    assert!(said.contains("has no end, so it was left out") && said.contains("--whole"), "{said}");
    let (ended, said) = ingest(&[], &lines[..6 * 300]);
    assert!(!ended && said.contains("give all of it again"), "{said}");
    let (ended, said) = ingest(&[], lines.trim_end());
    assert!(ended && said.contains("500 events were taken, after 499 before"), "{said}");
    let (ended, said) = ingest(&["--whole"], lines.trim_end());
    assert!(ended && said.contains("1 event was taken, after 999 before"), "{said}");
    let release = stdout(&frostpane(&["release", text(&state), "--json"], b""));
    let release: Value = serde_json::from_str(&release).unwrap();
    assert_eq!(release["window"]["events"], 1_000);
    let counts = release["heavy"].as_array().unwrap().iter().map(|key| &key["count"]);
    assert_eq!(counts.collect::<Vec<_>>(), [334, 333, 333]);
}

/// A log that is turned over keeps growing under whatever name.
#[test]
fn half_a_last_line_is_taken_of_no_file_whatever_its_name() {
    let folder = folder("state-half-lines");
    for name in ["log.tsv", "log.tsv.1", "log.2025-11-01", "log"] {
        let (state, file) = (folder.join(format!("state of {name}")), folder.join(name));
        init(&state, &["--key", "2", "--window", "1000", "--top", "3"]);
        let ingest = ["ingest", text(&state), text(&file), "--format", "tsv"];
        fs::write(&file, "1\tsnow\n2\tra").unwrap();
        let said = stderr(&frostpane(&ingest, b""));
        assert!(said.contains("1 event was taken") && said.contains("has no end"), "{name}: {said}");
        fs::write(&file, "1\tsnow\n2\train\n3\tsnow\n").unwrap();
        let said = stderr(&frostpane(&ingest, b""));
        assert!(said.contains("2 events were taken, after 1 before"), "{name}: {said}");
    }
}

/// Nothing that `budget`, `inspect` or a message of them shows tells how many events there are, or of what.
#[test]
fn budget_and_inspect_show_nothing_private() {
    let folder = folder("state-public");
    let shown = |people: i64| {
        let state = folder.join(format!("state {people}"));
        let file = folder.join(format!("{people}.tsv"));
        let lines: String =
            days(0, 3).lines().take(1 + 60 * people as usize).map(|line| format!("{line}\n")).collect();
        fs::write(&file, lines).unwrap();
        init(&state, &words(USERS));
        frostpane(&["ingest", text(&state), text(&file), "--until", "2025-11-04"], b"");
        let budget = stdout(&frostpane(&["budget", text(&state), "--json"], b""));
        let inspect: Value = json(&["inspect", text(&state), "--json"], b"");
        (budget, inspect["history"]["generation"].clone(), inspect["spec"].clone())
    };
    assert_eq!(shown(0), shown(40));
}

/// Copies a folder of files.
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
    init(&state, &[&words(EVENTS)[..], &["--watch", "--witness", text(&witness)]].concat());
    copy(&state, &other);
    let mut both = [&state, &other].map(|state| {
        let options = ["watch", text(state), "--format", "tsv", "--id", "log", "--json"];
        command(&options).spawn().unwrap()
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
    let states = [text(&state), text(&other)];
    let latest = frostpane(&["restore", states[done]], b"");
    assert_told(&latest, "no copy");
    stdout(&frostpane(&["restore", states[refused]], b""));
    let overtaken = frostpane(&["watch", states[done], "--id", "log", "--json"], b"");
    assert_told(&overtaken, "it is a copy");
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
        let refused = init(witness);
        assert_eq!(refused.status.code(), Some(1), "{witness}");
        let said = stderr(&refused);
        assert!(said.contains("would be restored with it"), "{witness}: {said}");
        assert!(!folder.join("state").exists(), "nothing was begun");
    }
    assert!(stderr(&init("none/witness")).contains("has no folder to lie in"));
    stdout(&init("state/../witness"));
    let inspect = command(&["inspect", "state"]).current_dir(&folder).output().unwrap();
    assert!(stdout(&inspect).contains("witness /"), "it is found from elsewhere");
}

/// What a forgotten day has spent stays spent, whatever a file beside the database says.
#[test]
fn a_forgotten_day_stays_spent() {
    let folder = folder("state-forgotten");
    let [one, two, file] = ["one", "two", "days.tsv"].map(|name| folder.join(name));
    fs::write(&file, days(0, 3)).unwrap();
    init(&one, &[&words(USERS)[..], &["--releases", "2"]].concat());
    init(&two, &["--like", text(&one), "--from", "2025-11-01"]);
    let ingest = ["ingest", text(&two), text(&file), "--until", "2025-11-04"];
    stdout(&frostpane(&ingest, b""));
    for id in ["first", "second"] {
        stdout(&frostpane(&["release", text(&two), "--id", id], b""));
    }
    let day = ["--from", "2025-11-02", "--until", "2025-11-03"];
    let forget = [&["forget", text(&two)], &day[..]].concat();
    stdout(&frostpane(&forget, b""));
    let inspect = || stdout(&frostpane(&["inspect", text(&two), "--json"], b""));
    let before = inspect();
    let none = frostpane(&forget, b"");
    assert_told(&none, "nothing was done");
    assert_eq!(inspect(), before, "what was refused is in no history");
    let budget = stdout(&frostpane(&["budget", text(&two)], b""));
    assert!(budget.contains("10 of 10 spent"), "{budget}");
    let third = frostpane(&["release", text(&two), "--id", "third"], b"");
    assert_eq!(third.status.code(), Some(1), "{}", stderr(&third));
    assert!(third.stdout.is_empty() && stderr(&third).contains("leaves the window at"));
    // A file beside the database cannot say otherwise.
    let status = fs::read_to_string(two.join("status.json")).unwrap();
    fs::write(two.join("status.json"), status.replace("\"left\":0", "\"left\":7")).unwrap();
    assert_eq!(stdout(&frostpane(&["budget", text(&two)], b"")), budget);
    // Nor is a state spent that nobody asked to be.
    assert_eq!(frostpane(&["restore", text(&two)], b"").status.code(), Some(1));
    assert_eq!(stdout(&frostpane(&["budget", text(&two)], b"")), budget);
    stdout(&frostpane(&["restore", text(&two), "--force"], b""));
}
