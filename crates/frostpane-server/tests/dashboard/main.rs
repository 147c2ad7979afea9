//! The dashboard in a real browser, with the streams of `--demo`.
//!
//! One service and one browser serve all chapters, each of which opens its own tabs. In every tab, nothing
//! may be requested from another host, and no error may occur.

mod browser;
#[path = "../../../frostpane-cli/tests/common/browser.rs"]
mod chromium;
#[allow(dead_code, reason = "the tests of the service use all of it")]
#[path = "../service/process.rs"]
mod process;
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use browser::{Browser, Tab};
use serde_json::{Value, json};
use server::Server;

const CHECKS: &str = include_str!("checks.js");
const PAGES: [&str; 3] = ["/", "/plan", "/operator"];
const WIDE: (u32, u32) = (1_300, 900);
const PHONE: (u32, u32) = (390, 844);
/// True when the list is complete.
const COMPLETE: &str = "document.querySelectorAll('.list tbody tr').length > 5 && document.querySelectorAll('.series').length > 5 \
                        && document.querySelector('#holds li') !== null && document.querySelector('#budget .plot') !== null";

struct Scene<'a> {
    server: &'a Server,
    browser: &'a Browser,
    axe: Option<String>,
}

type Chapter = (&'static str, fn(&Scene<'_>));

const CHAPTERS: [Chapter; 20] = [
    ("every file is served as what it is", served),
    ("the demo has something to look at", demo),
    ("the list moves by itself, and stops when it is told to", moves),
    ("a connection that is lost is told, and nothing is missed", lost),
    ("a key can be followed", followed),
    ("sliders change what the plan says", plan),
    ("the operator sees nothing without a token, and with one what there is", operator),
    ("a list that is asked for has its budget", on_demand),
    ("a phone shows all of it", phone),
    ("the keyboard reaches everything", keyboard),
    ("nothing keeps people out, light or dark, wide or narrow", barriers),
    ("numbers of events are no moments", by_count),
    ("hostile keys are text", hostile),
    ("keys that look the same can be told apart", look_alikes),
    ("ties are drawn as ties, steps by time, colours and names apart", chart),
    ("a stream that is not there is not another", unknown),
    ("a page that is not there is a page for a browser", missing),
    ("a stream without events has no axis", empty),
    ("a service that is gone leaves an old list, and a state that is damaged a card", gone),
    ("what is wrong is found", found),
];

#[test]
fn the_dashboard_in_a_browser() {
    let Some(program) = chromium::find() else {
        eprintln!(
            "SKIPPED: there is no browser, so the dashboard was NOT tested; install chromium, or name one in CHROMIUM"
        );
        return;
    };
    let (server, browser) = (Server::demo(), Browser::open(&program));
    let scene = Scene { server: &server, browser: &browser, axe: axe() };
    let only = std::env::var("CHAPTER").unwrap_or_default();
    let mut failed = Vec::new();
    for (name, chapter) in CHAPTERS.into_iter().filter(|(name, _)| name.contains(&only)) {
        eprintln!("- {name}");
        if catch_unwind(AssertUnwindSafe(|| chapter(&scene))).is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "failed: {failed:#?}");
}

/// axe-core, where `./test` has put it.
fn axe() -> Option<String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let known = std::env::var_os("AXE").map(PathBuf::from);
    let file = known.unwrap_or_else(|| target.join("axe/node_modules/axe-core/axe.min.js"));
    let script = fs::read_to_string(file).ok();
    if script.is_none() {
        eprintln!(
            "SKIPPED: there is no axe-core, so what keeps people out was NOT looked for; ./test installs it, with npm"
        );
    }
    script
}

impl Scene<'_> {
    fn tab(&self, path: &str, (width, height): (u32, u32), theme: &str) -> Tab<'_> {
        let tab = self.browser.tab(width, height, theme);
        tab.open(&self.server.url(path));
        tab.eval(CHECKS);
        tab
    }

    fn lists(&self, size: (u32, u32), theme: &str) -> Tab<'_> {
        let tab = self.tab("/?stream=searches", size, theme);
        tab.until(COMPLETE);
        tab
    }

    /// A tab that shows all that a page has.
    fn full(&self, page: &str, size: (u32, u32), theme: &str) -> Tab<'_> {
        let tab = self.tab(page, size, theme);
        match page {
            "/" => {
                tab.until(COMPLETE);
                tab.eval("document.querySelectorAll('details').forEach((details) => (details.open = true))");
                until_there(&tab, ".ranks tbody");
            }
            "/plan" => {
                click(&tab, "[value=user]");
                until_there(&tab, "#compared table");
            }
            _ => {
                give(&tab, &self.server.token);
                tab.until("document.querySelectorAll('.card').length >= 3");
            }
        }
        tab
    }

    /// Fails if another host was called or an error occurred. Returns the requested addresses.
    fn well(&self, tab: &Tab<'_>) -> Vec<String> {
        let (asked, wrong) = self.happened(tab);
        assert!(wrong.is_empty(), "{wrong:#?}");
        asked
    }

    /// The requested addresses, and errors; a request to another host is an error.
    fn happened(&self, tab: &Tab<'_>) -> (Vec<String>, Vec<String>) {
        let (asked, mut wrong) = tab.happened();
        let own = self.server.url("/");
        let foreign = asked.iter().filter(|url| !url.starts_with(&own));
        wrong.extend(foreign.map(|url| format!("asked of others: {url}")));
        (asked, wrong)
    }

    /// Calls the service with its token and expects success.
    fn ask(&self, tab: &Tab<'_>, method: &str, path: &str, body: &str) {
        let asked = json!({ "method": method, "body": if body.is_empty() { Value::Null } else { body.into() },
            "headers": { "Authorization": format!("Bearer {}", self.server.token), "Content-Type": "application/x-ndjson" } });
        let said = tab.eval(&format!(
            "fetch('/v1/streams/{path}', {asked}).then((answer) => answer.ok ? '' : answer.text())"
        ));
        assert_eq!(said, "", "{method} {path}");
    }
}

fn text(tab: &Tab<'_>, place: &str) -> String {
    tab.eval(&format!("document.querySelector({place:?}).textContent")).as_str().unwrap().to_owned()
}

fn number(tab: &Tab<'_>, script: &str) -> f64 {
    let said = tab.eval(script);
    said.as_f64().unwrap_or_else(|| panic!("{script}: {said}"))
}

fn count(tab: &Tab<'_>, place: &str) -> f64 {
    number(tab, &format!("document.querySelectorAll({place:?}).length"))
}

fn until_there(tab: &Tab<'_>, place: &str) {
    tab.until(&format!("document.querySelector({place:?}) !== null"));
}

fn give(tab: &Tab<'_>, token: &str) {
    tab.eval("document.getElementById('token').focus()");
    tab.write(token);
    tab.press("Enter");
}

fn faults(tab: &Tab<'_>, script: &str) -> Vec<String> {
    let all = tab.eval(script);
    all.as_array().unwrap().iter().map(|fault| fault.as_str().unwrap().to_owned()).collect()
}

fn click(tab: &Tab<'_>, place: &str) {
    tab.eval(&format!("document.querySelector({place:?}).click()"));
}

/// Presses Pause, if the page has it, and waits for animations.
fn pause(tab: &Tab<'_>) {
    tab.eval("document.getElementById('pause')?.click()");
    tab.until("document.getAnimations().length === 0");
}

fn served(scene: &Scene<'_>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dashboard");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (at, kind) = match name.rsplit_once('.').unwrap() {
            (_, "rs") | ("missing", _) => continue,
            ("index", "html") => ("/".to_owned(), "text/html; charset=utf-8"),
            (page, "html") => (format!("/{page}"), "text/html; charset=utf-8"),
            (_, "css") => (format!("/dashboard/{name}"), "text/css; charset=utf-8"),
            (_, "js") => (format!("/dashboard/{name}"), "text/javascript; charset=utf-8"),
            (_, "svg") => (format!("/dashboard/{name}"), "image/svg+xml"),
            (_, other) => panic!("{other}: what is that?"),
        };
        let answer = scene.server.get(&at, "").is(200);
        assert_eq!(answer.header("content-type"), kind, "{at}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{at}");
        assert_eq!(answer.text(), fs::read_to_string(&path).unwrap(), "{at}");
        let policy = answer.header("content-security-policy");
        for part in ["default-src 'none'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        scene.server.get(&at, &format!("If-None-Match: {}\r\n", answer.header("etag"))).is(304);
    }
}

fn demo(scene: &Scene<'_>) {
    let tab = scene.lists(WIDE, "light");
    assert!(text(&tab, "#made-up").contains("made up"));
    assert_eq!(count(&tab, "#streams a"), 3.0);
    assert_eq!(count(&tab, ".list tbody tr"), 15.0);
    assert!(text(&tab, "#covered").contains("(UTC)"));
    assert!(text(&tab, "#holds").contains("Every true count lies between the two numbers beside it"));
    assert!(text(&tab, "#holds").contains("Not hidden: that an event took place"));
    let budget = text(&tab, "#budget");
    let charge = "Every pane is charged epsilon 1 when it opens. That covers all lists it is in";
    assert!(budget.contains(charge), "{budget}");
    tab.picture("dashboard-wide", WIDE.0, 1_040);
    pause(&tab);
    assert_eq!(faults(&tab, "faultsOfList('searches')"), Vec::<String>::new());
    let asked = scene.well(&tab);
    for private in ["health", "metrics", "readyz"] {
        assert!(!asked.iter().any(|url| url.contains(private)), "{asked:?}");
    }
    let dark = scene.lists(WIDE, "dark");
    assert_eq!(dark.eval("getComputedStyle(document.body).backgroundColor"), "rgb(18, 24, 29)");
    dark.picture("dashboard-dark", WIDE.0, 1_040);
    scene.well(&dark);
}

fn moves(scene: &Scene<'_>) {
    let tab = scene.lists(WIDE, "light");
    let first = number(&tab, "shown()");
    tab.eval("window.before = document.querySelector('.list').textContent");
    tab.until(&format!("shown() >= {first} + 3"));
    assert_eq!(tab.eval("document.querySelector('.list').textContent !== before"), true);
    tab.until("document.getElementById('told').textContent.includes('First are')");
    pause(&tab);
    assert_eq!(text(&tab, "#pause"), "Go on");
    tab.eval("window.before = document.querySelector('.list').textContent");
    tab.until("/Paused at list [\\d,]+, \\d+ newer/.test(document.getElementById('state')?.textContent)");
    assert_eq!(tab.eval("document.querySelector('.list').textContent === before"), true);
    click(&tab, "#pause");
    tab.until("shown() > 0 && document.querySelector('.list').textContent !== before");
    scene.well(&tab);
}

fn lost(scene: &Scene<'_>) {
    let tab = scene.lists(WIDE, "light");
    let live = "document.getElementById('state')?.textContent.startsWith('Live')";
    tab.until(live);
    // A listener is disconnected when the stream becomes private.
    let public = |is: bool| {
        scene.ask(&tab, "PATCH", "searches", &json!({ "public": is }).to_string());
    };
    public(false);
    tab.until("document.getElementById('state')?.textContent.startsWith('Not live')");
    assert_eq!(count(&tab, ".list tbody tr"), 15.0, "what was there stays");
    public(true);
    tab.until(live);
    let again = number(&tab, "shown()");
    tab.until(&format!("shown() > {again}"));
}

fn followed(scene: &Scene<'_>) {
    let tab = scene.lists(WIDE, "light");
    pause(&tab);
    tab.eval("document.querySelector('.list .key').focus()");
    tab.press(" ");
    until_there(&tab, ".bump.following .series.followed");
    let (row, line) = (text(&tab, "tr.followed bdi"), text(&tab, ".series.followed title"));
    assert_eq!(row, line);
    click(&tab, "#pause");
    let first = number(&tab, "shown()");
    tab.until(&format!("shown() > {first}"));
    assert_eq!(text(&tab, "tr.followed bdi"), row);
    assert_eq!(tab.eval("document.activeElement.closest('tr')?.className"), "followed");
    tab.press(" ");
    tab.until("document.querySelector('.followed') === null");
    scene.well(&tab);
}

/// The count from which on a key is surely listed.
const SURE: &str = "number(document.querySelector('#sure b')?.textContent ?? '0')";

fn plan(scene: &Scene<'_>) {
    let tab = scene.tab("/plan", WIDE, "light");
    tab.until(&format!("{SURE} > 0"));
    let change = |place: &str, key: &str| {
        let before = number(&tab, SURE);
        tab.eval(&format!("document.querySelector({place:?}).focus()"));
        tab.press(key);
        tab.until(&format!("{SURE} !== {before}"));
        (before, number(&tab, SURE))
    };
    let (before, after) = change("#epsilon", "ArrowLeft");
    assert!(after > before, "a smaller epsilon hides more: {before}, {after}");
    assert_eq!(tab.eval("document.getElementById('epsilon').ariaValueText ?? document.getElementById('epsilon').getAttribute('aria-valuetext')"), "0.7");
    let (before, after) = change("#continual", " ");
    assert!(after > before, "continual release is noisier: {before}, {after}");
    let (_, of_people) = change("[name=unit]", "ArrowDown");
    assert!(text(&tab, "#answer").contains("Of each person and day at most 4 keys are counted"));
    assert!(text(&tab, "#keys tr.followed th").contains('4'));
    let (_, more_keys) = change("#per-user", "ArrowRight");
    assert!(more_keys > of_people, "more keys, more noise: {of_people}, {more_keys}");
    let (before, after) = change("#window", "ArrowRight");
    assert!(after != before);
    assert!(text(&tab, "#spec").contains("\"per_user\": 6"));
    // The page shows the plan of the specification that it shows.
    let said = tab.eval(
        "fetch('/v1/plan?events=100000', { method: 'POST', body: document.getElementById('spec').textContent }).then((answer) => answer.json())",
    );
    assert_eq!(said["forecast"]["least_listed"].as_f64().unwrap(), number(&tab, SURE), "{said}");
    // After fast moves, the last position counts.
    tab.eval("document.querySelector('#events').focus()");
    (0..6).for_each(|_| tab.press("ArrowLeft"));
    tab.until("document.querySelector('#answer .warn') !== null || document.querySelector('#answer').textContent.includes('1,000 in a window')");
    (0..7).for_each(|_| tab.press("ArrowRight"));
    tab.until("document.querySelector('#answer').textContent.includes('200,000 in a window')");
    tab.picture("dashboard-plan", WIDE.0, 1_060);
    scene.well(&tab);
}

fn operator(scene: &Scene<'_>) {
    let tab = scene.tab("/operator", WIDE, "light");
    tab.until("document.getElementById('said').textContent.startsWith('No token')");
    assert_eq!(count(&tab, ".card"), 0.0);
    let asked = scene.well(&tab);
    assert!(!asked.iter().any(|url| url.contains("/health")), "{asked:?}");
    give(&tab, "frostpane_wrong");
    tab.until("document.getElementById('said').textContent.includes('not valid')");
    assert_eq!(tab.eval("sessionStorage.length"), 0);
    // A browser logs every error status.
    tab.happened();
    give(&tab, &scene.server.token);
    tab.until("document.querySelectorAll('.card').length === 3");
    tab.until("/Events a second[\\d,]*\\d/.test(document.querySelector('.card').textContent)");
    assert_eq!(text(&tab, "#said"), "The token is for 3 streams.");
    assert!(text(&tab, ".card").contains("Events since start"));
    for card in [2, 3] {
        let of_people = text(&tab, &format!(".card:nth-child({card})"));
        assert!(!of_people.contains("Events since start"), "{of_people}");
        assert!(of_people.contains("Numbers of events are not shown"), "{of_people}");
    }
    assert_eq!(tab.eval("sessionStorage.length + localStorage.length + document.cookie.length"), 1);
    let page = tab
        .eval("location.href + document.documentElement.outerHTML + document.getElementById('token').value");
    assert!(!page.as_str().unwrap().contains(&scene.server.token));
    assert!(!scene.well(&tab).iter().any(|url| url.contains(&scene.server.token)));
    tab.picture("dashboard-operator", WIDE.0, 900);
    // The token belongs to one tab, which can forget it.
    let other = scene.tab("/operator", WIDE, "light");
    other.until("document.getElementById('said').textContent.startsWith('No token')");
    click(&tab, "#forget");
    tab.until("document.querySelectorAll('.card').length === 0 && sessionStorage.length === 0");
    scene.well(&tab);
    // With a revoked token, public streams are still shown.
    tab.eval("sessionStorage.setItem('frostpane-token', 'frostpane_revoked')");
    tab.open(&scene.server.url("/"));
    tab.until(COMPLETE);
    assert_eq!(tab.eval("sessionStorage.length"), 0);
}

const HOSTILE: [&str; 6] = [
    "<img src=x onerror=\"window.pwned = 1\">",
    "</script><script>window.pwned = 2</script>",
    "\"><b onmouseover='window.pwned = 3'>b</b>",
    "\u{202e}gnihtemos\u{202c}\n{{7*7}} ${7*7}",
    "javascript:window.pwned=4",
    "toString",
];

fn by_count(scene: &Scene<'_>) {
    let tab = scene.tab("/operator", WIDE, "light");
    scene.ask(&tab, "PUT", "counted?public=true", r#"{ "window": 100000, "top": 5, "releases": 3 }"#);
    scene.ask(&tab, "POST", "counted/events", &events([("snow", 50_000), ("rain", 50_000)]));
    scene.ask(&tab, "PUT", "counted/releases/one", "");
    tab.open(&scene.server.url("/?stream=counted"));
    tab.until("document.querySelectorAll('.list tbody tr').length === 2 && document.querySelector('#budget .plot') !== null");
    let page = text(&tab, "main");
    assert!(page.contains("event 0 up to 100,000"), "{page}");
    assert!(page.contains("2 releases are left"), "{page}");
    for wrong in ["NaN", "Invalid", "January", "(UTC)"] {
        assert!(!page.contains(wrong), "{wrong}: {page}");
    }
    scene.well(&tab);
}

fn no_barriers(scene: &Scene<'_>, tab: &Tab<'_>, what: &str) {
    let Some(axe) = &scene.axe else { return };
    tab.until("document.getAnimations().length === 0");
    if tab.eval("typeof barriers") == "undefined" {
        tab.eval(CHECKS);
    }
    tab.eval(axe);
    assert_eq!(faults(tab, "barriers()"), Vec::<String>::new(), "{what}");
}

fn events<'a>(counts: impl IntoIterator<Item = (&'a str, usize)>) -> String {
    let line = |(key, count): (&str, usize)| format!("{}\n", json!({ "key": key })).repeat(count);
    counts.into_iter().map(line).collect()
}

const CONTINUAL: &str =
    r#"{ "window": "10m", "slide": "2s", "all": true, "epsilon": 5, "continual": true, "together": 10 }"#;

/// A tab with a public stream of these keys, the most frequent first.
fn stream_of<'a>(scene: &'a Scene<'_>, name: &str, keys: &[&str]) -> Tab<'a> {
    let tab = scene.tab("/operator", WIDE, "light");
    scene.ask(&tab, "PUT", &format!("{name}?public=true&time=arrival"), CONTINUAL);
    let counts = keys.iter().enumerate().map(|(index, key)| (*key, 4_000 - 200 * index));
    scene.ask(&tab, "POST", &format!("{name}/events"), &events(counts));
    tab.open(&scene.server.url(&format!("/?stream={name}")));
    tab.eval(CHECKS);
    tab.until(&format!("document.querySelectorAll('.list tbody tr').length === {}", keys.len()));
    tab
}

fn hostile(scene: &Scene<'_>) {
    let long = "long ".repeat(60);
    let keys: Vec<&str> = HOSTILE.into_iter().chain([long.as_str()]).collect();
    let tab = stream_of(scene, "hostile", &keys);
    tab.until("document.querySelectorAll('.series').length === 7");
    click(&tab, "details.ranks summary");
    until_there(&tab, ".ranks tbody");
    pause(&tab);
    assert_eq!(faults(&tab, "faultsOfList('hostile')"), Vec::<String>::new());
    let shown = tab.eval("[...document.querySelectorAll('.list bdi')].map((name) => name.textContent)");
    assert_eq!(shown[0], HOSTILE[0]);
    assert_eq!(shown[3], "⟨U+202E⟩gnihtemos⟨U+202C⟩⟨U+000A⟩{{7*7}} ${7*7}");
    assert_eq!(tab.eval("window.pwned ?? null"), Value::Null);
    assert_eq!(count(&tab, "main img, main script, main b[onmouseover]"), 0.0);
    scene.well(&tab);
    tab.resize(PHONE.0, PHONE.1);
    fits(&tab, "hostile keys");
}

/// Keys that look alike, and their names.
const LOOK_ALIKES: [(&str, &str); 14] = [
    ("login", "login"),
    ("login\u{200b}", "login⟨U+200B⟩"),
    ("l\u{43e}gin", "l\u{43e}⟨U+043E⟩gin"),
    ("lo\u{ad}gin", "lo⟨U+00AD⟩gin"),
    ("login ", "login⟨U+0020⟩"),
    ("\u{a0}login", "⟨U+00A0⟩login"),
    ("\u{202e}nigol", "⟨U+202E⟩nigol"),
    ("log\u{131}n", "log\u{131}⟨U+0131⟩n"),
    ("cafe\u{301}", "cafe⟨U+0301⟩"),
    ("caf\u{e9}", "caf\u{e9}⟨U+00E9⟩"),
    ("paypaI", "paypaI⟨U+0049⟩"),
    ("paypal", "paypal"),
    ("login⟨U+200B⟩", "login⟨U+27E8⟩U+200B⟩"),
    ("\u{41c}\u{438}\u{440} 2", "\u{41c}\u{438}\u{440} 2"),
];

fn look_alikes(scene: &Scene<'_>) {
    let keys = LOOK_ALIKES.map(|(key, _)| key);
    let tab = stream_of(scene, "look-alikes", &keys);
    pause(&tab);
    let names = |place: &str| {
        tab.eval(&format!("[...document.querySelectorAll({place:?})].map((name) => name.textContent)"))
    };
    assert_eq!(names(".list bdi"), json!(LOOK_ALIKES.map(|(_, name)| name)));
    assert_eq!(
        names(".series title"),
        json!(LOOK_ALIKES[..10].iter().map(|(_, name)| name).collect::<Vec<_>>())
    );
    assert_eq!(faults(&tab, "faultsOfList('look-alikes')"), Vec::<String>::new());
    // Focus shows code points; Copy copies the key itself.
    tab.eval("document.querySelectorAll('.list .key')[2].focus()");
    let points = "document.querySelectorAll('.list .points')[2]";
    tab.press("Tab");
    assert_eq!(tab.eval(&format!("{points}.checkVisibility()")), false);
    tab.eval("document.querySelectorAll('.list .key')[2].focus({ focusVisible: true })");
    assert_eq!(tab.eval(&format!("{points}.checkVisibility()")), true);
    assert_eq!(
        tab.eval(&format!("{points}.textContent")),
        "U+006C l, U+043E \u{43e}, U+0067 g, U+0069 i, U+006E n"
    );
    tab.press(" ");
    tab.allow_clipboard();
    click(&tab, "tr.followed .about button");
    tab.until("document.querySelector('tr.followed [role=status]').textContent === 'Copied.'");
    assert_eq!(tab.eval("navigator.clipboard.readText()"), keys[2]);
    scene.well(&tab);
    no_barriers(scene, &tab, "look-alikes");
    tab.resize(PHONE.0, PHONE.1);
    fits(&tab, "look-alikes");
}

/// Three tied keys, one that rises, and others that come and go; releases at unequal times.
fn chart(scene: &Scene<'_>) {
    let tab = scene.tab("/operator", WIDE, "light");
    let spec = r#"{ "window": "10m", "slide": "1s", "all": true, "releases": 8, "epsilon": 8 }"#;
    scene.ask(&tab, "PUT", "chart?public=true&time=arrival", spec);
    for (round, rest) in [1_100, 1_100, 3_500, 1_100, 2_300].into_iter().enumerate() {
        let fresh: Vec<String> = (0..4).map(|index| format!("key {}", 4 * round + index)).collect();
        let fresh =
            fresh.iter().enumerate().map(|(index, key)| (key.as_str(), 1_000 * (round + 1) + 100 * index));
        // Each leads in turn, by less than the intervals.
        let [ash, elm] = [[724, 720, 728, 720, 728][round], [720, 728, 720, 728, 720][round]];
        let tied = [("ash", ash), ("elm", elm), ("oak", 650)];
        let pine = ("pine", if round < 2 { 50 } else { 3_000 });
        scene.ask(&tab, "POST", "chart/events", &events(fresh.chain(tied).chain([pine])));
        thread::sleep(Duration::from_millis(rest));
        scene.ask(&tab, "PUT", &format!("chart/releases/{round}"), "");
    }
    for size in [(1_440, 900), PHONE] {
        let tab = scene.tab("/?stream=chart", size, "light");
        tab.until("document.querySelectorAll('.series').length > 12");
        assert_eq!(faults(&tab, "faultsOfChart('chart')"), Vec::<String>::new());
        assert_eq!(faults(&tab, "faultsOfList('chart')"), Vec::<String>::new());
        assert!(text(&tab, ".legend").contains("Tied: the intervals overlap"));
        assert!(text(&tab, ".legend").contains("Grey: beyond the 10 keys"));
        fits(&tab, "the chart");
        scene.well(&tab);
    }
    let dark = scene.tab("/?stream=chart", WIDE, "dark");
    dark.until("document.querySelectorAll('.series').length > 12");
    assert_eq!(faults(&dark, "faultsOfChart('chart')"), Vec::<String>::new());
}

fn unknown(scene: &Scene<'_>) {
    let tab = scene.tab("/?stream=%3Cb%3Enosuch%E2%80%AE", WIDE, "light");
    until_there(&tab, ".card");
    assert_eq!(text(&tab, "h1"), "<b>nosuch⟨U+202E⟩");
    assert_eq!(text(&tab, "#covered"), "There is no such stream.");
    let listed = tab.eval("[...document.querySelectorAll('.card a')].map((link) => link.textContent)");
    for name in ["searches", "searches-of-people", "searches-on-demand"] {
        assert!(listed.as_array().unwrap().contains(&name.into()), "{listed}");
    }
    assert_eq!(
        tab.eval("document.querySelector('.list, [aria-current=true], .live:not([hidden])')"),
        Value::Null
    );
    no_barriers(scene, &tab, "an unknown stream");
    click(&tab, ".card a[href$=searches]");
    tab.until(COMPLETE);
    scene.well(&tab);
}

fn missing(scene: &Scene<'_>) {
    let page = scene.server.get("/nosuch", "Accept: text/html,*/*;q=0.8\r\n").is(404);
    assert!(page.header("content-type").contains("text/html"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert!(page.header("vary") == "accept" && page.text().contains("<h1>Page not found</h1>"));
    for accept in ["", "Accept: */*\r\n", "Accept: application/json\r\n"] {
        let other = scene.server.get("/nosuch", accept).is(404);
        assert_eq!(other.header("content-type"), "application/json");
    }
    let tab = scene.tab("/nosuch", PHONE, "light");
    assert_eq!(text(&tab, "h1"), "Page not found");
    fits(&tab, "a page that is not there");
    no_barriers(scene, &tab, "a page that is not there");
    click(&tab, "main a");
    tab.until("location.pathname === '/'");
}

fn empty(scene: &Scene<'_>) {
    let tab = scene.tab("/operator", WIDE, "light");
    let hourly = CONTINUAL.replace("2s", "10m");
    let specs = [
        ("empty-continual", hourly.as_str()),
        ("empty-by-time", r#"{ "window": "1h", "top": 5, "releases": 3 }"#),
        ("empty-by-count", r#"{ "window": 1000, "top": 5, "releases": 3 }"#),
    ];
    for (name, spec) in specs {
        scene.ask(&tab, "PUT", &format!("{name}?public=true"), spec);
        let tab = scene.tab(&format!("/?stream={name}"), WIDE, "light");
        tab.until("document.getElementById('state')?.textContent === 'Connected, no list yet'");
        until_there(&tab, "#budget p");
        let page = text(&tab, "main");
        assert!(page.contains("There are no events to show yet."), "{page}");
        for wrong in ["1969", "1970", "NaN", "Invalid", "null", "Live"] {
            assert!(!page.contains(wrong), "{wrong}: {page}");
        }
        assert_eq!(
            tab.eval("[...document.querySelectorAll('.axis, .plot, table')].filter((one) => one.checkVisibility()).length"),
            0
        );
        scene.well(&tab);
        no_barriers(scene, &tab, name);
    }
}

/// A service is killed while a page is open, and restarts with an unreadable state.
fn gone(scene: &Scene<'_>) {
    let server = Server::plain();
    let own = Scene { server: &server, browser: scene.browser, axe: scene.axe.clone() };
    let tab = stream_of(&own, "works", &["ash", "elm"]);
    let operator = own.tab("/operator", WIDE, "light");
    for (name, public) in [("broken", true), ("secret", false)] {
        own.ask(&operator, "PUT", &format!("{name}?public={public}&time=arrival"), CONTINUAL);
    }
    give(&operator, &server.token);
    operator.until("document.querySelectorAll('.card').length === 3");
    server.kill();
    let dimmed = "document.getElementById('columns').matches('.stale') && getComputedStyle(document.getElementById('columns')).filter === 'grayscale(1)'";
    tab.until(dimmed);
    tab.until(
        "/^Not live, list \\d+, \\d+ seconds old$/.test(document.getElementById('state')?.textContent)",
    );
    assert_eq!(text(&tab, "#problem"), "The service does not answer. This page keeps trying.");
    assert_eq!(count(&tab, ".list tbody tr"), 2.0);
    no_barriers(scene, &tab, "a service that is gone");
    operator.until("document.querySelector('#health.stale') !== null && /below is \\d+ seconds? old/.test(document.getElementById('ready').textContent)");
    no_barriers(scene, &operator, "the operator of a service that is gone");

    let before = number(&tab, "shown()");
    for name in ["broken", "secret"] {
        fs::write(server.stream(name).join("frostpane.redb"), "damaged").unwrap();
    }
    server.restart();
    tab.until(&format!("shown() > {before} && document.getElementById('state')?.textContent.startsWith('Live') && document.querySelector('.stale') === null"));
    assert_eq!(tab.eval("document.getElementById('problem').hidden"), true);
    // The operator sees both streams, others the public one.
    operator.until(
        "document.querySelectorAll('.card.failed').length === 2 && document.querySelector('.stale') === null",
    );
    let cards = text(&operator, ".cards");
    for part in ["broken", "secret", "cannot be opened or written", "start the service again"] {
        assert!(cards.contains(part), "{part}: {cards}");
    }
    no_barriers(scene, &operator, "the operator of a failed stream");
    tab.open(&server.url("/?stream=broken"));
    until_there(&tab, ".card.failed");
    assert_eq!(text(&tab, "#covered"), "This stream has failed.");
    assert!(text(&tab, ".card").contains("the log of the service has the cause"));
    assert!(!text(&tab, "main").contains("secret"));
    no_barriers(scene, &tab, "a failed stream");
    tab.open(&server.url("/?stream=secret"));
    until_there(&tab, ".card.absent");
}

fn on_demand(scene: &Scene<'_>) {
    let tab = scene.tab("/?stream=searches-on-demand", WIDE, "light");
    until_there(&tab, "#budget b");
    let left = |tab: &Tab<'_>| number(tab, "number(document.querySelector('#budget b').textContent)");
    let before = left(&tab);
    scene.ask(&tab, "PUT", "searches-on-demand/releases/tested", "");
    // The page shows the release and its cost.
    tab.until("document.querySelectorAll('.list tbody tr').length === 15");
    tab.until(&format!("number(document.querySelector('#budget b').textContent) === {before} - 1"));
    let budget = text(&tab, "#budget");
    assert!(budget.contains("leave the window on ") && budget.contains("(UTC); then "), "{budget}");
    assert!(budget.contains("epsilon 0.5"), "{budget}");
    until_there(&tab, "#budget .plot");
    tab.picture("dashboard-on-demand", WIDE.0, 1_180);
    scene.well(&tab);
}

/// The pixels by which the page is too wide.
fn over(tab: &Tab<'_>) -> f64 {
    number(tab, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
}

fn fits(tab: &Tab<'_>, what: &str) {
    assert!(over(tab) <= 0.0, "{what}: {} pixels too wide", over(tab));
}

fn phone(scene: &Scene<'_>) {
    for width in [PHONE.0, 320] {
        for page in PAGES {
            let tab = scene.full(page, (width, 844), "light");
            fits(&tab, page);
            if page == "/" {
                assert!(count(&tab, ".series .dot") > 20.0);
                if width == PHONE.0 {
                    click(&tab, "details.ranks summary");
                    tab.picture("dashboard-phone", PHONE.0, 1_000);
                }
            }
            scene.well(&tab);
        }
    }
}

fn keyboard(scene: &Scene<'_>) {
    for page in PAGES {
        let tab = scene.full(page, WIDE, "light");
        if page == "/" {
            while tab.eval("document.activeElement.id") != "pause" {
                tab.press("Tab");
            }
            tab.press(" ");
            tab.until("document.getElementById('state')?.textContent.startsWith('Paused')");
        } else if page == "/operator" {
            click(&tab, "#pause");
        }
        tab.eval("document.activeElement.blur(), document.body.tabIndex = -1, document.body.focus()");
        let all = number(&tab, "controls().length") as usize;
        let mut reached = BTreeSet::new();
        for _ in 0..all + 3 {
            tab.press("Tab");
            let at = tab.eval("focused()");
            if let Some(tour) = at["tour"].as_str() {
                assert_eq!(at["ringed"], true, "it cannot be seen that this has the focus: {}", at["what"]);
                reached.insert(tour.to_owned());
            }
        }
        let missed = tab.eval("controls().map((one) => [one.dataset.tour, one.outerHTML.slice(0, 120)])");
        let missed = missed.as_array().unwrap().iter();
        let missed: Vec<&Value> = missed.filter(|one| !reached.contains(one[0].as_str().unwrap())).collect();
        assert!(missed.is_empty(), "{page}: no way to {missed:?}");
        assert!(all > 5, "{page} has {all} controls");
    }
}

fn barriers(scene: &Scene<'_>) {
    if scene.axe.is_none() {
        return;
    }
    for (size, theme) in [(WIDE, "light"), (WIDE, "dark"), (PHONE, "light"), (PHONE, "dark")] {
        for page in PAGES {
            let tab = scene.full(page, size, theme);
            if page == "/" {
                click(&tab, ".list .key");
            }
            pause(&tab);
            no_barriers(scene, &tab, &format!("{page} {theme} {}", size.0));
        }
    }
}

/// The checks of the other chapters find faults that are put into a page.
fn found(scene: &Scene<'_>) {
    let tab = scene.lists(WIDE, "light");
    pause(&tab);
    tab.eval("document.querySelector('.list .fill').style.width = '50%', document.querySelector('.list bdi').textContent = 'x'");
    tab.until("document.getAnimations().length === 0");
    assert_eq!(faults(&tab, "faultsOfList('searches')").len(), 2);
    let markup = tab.eval("(() => { try { document.querySelector('bdi').innerHTML = '<i>x</i>'; return 'made' } catch { return 'refused' } })()");
    assert_eq!(markup, "refused");
    assert_eq!(scene.happened(&tab).1.len(), 1, "what the policy refuses is told");
    tab.eval("fetch('http://elsewhere.invalid/').catch(() => null)");
    assert!(!scene.happened(&tab).1.is_empty(), "another host is asked");
    if let Some(axe) = &scene.axe {
        tab.eval(axe);
        tab.eval("document.querySelector('main').append(document.createElement('button'))");
        assert_eq!(faults(&tab, "barriers()").len(), 1);
    }
    tab.eval("document.querySelector('h1').style.width = '3000px'");
    assert!(over(&tab) > 0.0);
}
