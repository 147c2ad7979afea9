//! Options, and fields of a specification.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::common::{frostpane, json, stdout, temporary, text, words};

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

/// Fields that no option sets.
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

fn of_users() -> Names {
    let people = ["list", "--window", "7d", "--user", "2", "--sample-users", "1/4"];
    let spec = json(&[&people[..], &["--timezone", "+01:00", "--print-spec=json"]].concat(), b"");
    spec["unit"]["user"].as_object().unwrap().keys().map(|name| format!("unit.user.{name}")).collect()
}

/// The option that sets a field, if one does.
fn option_of(field: &str) -> String {
    field.rsplit('.').next().unwrap().replace('_', "-")
}

#[test]
fn every_option_is_a_field_of_the_specification_or_says_why_not() {
    let options: Names = COMMANDS.into_iter().flat_map(options).collect();
    assert!(options.len() > 20, "{options:?}");
    let has_field = |name: &String| FIELDS.iter().any(|field| option_of(field) == *name);
    let (of_fields, others): (Names, Names) = options.into_iter().partition(has_field);
    assert_eq!(others, names(NO_FIELDS.iter().flat_map(|(_, names)| words(names))));
    let without_option: Names =
        FIELDS.iter().filter(|field| !of_fields.contains(&option_of(field))).cloned().collect();
    assert_eq!(without_option, names(NO_OPTION));
}
