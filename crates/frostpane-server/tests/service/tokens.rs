//! Scopes of tokens.

use frostpane_server::Scope;

use crate::call::{Api, BY_COUNT, JSONL, SINGLE, lines};

#[tokio::test]
async fn a_token_may_do_what_it_is_for_with_its_stream_and_nothing_else() {
    let api = Api::serving("mine", SINGLE).await;
    api.create("yours", SINGLE).await;
    api.send("mine", JSONL, lines(500)).await.is(200);
    let acts: [(Scope, &str, &str, &str); 4] = [
        (Scope::Ingest, "POST", "/events", "{\"key\":\"snow\"}\n"),
        (Scope::Read, "GET", "/budget", ""),
        (Scope::Release, "PUT", "/releases/monday", ""),
        (Scope::Admin, "GET", "/health", ""),
    ];
    for (scope, ..) in acts {
        let token = format!("Bearer {}", api.token_for("someone", "mine", &[scope]));
        let headers = [("authorization", token.as_str()), ("content-type", JSONL)];
        for (needed, method, path, body) in acts {
            let of = async |name: &str| {
                let path = format!("/v1/streams/{name}{path}");
                api.raw(method, &path, &headers, body).await.status.as_u16()
            };
            // The scope admin includes read.
            let may = needed == scope || (needed, scope) == (Scope::Read, Scope::Admin);
            assert_eq!(of("mine").await < 300, may, "{scope:?} {needed:?}");
            assert_eq!(of("yours").await, 403, "{scope:?} {needed:?}");
            assert_eq!(of("nobodys").await, 403, "whether it is there is not told");
        }
        api.raw("GET", "/metrics", &headers, "").await.is(403);
    }
}

#[tokio::test]
async fn only_public_streams_are_seen_without_a_token() {
    let api = Api::serving("hidden", BY_COUNT).await;
    api.call("PUT", "/v1/streams/shown?public=true", BY_COUNT).await.is(201);
    let seen = api.raw("GET", "/v1/streams", &[], "").await.is(200).json();
    assert_eq!(seen["streams"].as_array().unwrap().len(), 1);
    assert_eq!(seen["streams"][0]["name"], "shown");
    for path in ["", "/releases", "/releases/latest", "/releases/latest/words", "/live", "/budget", "/plan"] {
        let of = async |name: &str| {
            api.raw("GET", &format!("/v1/streams/{name}{path}"), &[], "").await.status.as_u16()
        };
        assert_eq!((of("hidden").await, of("nothing").await), (401, 401), "{path}");
        if path != "/live" {
            assert!([200, 404].contains(&of("shown").await), "{path}");
        }
    }
    api.raw("GET", "/v1/streams/shown/health", &[], "").await.is(401);
}

#[tokio::test]
async fn tokens_that_are_made_and_revoked_at_once_are_all_made_and_revoked() {
    let api = Api::new();
    let folder = &api.folder.0;
    let change = |number: usize| {
        let tokens = frostpane_server::Tokens::of(folder);
        let (token, _) = tokens.make(&format!("made {number}"), "*", &[Scope::Read]).unwrap();
        if number.is_multiple_of(2) {
            tokens.revoke(&token.id).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for number in 0..16 {
            scope.spawn(move || change(number));
        }
    });
    // Eight, and the one of this test.
    assert_eq!(api.service.tokens.all().len(), 8 + 1);
}

#[tokio::test]
async fn tokens_that_could_not_be_read_for_a_moment_are_tokens_again() {
    let api = Api::new();
    let (kept, away) = (api.folder.0.join("tokens.json"), api.folder.0.join("tokens.away"));
    let moved = std::fs::read_to_string(&kept).unwrap();
    assert!(!moved.contains(&api.token["frostpane_".len()..]), "only hashes are kept");
    assert_eq!(api.token.len(), "frostpane_".len() + 64);
    std::fs::rename(&kept, &away).unwrap();
    std::fs::create_dir(&kept).unwrap();
    api.get("/metrics").await.is(401);
    assert!(api.service.tokens.make("me", "*", &[Scope::Read]).is_err());
    std::fs::remove_dir(&kept).unwrap();
    std::fs::write(&kept, moved).unwrap();
    api.get("/metrics").await.is(200);
}
