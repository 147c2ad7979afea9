//! The life of a stream.

use frostpane::{Bytes, Keys};
use frostpane_server::{Limits, Service};
use frostpane_store::{Begin, Store};
use futures_util::FutureExt;
use jiff::{SignedDuration, Timestamp};

use crate::call::{Api, BY_CLOCK, BY_COUNT, Folder, JSONL, PEOPLE, SINGLE, eventually, limits, lines};

#[tokio::test]
async fn a_stream_is_begun_described_closed_and_deleted_for_good() {
    let api = Api::new();
    let begun = api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(201).json();
    assert_eq!((&begun["continual"], &begun["public"]), (&true.into(), &false.into()));
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(200);
    api.call("PUT", "/v1/streams/one", SINGLE).await.is(409);
    api.call("PUT", "/v1/streams/two", PEOPLE).await.is(201);
    assert_eq!(api.get("/v1/streams").await.is(200).json()["streams"].as_array().unwrap().len(), 2);

    api.send("one", JSONL, lines(10)).await.is(200);
    api.call("POST", "/v1/streams/one/close", "").await.is(200);
    api.send("one", JSONL, lines(10)).await.is(409);
    let api = api.restarted().await;
    assert_eq!(api.get("/v1/streams/one").await.json()["closed"], true);

    api.call("DELETE", "/v1/streams/one", "").await.is(204);
    api.get("/v1/streams/one").await.is(410);
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(409);
    let api = api.restarted().await;
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(409);
    assert!(!api.folder.0.join("streams/one").exists());
    // By count it is not known which events were released.
    api.call("PUT", "/v1/streams/three?replaces=one", BY_COUNT).await.is(422);
    api.call("DELETE", "/v1/streams/two", "").await.is(204);
    api.call("PUT", "/v1/streams/three?replaces=two", PEOPLE).await.is(201);
}

#[tokio::test]
async fn what_takes_the_place_of_a_stream_leaves_out_events_from_before() {
    let api = Api::serving("old", BY_CLOCK).await;
    let before = Timestamp::now();
    api.call("DELETE", "/v1/streams/old", "").await.is(204);
    api.call("PUT", "/v1/streams/new?replaces=old", BY_CLOCK).await.is(201);
    let event = |time| format!("{{\"key\":\"snow\",\"time\":\"{time}\"}}\n");
    let taken = api.send("new", JSONL, event(before) + &event(Timestamp::now())).await.is(200).json();
    assert_eq!(taken["counted"], 1, "the one from before may be in a list of the stream that was here");
    api.call("PUT", "/v1/streams/arrival?replaces=old&time=arrival", BY_CLOCK).await.is(422);
    api.call("PUT", "/v1/streams/count?replaces=old", BY_COUNT).await.is(422);
    api.create("there", BY_CLOCK).await;
    api.call("PUT", "/v1/streams/there?replaces=old", BY_CLOCK).await.is(409);
    // With users, it begins with the next whole epoch.
    api.create("people", PEOPLE).await;
    api.call("DELETE", "/v1/streams/people", "").await.is(204);
    api.call("PUT", "/v1/streams/after?replaces=people", PEOPLE).await.is(201);
    let event = format!("{{\"key\":\"snow\",\"user\":\"u\",\"time\":\"{}\"}}\n", Timestamp::now());
    assert_eq!(api.send("after", JSONL, event).await.is(200).json()["counted"], 0);
}

#[tokio::test]
async fn a_dry_run_says_what_to_expect_and_begins_nothing() {
    let api = Api::new();
    let plan = api.call("PUT", "/v1/streams/one?dry_run=true&events=5000", PEOPLE).await.is(200).json();
    assert_eq!(plan["events"], 5000);
    assert!(plan["forecast"]["least_listed"].as_u64().unwrap() > 0);
    assert_eq!(plan["per_user"].as_array().unwrap().len(), 6);
    api.get("/v1/streams/one").await.is(404);
    let same = api.call("POST", "/v1/plan?events=5000", PEOPLE).await.is(200).json();
    assert_eq!(same, plan);
    api.create("one", PEOPLE).await;
    let same = api.get("/v1/streams/one/plan?events=5000").await.is(200).json();
    assert_eq!(same["forecast"], plan["forecast"]);
}

#[tokio::test]
async fn a_state_that_the_program_began_can_be_served() {
    let api = Api::new();
    let folder = api.folder.0.join("streams/begun");
    let spec = serde_json::from_str(SINGLE).unwrap();
    let mut begin = Begin::default();
    begin.input = Some(r#"{ "key": "search" }"#.to_owned());
    Store::<Bytes>::create(&folder, spec, Keys::open(), begin).unwrap();
    let api = api.restarted().await;
    let told = api.get("/v1/streams/begun").await.is(200).json();
    assert_eq!((&told["columns"]["key"], &told["public"]), (&"search".into(), &false.into()));
    api.send("begun", JSONL, "{\"search\":\"snow\"}\n").await.is(200);
}

#[tokio::test]
async fn what_is_begun_goes_on_when_whoever_asked_has_gone() {
    let api = Api::serving("one", BY_COUNT).await;
    let hung_up = async |method: &str, path: &str, body: &'static str| {
        // Polled once, then dropped.
        assert!(api.call(method, path, body).now_or_never().is_none());
    };
    hung_up("DELETE", "/v1/streams/one", "").await;
    hung_up("PUT", "/v1/streams/two", BY_COUNT).await;
    eventually(async || api.get("/v1/streams/one").await.status == 410).await;
    eventually(async || api.get("/v1/streams/two").await.status == 200).await;
    api.send("two", JSONL, lines(10)).await.is(200);
}

#[tokio::test]
async fn one_process_serves_a_folder() {
    let api = Api::new();
    let second = Service::open(&api.folder.0, None, limits());
    assert!(second.is_err_and(|problem| problem.to_string().contains("another process")));
}

#[tokio::test]
async fn settings_and_tombstones_that_cannot_be_read_free_nothing() {
    let api = Api::serving("one", BY_COUNT).await;
    api.create("two", BY_COUNT).await;
    api.call("POST", "/v1/streams/one/close", "").await.is(200);
    api.call("DELETE", "/v1/streams/two", "").await.is(204);
    api.service.stop().await;
    std::fs::write(api.folder.0.join("gone/two.json"), b"cut o").unwrap();
    let settings = api.folder.0.join("streams/one/service.json");
    std::fs::remove_file(&settings).unwrap();
    std::fs::create_dir(&settings).unwrap();
    let api = api.restarted().await;
    api.send("one", JSONL, lines(10)).await.is(503);
    api.call("PUT", "/v1/streams/two", BY_COUNT).await.is(409);
}

#[tokio::test]
async fn a_clock_that_has_jumped_takes_nothing_and_ends_nothing() {
    let hourly = r#"{ "window": "24h", "slide": "1h", "top": 5, "continual": true }"#;
    let now = Timestamp::now();
    let event = format!("{{\"key\":\"snow\",\"time\":\"{now}\"}}\n");
    let api = Api::serving("one", hourly).await;
    api.send("one", JSONL, event.clone()).await.is(200);
    api.service.stop().await;
    // As if the machine had woken up with its clock behind.
    let ahead = now + SignedDuration::from_hours(2);
    api.folder.store("one").tick(ahead.as_microsecond()).unwrap();
    let api = api.restarted().await;
    api.send("one", JSONL, event.clone()).await.is(503);
    eventually(async || api.health("one").await["standing"] == "clock").await;
    api.get("/v1/streams/one/ready").await.is(503);

    // As if its clock were days ahead, which must be accepted explicitly.
    let api = Api::new();
    let old = serde_json::from_str(hourly).unwrap();
    let folder = api.folder.0.join("streams/old");
    let mut store = Store::<Bytes>::create(&folder, old, Keys::open(), Begin::default()).unwrap();
    store.tick((now - SignedDuration::from_hours(48)).as_microsecond()).unwrap();
    drop(store);
    let api = api.restarted().await;
    api.send("old", JSONL, event.clone()).await.is(503);
    let api = Api::with_limits(api.stopped().await, Limits { accept_clock: true, ..limits() });
    api.send("old", JSONL, event).await.is(200);
}

#[tokio::test]
async fn a_stream_that_could_not_be_begun_leaves_its_name_free() {
    let witnesses = Folder::new();
    std::fs::create_dir_all(&witnesses.0).unwrap();
    let api = Api::with_witnesses(Folder::new(), Some(&witnesses), limits());
    // A folder in the place of the state.
    let place = api.folder.0.join("streams/one");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("x"), b"x").unwrap();
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(503);
    assert!(!witnesses.0.join("one.witness").exists());
    std::fs::remove_dir_all(&place).unwrap();
    api.create("one", BY_COUNT).await;
    assert!(witnesses.0.join("one.witness").exists());

    // The witnesses have a copy of the tombstone that a restored folder lacks.
    api.call("DELETE", "/v1/streams/one", "").await.is(204);
    let folder = api.stopped().await;
    std::fs::remove_dir_all(folder.0.join("gone")).unwrap();
    let api = Api::with_witnesses(folder, Some(&witnesses), limits());
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(409);
    assert!(api.folder.0.join("gone/one.json").exists(), "it was copied back");
}

#[tokio::test]
async fn what_a_release_says_tells_of_other_streams() {
    let api = Api::serving("one", BY_COUNT).await;
    api.send("one", JSONL, lines(250)).await.is(200);
    let said = async |api: &Api| {
        let words = api.get("/v1/streams/one/releases/latest/words").await;
        words.is(200).json()["beside"].as_str().map(str::to_owned)
    };
    assert_eq!(said(&api).await, None);
    assert_eq!(api.get("/v1/streams/one/releases/latest").await.header("frostpane-account"), "one");
    api.create("two", BY_COUNT).await;
    assert!(said(&api).await.unwrap().contains("other streams"));
    api.call("DELETE", "/v1/streams/two", "").await.is(204);
    assert!(said(&api).await.is_some(), "also of one that is gone");
}
