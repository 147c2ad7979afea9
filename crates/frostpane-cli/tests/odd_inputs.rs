//! Inputs that are bad or odd, in one table: how the program ends, what it says, and that nothing of an event
//! is in it unless that was asked for.

use std::fs;
use std::path::Path;

use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};

use crate::common::{
    folder, frostpane, gzip,
    parquet_file::{self, column},
    stderr, text, written, zstd,
};

/// In every cell of every file below, and nowhere else.
const SECRET: &str = "SECRET";
const EVENTS: usize = 200;

/// An input, and what is to come of it.
struct Odd {
    files: Vec<(&'static str, Vec<u8>)>,
    /// With `{}` for the folder of the files.
    options: &'static str,
    code: i32,
    says: &'static str,
    /// True if `--show-input` shows a part of the file.
    shown: bool,
}

impl Odd {
    fn shown(self) -> Self {
        Self { shown: true, ..self }
    }

    fn run(&self, folder: &Path, more: &[&str]) -> (Option<i32>, String) {
        let options = self.options.replace("{}", text(folder));
        let options: Vec<&str> = options.split_whitespace().collect();
        // Choosing a policy takes longer than all the rest; where users are protected there is no choice.
        let list: &[&str] = if self.options.contains("user") || self.options.contains("--policy") {
            &["list", "--json"]
        } else {
            &["list", "--json", "--policy", "uniform"]
        };
        let output = frostpane(&[list, more, &options[..]].concat(), b"");
        (output.status.code(), stderr(&output))
    }
}

fn odd<const N: usize>(
    files: [(&'static str, Vec<u8>); N],
    options: &'static str,
    code: i32,
    says: &'static str,
) -> Odd {
    Odd { files: files.into(), options, code, says, shown: false }
}

/// Lines that differ in their times, users and keys; `<t>`, `<u>` and `<k>` stand for them.
fn lines(line: &str) -> Vec<u8> {
    let line = |event: usize| {
        line.replace("<t>", &(1_700_000_000 + event).to_string())
            .replace("<u>", &format!("SECRET-USER-{}", event % 3))
            .replace("<k>", &format!("SECRET-KEY-{}", event % 17))
            + "\n"
    };
    (0..EVENTS).map(line).collect::<String>().into_bytes()
}

fn rows() -> Vec<u8> {
    lines("<t>,<u>,<k>")
}

fn csv() -> Vec<u8> {
    [b"time,user,search\n".to_vec(), rows()].concat()
}

fn nobody() -> Vec<u8> {
    [b"time,user,search\n".to_vec(), lines("<t>,,<k>")].concat()
}

fn json() -> Vec<u8> {
    lines(r#"{"at": <t>, "user": "<u>", "key": "<k>"}"#)
}

fn log() -> Vec<u8> {
    lines(r#"<u> - - [01/Oct/2025:12:00:00 +0200] "GET /<k> HTTP/1.1" 200 17"#)
}

/// A line among others.
fn with(line: &str, others: Vec<u8>) -> Vec<u8> {
    [others.clone(), line.as_bytes().to_vec(), b"\n".to_vec(), others].concat()
}

/// Text columns `at` and `key`.
fn parquet() -> Vec<u8> {
    let schema = "message events { required binary at (STRING); required binary key (STRING); }";
    let cells = || (0..EVENTS).map(|event| format!("SECRET-KEY-{event}").into_bytes().into());
    let columns = [cells(), cells()].map(|cells| column::<ByteArrayType>(cells.collect()));
    parquet_file::new(schema, [columns.into()])
}

/// Users who are numbers with decimals.
fn parquet_of_floats() -> Vec<u8> {
    let schema = "message events { required int64 at; required double user; required binary key (STRING); }";
    let columns = vec![
        column::<Int64Type>(vec![1_700_000_000; 3]),
        column::<DoubleType>(vec![1.5; 3]),
        column::<ByteArrayType>(vec![b"SECRET-KEY".to_vec().into(); 3]),
    ];
    parquet_file::new(schema, [columns])
}

fn damaged_parquet() -> Vec<u8> {
    let mut bytes = parquet();
    bytes[4..20].fill(0xFF);
    bytes
}

fn cut(bytes: Vec<u8>) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_vec()
}

fn utf_16(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [*byte, 0]).collect()
}

#[rustfmt::skip]
fn all() -> Vec<Odd> {
    let no_time = "no event has a time: is --time";
    vec![
        // Columns.
        odd([("a.csv", csv())], "--key contry {}/a.csv", 1, "no column \"contry\", for which --key asks; the first line has 3 columns"),
        odd([("a.csv", rows())], "--key search {}/a.csv", 1, "a.csv: there is no column \"search\"").shown(),
        odd([("a.tsv", lines("<t>\t<u>\t<k>"))], "--key search {}/a.tsv", 1, "the first line has 3 columns; --header").shown(),
        odd([("a.csv", csv())], "--key contry --header {}/a.csv", 1, "there are time, user, search"),
        odd([("a.csv", csv())], "--key Serch {}/a.csv", 1, "the first line has 3 columns; did you mean search?"),
        odd([("a.csv", csv())], "--key page --time time {}/a.csv", 1, "for which --key asks; there are time, user, search"),
        odd([("a.csv", csv())], "--key 9 --header {}/a.csv", 1, "there is no column number 9"),
        odd([("a.csv", rows())], "--key 3 --time when --window 1h {}/a.csv", 1, "for which --time asks").shown(),
        odd([("a.csv", rows())], "--key 0 {}/a.csv", 1, "columns are counted from 1"),
        odd([("a.csv", rows())], "{}/a.csv", 1, "this is CSV: say which column holds the key, with --key"),
        odd([("a.txt", rows())], "--key 2 {}/a.txt", 1, "nothing tells how its columns are written"),
        odd([("a.txt", rows())], "--format text --key 2 {}/a.txt", 1, "text has no columns: leave out --key, --time and --user"),
        odd([("a.txt", rows())], "--format xml {}/a.txt", 2, "[possible values: text, csv, tsv, jsonl, parquet]"),
        odd([("a.jsonl", json())], "{}/a.jsonl", 1, "this is JSON Lines: say which column holds the key, with --key"),
        odd([("a.csv", rows())], "--time 1 {}/a.csv", 1, "--time is for files with columns: say which one holds the key"),
        odd([("a.csv", rows())], "--key 3 --window soon {}/a.csv", 2, "give a number of events such as 1000000, 10k or 1M, or a time such as 90s"),
        odd([("a.csv", rows())], "--key 3 --window 1000 --slide 1h {}/a.csv", 1, "must both be numbers of events or both be times"),
        odd([("a.csv", rows())], "--key 3 --keys 5..5 {}/a.csv", 1, "the range of keys 5..5 is empty"),
        odd([("a.csv", rows())], "--key 3 --tpo 20 {}/a.csv", 2, "a similar argument exists: '--top'"),
        odd([("a.csv", rows())], "--key 3 --csv {}/a.csv", 2, "'--json' cannot be used with '--csv'"),
        odd([("a.csv", with("SECRET-SHORT", rows()))], "--key 3 {}/a.csv", 0, "1 of 401 events could not be read and have no key; the first is in").shown(),
        odd([("a.csv", with("1,2,\"SECRET-OPEN", rows()))], "--key 3 {}/a.csv", 0, "line 201: a quote in it does not end").shown(),
        odd([("a.csv", with("1,2,\"SECRET-OPEN", rows()))], "--multiline --key 3 {}/a.csv", 1, "the record that begins in line 201 has a quote that does not end"),
        odd([("a.csv", csv())], "--key 3 {}/a.csv", 0, "seems to name the columns, but counts as an event: if it names them, use --header"),
        odd([("a.csv", csv())], "--key 3 --time 1 --window 1h {}/a.csv", 0, "; if it names the columns, use --header"),
        odd([("a.csv", [csv(), csv(), csv()].concat())], "--key search {}/a.csv", 0, "2 lines repeat the header; each counts as an event without a key"),
        odd([("a.csv", [csv(), csv()].concat())], "--key search --time time --window 1h {}/a.csv", 0, "1 line repeats the header"),
        // Users.
        odd([("a.csv", csv())], "--key search --time time --user usr --window 1d --until 2023-11-15 {}/a.csv", 1, "for which --user asks; there are time, user, search; did you mean user?"),
        odd([("a.csv", csv())], "--key search --time time --user usr --header --window 1d --until 2023-11-15 {}/a.csv", 1, "for which --user asks; there are time, user, search"),
        odd([("a.csv", rows())], "--key 3 --time 1 --user usr --window 1d --until 2023-11-15 {}/a.csv", 1, "there is no column \"usr\"").shown(),
        // How it ends does not tell whether anybody was there.
        odd([("a.csv", nobody())], "--key search --time time --user user --window 1d --until 2023-11-15 {}/a.csv", 0, "none of the events has a user: is --user user right?"),
        odd([("a.txt", rows())], "--user 2 {}/a.txt", 1, "--user is for files with columns: say which one holds the key"),
        odd([("a.jsonl", json())], "--key key --time at --user usr --window 1d --until 2023-11-15 {}/a.jsonl", 0, "none of the events has a user: is --user usr right?"),
        odd([("a.log", log())], "--pattern common --user who --window 1d --until 2025-10-02 {}/a.log", 1, "for which --user asks; there are host, user, time, method"),
        odd([("a.parquet", parquet())], "--key key --time at --user usr --window 1d --until 2025-10-02 {}/a.parquet", 1, "for which --user asks; there are at, key"),
        odd([("a.parquet", parquet_of_floats())], "--key key --time at --user user --window 1d --until 2023-11-15 {}/a.parquet", 1, "for which --user asks, holds neither text, bytes nor whole numbers"),
        // People, and what does not go with them.
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d  {}/a.csv", 1, "users are protected, so events do not say where the windows end: give --until TIME"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --per-user 0 {}/a.csv", 1, "per_user is 0, but a user must be allowed at least 1"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --per-key 0 {}/a.csv", 1, "per_key is 0, but a user must be allowed at least 1"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --per-user 10001 {}/a.csv", 1, "a user may contribute at most 10000 keys in an epoch"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --epoch 2d {}/a.csv", 1, "the epoch is 2d, but can be at most the window's 1d"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --epoch 7h {}/a.csv", 1, "the window of 1d would cut an epoch of 7h in two: make it a whole number of epochs"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15T08:00:00Z {}/a.csv", 1, "let them end at 2023-11-15T00:00:00Z or 2023-11-16T00:00:00Z"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --slide 5h {}/a.csv", 1, "the slide is 5h, which cuts an epoch of 1d in two: make it a whole number of epochs"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --policy smooth {}/a.csv", 1, "the policy smooth was asked for, but where users are protected a user may be in many of its blocks"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --policy uniform {}/a.csv", 1, "every epoch of the clock has a pane of its own: leave the policy out"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --timezone Europe/Berlin {}/a.csv", 1, "changes its offset within a year"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --timezone +01:00 {}/a.csv", 0, "were beyond what they may contribute, and are not counted"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2023-11-15 --sample-users 5/4 {}/a.csv", 2, "is no share: give one such as 1/4"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2022-11-15 {}/a.csv", 0, "events lie at or after 2022-11-15T00:00:00Z"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1d --until 2024-11-15 {}/a.csv", 0, "no event that counts lies in the window; events before its end are from 2023-11-14T22:13:20Z"),
        odd([("a.csv", csv())], "--key search --time time --user user {}/a.csv", 1, "the window is 1000000 events, but where users are protected one user's events would move it for everybody"),
        odd([("a.csv", csv())], "--key search --time time --user user --window 1000 {}/a.csv", 1, "give a time such as 7d"),
        odd([("a.csv", csv())], "--key search --user user --window 1d --until 2023-11-15 {}/a.csv", 1, "users are protected by the clock, which needs the times of the events"),
        odd([("a.csv", csv())], "--key search --time time --per-user 2 --window 1d --until 2023-11-15 {}/a.csv", 1, "nothing says whose an event is: say which column holds the user, with --user"),
        odd([("a.csv", csv()), ("user.toml", b"window = \"1d\"\n[unit.user]\nper_user = 2\n".to_vec())], "--spec {}/user.toml --key search --time time --until 2023-11-15 {}/a.csv", 1, "nothing says whose an event is"),
        odd([("a.log", lines("<t> <u> <k>"))], r"--pattern (?<time>\d+)\s(?<user>\S+)\s(?<key>\S+) --per-user 2 --window 1d {}/a.log", 1, "users are protected, so events do not say where the windows end"),
        // What separates them.
        odd([("a.csv", lines("<t>;<u>;<k>"))], "--key 3 {}/a.csv", 4, "it has too few columns; if another character separates them, use --delimiter").shown(),
        odd([("a.csv", lines("<t>^<u>^<k>"))], "--key search {}/a.csv", 1, "the first line has 1 column: if another character separates more").shown(),
        odd([("a.csv", lines("<t>;<u>;<k>"))], "--key search {}/a.csv", 1, "the first line has 3 columns").shown(),
        odd([("a.csv", csv())], "--key 3 --delimiter ;; {}/a.csv", 2, "give one character of ASCII"),
        odd([("a.csv", csv())], "--key 3 --delimiter \" {}/a.csv", 2, "have a meaning of their own"),
        odd([("a.jsonl", json())], "--key key --delimiter ; {}/a.jsonl", 1, "--delimiter is for CSV and TSV"),
        odd([("a.txt", rows())], "--delimiter , {}/a.txt", 1, "this is CSV: say which column holds the key"),
        // Times.
        odd([("a.csv", rows())], "--key 3 --time 2 --window 1h {}/a.csv", 1, no_time).shown(),
        odd([("a.csv", with("SECRET-NOON,x,y", rows()))], "--key 3 --time 1 --window 1h {}/a.csv", 0, "line 201: no time can be read in it").shown(),
        odd([("a.csv", rows())], "--key 3 --time 1 --time-format %d.%m.%Y --window 1h {}/a.csv", 1, no_time).shown(),
        odd([("a.csv", rows())], "--key 3 --time 1 --time-format %H:%M --window 1h {}/a.csv", 2, "a format with a date in it"),
        odd([("a.csv", rows())], "--key 3 --time 1 --time-format noon --window 1h {}/a.csv", 2, "give unix, millis"),
        odd([("a.csv", lines("2025-10-01T12:00:00[SECRET/Zone],<k>"))], "--key 2 --time 1 --window 1h {}/a.csv", 1, no_time).shown(),
        odd([("a.csv", rows())], "--key 3 --window 1h {}/a.csv", 1, "a window by time needs the times of the events"),
        odd([("a.csv", b"4102444800,SECRET-KEY\n".repeat(2))], "--key 2 --time 1 --window 1h {}/a.csv", 1, "every event was set aside, because its time cannot be"),
        odd([("a.csv", with("4102444800,x,y", rows()))], "--key 4 --time 1 --window 1h {}/a.csv", 4, "none of the events has a key that counts: is --key 4 right").shown(),
        odd([("a.csv", rows())], "--key 3 --time 1 --window 1,5h {}/a.csv", 2, "or a time such as 90s, 1h30m"),
        odd([("a.csv", rows())], "--key 3 --time 1 --window 1d --until soon {}/a.csv", 1, "--until \"soon\" is no time: give a date such as 2025-12-01"),
        odd([("a.csv", rows())], "--key 3 --time 1 --window 100 --until 2025-03-02 {}/a.csv", 1, "--until is for windows by time"),
        odd([("a.csv", rows())], "--key 3 --time 1 --window today --window yesterday {}/a.csv", 1, "the windows today and yesterday do not end at the same time"),
        odd([("a.csv", rows())], "--key 3 --time 1 --window 1d --until 2025-03-02 --policy uniform {}/a.csv", 1, "leave the policy out"),
        odd([("a.csv", rows())], "--key 3 --timezone Berlin {}/a.csv", 2, "give a name such as Europe/Berlin"),
        // JSON Lines.
        odd([("a.jsonl", with("SECRET-LINE", json()))], "--key key {}/a.jsonl", 0, "line 201: it is no JSON object").shown(),
        odd([("a.jsonl", with("{\"key\": \"SECRET-KEY", json()))], "--key key {}/a.jsonl", 0, "line 201: it is no JSON object").shown(),
        odd([("a.jsonl", json())], "--key usr.name {}/a.jsonl", 4, "none of the events has a key that counts: is --key usr.name right"),
        odd([("a.jsonl", json())], "--key key --time user --window 1h {}/a.jsonl", 1, no_time).shown(),
        odd([("a.json", [b"[".to_vec(), json()].concat())], "--key key {}/a.json", 0, "begins with an array").shown(),
        odd([("a.txt", json())], "{}/a.txt", 0, "begins as JSON does"),
        // Patterns.
        odd([("a.log", with("SECRET-LINE", log()))], "--pattern common {}/a.log", 0, "line 201: it does not match --pattern").shown(),
        odd([("a.log", log())], r#"--pattern ^(?<time>x)(?<key>y) {}/a.log"#, 4, "none of the events has a key").shown(),
        odd([("a.log", log())], "--pattern common --key path {}/a.log", 1, "there are host, user, time, method, key, status, size"),
        odd([("a.log", log())], r"--pattern ^(?<name>\S+) {}/a.log", 1, "--pattern has no group (?<key>...)"),
        odd([("a.log", log())], r"--pattern ^(?<key>\S+) --window 1h {}/a.log", 1, "a window by time needs the times"),
        odd([("a.log", log())], r"--pattern ^\S+ {}/a.log", 2, "a pattern with named groups"),
        odd([("a.log", log())], "--pattern (?<key> {}/a.log", 2, "regex parse error"),
        odd([("a.log", log())], "--pattern (?<key>(.{999}){999}) {}/a.log", 2, "size limit"),
        odd([("a.log", log())], "--pattern common --format csv {}/a.log", 1, "--pattern is for lines of text, not for CSV"),
        odd([("a.log", log())], "--pattern common --header {}/a.log", 2, "cannot be used with"),
        // Files that are not there, or not whole.
        odd([("a.csv", csv())], "--key search {}/b.csv.gz", 1, "there is no such file"),
        odd([("searches.csv", csv())], "--key search {}/serches.csv", 1, "searches.csv?"),
        odd([("a.csv", csv())], "--key search {}/no/such.csv", 1, "/no either"),
        odd([("a.csv", csv())], "--key search {}/*.tsv", 1, "no file matches"),
        odd([("a.csv", csv())], "--key search {}/[.tsv", 1, "is neither a file nor a pattern of file names"),
        odd([(".a.csv", csv()), ("_SUCCESS", rows())], "--key search {}", 1, "there is no file to read in the folder"),
        odd([("x/y/_a.csv", csv())], "--key search {}", 1, "there is no file to read in the folder"),
        odd([("a.txt", rows()), ("b.txt", Vec::new()), ("c.txt", Vec::new())], "--format text {}", 0, "2 files have no events; the first is"),
        odd([("a.txt", Vec::new())], "{}/a.txt", 1, "a.txt has no events"),
        odd([("a.csv", b"time,user,search\n".to_vec())], "--key search --time time --window 1d {}/a.csv", 1, "a.csv has no events"),
        odd([("a.csv.gz", cut(gzip(&csv())))], "--key search {}/a.csv.gz", 1, "it was cut off, so copy it again"),
        odd([("a.csv.zst", cut(zstd(&csv())))], "--key search {}/a.csv.zst", 1, "it was cut off, so copy it again"),
        odd([("a.csv.gz", csv())], "--key search {}/a.csv.gz", 1, "if it is not packed, use --packing none"),
        odd([("a.csv.zst", csv())], "--key search {}/a.csv.zst", 1, "if it is not packed, use --packing none"),
        odd([("a.csv", gzip(&csv()))], "--key 1 {}/a.csv", 0, "begins as gzip does: if it is packed, use --packing gzip"),
        odd([("a.csv", [b"PK\x03\x04".to_vec(), rows()].concat())], "--key 1 {}/a.csv", 0, "if it is one, unpack it"),
        odd([("a.csv", utf_16(&rows()))], "--key 1 {}/a.csv", 0, "if it is UTF-16, convert it to UTF-8"),
        // Parquet.
        odd([("a.parquet", Vec::new())], "--key key {}/a.parquet", 1, "a.parquet is empty"),
        odd([("a.parquet", csv())], "--key key {}/a.parquet", 1, "it does not end as Parquet files do"),
        odd([("a.parquet", cut(parquet()))], "--key key {}/a.parquet", 1, "it does not end as Parquet files do"),
        odd([("a.parquet", damaged_parquet())], "--key at {}/a.parquet", 1, "this cannot be read as Parquet: it is "),
        odd([("a.parquet", parquet())], "--key kye {}/a.parquet", 1, "for which --key asks; there are at, key"),
        odd([("a.parquet", parquet())], "--key key --time at --window 1h {}/a.parquet", 1, no_time).shown(),
        // Partitions.
        odd([("day=2025/a.csv", csv())], "--key country {}", 1, "the first line has 3 columns, and of the path day"),
        odd([("k=__HIVE_DEFAULT_PARTITION__/a.csv", csv())], "--key k {}", 4, "none of the events has a key"),
        odd([("k=x/a.csv", csv())], "--key k {}", 0, "the key is part of the paths"),
        // Declared keys.
        odd([("a.csv", csv())], "--key search --keys {}/keys.txt {}/a.csv", 1, "keys.txt: there is no such file"),
        odd([("a.csv", csv()), ("keys.txt", b"SECRET-KEY-1\n".repeat(3))], "--key contry --keys {}/keys.txt {}/a.csv", 1, "there is no column"),
    ]
}

fn faults(odd: &Odd, folder: &Path) -> Vec<String> {
    let (code, said) = odd.run(folder, &[]);
    let (code_shown, said_shown) = odd.run(folder, &["--show-input"]);
    let checks = [
        (code == Some(odd.code), format!("ends with {code:?}: {said}")),
        (said.contains(odd.says), format!("does not say {:?}: {said}", odd.says)),
        (!said.contains(SECRET), format!("gives away: {said}")),
        (code_shown == code, format!("shown, ends with {code_shown:?}: {said_shown}")),
        (said_shown.contains(SECRET) == odd.shown, format!("shows: {said_shown}")),
    ];
    let faults = checks.into_iter().filter(|(holds, _)| !holds);
    faults.map(|(_, fault)| format!("{}\n  {fault}", odd.options)).collect()
}

#[test]
fn odd_inputs_end_as_they_should_and_give_nothing_away() {
    let all = all();
    assert!(all.len() >= 40);
    let mut found = Vec::new();
    for (number, odd) in all.iter().enumerate() {
        let folder = folder(&format!("odd-{number}"));
        for (name, content) in &odd.files {
            written(&folder, name, content);
        }
        found.extend(faults(odd, &folder));
        fs::remove_dir_all(folder).unwrap();
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
