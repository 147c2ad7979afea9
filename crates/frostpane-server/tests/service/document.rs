//! The OpenAPI document is valid, and every route in it responds as documented.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::call::{Api, BY_COUNT, JSONL, SINGLE, lines};

const WINDOW: &str = r#"{ "window": 1000 }"#;
/// A request for every route: method, route, path, body, expected status.
const REQUESTS: &[(&str, &str, &str, &str, u16)] = &[
    ("get", "/healthz", "/healthz", "", 200),
    ("get", "/readyz", "/readyz", "", 200),
    ("get", "/metrics", "/metrics", "", 200),
    ("get", "/v1/openapi.json", "/v1/openapi.json", "", 200),
    ("get", "/v1/streams", "/v1/streams", "", 200),
    ("post", "/v1/plan", "/v1/plan?events=1000", BY_COUNT, 200),
    ("put", "/v1/streams/{name}", "/v1/streams/new?public=true&key=k&time=t&user=u", BY_COUNT, 201),
    ("get", "/v1/streams/{name}", "/v1/streams/one", "", 200),
    ("get", "/v1/streams/{name}/ready", "/v1/streams/one/ready", "", 200),
    ("patch", "/v1/streams/{name}", "/v1/streams/one", r#"{ "public": true }"#, 200),
    ("post", "/v1/streams/{name}/events", "/v1/streams/one/events?wrong=skip", "{\"key\":\"snow\"}", 200),
    ("get", "/v1/streams/{name}/releases", "/v1/streams/one/releases?after=0&most=10", "", 200),
    ("put", "/v1/streams/{name}/releases/{id}", "/v1/streams/one/releases/monday", WINDOW, 201),
    ("get", "/v1/streams/{name}/releases/{id}", "/v1/streams/one/releases/monday", "", 200),
    ("get", "/v1/streams/{name}/releases/latest", "/v1/streams/one/releases/latest", "", 200),
    ("get", "/v1/streams/{name}/releases/latest/words", "/v1/streams/one/releases/latest/words", "", 200),
    ("get", "/v1/streams/{name}/live", "/v1/streams/gone/live", "", 410),
    ("get", "/v1/streams/{name}/budget", "/v1/streams/one/budget", "", 200),
    ("get", "/v1/streams/{name}/plan", "/v1/streams/one/plan?events=500", "", 200),
    ("get", "/v1/streams/{name}/health", "/v1/streams/one/health", "", 200),
    ("post", "/v1/streams/{name}/close", "/v1/streams/one/close", "", 200),
    ("delete", "/v1/streams/{name}", "/v1/streams/one", "", 204),
];

#[tokio::test]
async fn every_route_of_the_document_is_there_and_answers_as_it_says() {
    let api = Api::serving("one", SINGLE).await;
    api.create("gone", SINGLE).await;
    api.call("DELETE", "/v1/streams/gone", "").await.is(204);
    api.send("one", JSONL, lines(500)).await.is(200);
    let document = api.get("/v1/openapi.json").await.is(200).json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut called = BTreeSet::new();
    for (method, route, path, body, status) in REQUESTS {
        api.with(&method.to_uppercase(), path, &[("content-type", JSONL)], *body).await.is(*status);
        let said = &document["paths"][route][method]["responses"];
        assert!(said[status.to_string()].is_object(), "{method} {route} does not say {status}");
        called.insert(((*method).to_owned(), (*route).to_owned()));
    }
    let paths = document["paths"].as_object().unwrap();
    let routes = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().keys().map(move |method| (method.clone(), path.clone()))
    });
    assert_eq!(routes.collect::<BTreeSet<_>>(), called);
    references(&document, &document);
    let operations = paths.values().flat_map(|path| path.as_object().unwrap().values());
    let ids: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

/// Checks that references resolve and routes are described.
fn references(document: &Value, part: &Value) {
    match part {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
            if fields.contains_key("responses") && fields.contains_key("operationId") {
                assert!(fields.contains_key("summary"), "{fields:?}");
                for (status, response) in fields["responses"].as_object().unwrap() {
                    assert!(response["description"].is_string(), "{status}: {fields:?}");
                }
            }
            fields.values().for_each(|field| references(document, field));
        }
        Value::Array(parts) => parts.iter().for_each(|part| references(document, part)),
        _ => {}
    }
}
