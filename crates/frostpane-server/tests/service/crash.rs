//! The process is killed under load: every acknowledged event counts once, and no release has two noises.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use frostpane_store::Action;

use crate::call::{Folder, JSONL, WATCHED, lines, served};
use crate::process::{Process, ask, signal, token};

const LISTS: &str = r#"{ "window": 20000, "slide": 400, "top": 5, "continual": true }"#;
const SINGLE: &str = r#"{ "window": 20000, "slide": 1000, "top": 5, "releases": 1000 }"#;
const CLIENTS: usize = 6;
const EVENTS: u64 = 50;
const KILLS: u64 = 50;

/// Answers to clients.
#[derive(Default)]
struct Seen {
    acknowledged: AtomicU64,
    again: AtomicU64,
    lists: Mutex<BTreeMap<u64, Vec<u8>>>,
    releases: Mutex<BTreeMap<String, Vec<u8>>>,
}

/// Sends numbered requests, each until it is answered, and reads releases.
fn client(number: usize, token: &str, process: &RwLock<Option<Process>>, over: &AtomicBool, seen: &Seen) {
    for request in 0.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let key = format!("content-type: application/x-ndjson\r\nidempotency-key: {number}-{request}\r\n");
        let name = if request % 2 == 0 { "lists" } else { "single" };
        until_answered(process, |process| {
            let path = format!("/v1/streams/{name}/events");
            let answer =
                ask(process.address, "POST", &path, token, &key, lines(EVENTS as usize).as_bytes()).ok()?;
            let taken = (answer.status == 200).then(|| answer.json())?;
            seen.again.fetch_add(u64::from(taken["again"] == true), Ordering::Relaxed);
            Some(())
        });
        seen.acknowledged.fetch_add(EVENTS, Ordering::Relaxed);
        if request % 10 == 5 {
            let id = format!("{number}-{request}");
            let path = format!("/v1/streams/single/releases/{id}");
            let made = until_answered(process, |process| {
                let answer = ask(process.address, "PUT", &path, token, "", b"").ok()?;
                answer.status.is_success().then_some(answer.body)
            });
            seen.releases.lock().unwrap().insert(id, made);
        }
        if request % 10 == 0 {
            look(process, token, seen);
        }
    }
}

fn look(process: &RwLock<Option<Process>>, token: &str, seen: &Seen) {
    let latest = "/v1/streams/lists/releases/latest";
    let get = |process: &Process| ask(process.address, "GET", latest, token, "", b"").ok();
    let answer = process.read().unwrap().as_ref().and_then(get);
    if let Some(answer) = answer.filter(|answer| answer.status == 200) {
        let number = answer.header("frostpane-number").parse().unwrap();
        let before = seen.lists.lock().unwrap().insert(number, answer.body.clone());
        assert!(before.is_none_or(|before| before == answer.body), "a list has two noises");
    }
}

fn until_answered<T>(process: &RwLock<Option<Process>>, mut ask: impl FnMut(&Process) -> Option<T>) -> T {
    loop {
        let answered = process.read().unwrap().as_ref().and_then(&mut ask);
        match answered {
            Some(answer) => return answer,
            None => thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[test]
fn killed_under_load_every_acknowledged_event_is_there_once() {
    let folder = Folder::new();
    let token = token(&folder.0, "crash");
    let first = Process::start(&folder.0);
    for (name, spec) in [("lists", LISTS), ("single", SINGLE)] {
        first.create(name, &token, spec);
    }
    let process = Arc::new(RwLock::new(Some(first)));
    let (over, seen) = (AtomicBool::new(false), Seen::default());
    thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (process, over, seen, token) = (process.clone(), &over, &seen, token.as_str());
            scope.spawn(move || client(number, token, &process, over, seen));
        }
        for kill in 0..KILLS {
            thread::sleep(Duration::from_millis(150 + 97 * (kill % 7)));
            // Clients hold the lock while they call, so the process is killed by its id.
            signal(process.read().unwrap().as_ref().unwrap().id(), "-KILL");
            let mut place = process.write().unwrap();
            drop(place.take());
            *place = Some(Process::start(&folder.0));
        }
        thread::sleep(Duration::from_millis(300));
        over.store(true, Ordering::Relaxed);
    });
    assert!(process.write().unwrap().take().unwrap().stop());
    check(&folder, &seen);
}

fn check(folder: &Folder, seen: &Seen) {
    let (lists, single) = (folder.store("lists"), folder.store("single"));
    let acknowledged = seen.acknowledged.load(Ordering::Relaxed);
    assert_eq!(lists.stream().counted() + single.stream().counted(), acknowledged);
    let kept: BTreeMap<u64, Vec<u8>> =
        lists.lists_after(0).unwrap().into_iter().map(|list| (list.number, list.json)).collect();
    assert_eq!(kept.len() as u64, lists.stream().counted() / 400);
    for (number, list) in &*seen.lists.lock().unwrap() {
        assert_eq!(kept.get(number), Some(list), "list {number} is another now");
    }
    let charged: Vec<String> = single
        .history(1)
        .unwrap()
        .into_iter()
        .filter_map(|record| match record.what {
            Action::Charged { id, .. } => Some(id),
            _ => None,
        })
        .collect();
    let releases = seen.releases.lock().unwrap();
    for (id, bytes) in &*releases {
        assert_eq!(charged.iter().filter(|charged| *charged == id).count(), 1, "{id} is charged once");
        assert_eq!(single.released(id).unwrap().unwrap().json, *bytes);
    }
    assert!(acknowledged > 0 && !releases.is_empty() && !seen.lists.lock().unwrap().is_empty());
    println!(
        "{KILLS} kills: {acknowledged} events acknowledged, {} requests known again, {} lists and {} releases seen",
        seen.again.load(Ordering::Relaxed),
        seen.lists.lock().unwrap().len(),
        releases.len()
    );
}

#[test]
fn a_stop_keeps_what_was_acknowledged_and_ends_no_slide_early() {
    let (folder, token, process) = served(&[]);
    process.create("one", &token, WATCHED);
    process.create("two", &token, LISTS);
    process.send("two", &token, JSONL, lines(799)).is(200);
    assert!(process.stop());
    let two = folder.store("two");
    assert_eq!((two.stream().counted(), two.stream().lists()), (799, 1));
    drop(two);
    assert_eq!(folder.store("one").stream().lists(), 0);
    let process = Process::start(&folder.0);
    process.get("/readyz", &token).is(200);
}
