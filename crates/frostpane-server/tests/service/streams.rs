//! The life of a stream.

use crate::call::{Api, BY_COUNT, JSONL, PEOPLE, SINGLE, lines};

#[tokio::test]
async fn a_stream_is_begun_described_closed_and_deleted_for_good() {
    let api = Api::new();
    let begun = api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(201).json();
    assert_eq!(
        (&begun["continual"], &begun["public"]),
        (&true.into(), &false.into())
    );
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(200);
    api.call("PUT", "/v1/streams/one", SINGLE).await.is(409);
    api.call("PUT", "/v1/streams/two", PEOPLE).await.is(201);
    let all = api.call("GET", "/v1/streams", "").await.is(200).json();
    assert_eq!(all["streams"].as_array().unwrap().len(), 2);

    api.send("one", JSONL, lines(10)).await.is(200);
    api.call("POST", "/v1/streams/one/close", "").await.is(200);
    api.send("one", JSONL, lines(10)).await.is(409);
    let api = api.restarted().await;
    assert_eq!(
        api.call("GET", "/v1/streams/one", "").await.json()["closed"],
        true
    );

    api.call("DELETE", "/v1/streams/one", "").await.is(204);
    api.call("GET", "/v1/streams/one", "").await.is(410);
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(409);
    let api = api.restarted().await;
    api.call("PUT", "/v1/streams/one", BY_COUNT).await.is(409);
    assert!(!api.folder.0.join("streams/one").exists());
    // By count nobody can tell which of its events were released.
    api.call("PUT", "/v1/streams/three?replaces=one", BY_COUNT)
        .await
        .is(422);
    api.call("DELETE", "/v1/streams/two", "").await.is(204);
    api.call("PUT", "/v1/streams/three?replaces=two", PEOPLE)
        .await
        .is(201);
}

#[tokio::test]
async fn what_takes_the_place_of_a_stream_leaves_out_events_from_before() {
    let api = Api::new();
    let by_clock = r#"{ "window": "1h", "slide": "1m", "top": 5 }"#;
    api.create("old", by_clock).await;
    let before = jiff::Timestamp::now();
    api.call("DELETE", "/v1/streams/old", "").await.is(204);
    api.call("PUT", "/v1/streams/new?replaces=old", by_clock)
        .await
        .is(201);
    let event = |time| format!("{{\"key\":\"snow\",\"time\":\"{time}\"}}\n");
    let body = event(before) + &event(jiff::Timestamp::now());
    let taken = api.send("new", JSONL, body).await.is(200).json();
    assert_eq!(
        taken["events"], 1,
        "the one from before may be in a list of the stream that was here"
    );
}

#[tokio::test]
async fn a_dry_run_says_what_to_expect_and_begins_nothing() {
    let api = Api::new();
    let plan = api
        .call("PUT", "/v1/streams/one?dry_run=true&events=5000", PEOPLE)
        .await
        .is(200)
        .json();
    assert_eq!(plan["events"], 5000);
    assert!(plan["forecast"]["least_listed"].as_u64().unwrap() > 0);
    assert_eq!(plan["per_user"].as_array().unwrap().len(), 6);
    api.call("GET", "/v1/streams/one", "").await.is(404);
    let same = api
        .call("POST", "/v1/plan?events=5000", PEOPLE)
        .await
        .is(200)
        .json();
    assert_eq!(same, plan);
    api.create("one", PEOPLE).await;
    let same = api
        .call("GET", "/v1/streams/one/plan?events=5000", "")
        .await
        .is(200)
        .json();
    assert_eq!(same["forecast"], plan["forecast"]);
}

#[tokio::test]
async fn a_state_that_the_program_began_can_be_served() {
    let api = Api::new();
    let folder = api.folder.0.join("streams/begun");
    let spec = serde_json::from_str(SINGLE).unwrap();
    let mut begin = frostpane_store::Begin::default();
    begin.input = Some(r#"{ "key": "search" }"#.to_owned());
    frostpane_store::Store::<frostpane::Bytes>::create(&folder, spec, frostpane::Keys::open(), begin)
        .unwrap();
    let api = api.restarted().await;
    let told = api.call("GET", "/v1/streams/begun", "").await.is(200).json();
    assert_eq!(
        (&told["columns"]["key"], &told["public"]),
        (&"search".into(), &false.into())
    );
    api.send("begun", JSONL, "{\"search\":\"snow\"}\n").await.is(200);
}

#[tokio::test]
async fn a_stream_whose_state_is_damaged_leaves_the_others_alone() {
    let api = Api::new();
    api.create("good", BY_COUNT).await;
    api.create("bad", BY_COUNT).await;
    api.call("GET", "/readyz", "").await.is(200);
    api.service.stop().await;
    std::fs::write(api.folder.0.join("streams/bad/frostpane.redb"), b"no database").unwrap();
    let api = api.restarted().await;
    api.send("good", JSONL, lines(10)).await.is(200);
    // Whoever sends to it keeps what they have.
    api.send("bad", JSONL, lines(10)).await.is(503);
    api.call("GET", "/readyz", "").await.is(503);
    api.call("GET", "/healthz", "").await.is(200);
    // Its name is not free, or its budget would begin anew.
    api.call("PUT", "/v1/streams/bad", BY_COUNT).await.is(409);
}
