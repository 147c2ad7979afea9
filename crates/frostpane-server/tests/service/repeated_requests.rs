//! Repeated requests: the Idempotency-Key is looked up before all checks, and the first answer is repeated.

use std::time::Duration;

use frostpane_server::Limits;

use crate::call::{Answer, Api, BY_CLOCK, BY_COUNT, Folder, JSONL, edit, limits, lines};

const PATH: &str = "/v1/streams/one/events";
/// Three events, one of which cannot be read.
const PARTLY_WRONG: &str = "{\"key\":\"snow\"}\n{\"other\":1\n{\"key\":\"rain\"}\n";

async fn send(api: &Api, path: &str, kind: &str, key: &str, body: &str) -> Answer {
    api.with("POST", path, &[("content-type", kind), ("idempotency-key", key)], body.to_owned()).await
}

#[track_caller]
fn is_again(answer: Answer, first: &serde_json::Value) {
    let mut again = answer.is(200).json();
    assert_eq!(again["again"], true);
    again["again"] = false.into();
    assert_eq!(again, *first);
}

#[tokio::test]
async fn what_was_taken_is_acknowledged_again_after_the_stream_was_closed() {
    let api = Api::serving("one", BY_COUNT).await;
    let first = send(&api, PATH, JSONL, "a", &lines(10)).await.is(200).json();
    api.call("POST", "/v1/streams/one/close", "").await.is(200);
    is_again(send(&api, PATH, JSONL, "a", &lines(10)).await, &first);
    send(&api, PATH, JSONL, "a", &lines(11)).await.is(409);
    let closed = send(&api, PATH, JSONL, "b", &lines(10)).await.is(409);
    assert!(closed.text().contains("closed"), "{}", closed.text());
    api.send("one", JSONL, lines(10)).await.is(409);
    let api = api.restarted().await;
    is_again(send(&api, PATH, JSONL, "a", &lines(10)).await, &first);
    assert_eq!(api.counted("one").await, 10);
}

#[tokio::test]
async fn a_key_stands_for_the_format_and_the_options_of_its_request() {
    let api = Api::serving("one", BY_COUNT).await;
    let skip = "/v1/streams/one/events?wrong=skip";
    let first = send(&api, skip, JSONL, "a", PARTLY_WRONG).await.is(200).json();
    assert_eq!((&first["events"], &first["wrong"]), (&3.into(), &1.into()));
    // Without the option it could not be read: that it was taken is what matters.
    for (path, kind) in [(PATH, JSONL), (skip, "text/plain"), (PATH, "text/plain")] {
        let other = send(&api, path, kind, "a", PARTLY_WRONG).await.is(409);
        assert!(other.text().contains("Content-Type"), "{}", other.text());
    }
    is_again(send(&api, skip, JSONL, "a", PARTLY_WRONG).await, &first);
    // A refused request is not known, and may be sent with other options.
    send(&api, PATH, JSONL, "b", PARTLY_WRONG).await.is(422);
    assert_eq!(send(&api, skip, JSONL, "b", PARTLY_WRONG).await.is(200).json()["again"], false);
    assert_eq!(api.counted("one").await, 6);
}

#[tokio::test]
async fn an_event_that_was_ahead_is_said_to_be_left_out_also_when_it_is_ahead_no_more() {
    let api = Api::with_limits(Folder::new(), Limits { tolerance: Duration::ZERO, ..limits() });
    api.create("one", BY_CLOCK).await;
    let ahead = jiff::Timestamp::now() + Duration::from_secs(2);
    let body = format!("{{\"key\":\"snow\",\"time\":\"{ahead}\"}}\n");
    let first = send(&api, PATH, JSONL, "a", &body).await.is(200).json();
    assert_eq!((&first["counted"], &first["ahead"]), (&0.into(), &1.into()));
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    is_again(send(&api, PATH, JSONL, "a", &body).await, &first);
    let later = send(&api, PATH, JSONL, "b", &body).await.is(200).json();
    assert_eq!(later["counted"], 1, "under another key it counts");
}

#[tokio::test]
async fn what_was_taken_is_acknowledged_again_after_the_stream_has_stopped_taking_anything() {
    let api = Api::serving("one", BY_COUNT).await;
    let first = send(&api, PATH, JSONL, "a", &lines(10)).await.is(200).json();
    let folder = api.stopped().await;
    let store = folder.store("one");
    store.stop().unwrap();
    drop(store);
    let api = Api::in_folder(folder);
    is_again(send(&api, PATH, JSONL, "a", &lines(10)).await, &first);
    send(&api, PATH, JSONL, "b", &lines(10)).await.is(507);
}

#[tokio::test]
async fn a_key_that_an_earlier_version_kept_is_known_by_its_body() {
    let api = Api::serving("one", BY_COUNT).await;
    send(&api, PATH, JSONL, "a", &lines(10)).await.is(200);
    let folder = api.stopped().await;
    let receipts = redb::TableDefinition::<&str, (&str, &str)>::new("receipts");
    edit(&folder.0.join("streams/one"), |transaction| assert!(transaction.delete_table(receipts).unwrap()));
    let api = Api::in_folder(folder);
    let mut unknown = serde_json::json!({ "again": false });
    for number in ["events", "counted", "late", "ahead", "without_key", "without_user", "wrong"] {
        unknown[number] = serde_json::Value::Null;
    }
    is_again(send(&api, PATH, JSONL, "a", &lines(10)).await, &unknown);
    is_again(send(&api, PATH, "text/plain", "a", &lines(10)).await, &unknown);
    send(&api, PATH, JSONL, "a", &lines(11)).await.is(409);
    assert_eq!(api.counted("one").await, 10);
}
