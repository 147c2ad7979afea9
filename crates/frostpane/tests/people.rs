//! Users as the unit of privacy, through the public interface: one user's events in an epoch change only
//! numbers that have noise. One test for each attack.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Cursor};
use std::time::Duration;

use crate::common::NO_NOISE;
use frostpane::testing::audit::Audit;
use frostpane::testing::{Entropy, InsecureSeededEntropy};
use frostpane::{
    Bounds, Builder, Continual, Edge, ErrorKind, Event, HeavyHitters, History, Keys, Norm, Release, Unit,
    Window,
};
use jiff::Timestamp;

const SEED: u64 = 11;
const DAY: i64 = 86_400_000_000;
const HOUR: i64 = DAY / 24;
const USERS: [&[u8]; 3] = [b"ada", b"grace", b"mary"];

/// Time, user and key.
type Happened = (i64, usize, u64);

fn days(days: u64) -> Duration {
    Duration::from_secs(86_400 * days)
}

fn at(micros: i64) -> Edge {
    Edge::Instant(Timestamp::from_microsecond(micros).unwrap())
}

fn people(keys: Keys<u64>, per_user: u32, per_key: u32) -> Builder<u64> {
    HeavyHitters::builder(keys)
        .unit(Unit::User(Bounds::new(per_user).per_key(per_key)))
        .with_insecure_seed(SEED)
}

/// The first two days of 1970.
fn two_days(builder: Builder<u64>) -> Builder<u64> {
    builder.window(Window::clock(days(2))).until(at(2 * DAY))
}

fn event(happened: &Happened) -> Event<'static, u64> {
    let (time, user, key) = *happened;
    Event::by(USERS[user], time, key)
}

fn counted<'a>(
    builder: Builder<u64>,
    events: impl IntoIterator<Item = Event<'a, u64>>,
) -> BTreeMap<u64, u64> {
    let mut audited = Audit::of(two_days(builder), None).build().unwrap();
    for event in events {
        audited.push(event).unwrap();
    }
    audited.inside().unwrap().counts.into_iter().collect()
}

/// All streams of up to two events of two users, two keys and two days, morning or evening.
fn short_streams() -> Vec<Vec<Happened>> {
    let letter = |number: i64| (number % 4 * DAY / 2 + HOUR, number as usize / 4 % 2, number as u64 / 8 % 2);
    let one = (0..16).map(|first| vec![letter(first)]);
    let two = (0..16).flat_map(|first| (first..16).map(move |second| vec![letter(first), letter(second)]));
    [Vec::new()].into_iter().chain(one).chain(two).collect()
}

/// The numbers of a release that have noise.
type Noisy = (u64, Option<[u64; 2]>, u64, Vec<(u64, u64)>);

/// None if a number was below 0, since it is shown as 0 and other numbers follow from its true value.
fn noisy(release: &Release<u64>) -> Option<Noisy> {
    let window = &release.window;
    let counts = release.heavy.iter().map(|heavy| (heavy.key, heavy.count)).collect();
    let whole = window.events > 0 && release.norm_estimate > 0;
    whole.then_some((window.events, window.between, release.norm_estimate, counts))
}

fn shown(release: &Release<u64>) -> String {
    format!("{release:?} {}", serde_json::to_string(release).unwrap())
}

/// Complete releases by their noisy numbers, over all streams.
#[derive(Default)]
struct ShownReleases {
    by_noisy: HashMap<Vec<Noisy>, (String, usize)>,
    of_several: usize,
}

impl ShownReleases {
    fn add(&mut self, noisy: Vec<Noisy>, shown: String, stream: usize) {
        let (first, of) = self.by_noisy.entry(noisy).or_insert((shown.clone(), stream));
        assert_eq!(*first, shown, "streams {of} and {stream}");
        self.of_several += usize::from(*of != stream);
    }
}

/// A release is a function of its noisy numbers: streams with equal ones have equal releases, to the byte.
#[test]
fn a_release_says_nothing_that_its_noisy_numbers_do_not() {
    for (keys, norm) in
        [(Keys::open(), Norm::L1), (Keys::open(), Norm::L2), (Keys::range(0..2).unwrap(), Norm::L2)]
    {
        let mut all = ShownReleases::default();
        for (number, stream) in short_streams().iter().enumerate() {
            let builder = people(keys.clone(), 2, 2).norm(norm).epsilon(8.0).delta(0.1);
            let mut hitters = two_days(builder).releases(15).build().unwrap();
            hitters.extend(stream.iter().map(event)).unwrap();
            for seed in 0..15 {
                let entropy = &mut InsecureSeededEntropy::new(1_000 * number as u64 + seed);
                let release = hitters.release_with_entropy(days(2), entropy).unwrap();
                let window = &release.window;
                assert_eq!((window.from, window.to, window.missed), (Some(at(0)), Some(at(2 * DAY)), 0));
                if let Some(noisy) = noisy(&release) {
                    all.add(vec![noisy], shown(&release), number);
                }
            }
        }
        assert!(all.of_several > 100, "{}", all.of_several);
    }
}

#[test]
fn what_is_refused_is_refused_alike_whoever_was_there() {
    let mut said = BTreeSet::new();
    for stream in short_streams() {
        let mut hitters = two_days(people(Keys::open(), 1, 1)).build().unwrap();
        hitters.extend(stream.iter().map(event)).unwrap();
        let other_window = hitters.release_over(days(1)).unwrap_err();
        let threshold = hitters.release().unwrap().threshold;
        let refused = hitters.release().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Budget);
        let closed = hitters.push(event(&(0, 0, 0))).unwrap_err();
        said.insert(format!("{other_window} {threshold} {refused} {closed} {}", hitters.panes()));
    }
    assert_eq!(said.len(), 1, "{said:?}");
}

thread_local! {
    static NOISE: Cell<u64> = const { Cell::new(0) };
}

fn draw_from(number: u64) {
    NOISE.set(number << 32);
}

fn known_noise() -> Box<dyn Entropy + Send> {
    NOISE.set(NOISE.get() + 1);
    Box::new(InsecureSeededEntropy::new(NOISE.get()))
}

/// A release at the end of every pane of four days.
fn all_lists(mut continual: Continual<u64>, events: &[Event<'_, u64>], pane: i64) -> Vec<Release<u64>> {
    let mut lists = continual.advance_to(0).unwrap();
    for end in (1..=4 * DAY / pane).map(|panes| panes * pane) {
        for event in events {
            if event.time.is_some_and(|time| (end - pane..end).contains(&time)) {
                continual.push(*event, |_| panic!("an event ended a pane")).unwrap();
            }
        }
        lists.extend(continual.advance_to(end).unwrap());
    }
    lists
}

/// Panes of half a day, a day and two days.
fn slides() -> [(i64, Window); 3] {
    [DAY / 2, DAY, 2 * DAY].map(|pane| {
        let slide = Duration::from_micros(pane as u64);
        (pane, Window::clock(days(2)).slide(slide))
    })
}

/// A continual release is a function of its noisy numbers and those of earlier releases.
#[test]
fn a_list_at_every_slide_says_nothing_that_noisy_numbers_do_not() {
    says_nothing_more(&Keys::range(0..2).unwrap());
}

/// With open keys the possible number of keys follows from the noisy numbers too.
#[test]
fn lists_of_many_keys_at_every_slide_say_nothing_that_noisy_numbers_do_not() {
    says_nothing_more(&Keys::open());
}

fn says_nothing_more(keys: &Keys<u64>) {
    for (pane, window) in slides() {
        let mut all = ShownReleases::default();
        for (number, stream) in short_streams().iter().enumerate() {
            let builder = people(keys.clone(), 1, 2).norm(Norm::L1).epsilon(30.0);
            let events: Vec<Event<'_, u64>> = stream.iter().map(event).collect();
            for seed in 0..6 {
                draw_from(10 * number as u64 + seed);
                let continual = builder.clone().window(window).continual().unwrap();
                let lists = all_lists(continual.drawing_from(known_noise), &events, pane);
                assert_eq!(lists.len() as i64, 4 * DAY / pane);
                let mut so_far = Vec::new();
                for (ended, list) in (1..).zip(&lists) {
                    let from = (ended * pane - 2 * DAY).max(0);
                    assert_eq!(
                        [list.window.from, list.window.to],
                        [from, ended * pane].map(|edge| Some(at(edge)))
                    );
                    let Some(noisy) = noisy(list) else { break };
                    so_far.push(noisy);
                    all.add(so_far.clone(), shown(list), number);
                }
            }
        }
        assert!(all.of_several > 100, "{pane}: {}", all.of_several);
    }
}

fn history_of(builder: &Builder<u64>, window: Window, events: &[Event<'_, u64>]) -> Vec<Release<u64>> {
    draw_from(3);
    let history: History<u64> = builder.clone().window(window).history(at(0), at(4 * DAY)).unwrap();
    let mut history = history.drawing_from(known_noise);
    history.extend(events.iter().copied()).unwrap();
    let mut lists = Vec::new();
    history.finish(|continual| lists.push(continual.release().unwrap())).unwrap();
    lists
}

/// A history of events in any order equals continual release of the same events.
#[test]
fn a_time_that_is_over_has_the_lists_that_it_would_have_had() {
    let names: Vec<String> = (0..70).map(|user| format!("u{user}")).collect();
    let mixed = |event: u64| event.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    let events: Vec<Event<'_, u64>> = (0..3_000)
        .map(mixed)
        .map(|mixed| {
            let user = names[(mixed % 70) as usize].as_bytes();
            Event::by(user, (mixed / 70 % (4 * DAY as u64)) as i64, mixed / 7 % 5)
        })
        .collect();
    for (pane, window) in slides() {
        for (per_user, per_key) in [(1, 1), (2, 3), (3, 2)] {
            for norm in [Norm::L1, Norm::L2] {
                let builder = people(Keys::open(), per_user, per_key).norm(norm).epsilon(20.0);
                draw_from(3);
                let continual = builder.clone().window(window).continual().unwrap();
                let lists = all_lists(continual.drawing_from(known_noise), &events, pane);
                assert!(lists.iter().any(|list| !list.heavy.is_empty()));
                assert_eq!(history_of(&builder, window, &events), lists, "{pane} {per_user} {per_key}");
            }
        }
    }
}

#[test]
fn ten_thousand_events_of_a_user_count_as_few_keys_each_as_often_as_it_may() {
    for (per_user, per_key) in [(1, 1), (2, 1), (2, 2), (2, 3), (3, 2)] {
        let people = || people(Keys::open(), per_user, per_key);
        let busy = (0..10_000).map(|event| Event::by(USERS[0], event, event as u64));
        let others = (0..3).map(|key| Event::by(USERS[1], key, 7));
        let counts = counted(people(), busy.chain(others));
        let of_others = u64::from(per_key.min(3));
        assert_eq!(counts.values().sum::<u64>(), u64::from(per_user) + of_others);
        assert_eq!(counts[&7], of_others);
        let again = (0..10_000).map(|event| Event::by(USERS[0], event, 5));
        assert_eq!(counted(people(), again), BTreeMap::from([(5, u64::from(per_key))]));
    }
}

/// Events of 2100 or 1970 do not move the window or use up bounds.
#[test]
fn an_event_of_another_century_is_as_if_it_were_not() {
    let (day, in_2100, in_1970) = (20_000 * DAY, 47_500 * DAY, 0);
    let week = Window::clock(days(7)).slide(days(1));
    for strangers in [&[][..], &[in_2100, in_1970]] {
        draw_from(9);
        let builder = people(Keys::open(), 1, 1).epsilon(NO_NOISE).window(week);
        let mut live = builder.continual().unwrap().drawing_from(known_noise);
        assert_eq!(live.advance_to(day).unwrap(), []);
        for time in strangers {
            let none = |_: &Continual<u64>| panic!("an event ended a pane");
            live.push(Event::by(USERS[0], *time, 1), none).unwrap();
        }
        for (user, name) in (0..).zip(USERS) {
            live.push(Event::by(name, day + user, 2), |_| panic!()).unwrap();
        }
        let lists = live.advance_to(day + DAY).unwrap();
        assert_eq!((lists.len(), lists[0].window.events), (1, 3));
        assert_eq!(lists[0].heavy[0].count, 3, "no user was dropped");
        let each = u64::from(!strangers.is_empty());
        assert_eq!((live.tally().late, live.tally().ahead), (each, each));
    }
    let mut once = people(Keys::open(), 1, 1)
        .epsilon(NO_NOISE)
        .window(Window::clock(days(7)))
        .until(at(day + DAY))
        .build()
        .unwrap();
    for time in [in_2100, in_1970, day] {
        once.push(Event::by(USERS[0], time, 2)).unwrap();
    }
    assert_eq!(once.tally().outside, 2);
    assert_eq!(once.release().unwrap().window.events, 1);
}

/// A clock does not begin in 1970 by itself, and does not go back.
#[test]
fn the_clock_is_where_it_was_told_to_be() {
    for start in [-30 * DAY, 0, 30 * DAY] {
        let builder = people(Keys::open(), 1, 1).window(Window::clock(days(7)).slide(days(1)));
        let mut live = builder.continual().unwrap();
        let untold = live.push(Event::by(USERS[0], start, 1), |_| ()).unwrap_err();
        assert!(untold.to_string().starts_with("it is not known what time it is"));
        assert_eq!(live.advance_to(start).unwrap().len(), 0);
        live.push(Event::by(USERS[0], start, 1), |_| ()).unwrap();
        assert_eq!(live.advance_to(start - 5 * DAY).unwrap().len(), 0);
        assert_eq!(live.advance_to(start + DAY).unwrap().len(), 1);
        assert_eq!(live.tally().late, 0);
    }
}

/// The number of events of a day with one user and of a day without users has noise of scale 20, so 400
/// releases have many different numbers. Seeded: it passes always or never.
#[test]
fn the_only_user_of_the_day_is_not_given_away() {
    let numbers = |events: &[Happened]| -> BTreeSet<u64> {
        let mut hitters = two_days(people(Keys::open(), 1, 1)).releases(400).build().unwrap();
        hitters.extend(events.iter().map(event)).unwrap();
        (0..400)
            .map(|seed| {
                let release =
                    hitters.release_with_entropy(days(2), &mut InsecureSeededEntropy::new(seed)).unwrap();
                assert!(release.heavy.is_empty());
                let note = release.note.as_ref().unwrap().to_string();
                assert!(note.starts_with("no noisy count reached"), "{note}");
                release.window.events
            })
            .collect()
    };
    for events in [&[][..], &[(HOUR, 0, 1)]] {
        assert!(numbers(events).len() > 15);
    }
}

/// Epochs of an hour in slides of two days at an offset of +01:00: releases are due at midnight there, of an
/// even day.
#[test]
fn slides_longer_than_an_epoch_begin_where_the_offset_says() {
    let epoch = Duration::from_secs(3_600);
    let of = |offset: i64| {
        let mut bounds = Bounds::new(1).epoch(epoch);
        bounds.offset = Duration::from_micros((offset * HOUR) as u64);
        let builder = HeavyHitters::<u64>::builder(Keys::open()).unit(Unit::User(bounds));
        builder.norm(Norm::L1).epsilon(NO_NOISE).window(Window::clock(days(4)).slide(days(2))).continual()
    };
    let mut continual = of(47).unwrap();
    let mut lists = continual.advance_to(-HOUR).unwrap();
    for time in [-HOUR, 0, 46 * HOUR, 47 * HOUR] {
        lists.extend(continual.advance_to(time).unwrap());
        let happened = Event::by(USERS[0], time, 1);
        continual.push(happened, |_| ()).unwrap();
    }
    lists.extend(continual.advance_to(95 * HOUR).unwrap());
    let shown: Vec<_> = lists.iter().map(|list| (list.window.to, list.heavy[0].count)).collect();
    assert_eq!(shown, [(Some(at(47 * HOUR)), 3), (Some(at(95 * HOUR)), 4)]);
    assert!(of(48).is_err(), "no slide is that long");
}

/// Another run may have counted the earlier events of the epoch.
#[test]
fn a_time_that_is_over_begins_where_an_epoch_does() {
    let quarter = Duration::from_secs(6 * 3_600);
    let builder = people(Keys::open(), 1, 1).window(Window::clock(days(2)).slide(quarter));
    let from = |hour: i64| builder.clone().history(at(hour * HOUR), at(4 * DAY)).err();
    for within in [6, 12, 18, 30] {
        let said = from(within).unwrap().to_string();
        assert!(said.contains("from within an epoch"), "{within}: {said}");
    }
    assert!(from(0).is_none() && from(24).is_none());
}

/// Each of 100 days, all but one without users, has a release with a noisy number of events. Seeded.
#[test]
fn days_without_anybody_have_lists_with_noise_in_their_numbers() {
    draw_from(5);
    let builder = people(Keys::open(), 1, 1).norm(Norm::L1);
    let week = Window::clock(days(7)).slide(days(1));
    let mut live = builder.window(week).continual().unwrap().drawing_from(known_noise);
    live.advance_to(0).unwrap();
    live.push(Event::by(USERS[0], HOUR, 1), |_| ()).unwrap();
    let lists = live.advance_to(100 * DAY).unwrap();
    assert_eq!(lists.len(), 100);
    assert!(lists.iter().all(|list| list.heavy.is_empty()));
    let numbers: BTreeSet<u64> = lists.iter().map(|list| list.window.events).collect();
    assert!(numbers.len() > 20, "{numbers:?}");
}

#[test]
fn what_would_cut_an_epoch_in_two_is_refused() {
    let hours = |hours: u64| Duration::from_secs(3_600 * hours);
    let refusal = |builder: Builder<u64>| builder.build().err().unwrap().to_string();
    let day = || people(Keys::open(), 1, 1);
    assert_eq!(
        refusal(day().window(Window::clock(hours(36))).until(at(2 * DAY))),
        "the window of 36h would cut an epoch of 1d in two: make it a whole number of epochs"
    );
    assert_eq!(
        refusal(day().window(Window::clock(days(2))).until(at(2 * DAY + HOUR))),
        "the windows end at 1970-01-03T01:00:00Z, which cuts an epoch of 1d in two: let them end at 1970-01-03T00:00:00Z or \
         1970-01-04T00:00:00Z"
    );
    assert_eq!(
        refusal(two_days(day()).window(Window::clock(days(2)).slide(hours(6)))),
        "the slide is 6h, which cuts an epoch of 1d in two: make it a whole number of epochs"
    );
    let continual = day().window(Window::clock(days(2)).slide(hours(5))).continual();
    let said = continual.err().unwrap().to_string();
    assert!(
        said.contains("which cuts an epoch of 1d in two: make it a whole number of epochs, or a whole part"),
        "{said}"
    );
    assert!(
        refusal(day().window(Window::events(1_000)))
            .contains("one user's events would move it for everybody")
    );
}

/// Events of more users than fit into memory, in random order.
fn many_users() -> Vec<(i64, Vec<u8>, u64)> {
    (0..30_000_u64)
        .map(|event| event.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20)
        .map(|mixed| {
            let user = (mixed % 3_001).to_string().into_bytes();
            ((mixed / 7 % (2 * DAY as u64)) as i64, user, mixed / 3_001 % 50)
        })
        .collect()
}

fn release_of_many_users(builder: Builder<u64>) -> frostpane::Result<Release<u64>> {
    let mut hitters = two_days(builder.epsilon(NO_NOISE)).build()?;
    for (time, user, key) in &many_users() {
        hitters.update_by(user, *time, *key)?;
    }
    hitters.release()
}

#[test]
fn a_release_of_users_who_went_to_disk_is_the_same() {
    let in_memory = || -> io::Result<Box<dyn frostpane::File>> { Ok(Box::new(Cursor::new(Vec::new()))) };
    for (per_user, per_key) in [(1, 1), (3, 2)] {
        let people = || people(Keys::open(), per_user, per_key).all();
        let release = release_of_many_users(people()).unwrap();
        assert_eq!(release.heavy.len(), 50);
        let with_disk = people().with_memory_for_users(1_000).scratch(in_memory);
        assert_eq!(release_of_many_users(with_disk).unwrap(), release);
        let refused = release_of_many_users(people().with_memory_for_users(1_000)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Memory);
        assert!(!refused.to_string().contains(|letter: char| letter.is_ascii_digit()), "{refused}");
    }
}

/// A file in memory whose first read fails.
struct FailsOnce(Cursor<Vec<u8>>, bool);

impl io::Read for FailsOnce {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if std::mem::replace(&mut self.1, false) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.read(bytes)
    }
}

impl io::Write for FailsOnce {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl io::Seek for FailsOnce {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// After a failed read there is no release of the remaining users, even if it is repeated.
#[test]
fn a_disk_that_loses_users_is_an_error_for_good() {
    let builder = people(Keys::open(), 1, 1)
        .with_memory_for_users(1_000)
        .scratch(|| Ok(Box::new(FailsOnce(Cursor::new(Vec::new()), true))));
    let mut hitters = two_days(builder).build().unwrap();
    for (time, user, key) in &many_users() {
        hitters.update_by(user, *time, *key).unwrap();
    }
    let first = hitters.release().unwrap_err();
    assert_eq!(first.kind(), ErrorKind::Memory);
    for _ in 0..20 {
        assert_eq!(hitters.release().unwrap_err().to_string(), first.to_string());
    }
    assert!(!first.to_string().contains(|letter: char| letter.is_ascii_digit()), "{first}");
}

/// 1,000 of 4,000 users are expected, 164 are 6 standard deviations (false alarm below 1e-8; seeded, so
/// always or never). The sample is the same on both days and does not depend on other users.
#[test]
fn a_sample_of_users_is_the_same_users_always() {
    let mut bounds = Bounds::new(1);
    bounds.sample_users = Some("1/4".parse().unwrap());
    let names: Vec<String> = (0..4_000).map(|user| format!("u{user}")).collect();
    let sample = |some: &dyn Fn(usize) -> bool| {
        let builder = people(Keys::open(), 1, 1).unit(Unit::User(bounds));
        let events = names.iter().enumerate().filter(|(user, _)| some(*user));
        let both_days = events
            .flat_map(|(user, name)| [0, DAY].map(|time| Event::by(name.as_bytes(), time, user as u64)));
        counted(builder, both_days)
    };
    let all = sample(&|_| true);
    assert!((836..1_164).contains(&all.len()), "{}", all.len());
    assert!(all.values().all(|count| *count == 2), "on both days or on none");
    let even = sample(&|user| user % 2 == 0);
    assert!(even.into_iter().eq(all.into_iter().filter(|(user, _)| user % 2 == 0)));
}

/// Ids are compared whole, also if one begins like another.
#[test]
fn no_two_ids_are_one_user() {
    let ids = [&b"a"[..], b"a\0", b"aa", b"A", b"a "];
    assert_eq!(counted(people(Keys::open(), 1, 1), ids.map(|id| Event::by(id, 0, 3)))[&3], 5);
    let nobody = [Event::at(0, 3), Event::by(b"", 0, 3)];
    assert_eq!(counted(people(Keys::open(), 1, 1), nobody), BTreeMap::new());
}

/// Events whose times are outside the calendar are not counted and do not affect others.
#[test]
fn a_time_that_cannot_be_stops_nobody_else() {
    let mut bounds = Bounds::new(1);
    bounds.offset = Duration::from_secs(3_600);
    let builder = || {
        let people = people(Keys::open(), 1, 1).unit(Unit::User(bounds));
        people.epsilon(NO_NOISE).window(Window::clock(days(2)))
    };
    let events = || [i64::MIN, HOUR, i64::MAX].map(|time| Event::by(USERS[0], time, 1));
    let by_day = || builder().window(Window::clock(days(2)).slide(days(1)));
    let mut history = by_day().history(at(HOUR), at(2 * DAY + HOUR)).unwrap();
    history.extend(events()).unwrap();
    assert_eq!(history.tally().outside, 2);
    let mut lists = Vec::new();
    let due = |history: &Continual<u64>| lists.push(history.release().unwrap().window.events);
    history.finish(due).unwrap();
    assert_eq!(lists, [1, 1]);

    let mut once = builder().until(at(2 * DAY + HOUR)).build().unwrap();
    once.extend(events()).unwrap();
    assert_eq!((once.tally().outside, once.release().unwrap().window.events), (2, 1));

    let mut live = by_day().continual().unwrap();
    live.advance_to(HOUR).unwrap();
    live.extend(events(), |_| ()).unwrap();
    assert_eq!((live.tally().late, live.tally().ahead), (1, 1));
    assert_eq!(live.advance_to(DAY + HOUR).unwrap()[0].window.events, 1);
}

#[test]
fn more_epochs_than_can_have_an_account_are_refused() {
    let instants = Bounds::new(1).epoch(Duration::from_micros(1));
    let builder = || people(Keys::open(), 1, 1).unit(Unit::User(instants));
    let once = two_days(builder()).build().err().unwrap().to_string();
    assert!(once.contains("epochs of 1us, but may have at most 16777216"), "{once}");
    let slide = Window::clock(Duration::from_micros(1_000)).slide(Duration::from_micros(1));
    let history = builder().window(slide).history(at(0), at(DAY)).err().unwrap();
    assert!(history.to_string().contains("a time of too many slides"), "{history}");
}
