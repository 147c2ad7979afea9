//! Pages of releases that the program makes rarely.

use std::time::Duration;

use frostpane::{Bytes, Heavy, HeavyHitters, Key, Keys, Norm, Release, Window};
use serde_json::Value;

use super::*;

#[path = "../../../frostpane-cli/tests/common/browser.rs"]
mod browser;

const DAY: u64 = 86_400;
const HOSTILE: [&str; 6] = [
    "<script>window.pwned=1</script>",
    "\"><img src=x onerror=window.pwned=1>",
    "</title></desc></svg></script><!-- '& {{data}}",
    "turn \u{202e} around \u{1b}[31m",
    "مرحبا بالعالم",
    "  two  spaces ",
];

fn page<K: Key>(releases: &[Release<K>]) -> String {
    page_about(releases, &PageInfo::default())
}

fn page_about<K: Key>(releases: &[Release<K>], info: &PageInfo) -> String {
    let week = WindowLabel { text: "7d".to_owned(), span: "7d".parse().unwrap() };
    let mut out = Vec::new();
    write(&mut out, releases, &[week], info, "2026-03-16T08:30:00Z".parse().unwrap()).unwrap();
    String::from_utf8(out).unwrap()
}

fn text(page: &str) -> &str {
    page.split_once("<script type=\"application/json\"").unwrap().0
}

fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"frostpane-releases\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The number of times that a key occurs in a day: each has its own rhythm, and some occur for a while.
fn times(key: usize, day: u64) -> u64 {
    let phase = (day as f64 + 3.0 * key as f64) / (4.0 + key as f64 % 5.0);
    let size = 500.0 / (1.0 + key as f64 / 4.0);
    let away = key % 5 == 3 && day > 9 || key % 5 == 4 && day < 11;
    if away { 2 } else { (size * (1.2 + phase.sin())) as u64 }
}

/// Weeks that end one day after the other.
fn weeks(keys: &[String], releases: u64) -> Vec<Release<Bytes>> {
    let day = Duration::from_secs(DAY);
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .norm(Norm::L1)
        .alpha(0.02)
        .window(Window::clock(7 * day).slide(day))
        .releases(8)
        .build()
        .unwrap();
    let start = 1_772_409_600;
    let mut list = Vec::new();
    for day in 0..7 + releases {
        let midnight = 1_000_000 * (start + DAY * day) as i64;
        if day >= 7 {
            hitters.push(frostpane::Event { time: Some(midnight - 1), key: None, user: None }).unwrap();
            list.push(hitters.release().unwrap());
        }
        for (index, key) in keys.iter().enumerate() {
            for _ in 0..times(index, day) {
                hitters.update_at(midnight, key.as_bytes()).unwrap();
            }
        }
    }
    list
}

fn cities() -> Vec<String> {
    let plain = ["Lisbon", "Oslo", "Kyiv", "Lima", "Quito", "Hanoi", "Accra", "Dakar", "Tunis", "Riga"];
    let long = "a very long key ".repeat(30);
    let hostile = HOSTILE.into_iter().chain([long.as_str()]);
    plain.into_iter().chain(hostile).map(str::to_owned).collect()
}

fn release_of(heavy: &[(&str, u64)]) -> Release<Bytes> {
    let mut release = HeavyHitters::<Bytes>::builder(Keys::open())
        .window(Window::events(100))
        .build()
        .unwrap()
        .release()
        .unwrap();
    release.heavy = heavy
        .iter()
        .map(|(key, count)| Heavy {
            key: key.as_bytes().into(),
            count: *count,
            low: count.saturating_sub(10),
            high: count + 10,
        })
        .collect();
    release
}

#[test]
fn keys_stay_text() {
    let heavy: Vec<(&str, u64)> = HOSTILE.iter().zip(100..).map(|(key, count)| (*key, count)).collect();
    let page = page(&[release_of(&heavy)]);
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert_eq!(page.matches("</script").count(), 1, "{page}");
    assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains('\u{1b}'), "{page}");
    assert!(page.contains("<bdi class=\"key\">&lt;script&gt;window.pwned=1&lt;/script&gt;</bdi>"), "{page}");
    assert!(page.contains("turn \\u{202e} around \\u{1b}[31m"), "{page}");
    assert!(page.contains("&#39;&amp; {{data}}</bdi>"), "placeholders are filled once: {page}");
    assert_eq!(data(&page)[0]["heavy"][3]["key"], HOSTILE[3]);
}

#[test]
fn long_keys_are_cut_and_the_whole_is_in_the_title() {
    let page = page(&[release_of(&[(&"\"x\"".repeat(1_000), 50)])]);
    assert!(page.contains(&format!("title=\"{}\"", "&quot;x&quot;".repeat(1_000))));
    let short = "&quot;x&quot;".repeat(15) + "&quot;x…</bdi>";
    assert!(page.contains(&format!("&quot;\">{short}")), "{page}");
}

#[test]
fn a_page_says_what_it_is_where_it_is_from_and_when_it_was_made() {
    let mut release = release_of(&[("elm", 50)]);
    let plain = page(std::slice::from_ref(&release));
    assert!(plain.contains("<h1>The most frequent keys</h1>") && !plain.contains("Source:"));
    assert!(plain.contains("Made on 16 March 2026, 08:30 (UTC)"), "{plain}");
    (release.alpha, release.top) = (None, Some(20));
    let top = page(std::slice::from_ref(&release));
    assert!(top.contains("<h1>The 20 most frequent keys</h1>"), "{top}");
    let info =
        PageInfo { title: Some("Trees <b>& shrubs".to_owned()), source: Some("The \"register\"".to_owned()) };
    let given = page_about(&[release], &info);
    assert!(given.contains("<h1>Trees &lt;b&gt;&amp; shrubs</h1>"), "{given}");
    assert!(given.contains("<title>Trees &lt;b&gt;&amp; shrubs: "), "{given}");
    assert!(given.contains("Source: The &quot;register&quot;<br>"), "{given}");
}

#[test]
fn a_list_of_the_top_that_ends_early_says_why() {
    let mut release = release_of(&[("elm", 50), ("oak", 49)]);
    (release.alpha, release.top, release.promises) = (None, Some(2), None);
    assert!(!page(std::slice::from_ref(&release)).contains("Fewer than"));
    release.top = Some(3);
    let page = page(&[release]);
    assert!(page.contains("<li>Fewer than 3 keys are listed: with its noise, no other reached "), "{page}");
}

/// Readers of a page can change nothing about it, and want to know what does hold.
#[test]
fn a_page_says_what_holds_and_has_no_advice_for_the_operator() {
    let mut pages = Vec::new();
    let full = release_of(&[("elm", 50)]);
    assert!(!full.held(), "100 events are too few");
    pages.push(full.clone());
    for note in [
        frostpane::Note::NoEvents,
        frostpane::Note::WithinOnePane,
        frostpane::Note::BelowFloor { threshold: 46 },
        frostpane::Note::BelowThreshold { threshold: 1_000, complete_above: 1_100 },
    ] {
        let mut empty = full.clone();
        empty.heavy.clear();
        empty.note = Some(note);
        pages.push(empty);
    }
    for release in pages {
        let page = page(&[release]);
        let text = text(&page);
        for advice in ["ask for", "allow more", "slide by", "take ", "not made", "another policy"] {
            assert!(!text.contains(advice), "{advice}: {text}");
        }
        assert!(text.contains("<li>Every key that occurred "), "{text}");
    }
}

/// If the promises are not made at the alpha asked for, a reader is told the alpha at which they are.
#[test]
fn promises_are_said_at_the_alpha_at_which_they_hold() {
    let mut hitters = HeavyHitters::<Bytes>::builder(Keys::open())
        .norm(Norm::L1)
        .alpha(0.001)
        .window(Window::events(10_000))
        .build()
        .unwrap();
    for i in 0..10_000_u32 {
        let key = if i.is_multiple_of(2) { "elm".to_owned() } else { i.to_string() };
        hitters.update(key.as_bytes()).unwrap();
    }
    let release = hitters.release().unwrap();
    let alpha = release.promises.as_ref().unwrap().alpha.unwrap();
    assert!(!release.held() && alpha > 0.001);
    let page = page(&[release]);
    let expected = format!("the three promises hold at alpha {alpha}: ");
    assert!(text(&page).contains(&expected), "{expected}: {page}");
}

#[test]
fn only_releases_in_the_order_of_time_have_a_course() {
    let mut releases = weeks(&cities()[..4], 2);
    assert!(Trend::of(&releases).is_some());
    assert!(Trend::of(&releases[..1]).is_none());
    releases.reverse();
    assert!(Trend::of(&releases).is_none());
    releases[1] = releases[0].clone();
    assert!(Trend::of(&releases).is_none());
}

#[test]
fn a_course_names_each_end_and_what_all_cost() {
    let page = page(&weeks(&cities(), 8));
    for text in [
        "8 lists, each of a window of 7d",
        "from the list up to 2026-03-09 to the one up to 2026-03-16",
        "<h2>The latest list, up to 2026-03-16</h2>",
        "<dt>The 8 lists together</dt><dd>epsilon 8, delta 8e-9</dd>",
        "may be noise",
        "not listed, at most ",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn a_browser_shows_courses_empty_lists_single_keys_and_long_lists() {
    let mut gap = weeks(&cities()[..1], 3);
    assert!(gap.iter().all(|release| release.heavy.len() == 1));
    let one = vec![gap[0].clone()];
    gap[1].heavy.clear();
    gap[1].note = Some(frostpane::Note::NoEvents);
    let mut none = gap.clone();
    none.iter_mut().for_each(|release| release.heavy.clear());
    let keys: Vec<String> = (0..250).map(|i| format!("key {i}")).collect();
    let heavy: Vec<(&str, u64)> =
        keys.iter().zip((0..250).rev()).map(|(key, i)| (key.as_str(), 10 * i)).collect();
    let long = vec![release_of(&heavy)];
    for (name, releases) in
        [("course", weeks(&cities(), 8)), ("one", one), ("gap", gap), ("none", none), ("long", long)]
    {
        assert_eq!(browser::faults(&page(&releases), name), Vec::<String>::new());
    }
}
