//! Behaviour of stores.

mod common;

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{
    ALL, Folder, HOUR, begin, copy, create, created, event, fence, hour, is_continual, longest, reopened,
    run, spec, witnessed,
};
use frostpane::{Batch, Bytes, Event, Keys, Span, Spec, Tally};
use frostpane_store::DeliveryOutcome::{Again, Other, OtherTerms, Refused, Taken};
use frostpane_store::{Action, Begin, Delivery, DeliveryOutcome, Error, Header, Store, Summary, points};
use redb::ReadableTable;

const SIMPLE: &str = r#"{"window": 5000, "slide": 250, "top": 5, "norm": "l1", "releases": 2}"#;

#[track_caller]
fn assert_refuses<T>(done: Result<T, Error>, why: &str) {
    let refused = done.map(drop).unwrap_err().to_string();
    assert!(refused.contains(why), "{refused}");
}

/// A store that is reopened after every hour has the same events, releases and accounts.
#[test]
fn what_is_kept_goes_on_where_it_was() {
    for (name, json) in ALL {
        let (_folder, state) = Folder::with_state();
        let mut store = create(&state, json);
        let mut lists = Vec::new();
        for number in 0..40 {
            lists.extend(hour(&mut store, number).unwrap());
            let (accounts, closed) = (store.stream().accounts(), store.stream().closed());
            store = reopened(store, &state);
            assert_eq!((store.stream().accounts(), store.stream().closed()), (accounts, closed), "{name}");
        }
        lists.iter_mut().for_each(|list| list.release = None);
        assert_eq!(store.lists_after(0).unwrap(), lists, "{name}");
        assert_eq!(lists.is_empty(), !is_continual(&store), "{name}");
        if !is_continual(&store) {
            let release = store.release("all", longest(&store)).unwrap();
            assert!(String::from_utf8(release.json).unwrap().contains("\"heavy\":[{"), "{name}");
        }
    }
}

/// Feeds these numbers as keys. Returns the number of events of the source, now and before.
fn feed(store: &mut Store<Bytes>, id: &str, numbers: Range<u32>, complete: bool) -> Result<u64, Error> {
    let mut feed = store.feed(id)?;
    for number in numbers {
        feed.push(Event::of(number.to_be_bytes().as_slice()))?;
    }
    feed.finish(complete).map(|outcome| outcome.events)
}

#[test]
fn a_source_that_comes_again_changes_nothing_and_one_that_has_grown_goes_on() {
    let (_folder, mut store) = created(SIMPLE);
    // The same contents under another id count: that is for the operator to resolve.
    for (id, events, complete, was_complete, counted) in [
        ("a", 700, false, false, 700),
        ("a", 700, false, false, 700),
        ("a", 700, false, false, 700),
        ("a", 900, false, false, 900),
        ("b", 900, false, false, 1_800),
        ("batch", 499, true, false, 2_299),
        ("batch", 499, false, true, 2_299),
        ("batch", 1_000, false, true, 2_800),
    ] {
        assert_eq!(store.feed(id).unwrap().was_complete(), was_complete);
        assert_eq!(feed(&mut store, id, 0..events, complete).unwrap(), u64::from(events));
        assert_eq!(store.stream().counted(), counted);
    }
    for wrong in [1..901, 0..899, 0..0] {
        let conflict = feed(&mut store, "a", wrong, false).unwrap_err();
        assert!(matches!(conflict, Error::Conflict(_)), "{conflict}");
        assert!(conflict.to_string().contains("--id"), "{conflict}");
    }
    assert_eq!(store.stream().counted(), 2_800);
}

/// Other events under a known id are noticed after the first few, not at the end.
#[test]
fn another_source_under_a_known_id_is_noticed_soon() {
    let (_folder, mut store) = created(SIMPLE);
    feed(&mut store, "pipe", 0..5_000, false).unwrap();
    let mut feed = store.feed("pipe").unwrap();
    let taken = (7..5_000_u32).take_while(|key| feed.push(Event::of(key.to_be_bytes().as_slice())).is_ok());
    assert!(taken.count() < 64);
}

/// For events and users: a batch with an invalid event is refused as a whole, with any keys; keys that are
/// too long or undeclared refuse nothing.
#[test]
fn only_what_cannot_be_an_event_refuses_a_batch() {
    let folder = Folder::new();
    let keys = Keys::list([Bytes::from(b"known".as_slice())]).unwrap();
    let mut store = Store::create(&folder.join("state"), spec(SIMPLE), keys, Begin::default()).unwrap();
    let long = vec![b'x'; 70_000];
    let mut feed = store.feed("odd").unwrap();
    for key in [b"known".as_slice(), b"unknown", &long] {
        feed.push(Event::of(key)).unwrap();
    }
    feed.push(Event { time: None, key: None, user: None }).unwrap();
    assert_eq!(feed.finish(false).unwrap().events, 4);
    assert_eq!(store.stream().now() + 1, 4, "each is an event");
    let mut feed = store.feed("wrong").unwrap();
    feed.push(Event::of(b"known".as_slice())).unwrap();
    feed.push(Event::at(5, b"known".as_slice())).unwrap();
    assert!(feed.finish(false).is_err());
    assert_eq!(store.stream().now() + 1, 4, "none of them was taken");
    let mut feed = store.feed("wrong").unwrap();
    feed.push(Event::of(b"known".as_slice())).unwrap();
    assert_eq!(feed.finish(false).unwrap().events, 1, "and the next one is");
}

#[test]
fn an_id_gives_the_same_bytes_and_is_charged_once() {
    for json in [SIMPLE, ALL[4].1] {
        let (_folder, state) = Folder::with_state();
        let mut store = run(create(&state, json), 0..30);
        let window = longest(&store);
        let left = store.budget().unwrap().left;
        let first = store.release("monday", window).unwrap();
        assert!(!first.again);
        for restart in [false, true] {
            if restart {
                store = reopened(store, &state);
            }
            let again = store.release("monday", window).unwrap();
            assert!(again.again && again.json == first.json);
            assert_eq!(store.budget().unwrap().left, left - 1);
        }
        // Also after other events, with which the window has moved: noise alone may come out the same.
        store = run(store, 30..37);
        assert_eq!(store.release("monday", window).unwrap().json, first.json);
        let shorter = match window {
            Span::Events(events) => Span::Events(events / 2),
            Span::Clock(time) => Span::Clock(time / 2),
        };
        assert_refuses(store.release("monday", shorter), "the id monday stands for a release of");
        assert_ne!(store.release("tuesday", window).unwrap().json, first.json);
    }
}

#[test]
fn a_refusal_changes_nothing_and_says_who_when_and_what_is_left() {
    let folder = Folder::new();
    let json = r#"{"window": "24h", "slide": "1h", "top": 5, "releases": 2}"#;
    let mut store = run(create(&folder.join("state"), json), 0..40);
    let window = longest(&store);
    assert_eq!(store.dry_run(window).unwrap().left, 1);
    store.release("one", window).unwrap();
    store.release("two", window).unwrap();
    let (accounts, head) = (store.stream().accounts(), store.head().clone());
    for refused in [store.release("three", window), store.dry_run(window).map(|_| unreachable!())] {
        let Error::Refused(unaffordable) = refused.unwrap_err() else { panic!("it cannot be paid for") };
        assert_eq!(unaffordable.leave.len(), unaffordable.refusal.unpaid.len());
        let message = unaffordable.to_string();
        assert!(message.contains("leaves the window at 1970-01-0"), "{message}");
        assert!(message.contains("were asked of the panes from 1970-01-0"), "{message}");
        assert!(message.contains("epsilon 1") && message.contains("epsilon 2"), "{message}");
    }
    assert_eq!((store.stream().accounts(), store.head().clone()), (accounts, head));
    let budget = store.budget().unwrap();
    assert_eq!(budget.left, 0);
    let (when, more) = budget.more.unwrap();
    assert_eq!(more, 2);
    assert_eq!(when, "1970-01-03T15:00:00Z", "the pane that went on leaves last");
    // A day later all of them have left the window.
    store = run(store, 40..66);
    assert_eq!(store.budget().unwrap().left, 2);
    assert!(!store.release("three", window).unwrap().again);
}

/// Fifty releases a day at a tenth of epsilon: epsilons add up to 5, and rho keeps a cap of 3.
#[test]
fn many_small_releases_pass_by_their_rho_and_each_says_so() {
    let folder = Folder::new();
    let json = r#"{"window": 5000, "slide": 250, "top": 5, "epsilon": 0.1, "budget": {"epsilon": 4, "delta": 1e-6}}"#;
    let mut store = run(create(&folder.join("state"), json), 0..20);
    let window = longest(&store);
    let left = store.budget().unwrap().left;
    assert!(left > 40, "{left}");
    for number in 0..left {
        let by = store.dry_run(window).unwrap().accountant;
        assert_eq!(by == frostpane::Accountant::Basic, number < 40, "release {number}");
        store.release(&format!("list {number}"), window).unwrap();
    }
    assert!(matches!(store.release("one more", window), Err(Error::Refused(_))));
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let (_folder, path) = Folder::with_state();
    let mut store = run(create(&path, SIMPLE), 0..20);
    store.release("one", longest(&store)).unwrap();
    let busy = Store::<Bytes>::open(&path).err().unwrap();
    assert!(matches!(busy, Error::Busy(_)), "{busy}");
    assert!(busy.to_string().contains("another process has this state open"), "{busy}");
    assert_eq!(Header::read(&path).unwrap(), *store.header());
    let while_open = Summary::read(&path).unwrap();
    assert!(while_open.in_use);
    assert_eq!((&while_open.head, &while_open.budget), (store.head(), &store.budget().unwrap()));
    drop(store);
    let closed = Summary::read(&path).unwrap();
    assert!(!closed.in_use && closed.budget == while_open.budget);
    assert!(Store::<Bytes>::open(&path).is_ok());
}

/// The budget is read from the database or, while another process has that, from a whole status file.
#[test]
fn a_status_that_is_old_or_was_edited_is_not_believed() {
    let (_folder, path) = Folder::with_state();
    let mut store = run(create(&path, SIMPLE), 0..20);
    let status = path.join("status.json");
    let before = fs::read_to_string(&status).unwrap();
    store.release("one", longest(&store)).unwrap();
    let (budget, after) = (store.budget().unwrap(), fs::read_to_string(&status).unwrap());
    assert_eq!(budget.left, 1);
    let edited = after.replace("\"left\":1", "\"left\":9");
    assert_ne!(edited, after);
    fs::write(&status, &edited).unwrap();
    assert_refuses(Summary::read(&path), "is not what was written");
    assert!(Header::read(&path).is_err());
    drop(store);
    for old in [edited, before, String::new()] {
        fs::write(&status, old).unwrap();
        assert_eq!(Summary::read(&path).unwrap().budget, budget);
    }
    fs::remove_file(&status).unwrap();
    assert_eq!(Summary::read(&path).unwrap().budget, budget);
}

#[test]
fn only_the_owner_can_read_the_files() {
    let (_folder, path) = Folder::with_state();
    let _store = run(create(&path, ALL[6].1), 0..5);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    let files: Vec<_> = fs::read_dir(&path).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    files.iter().for_each(|file| assert_eq!(mode(file), 0o600, "{file:?}"));
}

/// There are as many secrets as nodes in the window, and none in the database, which overwrites nothing.
#[test]
fn secrets_are_overwritten_when_no_list_can_ask_for_them() {
    for (_, json) in [ALL[5], ALL[6], ALL[7]] {
        let (_folder, path) = Folder::with_state();
        let mut store = create(&path, json);
        let mut seen = Vec::new();
        for number in 0..60 {
            hour(&mut store, number).unwrap();
            seen.extend(store.stream().secrets().into_iter().copied());
        }
        let now: Vec<[u8; 32]> = store.stream().secrets().into_iter().copied().collect();
        drop(store);
        let (secrets, database) =
            (fs::read(path.join("secrets")).unwrap(), fs::read(path.join("frostpane.redb")).unwrap());
        let holds = |bytes: &[u8], secret: &[u8; 32]| bytes.windows(32).any(|window| window == secret);
        assert!(now.iter().all(|secret| holds(&secrets, secret)));
        let gone: Vec<_> = seen.iter().filter(|secret| !now.contains(secret)).collect();
        assert!(gone.len() > 10);
        assert!(gone.iter().step_by(9).all(|secret| !holds(&secrets, secret)));
        assert!(seen.iter().step_by(17).all(|secret| !holds(&database, secret)));
        // A missing secret is never drawn again.
        fs::write(path.join("secrets"), vec![0; 64]).unwrap();
        assert_refuses(Store::<Bytes>::open(&path), "a secret of noise is missing, and is never drawn again");
    }
}

/// The copy may be older than events that the original has taken and released.
#[test]
fn a_restored_copy_is_noticed_by_the_witness_and_its_past_is_spent_when_it_is_accepted() {
    let (once, now) = (r#"{"window": "24h", "slide": "1h", "top": 5, "releases": 1}"#, hours());
    for (json, before, after) in [
        (ALL[3].1, 0..30, 30..30),
        (ALL[4].1, 0..30, 30..30),
        (ALL[6].1, 0..30, 30..31),
        (once, now - 40..now - 30, now - 30..now),
        (ALL[6].1, now - 40..now - 30, now - 30..now),
    ] {
        let (folder, path) = Folder::with_state();
        drop(run(witnessed(&folder, json), before));
        copy(&path, &folder.join("copy"));
        let mut store = run(Store::<Bytes>::open(&path).unwrap(), after.clone());
        let lists = store.stream().lists();
        if !is_continual(&store) {
            store.release("spent", longest(&store)).unwrap();
        }
        drop(store);
        copy(&folder.join("copy"), &path);
        assert_refuses(Store::<Bytes>::open(&path), "it is a copy, and its budget may have been spent");
        let mut store = Store::<Bytes>::accept_restored(&path, false).unwrap();
        if is_continual(&store) {
            assert!(store.stream().closed().is_empty() && store.stream().secrets().is_empty());
        }
        for number in after {
            assert!(hour(&mut store, number).unwrap().is_empty(), "shown again");
        }
        if is_continual(&store) {
            assert!(store.stream().lists() >= lists, "numbers go on")
        } else {
            assert!(matches!(store.release("again", longest(&store)), Err(Error::Refused(_))));
        }
        assert_eq!(reopened(store, &path).history(1).unwrap().last().unwrap().what, Action::Restored);
    }
}

#[test]
fn a_witness_that_is_missing_or_of_another_state_is_not_gone_on_without() {
    let folder = Folder::new();
    drop(witnessed(&folder, SIMPLE));
    let path = folder.join("state");
    let witness = fs::read(folder.join("witness")).unwrap();
    fs::remove_file(folder.join("witness")).unwrap();
    assert_refuses(Store::<Bytes>::open(&path), "cannot be read");
    fs::write(folder.join("witness"), b"{}").unwrap();
    assert!(Store::<Bytes>::open(&path).is_err());
    fs::write(folder.join("witness"), witness).unwrap();
    assert!(Store::<Bytes>::open(&path).is_ok());
}

/// The process ended between commit and witness.
#[test]
fn a_history_that_extends_what_the_witness_knows_is_gone_on_with() {
    let (folder, path) = Folder::with_state();
    let mut store = run(witnessed(&folder, SIMPLE), 0..20);
    let before = fs::read(folder.join("witness")).unwrap();
    store.release("one", longest(&store)).unwrap();
    let after = fs::read(folder.join("witness")).unwrap();
    assert_ne!(before, after);
    drop(store);
    // Before the witness was written, and before its fence was moved.
    let moved = fence(&folder);
    for fence_was_moved in [true, false] {
        fs::write(folder.join("witness"), &before).unwrap();
        if !fence_was_moved {
            fs::rename(&moved, folder.join(&fence_of(&before))).unwrap();
        }
        drop(Store::<Bytes>::open(&path).unwrap());
        assert_eq!(fs::read(folder.join("witness")).unwrap(), after);
        assert!(moved.exists());
    }
    // A witness of the last head but one was restored.
    let mut store = Store::open(&path).unwrap();
    store.release("two", longest(&store)).unwrap();
    drop(store);
    fs::rename(fence(&folder), folder.join(&fence_of(&before))).unwrap();
    fs::write(folder.join("witness"), &before).unwrap();
    drop(Store::<Bytes>::open(&path).unwrap());
    // A witness without its fence is refused.
    fs::remove_file(fence(&folder)).unwrap();
    assert_refuses(Store::<Bytes>::open(&path), "it is a copy");
}

fn fence_of(witness: &[u8]) -> String {
    let contents: serde_json::Value = serde_json::from_slice(witness).unwrap();
    format!("witness.fence-{}", &contents["mark"].as_str().unwrap()[..32])
}

/// A witness as versions before fences wrote it.
#[test]
fn a_witness_without_a_fence_gets_one() {
    let (folder, path) = Folder::with_state();
    drop(run(witnessed(&folder, SIMPLE), 0..20));
    copy(&path, &folder.join("copy"));
    fs::remove_file(fence(&folder)).unwrap();
    let text = fs::read_to_string(folder.join("witness")).unwrap();
    fs::write(folder.join("witness"), text.replace(",\"fenced\":true", "")).unwrap();
    let mut store = Store::<Bytes>::open(&path).unwrap();
    store.release("one", longest(&store)).unwrap();
    assert!(fence(&folder).exists());
    assert!(Store::<Bytes>::open(&folder.join("copy")).is_err());
    drop(store);
    assert!(Store::<Bytes>::open(&folder.join("copy")).is_err());
    assert!(Store::<Bytes>::open(&path).is_ok());
}

/// A copy is refused at once, whatever it does, and not at its next start.
#[test]
fn a_witness_is_held_as_long_as_a_state_is_open() {
    let folder = Folder::new();
    let (path, other) = (folder.join("state"), folder.join("copy"));
    drop(run(witnessed(&folder, ALL[3].1), 0..20));
    copy(&path, &other);
    let store = Store::<Bytes>::open(&path).unwrap();
    for refused in [
        Store::<Bytes>::open(&other).err().unwrap(),
        Store::<Bytes>::accept_restored(&other, false).err().unwrap(),
        Store::<Bytes>::accept_restored(&other, true).err().unwrap(),
    ] {
        assert!(matches!(refused, Error::Busy(_)), "{refused}");
        assert!(refused.to_string().contains("or a copy of it, open"), "{refused}");
    }
    // Either one goes on.
    let mut store = reopened(store, &other);
    store.release("one", longest(&store)).unwrap();
    drop(store);
    assert_refuses(Store::<Bytes>::open(&path), "it is a copy");
}

#[test]
fn a_state_that_needs_no_restoring_is_not_spent() {
    for witness in [true, false] {
        let (folder, path) = Folder::with_state();
        let store = if witness { witnessed(&folder, ALL[3].1) } else { create(&path, ALL[3].1) };
        let store = run(store, 0..20);
        let left = store.budget().unwrap().left;
        drop(store);
        let refused = Store::<Bytes>::accept_restored(&path, false).err().unwrap().to_string();
        assert!(refused.contains("nothing was changed") && refused.contains("--force"), "{refused}");
        let store = Store::<Bytes>::open(&path).unwrap();
        assert_eq!(store.budget().unwrap().left, left);
        drop(store);
        let store = Store::<Bytes>::accept_restored(&path, true).unwrap();
        assert_eq!(store.budget().unwrap().left, 0);
        reopened(store, &path);
    }
}

/// If the clock is set back, the end of the spent past is unknown.
#[test]
fn a_clock_behind_the_history_restores_nothing() {
    let (folder, path) = Folder::with_state();
    drop(run(witnessed(&folder, ALL[3].1), 0..20));
    copy(&path, &folder.join("copy"));
    // A record of tomorrow, and a witness a week ahead.
    let database = redb::Database::open(path.join("frostpane.redb")).unwrap();
    let transaction = database.begin_write().unwrap();
    let mut table = transaction.open_table(redb::TableDefinition::<u64, &[u8]>::new("history")).unwrap();
    let entry = table.get(1).unwrap().unwrap().value().to_vec();
    let entry = String::from_utf8(entry).unwrap();
    let year = entry.find("\\\"at\\\":\\\"20").unwrap() + 9;
    let ahead = format!("{}2999{}", &entry[..year], &entry[year + 4..]);
    table.insert(1, ahead.as_bytes()).unwrap();
    drop(table);
    transaction.commit().unwrap();
    drop(database);
    let behind = |path: &Path| {
        let refused = Store::<Bytes>::accept_restored(path, true).err().unwrap().to_string();
        assert!(refused.contains("set the clock"), "{refused}");
        refused
    };
    assert!(behind(&path).contains("2999"));
    let other = folder.join("copy");
    let witness = fs::read_to_string(folder.join("witness")).unwrap();
    let mut contents: serde_json::Value = serde_json::from_str(&witness).unwrap();
    contents["position"] = ((hours() + 7 * 24) * HOUR).into();
    fs::write(folder.join("witness"), contents.to_string()).unwrap();
    behind(&other);
    fs::write(folder.join("witness"), witness).unwrap();
    drop(Store::<Bytes>::accept_restored(&other, true).unwrap());
}

/// An interrupted creation can be repeated with the same folder and witness; a finished one is complete.
#[test]
fn a_beginning_that_was_interrupted_can_be_begun_again() {
    let folder = Folder::new();
    let whole = folder.join("whole");
    let begin = |state: &Path, witness: &str| begin(state, SIMPLE, None, Some(folder.join(witness)));
    drop(begin(&whole, "whole witness").unwrap());
    let contents = fs::read_to_string(folder.join("whole witness")).unwrap();
    // Leftovers: the database under its draft name, secrets, perhaps a status, and the witness of a creation.
    let state = folder.join("state");
    let real = fs::canonicalize(folder.join(".")).unwrap().join("state");
    let unfinished = contents.replace('}', &format!(",\"beginning\":{:?}}}", real.display()));
    for (files, witness) in [
        (&["frostpane.redb.frostpane-draft"][..], ""),
        (&["frostpane.redb.frostpane-draft", "secrets"], ""),
        (&["frostpane.redb.frostpane-draft", "secrets", "status.json"], &unfinished),
        (&["frostpane.redb.frostpane-draft", "status.json.frostpane-draft"], &unfinished),
    ] {
        fs::create_dir(&state).unwrap();
        files.iter().for_each(|file| fs::write(state.join(file), b"cut off").unwrap());
        if !witness.is_empty() {
            fs::write(folder.join("witness"), witness).unwrap();
            fs::write(folder.join(&format!("witness.fence-{}", "0".repeat(32))), b"").unwrap();
            assert_refuses(begin(&folder.join("elsewhere"), "witness"), "begin it there again");
        }
        let store = begin(&state, "witness").unwrap();
        assert!(begin(&state, "another").is_err(), "it is a state now");
        drop(store);
        drop(Store::<Bytes>::open(&state).unwrap());
        assert!(begin(&state, "another").is_err());
        assert!(begin(&folder.join("elsewhere"), "witness").is_err());
        assert_eq!(fs::read_dir(&state).unwrap().count(), 4);
        fs::remove_dir_all(&state).unwrap();
        frostpane_store::remove_witness(&folder.join("witness")).unwrap();
    }
    // Other files are left alone.
    fs::create_dir(&state).unwrap();
    fs::write(state.join("secrets"), b"of a state whose database is lost").unwrap();
    assert!(begin(&state, "witness").is_err() && state.join("secrets").exists());
}

#[test]
fn what_was_refused_is_in_no_history() {
    for json in [ALL[3].1, ALL[6].1] {
        let folder = Folder::new();
        let mut store = run(create(&folder.join("state"), json), 0..5);
        let head = store.head().clone();
        assert!(store.forget(900 * HOUR..901 * HOUR).is_err());
        assert!(!is_continual(&store) || store.forget(0..HOUR).is_err());
        assert_eq!(*store.head(), head);
        assert!(!store.is_broken());
    }
}

/// The spending of a forgotten pane remains; its bytes are deleted.
#[test]
fn a_pane_that_is_forgotten_is_in_no_list() {
    let (_folder, path) = Folder::with_state();
    let mut store =
        create(&path, r#"{"window": "24h", "slide": "1h", "all": true, "releases": 3, "epsilon": 1000}"#);
    let mut feed = store.feed("secret").unwrap().at(HOUR);
    for _ in 0..500 {
        feed.push(Event::at(5, b"of one person".as_slice())).unwrap();
    }
    feed.finish(true).unwrap();
    store = run(store, 1..20);
    let shows = |store: &mut Store<Bytes>, id: &str| {
        let list = store.release(id, longest(store)).unwrap().json;
        String::from_utf8(list).unwrap().contains("of one person")
    };
    assert!(shows(&mut store, "before"));
    let left = store.budget().unwrap().left;
    store.forget(0..HOUR).unwrap();
    assert!(!shows(&mut store, "after"));
    assert_eq!(store.budget().unwrap().left, left - 1);
    assert!(store.forget(0..HOUR).is_err(), "there is none any more");
    assert!(reopened(store, &path).stream().closed().iter().all(|pane| pane.start >= HOUR));
}

fn hours() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64 / 3_600
}

#[test]
fn time_does_not_go_to_the_future_and_a_witness_is_not_in_the_folder() {
    let folder = Folder::new();
    let mut store = create(&folder.join("state"), ALL[4].1);
    assert_refuses(store.tick((hours() + 50) * HOUR), "lies in the future");
    assert!(store.tick(HOUR).is_ok(), "nothing has changed");
    let inside = begin(&folder.join("other"), SIMPLE, None, Some(folder.join("other").join("witness")));
    assert_refuses(inside, "would be restored with it");
    assert!(!folder.join("other").exists(), "nothing was begun");
}

#[test]
fn what_is_no_state_is_refused_with_advice() {
    let (folder, path) = Folder::with_state();
    assert_refuses(Store::<Bytes>::open(&folder.join("nothing")), "frostpane init");
    fs::create_dir(folder.join("full")).unwrap();
    fs::write(folder.join("full").join("file"), b"mine").unwrap();
    let full = Store::<Bytes>::create(&folder.join("full"), Spec::default(), Keys::open(), Begin::default());
    assert_refuses(full, "is not empty");
    drop(create(&path, SIMPLE));
    assert_refuses(Store::<u64>::open(&path), "the keys of this state are bytes");
    assert_refuses(Store::<Bytes>::accept_restored(&path, true), "begin a new state");
}

/// Events of users come in any order: only ticks decide which are late.
#[test]
fn only_ticks_end_an_epoch_of_people() {
    let (_folder, mut store) = created(ALL[4].1);
    let mut feed = store.feed("all").unwrap().at(12 * HOUR);
    for (time, user) in [(11 * HOUR, b"a"), (HOUR, b"b"), (13 * HOUR, b"c"), (i64::MAX, b"d"), (-HOUR, b"e")]
    {
        feed.push(Event::by(user, time, b"key".as_slice())).unwrap();
    }
    feed.finish(false).unwrap();
    assert_eq!(store.stream().tally().late, 1, "before the beginning");
    assert_eq!(store.ahead(), 2, "after the present, also within its epoch");
    assert!(store.stream().closed().is_empty());
    store.tick(12 * HOUR).unwrap();
    assert_eq!(store.stream().closed(), [0..1, 1..2]);
    store.tick(HOUR).unwrap();
    assert_eq!(store.stream().clock(), 12 * HOUR, "it never goes back");
    let mut feed = store.feed("late").unwrap().at(12 * HOUR);
    let (time, key, user) = event(0, 5);
    feed.push(Event::by(&user, time, key.as_slice())).unwrap();
    feed.finish(false).unwrap();
    assert_eq!(store.stream().tally().late, 2);
}

const LAST_THOUSAND: &str = r#"{ "window": 1000, "slide": 100, "top": 3 }"#;

fn delivery<'a>(id: &'a str, digest: u8, batch: &'a Batch<Bytes>) -> Delivery<'a, Bytes> {
    Delivery {
        id: Some(id),
        digest: [digest; 32],
        terms: "jsonl",
        receipt: &|_| String::new(),
        batch,
        timed: true,
    }
}

/// Delivers events with these times under an id and with a hash, twice at one moment.
fn deliver(
    store: &mut Store<Bytes>,
    id: &str,
    digest: u8,
    times: &[Option<i64>],
    present: i64,
) -> DeliveryOutcome {
    let mut batch = Batch::new();
    times.iter().for_each(|&time| batch.push(Event { time, key: Some(b"snow".as_slice()), user: None }));
    let delivery = delivery(id, digest, &batch);
    let (outcomes, _) = store.take_deliveries(&[delivery.clone(), delivery], present).unwrap();
    assert!(!matches!(outcomes[1], Taken(_)), "twice in one transaction it counts once");
    match outcomes[0].clone() {
        Taken(_) => taken(),
        other => other,
    }
}

/// A delivery that was taken, whatever became of its events.
fn taken() -> DeliveryOutcome {
    Taken(Tally::default())
}

#[test]
fn a_delivery_counts_once_under_its_id_also_in_another_process() {
    let (_folder, state) = Folder::with_state();
    let mut store = create(&state, LAST_THOUSAND);
    for (id, digest, outcome) in [("a", 1, taken()), ("a", 1, Again), ("a", 2, Other), ("b", 2, taken())] {
        assert_eq!(deliver(&mut store, id, digest, &[None], i64::MAX), outcome);
        store = reopened(store, &state);
        assert!(matches!(deliver(&mut store, "c", 1, &[Some(5)], i64::MAX), Refused(_)));
    }
    assert_eq!(deliver(&mut store, "c", 1, &[None], i64::MAX), taken(), "what was refused is not known");
    assert_eq!(store.stream().counted(), 3);
}

#[test]
fn a_delivery_that_comes_again_has_its_receipt_and_another_reading_of_it_is_told_apart() {
    let (_folder, state) = Folder::with_state();
    let mut store = create(&state, LAST_THOUSAND);
    let mut batch = Batch::new();
    batch.push(Event::of(b"snow".as_slice()));
    let delivery =
        Delivery { terms: "csv", receipt: &|_| "one event".to_owned(), ..delivery("a", 1, &batch) };
    let other = Delivery { terms: "tsv", receipt: &|_| "no event".to_owned(), ..delivery.clone() };
    let all = [delivery.clone(), other.clone(), delivery.clone()];
    let (outcomes, _) = store.take_deliveries(&all, i64::MAX).unwrap();
    assert_eq!(outcomes, [taken(), OtherTerms, Again], "in one transaction");
    let mut store = reopened(store, &state);
    let (outcomes, _) = store.take_deliveries(&[other, delivery], i64::MAX).unwrap();
    assert_eq!(outcomes, [OtherTerms, Again]);
    assert_eq!(store.receipt("a").unwrap().as_deref(), Some("one event"));
    let known = |digest: u8, terms: &str| store.delivered("a", [digest; 32], terms).unwrap();
    assert_eq!(known(1, "csv"), Some(Again));
    assert_eq!(known(1, "tsv"), Some(OtherTerms));
    assert_eq!(known(2, "csv"), Some(Other));
    assert_eq!(store.delivered("b", [1; 32], "csv").unwrap(), None);
    assert_eq!(store.receipt("b").unwrap(), None);
    assert_eq!(store.stream().counted(), 1);
}

#[test]
fn the_id_of_a_delivery_is_known_until_its_events_are_too_late() {
    let json = r#"{ "window": "10h", "slide": "1h", "top": 3, "lateness": "1h" }"#;
    let (_folder, mut store) = created(json);
    let at =
        |store: &mut Store<Bytes>, id: &str, hour: i64| deliver(store, id, 1, &[Some(hour * HOUR)], i64::MAX);
    assert_eq!(at(&mut store, "early", 1), taken());
    for hour in 2..=21 {
        at(&mut store, &format!("at {hour}"), hour);
        assert_eq!(at(&mut store, "early", 1), Again, "hour {hour}");
    }
    let dropped = store.stream().tally().late;
    for hour in 40..42 {
        at(&mut store, &format!("at {hour}"), hour);
    }
    // Its id is forgotten, and it is late.
    assert_eq!(store.receipt("early").unwrap(), None, "nor its receipt kept");
    assert_eq!(at(&mut store, "early", 1), taken());
    assert_eq!(store.stream().tally().late, dropped + 1);
}

#[test]
fn ids_are_forgotten_also_of_what_holds_nothing_or_lies_far_ahead() {
    let (_folder, mut store) = created(r#"{ "window": "10h", "slide": "1h", "top": 3 }"#);
    let year_3000 = 32_503_680_000_000_000;
    let both: [(&str, &[Option<i64>]); 2] = [("nothing", &[]), ("far", &[Some(year_3000)])];
    for (id, times) in both {
        assert_eq!(deliver(&mut store, id, 1, times, HOUR), taken());
        assert_eq!(deliver(&mut store, id, 2, times, 2 * HOUR), Other);
    }
    for hour in 2..=45 {
        deliver(&mut store, &format!("at {hour}"), 1, &[Some(hour * HOUR)], hour * HOUR);
    }
    for (id, times) in both {
        assert_eq!(deliver(&mut store, id, 2, times, 45 * HOUR), taken(), "{id}");
    }
}

/// An event ahead of the clock is ingested as of the present: when it comes again, it may be later. Its id is
/// forgotten at last.
#[test]
fn an_id_outlives_events_that_were_ahead_of_the_clock() {
    let (_folder, mut store) = created(r#"{ "window": "2s", "slide": "1s", "top": 3 }"#);
    for (id, digest, seconds, outcome) in [
        ("ahead", 1, 100, taken()),
        ("other", 1, 104, taken()),
        // Its own time is five seconds later.
        ("other", 2, 105, Other),
        ("ahead", 1, 105, Again),
        ("later", 1, 4_000, taken()),
        ("ahead", 1, 4_000, taken()),
    ] {
        let moment = seconds * 1_000_000;
        assert_eq!(deliver(&mut store, id, digest, &[Some(moment)], moment), outcome, "{id} at {seconds}");
    }
}

/// Epochs of six hours in little memory: single releases, and continual ones at every epoch or third of one.
const IN_LITTLE_MEMORY: [&str; 3] = [
    r#"{"window": "24h", "top": 9, "unit": {"user": {"epoch": "6h"}}, "memory": "8MB", "releases": 9, "epsilon": 10000}"#,
    r#"{"window": "24h", "slide": "6h", "top": 9, "unit": {"user": {"epoch": "6h"}}, "memory": "8MB", "continual": true, "epsilon": 10000}"#,
    r#"{"window": "24h", "slide": "2h", "top": 9, "unit": {"user": {"epoch": "6h"}}, "memory": "8MB", "continual": true, "epsilon": 10000}"#,
];

fn push_users(store: &mut Store<Bytes>, id: &str, hour: i64, users: Range<u32>) -> Result<(), Error> {
    let mut feed = store.feed(id)?;
    for user in users {
        let key = [b"ab"[usize::from(user % 3 == 0)]];
        feed.push(Event::by(&user.to_be_bytes(), hour * HOUR, key.as_slice()))?;
        if user % 20_000 == 0 {
            feed.acknowledge(false)?;
        }
    }
    feed.finish(true).map(drop)
}

/// Each of 300,000 users counts once in an epoch, although memory has room for a third, across restarts.
#[test]
fn people_who_do_not_fit_into_the_memory_go_to_disk() {
    for json in IN_LITTLE_MEMORY {
        let (_folder, path) = Folder::with_state();
        let first = (hours() - 48) / 6 * 6;
        let mut store = begin(&path, json, Some(first * HOUR), None).unwrap();
        push_users(&mut store, "morning", first + 1, 0..150_000).unwrap();
        store.tick((first + 2) * HOUR).unwrap();
        assert!(!store.stream().runs_of_users().is_empty(), "{json}");
        let mut store = reopened(store, &path);
        // Half of them again, and as many new ones.
        push_users(&mut store, "noon", first + 2, 75_000..225_000).unwrap();
        let mut store = reopened(store, &path);
        push_users(&mut store, "evening", first + 5, 150_000..300_000).unwrap();
        store.tick((first + 6) * HOUR).unwrap();
        let shown = if is_continual(&store) {
            store.lists_after(0).unwrap().pop().unwrap().json
        } else {
            store.release("day", longest(&store)).unwrap().json
        };
        let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
        let heavy = shown["heavy"].as_array().unwrap();
        let counts: Vec<u64> = heavy.iter().map(|heavy| heavy["count"].as_u64().unwrap()).collect();
        assert_eq!(counts, [200_000, 100_000], "{json}");
        assert!(store.stream().runs_of_users().is_empty(), "their epoch is over");
        drop(store);
        Store::<Bytes>::open(&path).unwrap();
    }
}

/// An unreadable disk says nothing about its contents: restoring a copy would spend the past for nothing.
#[test]
fn a_read_that_fails_is_not_said_to_be_damage() {
    let (_folder, state) = Folder::with_state();
    let mut store = create(&state, LAST_THOUSAND);
    for number in 0..50 {
        let mut batch = Batch::new();
        (0..40).for_each(|_| batch.push(Event::of(b"snow".as_slice())));
        store.take_deliveries(&[delivery(&number.to_string(), 1, &batch)], i64::MAX).unwrap();
    }
    drop(store);
    let mut failed = 0;
    for reads in 0.. {
        points::unreadable_after(reads);
        let opened = Store::<Bytes>::open(&state);
        points::unreadable_after(i64::MAX);
        let Err(cause) = opened else { break };
        let told = cause.to_string();
        assert!(told.contains("no damage") && !told.contains("restore"), "{reads}: {told}");
        failed += 1;
    }
    assert!(failed > 3, "{failed} reads were made to fail");
    assert_eq!(Store::<Bytes>::open(&state).unwrap().stream().counted(), 2_000);
}

/// The event at which memory ran out depends on all users: of the epoch nothing is ever released.
#[test]
fn people_whom_neither_memory_nor_disk_has_room_for_stop_a_state_for_good() {
    for json in IN_LITTLE_MEMORY {
        let (_folder, path) = Folder::with_state();
        // At the begin of an epoch, so that none ends before.
        let first = (hours() - 48) / 6 * 6;
        let mut store = begin(&path, json, Some(first * HOUR), None).unwrap();
        hour(&mut store, first).unwrap();
        // Where there is no folder no temporary file can be made.
        let elsewhere = path.with_extension("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        let said = push_users(&mut store, "crowd", first + 1, 0..200_000).unwrap_err().to_string();
        std::fs::rename(&elsewhere, &path).unwrap();
        assert!(said.contains("did not fit into the memory"), "{said}");
        let mut store = reopened(store, &path);
        for refused in [
            hour(&mut store, first + 1).err(),
            store.tick((first + 24) * HOUR).err(),
            store.feed("others").err(),
            store.release("after", longest(&store)).err(),
        ] {
            assert_eq!(refused.unwrap().to_string(), said);
        }
        assert!(store.lists_after(0).unwrap().is_empty(), "{json}");
        drop(store);
        let mut store = Store::<Bytes>::accept_restored(&path, false).unwrap();
        store.feed("others").unwrap().finish(true).unwrap();
        if !is_continual(&store) {
            assert!(matches!(store.release("after", longest(&store)), Err(Error::Refused(_))));
        }
    }
}
