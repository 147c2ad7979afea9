//! The specification as JSON: it is read as written, and refused if it is not understood.

use std::time::Duration;

use crate::common::NO_NOISE;
use frostpane::testing::{Dimensions, Entropy, InsecureSeededEntropy};
use frostpane::{
    Builder, Delta, Epsilon, Error, ErrorKind, HeavyHitters, KeySpec, Keys, Norm, Policy, Release, Size,
    Span, Spec, Window,
};
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(86_400);

fn spec(change: impl FnOnce(&mut Spec)) -> Spec {
    let mut spec = Spec::default();
    change(&mut spec);
    spec
}

fn delta(delta: f64) -> Delta {
    serde_json::from_value(json!(delta)).unwrap()
}

fn read(text: &str) -> serde_json::Result<Spec> {
    serde_json::from_str(text)
}

/// Every field with another value than the default.
fn all_set() -> Spec {
    spec(|spec| {
        spec.keys = KeySpec::Range(3..65_536);
        spec.norm = Norm::L1;
        spec.alpha = 0.02;
        spec.epsilon = Epsilon::new(0.123_456).unwrap();
        spec.delta = delta(2.5e-7);
        spec.windows = vec![Span::Clock(7 * DAY), Span::Clock(30 * DAY)];
        spec.slide = Some(Span::Clock(DAY));
        spec.lateness = Duration::from_secs(90);
        spec.policy = Some(Policy::Exponential);
        spec.confidence = 0.999;
        spec.continual = true;
        spec.releases = Some(5);
        spec.together = Some(88);
        spec.memory = Size(16_000_001);
        spec.key_bytes = 40;
        spec.entries = Some(500);
        spec.sketch = Some(Dimensions { rows: 5, width: 1_024 });
    })
}

#[test]
fn the_usual_specification_is_written_with_these_names() {
    let usual = json!({
        "version": 1,
        "unit": "event",
        "keys": "open",
        "norm": "l2",
        "alpha": 0.05,
        "epsilon": 1.0,
        "delta": 1e-9,
        "window": 1_000_000,
        "lateness": "0s",
        "policy": "auto",
        "confidence": 0.95,
        "memory": "64MB",
        "key_bytes": 16,
    });
    assert_eq!(serde_json::to_value(Spec::default()).unwrap(), usual);
    assert_eq!(serde_json::from_value::<Spec>(usual).unwrap(), Spec::default());
}

#[test]
fn what_is_not_usual_is_written_too() {
    let all = json!({
        "version": 1,
        "unit": "event",
        "keys": "3..65536",
        "norm": "l1",
        "alpha": 0.02,
        "epsilon": 0.123456,
        "delta": 2.5e-7,
        "window": ["1w", "30d"],
        "slide": "1d",
        "lateness": "90s",
        "policy": "exponential",
        "confidence": 0.999,
        "continual": true,
        "releases": 5,
        "together": 88,
        "memory": "16000001",
        "key_bytes": 40,
        "entries": 500,
        "sketch": { "rows": 5, "width": 1_024 },
    });
    assert_eq!(serde_json::to_value(all_set()).unwrap(), all);
    assert_eq!(serde_json::from_value::<Spec>(all).unwrap(), all_set());
    // Fields that are left out have their defaults.
    assert_eq!(read("{}").unwrap(), Spec::default());
}

#[test]
fn each_field_alone_is_read_as_it_was_written() {
    for (name, value) in serde_json::to_value(all_set()).unwrap().as_object().unwrap() {
        let alone: Spec = serde_json::from_value(json!({ name: value })).unwrap();
        assert_eq!(serde_json::to_value(&alone).unwrap()[name], *value, "{name}");
        let fixed = ["version", "unit"].contains(&name.as_str());
        assert_eq!(alone == Spec::default(), fixed, "{name}");
    }
}

/// Ten thousand random specifications.
#[test]
fn whatever_is_written_is_read_again() {
    let mut entropy = InsecureSeededEntropy::new(1);
    for _ in 0..10_000 {
        let mut below = |end: u64| entropy.below(end).unwrap();
        let written = any(&mut below);
        let text = serde_json::to_string(&written).unwrap();
        assert_eq!(read(&text).unwrap(), written, "{text}");
        assert_eq!(read(&serde_json::to_string_pretty(&written).unwrap()).unwrap(), written);
    }
}

fn any(below: &mut impl FnMut(u64) -> u64) -> Spec {
    let mut spec = Spec::default();
    spec.keys = match below(4) {
        0 => KeySpec::Open,
        1 => KeySpec::Range(below(10)..10 + below(u64::MAX - 10)),
        2 => {
            KeySpec::List((0..below(4)).map(|key| format!("key {key} \"\\\n\u{e9}..{}", below(99))).collect())
        }
        _ => KeySpec::File(format!("data/{}.txt", below(1_000)).into()),
    };
    spec.norm = [Norm::L1, Norm::L2][below(2) as usize];
    spec.alpha = fraction(below);
    spec.epsilon = Epsilon::new((1 + below(1_000_000_000_000)) as f64 / 1e6).unwrap();
    spec.delta = delta(fraction(below) * 10_f64.powi(-(below(40) as i32)));
    spec.windows = (0..1 + below(4)).map(|_| span(below)).collect();
    spec.slide = (below(2) == 0).then(|| span(below));
    spec.lateness = Duration::from_micros(below(1 << 40));
    spec.policy =
        [None, Some(Policy::Uniform), Some(Policy::Exponential), Some(Policy::Smooth)][below(4) as usize];
    spec.confidence = fraction(below);
    spec.continual = below(2) == 0;
    spec.releases = (below(2) == 0).then(|| below(1 << 32) as u32);
    spec.together = Some(below(u64::MAX));
    spec.memory = Size(below(1_000) * 10_u64.pow(below(13) as u32));
    spec.key_bytes = below(1 << 20);
    spec.entries = (below(2) == 0).then(|| below(1 << 32) as u32);
    spec.sketch = (below(2) == 0).then(|| Dimensions { rows: below(100) as usize, width: 1 << below(25) });
    spec
}

/// A number between 0 and 1, short or with all bits.
fn fraction(below: &mut impl FnMut(u64) -> u64) -> f64 {
    match below(3) {
        0 => (1 + below(999)) as f64 / 1e3,
        _ => (1 + below(1 << 53)) as f64 / 2_f64.powi(54),
    }
}

fn span(below: &mut impl FnMut(u64) -> u64) -> Span {
    let units = [1, 1_000, 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000];
    match below(2) {
        0 => Span::Events(below(u64::MAX)),
        _ => Span::Clock(Duration::from_micros(below(1_000) * units[below(6) as usize])),
    }
}

#[test]
fn values_may_be_written_as_people_write_them() {
    let read = |name: &str, value: Value| serde_json::from_value::<Spec>(json!({ name: value })).unwrap();
    for window in [json!(5_000_000), json!("5_000_000"), json!([5_000_000]), json!(["5,000,000"])] {
        assert_eq!(read("window", window).windows, [Span::Events(5_000_000)]);
    }
    for window in [json!("2w"), json!(["14d"]), json!("336h")] {
        assert_eq!(read("window", window).windows, [Span::Clock(14 * DAY)]);
    }
    let several = read("window", json!([1_000, "50_000"])).windows;
    assert_eq!(several, [Span::Events(1_000), Span::Events(50_000)]);
    for memory in [json!(64_000), json!("64kB"), json!("64K"), json!("64000")] {
        assert_eq!(read("memory", memory).memory, Size(64_000));
    }
    assert_eq!(read("epsilon", json!(2)).epsilon, Epsilon::new(2.0).unwrap());
    assert_eq!(read("slide", Value::Null).slide, None);
    for (keys, expected) in [
        (json!("open"), KeySpec::Open),
        (json!("0..65_536"), KeySpec::Range(0..65_536)),
        (json!("pages.txt"), KeySpec::File("pages.txt".into())),
        (json!(["open", "0..5"]), KeySpec::List(["open", "0..5"].map(String::from).to_vec())),
        (json!([]), KeySpec::List(Vec::new())),
    ] {
        assert_eq!(read("keys", keys).keys, expected);
    }
}

#[test]
fn what_is_not_understood_is_refused_with_what_to_write() {
    const KEYS: &str = r#"expected "open", a range "START..END", the name of a file, or a list of keys"#;
    const WINDOW: &str = r#"expected a number of events, a time such as "30d", or a list of either"#;
    for (fields, expected) in [
        (
            r#""epsilom": 1"#,
            "unknown field `epsilom`, expected one of `version`, `unit`, `keys`, `norm`, `alpha`",
        ),
        (r#""windows": 5"#, "unknown field `windows`"),
        (r#""Alpha": 0.5"#, "unknown field `Alpha`"),
        (r#""seed": 5"#, "unknown field `seed`"),
        (r#""alpha": 0.1, "alpha": 0.2"#, "duplicate field `alpha`"),
        (r#""version": 2"#, "the specification has version 2, but this program knows version 1 alone"),
        (r#""version": 0"#, "the specification has version 0"),
        (r#""version": "1""#, "expected u32"),
        (r#""version": 1.0"#, "expected u32"),
        (r#""unit": "people""#, "unknown variant `people`, expected `event` or `user`"),
        (r#""keys": 5"#, KEYS),
        (r#""keys": [5]"#, KEYS),
        (r#""keys": "-3..5""#, "a range of keys is START..END in whole numbers from 0"),
        (r#""norm": "l3""#, "unknown variant `l3`, expected `l1` or `l2`"),
        (r#""alpha": "0.1""#, r#"invalid type: string "0.1", expected f64"#),
        (r#""epsilon": "1""#, "expected f64"),
        (r#""epsilon": 0"#, "epsilon is 0, but must be above 0: 1 is a common choice"),
        (r#""epsilon": -1"#, "epsilon is -1, but must be above 0"),
        (r#""epsilon": 1e9"#, "can be at most 1000000"),
        (r#""delta": null"#, "expected f64"),
        (r#""window": "5x""#, WINDOW),
        (r#""window": -5"#, WINDOW),
        (r#""window": [5, true]"#, WINDOW),
        (r#""slide": 1.5"#, r#"expected a number of events, or a time such as "30d""#),
        (r#""slide": "a day""#, "give a number of events such as 1000000, 10k or 1M, or a time such as 90s"),
        (r#""until": [1]"#, "a time in quotes such as"),
        (r#""lateness": 5"#, "give a time such as 90s, 1h30m, 12 hours, 30d or 8w"),
        (r#""lateness": true"#, r#"a time such as "30d""#),
        (r#""policy": "best""#, "expected one of `auto`, `uniform`, `exponential`, `smooth`"),
        (r#""policy": null"#, "expected"),
        (r#""confidence": [0.9]"#, "expected f64"),
        (r#""continual": 1"#, "expected a boolean"),
        (r#""releases": -1"#, "expected u32"),
        (r#""horizon": 1.5"#, "expected u64"),
        (r#""together": "all""#, "expected u64"),
        (r#""memory": "much""#, "give a size such as 64MB, 1.5GB or 64MiB"),
        (r#""memory": -1"#, r#"expected a number of bytes, or a size such as "64MB""#),
        (r#""key_bytes": "16B""#, "expected u64"),
        (r#""entries": 4294967296"#, "expected u32"),
        (r#""sketch": { "rows": 5 }"#, "missing field `width`"),
        (
            r#""sketch": { "rows": 5, "width": 64, "seed": 1 }"#,
            "unknown field `seed`, expected `rows` or `width`",
        ),
        (r#""sketch": "5x64""#, "expected struct Dimensions"),
    ] {
        let message = read(&format!("{{ {fields} }}")).expect_err(fields).to_string();
        assert!(message.contains(expected), "{fields}: {message}");
        assert!(message.contains("line 1 column"), "{fields}: {message}");
    }
}

/// Values that can be read but are not allowed.
#[test]
fn what_is_not_allowed_is_refused_before_anything_is_built() {
    let many = |windows: &[Span]| spec(|spec| spec.windows = windows.to_vec());
    for (spec, expected) in [
        (
            spec(|spec| spec.version = 2),
            "the specification has version 2, but this program knows version 1 alone",
        ),
        (spec(|spec| spec.alpha = 1.0), "alpha is 1, but must be above 0 and below 1"),
        (spec(|spec| spec.confidence = 0.0), "confidence is 0"),
        (spec(|spec| spec.delta = Delta::ZERO), "delta is 0, but open keys cannot be released purely"),
        (spec(|spec| spec.releases = Some(0)), "releases is 0"),
        (spec(|spec| spec.together = Some(0)), "together is 0"),
        (spec(|spec| spec.entries = Some(0)), "entries is 0"),
        (spec(|spec| spec.sketch = Some(Dimensions { rows: 4, width: 64 })), "the rows must be odd"),
        (
            spec(|spec| spec.slide = Some(Span::Clock(DAY))),
            "and the slide 1d, but they must both be numbers of events",
        ),
        (many(&[]), "no window was given"),
        (many(&[Span::Events(0)]), "the window is 0 events"),
        (many(&[Span::Events(5), Span::Events(5)]), "the window 5 was given twice"),
        (many(&[Span::Events(5), Span::Clock(DAY)]), "the windows 5 and 1d were given"),
    ] {
        let builder = Builder::<u64>::from_spec(spec, Keys::open());
        let refusals: [Error; 3] =
            [builder.plan().unwrap_err(), builder.spec().unwrap_err(), builder.build().err().unwrap()];
        for error in refusals {
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}

/// Requests that leave slide and policy open, and some that do not.
fn requests() -> Vec<Spec> {
    let over = |windows: &[Span], change: fn(&mut Spec)| {
        spec(|spec| {
            spec.windows = windows.to_vec();
            spec.memory = Size(20_000_000);
            change(spec);
        })
    };
    let hour = Duration::from_secs(3_600);
    let events = [100_003, 1_000].map(Span::Events);
    let clock = [30 * DAY, hour].map(Span::Clock);
    vec![
        over(&events[..1], |_| ()),
        over(&events, |_| ()),
        over(&events, |spec| spec.policy = Some(Policy::Uniform)),
        over(&events[..1], |spec| spec.policy = Some(Policy::Smooth)),
        over(&events[..1], |spec| spec.policy = Some(Policy::Exponential)),
        over(&events[..1], |spec| spec.slide = Some(Span::Events(777))),
        over(&[Span::Events(100_000_000)], |spec| {
            (spec.alpha, spec.memory) = (0.8, Size(1 << 30));
        }),
        over(&clock[..1], |spec| spec.norm = Norm::L1),
        over(&clock, |spec| spec.lateness = Duration::from_secs(60)),
        over(&events[1..], |spec| spec.releases = Some(7)),
        over(&events[..1], |spec| spec.entries = Some(300)),
    ]
}

/// With all choices written out it is the same request, without further choices.
#[test]
fn a_specification_that_is_spelled_out_is_the_same_request() {
    let declared = requests().into_iter().take(2).map(|request| (request, Keys::range(0..50).unwrap()));
    let open = requests().into_iter().map(|request| (request, Keys::open()));
    for (request, keys) in declared.chain(open) {
        let builder = Builder::<u64>::from_spec(request, keys.clone());
        let spelled = builder.spec().unwrap();
        assert_eq!(spelled.policy, Some(builder.choice().unwrap().policy));
        assert!(spelled.slide.is_some() && spelled.releases.is_some());
        let text = serde_json::to_string(&spelled).unwrap();
        let again = Builder::<u64>::from_spec(read(&text).unwrap(), keys);
        assert_eq!(again.spec().unwrap(), spelled);
        assert_eq!(again.plan().unwrap(), builder.plan().unwrap(), "{text}");
        assert_eq!(again.forecast(1_000, None).unwrap(), builder.forecast(1_000, None).unwrap());
    }
}

fn without_noise(mut spec: Spec) -> Spec {
    spec.epsilon = Epsilon::new(NO_NOISE).unwrap();
    spec
}

#[test]
fn a_specification_that_is_spelled_out_makes_the_same_releases() {
    let request = without_noise(spec(|spec| {
        spec.windows = vec![Span::Events(10_000), Span::Events(500)];
    }));
    let releases = |spec: Spec| {
        let mut hitters = Builder::<u64>::from_spec(spec, Keys::open()).build().unwrap();
        hitters.update_batch((0..12_345).map(|event| event * event % 40)).unwrap();
        [10_000, 500].map(|window| hitters.release_over(window).unwrap())
    };
    let spelled = Builder::<u64>::from_spec(request.clone(), Keys::open()).spec().unwrap();
    assert_ne!(spelled, request);
    assert_eq!(releases(spelled), releases(request));
}

#[test]
fn a_list_at_every_slide_that_is_spelled_out_is_the_same_list() {
    for keys in [Keys::open(), Keys::range(0..50).unwrap()] {
        for (windows, slide) in [(10_000, None), (2_400, Some(300))] {
            let request = without_noise(spec(|spec| {
                spec.continual = true;
                spec.windows = vec![Span::Events(windows)];
                spec.slide = slide.map(Span::Events);
            }));
            let releases = |spec: Spec| -> Vec<Release<u64>> {
                let mut continual = Builder::from_spec(spec, keys.clone()).continual().unwrap();
                let events = (0..12_345).map(|event| event * event % 40);
                events.flat_map(|key| continual.update(key).unwrap()).collect()
            };
            let builder = Builder::from_spec(request.clone(), keys.clone());
            let spelled = builder.spec().unwrap();
            assert_eq!((spelled.policy, spelled.releases), (Some(Policy::Uniform), None));
            // 32 whole slides by default.
            let whole = if slide.is_none() { (10_016, 313) } else { (2_400, 300) };
            assert_eq!(spelled.windows, [Span::Events(whole.0)]);
            assert_eq!(spelled.slide, Some(Span::Events(whole.1)));
            let again = Builder::from_spec(spelled.clone(), keys.clone());
            assert_eq!(again.spec().unwrap(), spelled);
            assert_eq!(again.plan().unwrap(), builder.plan().unwrap());
            let of_request = releases(request);
            assert_eq!(of_request.len() as u64, 12_345 / whole.1);
            assert_eq!(releases(spelled), of_request);
        }
    }
}

/// The methods of a builder have the names of the fields.
#[test]
fn a_builder_is_its_specification() {
    let all = all_set();
    let builder = HeavyHitters::<u64>::builder(Keys::open())
        .norm(all.norm)
        .alpha(all.alpha)
        .epsilon(all.epsilon.as_f64())
        .delta(all.delta.as_f64())
        .window(Window::clock(30 * DAY).slide(DAY).lateness(all.lateness))
        .policy(Policy::Exponential)
        .confidence(all.confidence)
        .releases(5)
        .together(all.together())
        .memory(all.memory.0)
        .key_bytes(all.key_bytes)
        .entries(500)
        .sketch(5, 1_024);
    let mut one_shot = all;
    one_shot.continual = false;
    one_shot.keys = KeySpec::Open;
    one_shot.windows = vec![Span::Clock(30 * DAY)];
    assert_eq!(builder.spec().unwrap(), one_shot);
}
