//! The library alone, for tests that compare the package with it: `direct SPEC.json EVENTS.tsv` prints the
//! release of each window, or the continual releases, as JSON. A line has a time in microseconds, a user and
//! a key.

use std::error::Error;
use std::{env, fs};

use frostpane::{Builder, Bytes, Event, Key, KeySpec, Keys, Spec};

type DirectResult<T> = Result<T, Box<dyn Error>>;

type Line<'a> = (i64, &'a [u8], &'a str);

fn main() -> DirectResult<()> {
    let mut given = env::args().skip(1);
    let mut next = || given.next().ok_or("direct SPEC.json EVENTS.tsv");
    let (spec, events) = (fs::read_to_string(next()?)?, fs::read_to_string(next()?)?);
    let spec: Spec = serde_json::from_str(&spec)?;
    let lines = events.lines().map(line).collect::<DirectResult<Vec<_>>>()?;
    match &spec.keys {
        KeySpec::Range(range) => release(&spec, Keys::range(range.clone())?, &lines, |key| key.parse().ok()),
        KeySpec::List(keys) => {
            let keys = Keys::list(keys.iter().map(|key| Bytes::from(key.as_bytes())))?;
            release(&spec, keys, &lines, |key| Some(key.as_bytes()))
        }
        _ => release(&spec, Keys::<Bytes>::open(), &lines, |key| Some(key.as_bytes())),
    }
}

fn line(line: &str) -> DirectResult<Line<'_>> {
    let mut cells = line.split('\t');
    let mut cell = || cells.next().ok_or("a line has three cells");
    Ok((cell()?.parse()?, cell()?.as_bytes(), cell()?))
}

fn release<K: Key>(
    spec: &Spec,
    keys: Keys<K>,
    lines: &[Line<'_>],
    key: impl for<'a> Fn(&'a str) -> Option<K::Ref<'a>>,
) -> DirectResult<()> {
    let (by_clock, of_users) = (!spec.longest().is_by_count(), spec.unit.is_user());
    let events = lines.iter().map(|(time, user, text)| Event {
        time: by_clock.then_some(*time),
        key: key(text),
        user: of_users.then_some(*user),
    });
    let builder = Builder::from_spec(spec.clone(), keys).program(11_000_000);
    if !spec.continual {
        let mut hitters = builder.build()?;
        hitters.extend(events)?;
        for window in &spec.windows {
            println!("{}", serde_json::to_string(&hitters.release_over(*window)?)?);
        }
        return Ok(());
    }
    let mut lists = Vec::new();
    builder.continual()?.extend(events, |continual| lists.push(continual.release()))?;
    for list in lists {
        println!("{}", serde_json::to_string(&list?)?);
    }
    Ok(())
}
