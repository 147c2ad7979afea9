//! `frostpane watch` over files that overlap in time, beside the one file that has their events in the order of time.

use std::path::{Path, PathBuf};

use crate::common::{assert_has, assert_refused, folder, frostpane, stderr, text, words, written};

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

fn watch(name: &str, files: &[Vec<Line>]) -> std::process::Output {
    let folder = folder(name);
    let write = |(number, lines): (usize, &Vec<Line>)| {
        let lines: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        written(&folder, &format!("{number:03}.csv"), lines.as_bytes())
    };
    watch_files(&folder, &files.iter().enumerate().map(write).collect::<Vec<_>>())
}

/// So much epsilon that there is no noise, and keys that are declared.
fn watch_files(folder: &Path, files: &[PathBuf]) -> std::process::Output {
    let keys = written(folder, "keys.txt", b"ash\nelm\nfir\noak\n");
    let options = "watch --key 2 --time 1 --window 30min --slide 5min --epsilon 100000 --alpha 0.1 --keys";
    let files = files.iter().map(|file| text(file));
    let args: Vec<&str> = words(options).into_iter().chain([text(&keys)]).chain(files).collect();
    frostpane(&args, b"")
}

/// Asserts that the files give the releases of the sorted one, that no event is late, and that all this is told.
fn assert_as_sorted(name: &str, sorted: &[Line], files: &[Vec<Line>], told: &[&str]) {
    let expected = watch(&format!("{name}-sorted"), &[sorted.to_vec()]);
    assert_eq!(expected.stdout.iter().filter(|&&byte| byte == b'\n').count(), 36);
    let found = watch(name, files);
    let said = stderr(&found);
    assert!(found.stdout == expected.stdout && !said.contains(" late"), "{name}: {said}");
    assert_has(said, told.iter().copied());
}

#[test]
fn files_that_overlap_give_the_releases_of_the_sorted_one() {
    let events = events();
    for files in [2, 3, 7, 64] {
        assert_as_sorted(&format!("overlapping-{files}"), &events, &dealt(&events, files), &[]);
    }
}

/// The second server began later, the third was silent, the fourth stopped first; and files that follow each
/// other are merged too.
#[test]
fn files_may_begin_and_end_when_they_like() {
    let events = events();
    let (early, late) = (&events[..9_000], &events[9_000..]);
    let mut staggered = dealt(early, 2);
    staggered.insert(0, late.to_vec());
    staggered.insert(2, Vec::new());
    assert_as_sorted("staggered", &events, &staggered, &["002.csv has no events"]);
}

/// A wrong clock at the head of a file holds up neither that file nor the others.
#[test]
fn a_time_in_the_future_holds_nothing_up() {
    let events = events();
    let mut files = dealt(&events, 2);
    files[1].insert(0, (0, "4102444800,oak".to_owned()));
    assert_as_sorted("ahead", &events, &files, &["1 event lies more than 1 hour in the future"]);
}

/// It counts as an event of its neighbour's time, as in the sorted file.
#[test]
fn what_cannot_be_read_is_told_with_its_place() {
    let mut events = events();
    events[1_000].1 = events[1_000].0.to_string();
    let mut files = dealt(&events, 2);
    let is_broken = |(_, line): &Line| !line.contains(',');
    let file = files.iter().position(|lines| lines.iter().any(is_broken)).unwrap();
    let line = 1 + files[file].iter().position(is_broken).unwrap();
    files.swap(1, file);
    let place = format!("001.csv, line {line}: it has too few columns");
    assert_as_sorted("unread", &events, &files, &["1 of 20,000 events could not be read", &place]);
}

/// All of its events count, without a key and at the time of the last one of all; if no file has a time, that
/// is refused.
#[test]
fn a_file_without_a_time_stops_the_others_only_if_none_has_one() {
    let events = events();
    let nameless = vec![(0, "time,tree".to_owned()); 2];
    let sorted = [&events[..], &nameless].concat();
    let files = [vec![nameless.clone()], dealt(&events, 2)].concat();
    let told = ["2 of 20,002 events could not be read", "000.csv, line 1"];
    assert_as_sorted("timeless", &sorted, &files, &told);
    let none = watch("timeless-all", &[nameless.clone(), nameless]);
    assert_refused(&none, "no event has a time: is --time 1 right?");
}

#[test]
fn a_file_that_cannot_be_read_on_stops_all() {
    let folder = folder("broken");
    let files = [("whole.csv", b"1,elm\n301,oak\n"), ("broken.csv.gz", b"2,elm\n302,oak\n")];
    let files = files.map(|(name, lines)| written(&folder, name, lines));
    assert_refused(&watch_files(&folder, &files), "broken.csv.gz: it does not begin as what gzip");
}

#[test]
fn too_many_files_are_read_one_after_the_other_and_that_is_told() {
    let events = events();
    let told = "the 80 files are read one after the other";
    let follow: Vec<Vec<Line>> = events.chunks(250).map(<[Line]>::to_vec).collect();
    assert_as_sorted("many-following", &events, &follow, &[told]);
    assert_has(stderr(&watch("many-overlapping", &dealt(&events, 80))), [told, "too late"]);
}
