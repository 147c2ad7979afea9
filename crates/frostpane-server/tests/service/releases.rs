//! Releases: charged first, the same bytes for everyone.

use std::time::{Duration, Instant};

use axum::body::Body;
use http_body_util::BodyExt;

use crate::call::{Api, BY_COUNT, JSONL, SINGLE, WATCHED, eventually, lines};

#[tokio::test]
async fn lists_come_at_every_slide_and_are_the_same_bytes_for_everybody() {
    let api = Api::serving("one?public=true", BY_COUNT).await;
    let latest = "/v1/streams/one/releases/latest";
    api.raw("GET", latest, &[], "").await.is(404);
    api.send("one", JSONL, lines(250)).await.is(200);
    let with_token = api.get(latest).await.is(200);
    let without = api.raw("GET", latest, &[], "").await.is(200);
    assert_eq!((with_token.header("frostpane-number"), &with_token.body), ("2", &without.body));
    let etag = without.header("etag").to_owned();
    let same = api.raw("GET", latest, &[("if-none-match", &etag)], "").await.is(304);
    assert!(same.body.is_empty());
    assert!(without.header("cache-control").starts_with("public"));

    let words = api.raw("GET", "/v1/streams/one/releases/latest/words", &[], "").await.is(200).json();
    assert!(words["words"]["holds"].as_array().unwrap().len() >= 2);
    let api = api.restarted().await;
    assert_eq!(api.raw("GET", latest, &[], "").await.is(200).body, without.body);
    let again = api.raw("GET", "/v1/streams/one/releases/latest/words", &[], "").await.is(200).json();
    assert_eq!(again, words, "what it says is known after a restart too");
    api.send("one", JSONL, lines(100)).await.is(200);
    let page = api.raw("GET", "/v1/streams/one/releases?after=1&most=1", &[], "").await.is(200);
    assert_eq!((&page.json()["releases"][0]["number"], &page.json()["next"]), (&2.into(), &2.into()));
    assert!(page.text().contains(&without.text()), "the same bytes in a page");
    let all = api.raw("GET", "/v1/streams/one/releases", &[], "").await.is(200).json();
    assert_eq!((all["releases"].as_array().unwrap().len(), &all["next"]), (3, &serde_json::Value::Null));
}

#[tokio::test]
async fn a_single_list_is_charged_before_it_is_shown_and_once() {
    let api = Api::serving("one", SINGLE).await;
    api.send("one", JSONL, lines(900)).await.is(200);
    let left = async |api: &Api| api.get("/v1/streams/one/budget").await.is(200).json()["left"].clone();
    assert_eq!(left(&api).await, 2);
    let path = "/v1/streams/one/releases/monday";
    api.get(path).await.is(404);
    let dry = api.call("PUT", &format!("{path}?dry_run=true"), "").await.is(200).json();
    assert_eq!((&dry["left"], &dry["charge"]["epsilon"]), (&1.into(), &1.0.into()));
    assert_eq!(left(&api).await, 2);
    let first = api.call("PUT", path, "").await.is(201);
    assert_eq!(left(&api).await, 1);
    for _ in 0..3 {
        assert_eq!(api.call("PUT", path, "").await.is(200).body, first.body);
    }
    assert_eq!(api.get(path).await.is(200).body, first.body);
    assert_eq!(api.get("/v1/streams/one/releases/latest").await.is(200).body, first.body);
    api.call("PUT", path, r#"{ "window": 500 }"#).await.is(409);
    assert_eq!(left(&api).await, 1);
    let api = api.restarted().await;
    assert_eq!(api.call("PUT", path, "").await.is(200).body, first.body);
    api.call("PUT", "/v1/streams/one/releases/tuesday", "").await.is(201);
    let refused = api.call("PUT", "/v1/streams/one/releases/wednesday", "").await.is(402);
    assert!(refused.json()["error"].as_str().unwrap().contains("epsilon"), "{}", refused.text());
    api.get("/v1/streams/one/releases/wednesday").await.is(404);
    // Continual release excludes single releases.
    api.create("two", BY_COUNT).await;
    api.send("two", JSONL, lines(10)).await.is(200);
    api.call("PUT", "/v1/streams/two/releases/monday", "").await.is(422);
    api.service.stop().await;
    let charged = api.folder.store("one").history(1).unwrap().into_iter();
    let charged = charged.filter(|record| matches!(record.what, frostpane_store::Action::Charged { .. }));
    assert_eq!(charged.count(), 2);
}

#[tokio::test]
async fn slides_end_by_the_clock_also_when_nothing_comes() {
    let api = Api::new();
    let spec = r#"{ "window": "10s", "slide": "1s", "top": 5, "continual": true, "unit": { "user": { "per_user": 2, "epoch": "1s" } } }"#;
    let began = Instant::now();
    api.create("one", spec).await;
    let number = async || api.get("/v1/streams/one").await.is(200).json()["releases"].as_u64().unwrap();
    eventually(async || number().await >= 3).await;
    let lists = number().await;
    assert!(lists <= began.elapsed().as_secs() + 1, "{lists} of a second each");
    // With slides of an hour there is no release yet.
    api.create("two", WATCHED).await;
    api.get("/v1/streams/two/releases/latest").await.is(404);
}

#[tokio::test]
async fn a_listener_hears_every_release_once_and_goes_on_where_it_was() {
    let api = Api::serving("one?public=true", BY_COUNT).await;
    api.send("one", JSONL, lines(350)).await.is(200);
    let listen = async |headers: &[(&str, &str)]| {
        let response = api.open("/v1/streams/one/live", headers).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        response.into_body()
    };
    let hear = async |body: &mut Body| {
        let frame = tokio::time::timeout(Duration::from_secs(20), body.frame()).await.unwrap();
        String::from_utf8(frame.unwrap().unwrap().into_data().unwrap().to_vec()).unwrap()
    };
    let mut new = listen(&[]).await;
    assert!(hear(&mut new).await.starts_with("retry:"));
    assert!(hear(&mut new).await.starts_with("id: 3\nevent: release\ndata: {"));
    let mut back = listen(&[("last-event-id", "1")]).await;
    hear(&mut back).await;
    assert!(hear(&mut back).await.starts_with("id: 2\n"));
    assert!(hear(&mut back).await.starts_with("id: 3\n"));
    api.send("one", JSONL, lines(200)).await.is(200);
    for body in [&mut new, &mut back] {
        assert!(hear(body).await.starts_with("id: 4\n"));
        assert!(hear(body).await.starts_with("id: 5\n"));
    }
    let latest = api.get("/v1/streams/one/releases/latest").await.is(200).text();
    let mut again = listen(&[("last-event-id", "4")]).await;
    hear(&mut again).await;
    assert_eq!(hear(&mut again).await, format!("id: 5\nevent: release\ndata: {latest}\n\n"));
    // A listener without permission is disconnected.
    api.call("PATCH", "/v1/streams/one", r#"{ "public": false }"#).await.is(200);
    api.send("one", JSONL, lines(100)).await.is(200);
    assert!(tokio::time::timeout(Duration::from_secs(20), new.frame()).await.unwrap().is_none());
}

#[tokio::test]
async fn who_listens_to_a_stream_that_is_deleted_hears_its_end() {
    let api = Api::serving("one?public=true", BY_COUNT).await;
    let mut body = api.open("/v1/streams/one/live", &[]).await.into_body();
    body.frame().await.unwrap().unwrap();
    api.call("DELETE", "/v1/streams/one", "").await.is(204);
    assert!(tokio::time::timeout(Duration::from_secs(10), body.frame()).await.unwrap().is_none());
}
