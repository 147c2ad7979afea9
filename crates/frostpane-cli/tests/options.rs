//! Options, fields of a specification, and the page that says which is which.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::{assert_run, frostpane, json, read, stdout, temporary, text, words, written};

type Names = BTreeSet<String>;

/// Commands whose options ask for something to be released, or foreseen.
const COMMANDS: [&str; 4] = ["list", "watch", "plan", "compare"];

/// Options that are no fields, because they change nothing about what is released.
const NO_FIELDS: [(&str, &str); 5] = [
    ("about the specification itself", "spec print-spec"),
    (
        "where events stand",
        "key time user time-format format packing delimiter pattern header multiline show-input timezone ahead from \
         id accept-clock",
    ),
    ("how a release is shown", "json csv rows report title source guarantee after"),
    ("what a plan is asked", "watch pipe events at-norm distinct target-count"),
    ("asks for nothing", "help"),
];

/// Fields that no option sets: the page says why.
const NO_OPTION: [&str; 9] = [
    "version",
    "unit",
    "unit.user.offset",
    "confidence",
    "continual",
    "releases",
    "key_bytes",
    "entries",
    "sketch",
];

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    names.into_iter().map(str::to_owned).collect()
}

/// As the program's help has them: `-h, --help`, `--alpha <ALPHA>`, with what they mean further to the right.
fn options(command: &str) -> Names {
    let help = stdout(&frostpane(&[command, "--help"], b""));
    let option = |line: &str| {
        let shown = line.trim_start();
        let is_option = shown.starts_with('-') && line.len() - shown.len() < 8;
        let name = shown.split("--").nth(1).filter(|_| is_option)?;
        let end = name.find(|c: char| c != '-' && !c.is_ascii_lowercase());
        Some(name[..end.unwrap_or(name.len())].to_owned())
    };
    help.lines().filter_map(option).collect()
}

/// As the program writes them, with everything asked for that it leaves out where it is as usual.
static FIELDS: LazyLock<Names> = LazyLock::new(|| {
    let unusual = br#"{ "until": 9, "entries": 500, "sketch": { "rows": 5, "width": 1024 } }"#;
    let file = temporary("unusual.json", unusual);
    let of = |command: &str, more: &[&str]| {
        let spec = json(&[&[command], more, &["--print-spec=json"]].concat(), b"");
        Names::from_iter(spec.as_object().unwrap().keys().cloned())
    };
    let list = of("list", &["--spec", text(&file)]);
    let others = [of("watch", &[]), of("list", &["--top", "20"]), of("list", &["--all"]), of_users()];
    others.iter().fold(list, |fields, more| &fields | more)
});

/// The fields of users, each with its path.
fn of_users() -> Names {
    let people = ["list", "--window", "7d", "--user", "2", "--sample-users", "1/4"];
    let spec = json(&[&people[..], &["--timezone", "+01:00", "--print-spec=json"]].concat(), b"");
    let bounds = spec["unit"]["user"].as_object().unwrap();
    bounds.keys().map(|name| format!("unit.user.{name}")).collect()
}

/// The option that sets a field, if one does.
fn option_of(field: &str) -> String {
    field.rsplit('.').next().unwrap().replace('_', "-")
}

/// The part of the page on the program that is about specifications.
fn section() -> String {
    let page = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/program.md"));
    let (_, rest) = page.split_once("\n## What a list is asked to be\n").unwrap();
    rest.split_once("\n## ").unwrap().0.to_owned()
}

/// The rows of the tables whose first column has this heading, cell by cell.
fn rows(section: &str, heading: &str) -> Vec<Vec<String>> {
    let start = format!("| {heading} |");
    let table = section.lines().skip_while(|line| !line.starts_with(&start));
    let rows = table.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Options in a text, written as `--option`.
fn mentioned(text: &str) -> Names {
    text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("--")).map(str::to_owned).collect()
}

#[test]
fn every_option_is_a_field_of_the_specification_or_says_why_not() {
    let options: Names = COMMANDS.into_iter().flat_map(options).collect();
    assert!(options.len() > 20, "{options:?}");
    let has_field = |name: &String| FIELDS.iter().any(|field| option_of(field) == *name);
    let (of_fields, others): (Names, Names) = options.into_iter().partition(has_field);
    let excused = NO_FIELDS.iter().flat_map(|(_, names)| words(names));
    assert_eq!(others, names(excused));
    let without_option: Names =
        FIELDS.iter().filter(|field| !of_fields.contains(&option_of(field))).cloned().collect();
    assert_eq!(without_option, names(NO_OPTION));
}

#[test]
fn the_page_has_every_field_with_its_option_or_why_it_has_none() {
    let section = section();
    let rows = rows(&section, "field");
    let documented = rows.iter().map(|row| row[0].trim_matches('`'));
    assert_eq!(names(documented), *FIELDS);
    for row in &rows {
        let (field, option) = (row[0].trim_matches('`'), &row[3]);
        if NO_OPTION.contains(&field) {
            assert!(option.starts_with("none: "), "{field}: {option}");
        } else {
            assert_eq!(*option, format!("`--{}`", option_of(field)));
        }
    }
}

#[test]
fn the_page_has_every_option_that_is_no_field() {
    let rows = rows(&section(), "options");
    let groups: Vec<Names> = rows.iter().map(|row| mentioned(&row[0])).collect();
    let expected = NO_FIELDS.map(|(_, group)| names(words(group)));
    assert_eq!(groups, expected);
}

/// The page has the defaults that are one word.
#[test]
fn the_page_has_the_defaults_that_are_taken() {
    let [list, watch] = ["list", "watch"].map(|command| json(&[command, "--print-spec=json"], b""));
    let people = json(&["list", "--window", "7d", "--user", "2", "--print-spec=json"], b"");
    // Chosen, or only there where they were asked for.
    let chosen = words(
        "slide policy releases entries sketch continual top all until unit.user.sample_users unit.user.offset",
    );
    for row in rows(&section(), "field") {
        let (field, usual) = (row[0].trim_matches('`'), row[2].trim_matches('`'));
        if chosen.contains(&field) {
            continue;
        }
        let taken = match (field, field.strip_prefix("unit.user.")) {
            ("horizon" | "together", _) => &watch[field],
            (_, Some(bound)) => &people["unit"]["user"][bound],
            (_, None) => &list[field],
        };
        let taken = taken.as_str().map_or_else(|| taken.to_string(), str::to_owned);
        match (usual.parse::<f64>(), taken.parse::<f64>()) {
            (Ok(usual), Ok(taken)) => assert_eq!(usual, taken, "{field}"),
            _ => assert_eq!(usual, taken, "{field}"),
        }
    }
}

/// A folder with the files that the page shows, and some searches.
fn folder(section: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("specifications");
    for file in section.split("```toml\n# ").skip(1) {
        let (name, rest) = file.split_once('\n').unwrap();
        written(&folder, name, rest.split("```").next().unwrap().as_bytes());
    }
    let searches = ["weather", "yoga", "weather", "visa"].into_iter().cycle().take(30_000);
    let lines = searches
        .enumerate()
        .map(|(number, search)| format!("{}\tuser\t{search}\n", 1_764_000_000 + 20 * number));
    let file = "time\tuser\tsearch\n".to_owned() + &lines.collect::<String>();
    written(&folder, "searches.tsv", file.as_bytes());
    folder
}

#[test]
fn every_command_on_specifications_that_the_page_shows_can_be_run() {
    let section = section();
    let folder = folder(&section);
    let commands: Vec<&str> = section.lines().filter(|line| line.starts_with("frostpane ")).collect();
    assert_eq!(commands.len(), 5, "{commands:?}");
    assert_run(&commands, &folder);
    let lists = read(&folder.join("lists.jsonl"));
    assert!(lists.lines().count() > 100, "a list an hour of a week");
}
