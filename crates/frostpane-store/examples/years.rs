//! Writes a store as years of hourly releases leave it: `years DIR HOURS [FORM...]`. Each form is a file
//! whose text is stored with every release as a rendering, with other numbers each time. Without forms,
//! releases are continual. `tools/years` uses it.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use frostpane::{Bytes, Event, Keys, Spec};
use frostpane_store::{Begin, Renderings, Store};

const HOUR: i64 = 3_600_000_000;
const EVENTS: u64 = 200;
/// Runs of digits that are numbers of the release, not of the page.
const LONG: usize = 3;

fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
}

/// Replaces the numbers of a text.
fn renumbered(text: &str, seed: u64) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut start = 0;
    while start < bytes.len() {
        let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits >= LONG {
            let places = bytes.iter_mut().enumerate().take(start + digits).skip(start + 1);
            places.for_each(|(place, byte)| *byte = b'0' + (mix(seed ^ place as u64) % 10) as u8);
        }
        start += digits.max(1);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hour(store: &mut Store<Bytes>, start: i64, number: u64) -> Result<(), Box<dyn Error>> {
    let mut feed = store.feed(&format!("hour {number}"))?.at(start + HOUR);
    for event in 0..EVENTS {
        let random = mix(number * EVENTS + event);
        let key = format!("key {}", (random % 97) * (random % 7));
        let time = start + event as i64 * (HOUR / EVENTS as i64);
        feed.push(Event::by(&random.to_le_bytes(), time, key.as_bytes()))?;
    }
    feed.finish(true)?;
    store.tick(start + HOUR)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, hours, forms @ ..] = &arguments[..] else {
        return Err("years DIR HOURS [FORM...]".into());
    };
    let hours: u64 = hours.parse()?;
    let texts: Vec<(String, String)> = forms
        .iter()
        .map(|file| Ok((file.clone(), fs::read_to_string(file)?)))
        .collect::<Result<_, Box<dyn Error>>>()?;
    let asked = if texts.is_empty() {
        r#"{"window": "7d", "slide": "1h", "continual": true, "epsilon": 40}"#
    } else {
        r#"{"window": "7d", "slide": "1h", "top": 20, "epsilon": 0.5, "releases": 200}"#
    };
    let spec: Spec = serde_json::from_str(asked)?;
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?;
    let begin = (now / HOUR - i64::try_from(hours)?) * HOUR;
    let mut store = Store::<Bytes>::create(Path::new(folder), spec, Keys::open(), Begin::default())?;
    let window = store.header().spec.longest();
    for number in 0..hours {
        hour(&mut store, begin + number as i64 * HOUR, number)?;
        if !texts.is_empty() {
            store.release_in_forms(&format!("hour {number}"), window, |_| {
                let form = |(file, text): &(String, String)| {
                    let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
                    (name.into_owned(), renumbered(text, number))
                };
                texts.iter().map(form).collect::<Renderings>()
            })?;
        }
    }
    Ok(())
}
