//! Users that do not fit into the memory: they spill to disk; if that fails, the stream stops.

use frostpane_server::Limits;

use crate::call::{Api, Folder, limits};

const CSV: &str = "text/csv";
const SPECS: [&str; 2] = [
    r#"{ "window": "24h", "top": 9, "unit": { "user": { "epoch": "6h" } }, "memory": "8MB", "releases": 9, "epsilon": 9 }"#,
    r#"{ "window": "24h", "slide": "6h", "top": 9, "unit": { "user": { "epoch": "6h" } }, "memory": "8MB", "continual": true, "epsilon": 9 }"#,
];

fn crowd(users: std::ops::Range<u32>) -> String {
    let now = jiff::Timestamp::now().as_second();
    let rows = users.map(|user| format!("snow,{now},{user}\n"));
    std::iter::once("key,time,user\n".to_owned()).chain(rows).collect()
}

fn large() -> Limits {
    Limits { body: 32 << 20, ..limits() }
}

#[tokio::test]
async fn users_who_do_not_fit_into_the_memory_go_to_disk() {
    for spec in SPECS {
        let mut api = Api::with_limits(Folder::new(), large());
        api.create("one", spec).await;
        for users in [0..300_000, 300_000..600_000] {
            api.send("one", CSV, crowd(users)).await.is(200);
            api.get("/readyz").await.is(200);
            api = api.restarted().await;
        }
        api.send("one", CSV, crowd(0..10)).await.is(200);
    }
}

#[tokio::test]
async fn users_whom_neither_memory_nor_disk_has_room_for_stop_a_stream_for_good() {
    for spec in SPECS {
        let api = Api::with_limits(Folder::new(), large());
        api.create("one", spec).await;
        api.create("other", spec).await;
        // Where there is no folder no temporary file can be made.
        let folder = api.folder.0.join("streams/one");
        let elsewhere = api.folder.0.join("elsewhere");
        std::fs::rename(&folder, &elsewhere).unwrap();
        let full = api.send("one", CSV, crowd(0..600_000)).await.is(507);
        std::fs::rename(&elsewhere, &folder).unwrap();
        assert!(full.text().contains("did not fit into the memory"), "{}", full.text());
        let mut api = api;
        for _ in 0..2 {
            // The text does not depend on the users, and nothing is released.
            for body in [crowd(0..1), crowd(7..8)] {
                assert_eq!(api.send("one", CSV, body).await.is(507).text(), full.text());
            }
            let release = api.call("PUT", "/v1/streams/one/releases/monday", "").await;
            assert!(release.status.as_u16() >= 400, "{}", release.text());
            let page = api.get("/v1/streams/one/releases").await.is(200);
            assert_eq!(page.json()["releases"], serde_json::json!([]));
            assert_eq!(api.get("/v1/streams/one/health").await.is(200).json()["standing"], "failed");
            // The service stays ready.
            api.get("/v1/streams/one/ready").await.is(503);
            api.get("/v1/streams/other/ready").await.is(200);
            api.get("/readyz").await.is(200);
            api.send("other", CSV, crowd(0..10)).await.is(200);
            api = api.restarted().await;
        }
    }
}
