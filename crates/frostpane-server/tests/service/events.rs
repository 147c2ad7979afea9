//! Events in all formats.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use frostpane_server::Scope;

#[path = "../../../frostpane-events/tests/table/mod.rs"]
mod table;

use table::{OUTCOMES, outcome_rows};

use crate::call::{ARROW, Api, BY_CLOCK, BY_COUNT, JSONL, PEOPLE, arrow, gzip, lines};

#[tokio::test]
async fn a_request_is_told_what_became_of_the_events_of_the_table() {
    let api = Api::new();
    for (number, row) in outcome_rows().into_iter().enumerate() {
        api.create(&format!("row-{number}"), row.spec()).await;
        let lines = row.lines(jiff::Timestamp::now().as_microsecond());
        let answer = api.send(&format!("row-{number}"), JSONL, lines).await.is(200).json();
        let outcomes = OUTCOMES.map(|outcome| answer[outcome].as_u64().unwrap());
        assert_eq!(outcomes, row.outcomes, "{}: {OUTCOMES:?}", row.name);
    }
}

#[tokio::test]
async fn events_may_come_in_any_form() {
    let api = Api::serving("clock", BY_CLOCK).await;
    let now = jiff::Timestamp::now();
    let (text, seconds, millis) = (now.to_string(), now.as_second(), now.as_millisecond());
    let jsonl = format!(
        "{{\"key\":\"snow\",\"time\":\"{text}\"}}\r\n{{\"time\":{seconds},\"key\":null,\"more\":[1,{{}}]}}\n{{\"key\":7,\"time\":{millis}.5}}"
    );
    let array = format!(
        "[{{\"key\":\"sn\\u00f6w\",\"time\":{seconds}}}, {{\"key\":\"\",\"time\":{seconds}}}, {{\"key\":\"c\",\"time\":{seconds}}}]"
    );
    let csv = format!("time,key,other\n{text},snow,1\n{seconds},\"with, comma\",2\n{seconds},,3\n");
    let tsv = format!("key\ttime\nsnow\t{text}\n\"quoted\t{seconds}\nrain\t{seconds}");
    let keys: ArrayRef = Arc::new(StringArray::from(vec![Some("snow"), None, Some("rain")]));
    let all: [(&str, Vec<u8>); 5] = [
        (JSONL, jsonl.into_bytes()),
        ("application/json; charset=utf-8", array.into_bytes()),
        ("text/csv", csv.into_bytes()),
        ("text/tab-separated-values", tsv.into_bytes()),
        (ARROW, arrow([("key", keys), ("time", Arc::new(Int64Array::from(vec![seconds; 3])))])),
    ];
    for (kind, body) in all {
        let taken = api.send("clock", kind, body).await.is(200).json();
        assert_eq!((&taken["events"], &taken["wrong"]), (&3.into(), &0.into()), "{kind}");
    }
    api.create("count", BY_COUNT).await;
    let taken = api.send("count", "text/plain", "snow\nrain\r\n\nhail\n").await.is(200).json();
    assert_eq!(taken["events"], 4, "an empty line is an event without a key");
    let taken = api.send("count", "text/csv", "key\nsnow\n\n").await.is(200).json();
    assert_eq!(taken["events"], 2, "so is an empty row");
    api.send("count", JSONL, "{\"key\":\"snow\"}\n\n").await.is(422);
    api.call("PUT", "/v1/streams/arrival?time=arrival", BY_CLOCK).await.is(201);
    api.send("arrival", "text/plain", "snow\nrain").await.is(200);
    api.send("clock", "text/plain", "snow\nrain").await.is(422);
    let ports = r#"{ "window": 1000, "slide": 100, "top": 5, "keys": "0..1000" }"#;
    api.call("PUT", "/v1/streams/ports?key=port", ports).await.is(201);
    // An event whose key is no integer, or not declared, has no key.
    let body = "{\"port\":443}\n{\"port\":\"22\"}\n{\"port\":\"ssh\"}\n{\"port\":5000}\n";
    assert_eq!(api.send("ports", JSONL, body).await.is(200).json()["events"], 4);
}

#[tokio::test]
async fn packed_events_are_unpacked_up_to_a_limit() {
    let api = Api::serving("one", BY_COUNT).await;
    let body = lines(50);
    let path = "/v1/streams/one/events";
    let kind = ("content-type", JSONL);
    let packed = [("gzip", gzip(body.as_bytes())), ("zstd", zstd::encode_all(body.as_bytes(), 1).unwrap())];
    for (name, bytes) in packed {
        let taken = api.with("POST", path, &[kind, ("content-encoding", name)], bytes).await;
        assert_eq!(taken.is(200).json()["events"], 50);
    }
    let bomb = vec![b'\n'; 64 << 20];
    for (name, bytes) in [("gzip", gzip(&bomb)), ("zstd", zstd::encode_all(&*bomb, 1).unwrap())] {
        assert!(bytes.len() < 1 << 19, "it comes in small");
        api.with("POST", path, &[kind, ("content-encoding", name)], bytes).await.is(413);
    }
    assert_eq!(api.counted("one").await, 100);
}

#[tokio::test]
async fn a_wrong_event_refuses_the_request_or_is_counted_apart() {
    let api = Api::serving("one", BY_COUNT).await;
    let body = "{\"key\":\"snow\"}\n{\"key\":\"secret-7\"\n{\"other\":1}\n{\"key\":nil}\n{\"key\":\"rain\",\"key\":\"x\"}\n";
    let refused = api.send("one", JSONL, body).await.is(422);
    assert_eq!(refused.json()["line"], 2);
    assert!(!refused.text().contains("secret"), "{}", refused.text());
    let path = "/v1/streams/one/events?wrong=skip";
    let taken = api.with("POST", path, &[("content-type", JSONL)], body).await.is(200).json();
    assert_eq!((&taken["events"], &taken["wrong"]), (&5.into(), &2.into()));
    assert_eq!(api.counted("one").await, 5, "nothing of the request that was refused is there");
}

#[tokio::test]
async fn the_same_request_counts_once_and_another_under_its_key_is_refused() {
    let api = Api::serving("one", BY_COUNT).await;
    let path = "/v1/streams/one/events";
    let headers = [("content-type", JSONL), ("idempotency-key", "monday")];
    assert_eq!(api.with("POST", path, &headers, lines(10)).await.is(200).json()["again"], false);
    assert_eq!(api.with("POST", path, &headers, lines(10)).await.is(200).json()["again"], true);
    // The digest is of the decompressed body.
    let packed = [&headers[..], &[("content-encoding", "gzip")]].concat();
    let again = api.with("POST", path, &packed, gzip(lines(10).as_bytes())).await.is(200);
    assert_eq!(again.json()["again"], true);
    api.with("POST", path, &headers, lines(11)).await.is(409);
    // Keys belong to a producer, whichever of its tokens it uses.
    for (producer, again) in [("tests", true), ("somebody", false)] {
        let token = format!("Bearer {}", api.token_for(producer, "one", &[Scope::Ingest]));
        let all = [&headers[..], &[("authorization", &token)]].concat();
        assert_eq!(api.raw("POST", path, &all, lines(10)).await.is(200).json()["again"], again);
    }
    let api = api.restarted().await;
    assert_eq!(api.with("POST", path, &headers, lines(10)).await.is(200).json()["again"], true);
    assert_eq!(api.counted("one").await, 20);
}

#[tokio::test]
async fn too_much_at_once_is_answered_at_once_and_passes() {
    let api = Arc::new(Api::new());
    api.create("one", BY_COUNT).await;
    let body = bytes::Bytes::from(format!("{{\"key\":\"{}\"}}\n", "x".repeat(200)).repeat(4_000));
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..300 {
        let (api, body) = (api.clone(), body.clone());
        all.spawn(async move { api.send("one", JSONL, body).await });
    }
    let mut taken = 0;
    while let Some(answer) = all.join_next().await {
        let answer = answer.unwrap();
        match answer.status.as_u16() {
            200 => taken += 1,
            429 => assert_eq!(answer.header("retry-after"), "1"),
            _ => panic!("{}", answer.text()),
        }
    }
    assert!(taken < 300, "it was not too much");
    api.send("one", JSONL, body).await.is(200);
    assert_eq!(api.counted("one").await, (taken + 1) * 4_000);
}

#[tokio::test]
async fn of_people_nothing_tells_how_many_events_there_were() {
    let api = Api::serving("people", PEOPLE).await;
    let now = jiff::Timestamp::now();
    let event = format!("{{\"key\":\"snow\",\"time\":\"{now}\",\"user\":\"u\"}}\n");
    let before = api.health("people").await;
    api.send("people", JSONL, event.repeat(37)).await.is(200);
    let health = api.health("people").await;
    assert_eq!(health["ingest"], serde_json::Value::Null);
    assert_eq!(health["standing"], before["standing"]);
    let metrics = api.get("/metrics").await.is(200).text();
    let of_people: Vec<&str> = metrics.lines().filter(|line| line.contains("people")).collect();
    assert_eq!(of_people.len(), 2, "{of_people:?}");
    assert!(!metrics.contains("37"));
    api.send("people", JSONL, format!("{{\"key\":\"snow\",\"time\":\"{now}\"}}\n")).await.is(422);
}

#[tokio::test]
async fn clocks_of_producers_may_be_a_little_ahead() {
    let api = Api::serving("one", BY_CLOCK).await;
    let at = |seconds| jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    let event = |time| format!("{{\"key\":\"snow\",\"time\":\"{time}\"}}\n");
    let body = event(at(-1)) + &event(at(3)) + &event(at(60)) + &event(at(1_000_000_000));
    let taken = api.send("one", JSONL, body).await.is(200).json();
    assert_eq!((&taken["events"], &taken["counted"], &taken["ahead"]), (&4.into(), &2.into(), &2.into()));
    let health = api.health("one").await;
    assert_eq!((&health["ingest"]["events"], &health["ingest"]["late"]), (&2.into(), &0.into()));
}

/// A dictionary that grows with every batch.
fn deltas() -> Vec<u8> {
    use arrow_ipc::writer::{DictionaryHandling, IpcWriteOptions};
    let batch = |number: usize| {
        let words: Vec<String> = (0..number).map(|word| format!("word {word}")).collect();
        let words: DictionaryArray<Int32Type> = words.iter().map(String::as_str).collect();
        RecordBatch::try_from_iter([("key", Arc::new(words) as ArrayRef)]).unwrap()
    };
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch(1).schema(), options).unwrap();
    (1..4).for_each(|number| writer.write(&batch(number)).unwrap());
    writer.into_inner().unwrap()
}

/// Two columns with the same bytes: the offset of the second is overwritten with that of the first.
fn aliases() -> Vec<u8> {
    const LONG: usize = 256_000;
    let column = |text: &str| Arc::new(StringArray::from(vec![text; 64])) as ArrayRef;
    let long = "x".repeat(LONG / 64);
    let batch = RecordBatch::try_from_iter([("key", column(&long)), ("other", column("r"))]).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let mut bytes = writer.into_inner().unwrap();
    // Offset and length, eight bytes each.
    let number = |bytes: &[u8], at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let find = |bytes: &[u8], begins: std::ops::Range<i64>, length: i64| {
        (0..1 << 12)
            .find(|at| begins.contains(&number(bytes, *at)) && number(bytes, at + 8) == length)
            .unwrap()
    };
    let first = find(&bytes, 1..LONG as i64, LONG as i64);
    let second = find(&bytes, LONG as i64..2 * LONG as i64, 64);
    bytes.copy_within(first..first + 16, second);
    bytes
}

#[tokio::test]
async fn arrow_that_stands_for_far_more_than_it_is_is_refused() {
    use arrow_array::builder::StringViewBuilder;
    use arrow_array::{Int8Array, NullArray, RunArray};
    let api = Api::serving("one", BY_COUNT).await;
    let long = StringArray::from(vec!["x".repeat(1 << 19)]);
    let dictionary = DictionaryArray::new(Int8Array::from(vec![0; 10_000]), Arc::new(long.clone()));
    let runs = RunArray::<Int32Type>::try_new(&vec![i32::MAX].into(), &long).unwrap();
    let mut views = StringViewBuilder::new();
    let block = views.append_block("x".repeat(1 << 19).into_bytes().into());
    (0..10_000).for_each(|_| views.try_append_view(block, 0, 1 << 19).unwrap());
    let bombs: [(ArrayRef, u16); 5] = [
        (Arc::new(NullArray::new(1 << 40)), 422),
        (Arc::new(NullArray::new(10)), 422),
        (Arc::new(dictionary), 413),
        (Arc::new(views.finish()), 413),
        (Arc::new(runs), 422),
    ];
    for (bomb, status) in bombs {
        let body = arrow([("key", bomb)]);
        assert!(body.len() < 1 << 20);
        api.send("one", ARROW, body).await.is(status);
    }
    for bomb in [deltas(), aliases()] {
        api.send("one", ARROW, bomb).await.is(422);
    }
    let words = ["snow", "rain", "snow"];
    let mut views = StringViewBuilder::new();
    words.iter().for_each(|word| views.append_value(word));
    let good: [ArrayRef; 4] = [
        Arc::new(StringArray::from(words.to_vec())),
        Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>()),
        Arc::new(views.finish()),
        Arc::new(Int64Array::from(vec![1, 2, 3])),
    ];
    for good in good {
        api.send("one", ARROW, arrow([("key", good)])).await.is(200);
    }
    assert_eq!(api.counted("one").await, 12);
}
