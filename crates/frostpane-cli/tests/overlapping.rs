//! `frostpane watch` over files that overlap in time, beside the one file that has their events in the order of time.

use std::path::{Path, PathBuf};

use crate::common::{folder, frostpane, stderr};

/// A line, and the second that stands in it.
type Line = (u64, String);

/// Events of three hours, some of them in the same second, with keys that differ from hour to hour.
fn events() -> Vec<Line> {
    let second = |i: u64| i * 10_800 / 20_000 / 3 * 3;
    let key = |i: u64| ["elm", "oak", "ash", "fir"][(i * i / 7 % 11 % 4) as usize];
    (0..20_000).map(|i| (second(i), format!("{},{}", second(i), key(i)))).collect()
}

/// Some of the events go to each of the files, in an order that has no rule.
fn dealt(events: &[Line], files: u64) -> Vec<Vec<Line>> {
    let mut dealt = vec![Vec::new(); files as usize];
    for (number, line) in events.iter().enumerate() {
        let file = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        dealt[(file % files) as usize].push(line.clone());
    }
    dealt
}

struct Watched {
    releases: String,
    told: String,
}

/// Writes each file, and reads all of them.
fn watch(name: &str, files: &[Vec<Line>]) -> Watched {
    let folder = folder(name);
    let paths: Vec<PathBuf> = files
        .iter()
        .enumerate()
        .map(|(number, lines)| {
            let file = folder.join(format!("{number:03}.csv"));
            let lines: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            std::fs::write(&file, lines).unwrap();
            file
        })
        .collect();
    watch_files(&folder, &paths)
}

/// So much epsilon that there is no noise, and keys that are declared.
fn watch_files(folder: &Path, files: &[PathBuf]) -> Watched {
    let keys = folder.join("keys.txt");
    std::fs::write(&keys, "ash\nelm\nfir\noak\n").unwrap();
    let options = "watch --key 2 --time 1 --window 30min --slide 5min --epsilon 100000 --alpha 0.1 --keys";
    let mut args: Vec<&str> = options.split(' ').collect();
    args.push(keys.to_str().unwrap());
    args.extend(files.iter().map(|file| file.to_str().unwrap()));
    let output = frostpane(&args, b"");
    Watched { told: stderr(&output), releases: String::from_utf8(output.stdout).unwrap() }
}

#[test]
fn files_that_overlap_give_the_releases_of_the_sorted_one() {
    let events = events();
    let sorted = watch("overlapping-sorted", std::slice::from_ref(&events));
    assert_eq!(sorted.releases.lines().count(), 36);
    for files in [2, 3, 7, 64] {
        let apart = watch(&format!("overlapping-{files}"), &dealt(&events, files));
        assert!(apart.releases == sorted.releases, "{files} files: {}", apart.told);
        assert!(!apart.told.contains("late"), "{}", apart.told);
    }
}

/// The second server began later, the third was silent, the fourth stopped first; and files that follow each
/// other are merged too.
#[test]
fn files_may_begin_and_end_when_they_like() {
    let events = events();
    let sorted = watch("staggered-sorted", std::slice::from_ref(&events));
    let (early, late) = (&events[..9_000], &events[9_000..]);
    let mut staggered = dealt(early, 2);
    staggered.insert(0, late.to_vec());
    staggered.insert(2, Vec::new());
    let staggered = watch("staggered", &staggered);
    assert!(staggered.releases == sorted.releases, "{}", staggered.told);
    assert!(
        staggered.told.contains("002.csv is empty") && !staggered.told.contains("late"),
        "{}",
        staggered.told
    );
}

/// A wrong clock at the head of a file holds up neither that file nor the others.
#[test]
fn a_time_in_the_future_holds_nothing_up() {
    let events = events();
    let sorted = watch("ahead-sorted", std::slice::from_ref(&events));
    let mut files = dealt(&events, 2);
    files[1].insert(0, (0, "4102444800,oak".to_owned()));
    let ahead = watch("ahead", &files);
    assert!(ahead.releases == sorted.releases, "{}", ahead.told);
    assert!(
        ahead.told.contains("1 event lies more than 1 hour in the future") && !ahead.told.contains("late"),
        "{}",
        ahead.told
    );
}

/// It counts as an event of its neighbour's time, as in the sorted file.
#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let mut events = events();
    events[1_000].1 = events[1_000].0.to_string();
    let sorted = watch("unread-sorted", std::slice::from_ref(&events));
    let files = dealt(&events, 2);
    let is_broken = |(_, line): &Line| !line.contains(',');
    let file = files.iter().position(|lines| lines.iter().any(is_broken)).unwrap();
    let line = 1 + files[file].iter().position(is_broken).unwrap();
    let mut reordered = files.clone();
    reordered.swap(1, file);
    let apart = watch("unread", &reordered);
    assert!(apart.releases == sorted.releases, "{}", apart.told);
    assert!(
        apart.told.contains("1 of 20,000 events could not be read")
            && apart.told.contains(&format!("001.csv, line {line}: it has too few columns")),
        "{}",
        apart.told
    );
}

/// All of its events count, without a key and at the time of the last one of all; if no file has a time, that
/// is refused.
#[test]
fn a_file_without_a_time_stops_the_others_only_if_none_has_one() {
    let events = events();
    let nameless = vec![(0, "time,tree".to_owned()); 2];
    let with = |files: Vec<Vec<Line>>, name: &str| watch(name, &files);
    let sorted = with(vec![[&events[..], &nameless].concat()], "timeless-sorted");
    let apart = with([vec![nameless.clone()], dealt(&events, 2)].concat(), "timeless");
    assert!(apart.releases == sorted.releases, "{}", apart.told);
    assert!(
        apart.told.contains("2 of 20,002 events could not be read") && apart.told.contains("000.csv, line 1"),
        "{}",
        apart.told
    );
    let none = with(vec![nameless.clone(), nameless], "timeless-all");
    assert!(
        none.releases.is_empty() && none.told.contains("no event has a time: is --time 1 right?"),
        "{}",
        none.told
    );
}

#[test]
fn a_file_that_cannot_be_read_on_stops_all() {
    let folder = folder("broken");
    let [whole, broken] = ["whole.csv", "broken.csv.gz"].map(|name| folder.join(name));
    std::fs::write(&whole, "1,elm\n301,oak\n").unwrap();
    std::fs::write(&broken, "2,elm\n302,oak\n").unwrap();
    let stopped = watch_files(&folder, &[whole, broken]);
    assert!(
        stopped.releases.is_empty() && stopped.told.contains("broken.csv.gz: it does not begin as what gzip"),
        "{}",
        stopped.told
    );
}

#[test]
fn too_many_files_are_read_one_after_the_other_and_that_is_told() {
    let events = events();
    let sorted = watch("many-sorted", std::slice::from_ref(&events));
    let told = "the 80 files are read one after the other";
    let follow: Vec<Vec<Line>> = events.chunks(250).map(<[Line]>::to_vec).collect();
    let follow = watch("many-following", &follow);
    assert!(
        follow.releases == sorted.releases && follow.told.contains(told) && !follow.told.contains(" late"),
        "{}",
        follow.told
    );
    let apart = watch("many-overlapping", &dealt(&events, 80));
    assert!(apart.told.contains(told) && apart.told.contains("too late"), "{}", apart.told);
}
