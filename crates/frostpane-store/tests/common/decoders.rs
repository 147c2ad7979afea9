//! All decoders of stored bytes, and uses of their results. Shared with `fuzz`.

use std::collections::BTreeMap;
use std::ops::Range;

use frostpane::stream::{Grant, SecretBytes, SecretId, SnapshotSource, secret_id};
use frostpane::testing::{Entropy, InsecureSeededEntropy};
use frostpane::{Batch, Bytes, Event, Key, Keys, Result, Spec, Stream};

use super::{ALL, HOUR, event};

const SECRET: [u8; 32] = [7; 32];
/// Hours of the streams before they are written.
const HOURS: [i64; 2] = [3, 30];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    State,
    Accounts,
    Pane,
    Entry,
    Paid,
    Batch,
    Keys,
}

pub const PARTS: [Part; 7] =
    [Part::State, Part::Accounts, Part::Pane, Part::Entry, Part::Paid, Part::Batch, Part::Keys];

fn known() -> Box<dyn Entropy + Send> {
    Box::new(InsecureSeededEntropy::new(11))
}

#[derive(Clone)]
pub struct Written {
    pub name: &'static str,
    spec: Spec,
    state: Vec<u8>,
    accounts: Vec<u8>,
    panes: BTreeMap<(i64, i64), Vec<u8>>,
    secrets: BTreeMap<SecretId, [u8; 32]>,
    paid: Vec<u8>,
}

/// Any pane stands for a missing one, so that decoding goes on.
impl SnapshotSource for Written {
    fn pane(&mut self, bounds: Range<i64>) -> Option<Vec<u8>> {
        self.panes.get(&(bounds.start, bounds.end)).or_else(|| self.panes.values().next()).cloned()
    }

    fn secret(&mut self, mark: &SecretId) -> Option<SecretBytes> {
        self.secrets.get(mark).map(|secret| SecretBytes::new(*secret))
    }
}

fn batch(by_count: bool, begin: i64, events: u64) -> Batch<Bytes> {
    let mut batch = Batch::new();
    for number in 0..events {
        let (time, key, user) = event(0, number);
        batch.push(if by_count {
            Event::of(key.as_slice())
        } else {
            Event::by(&user, begin.saturating_add(time), key.as_slice())
        });
    }
    batch
}

fn later(moment: i64) -> i64 {
    moment.saturating_add(HOUR)
}

fn by_count(stream: &Stream<Bytes>) -> bool {
    stream.spec().longest().is_by_count()
}

fn go_on(stream: &mut Stream<Bytes>) -> Result<()> {
    let now = stream.now();
    stream.ingest(&batch(by_count(stream), now, 50), later(now))?;
    stream.advance(later(now))?;
    let longest = stream.spec().longest();
    if !stream.spec().continual
        && let Ok(paid) = stream.pay(longest)?
    {
        stream.release(paid, &SecretBytes::new(SECRET))?;
        stream.releases_left(longest)?;
    }
    for bounds in stream.closed() {
        stream.closed_pane(&bounds)?;
    }
    let _ = stream.forget(i64::MIN..i64::MAX);
    stream.state();
    stream.accounts();
    Ok(())
}

impl Written {
    /// One stream of each kind, early and late.
    pub fn all() -> Vec<Self> {
        let kinds = ALL.iter().flat_map(|kind| HOURS.map(|hours| (kind, hours)));
        kinds.map(|((name, json), hours)| Self::of(name, json, hours)).collect()
    }

    fn of(name: &'static str, json: &str, hours: i64) -> Self {
        let spec: Spec = serde_json::from_str(json).unwrap();
        let mut stream = Stream::seeded(spec.clone(), Keys::open(), 0, 5).unwrap().drawing_from(known);
        for hour in 0..hours {
            let batch = batch(by_count(&stream), hour * HOUR, 300);
            stream.ingest(&batch, later(hour * HOUR)).unwrap();
            stream.advance(later(hour * HOUR)).unwrap();
        }
        stream.ingest(&batch(by_count(&stream), hours * HOUR, 30), hours * HOUR).unwrap();
        let paid =
            if spec.continual { Vec::new() } else { stream.pay(spec.longest()).unwrap().unwrap().to_bytes() };
        let pane = |bounds: &Range<i64>| ((bounds.start, bounds.end), stream.closed_pane(bounds).unwrap());
        Self {
            name,
            panes: stream.closed().iter().map(pane).collect(),
            secrets: stream.secrets().into_iter().map(|secret| (secret_id(secret), *secret)).collect(),
            accounts: stream.accounts(),
            state: stream.state(),
            spec,
            paid,
        }
    }

    fn restored(mut self) -> Result<Stream<Bytes>> {
        let (state, accounts) = (std::mem::take(&mut self.state), std::mem::take(&mut self.accounts));
        let stream = Stream::restore(self.spec.clone(), Keys::open(), [&state, &accounts], &mut self)?;
        Ok(stream.drawing_from(known))
    }

    pub fn bytes(&self, part: Part) -> Vec<u8> {
        let events = batch(self.spec.longest().is_by_count(), 3 * HOUR, 20);
        match part {
            Part::State => self.state.clone(),
            Part::Accounts => self.accounts.clone(),
            Part::Pane => self.panes.values().next().cloned().unwrap_or_default(),
            Part::Entry => [&[0], later(0).to_le_bytes().as_slice(), events.as_bytes()].concat(),
            Part::Paid => self.paid.clone(),
            Part::Batch => events.as_bytes().to_vec(),
            Part::Keys => b"\x01\x03key\x05other\x00".to_vec(),
        }
    }

    /// Decodes bytes in place of a part, and uses the result.
    pub fn read(&self, part: Part, bytes: &[u8]) -> frostpane_store::Result<()> {
        let mut written = self.clone();
        match part {
            Part::State => written.state = bytes.to_vec(),
            Part::Accounts => written.accounts = bytes.to_vec(),
            Part::Pane => written.panes.values_mut().for_each(|pane| *pane = bytes.to_vec()),
            Part::Batch => return Ok(read_batch(bytes)?),
            Part::Keys => return Ok(read_keys::<Bytes>(bytes).and(read_keys::<u64>(bytes))?),
            Part::Entry | Part::Paid => {}
        }
        let mut stream = written.restored()?;
        match part {
            Part::Entry => frostpane_store::replay(bytes, &mut stream)?,
            Part::Paid => drop(stream.release(Grant::from_bytes(bytes)?, &SecretBytes::new(SECRET))?),
            _ => {}
        }
        go_on(&mut stream)?;
        Ok(go_on(&mut stream)?)
    }
}

fn read_batch(bytes: &[u8]) -> Result<()> {
    let batch = Batch::<Bytes>::from_bytes(bytes.to_vec())?;
    assert_eq!(batch.events().count(), batch.len());
    let batch = Batch::<u64>::from_bytes(bytes.to_vec())?;
    assert_eq!(batch.events().count(), batch.len());
    Ok(())
}

/// Declared keys can be encoded again, and used in a stream.
fn read_keys<K: Key>(bytes: &[u8]) -> Result<()> {
    let keys = Keys::<K>::from_bytes(bytes)?;
    assert_eq!(Keys::<K>::from_bytes(&keys.to_bytes())?.to_bytes(), keys.to_bytes());
    let mut stream = Stream::seeded(serde_json::from_str(ALL[0].1).unwrap(), keys, 0, 5)?;
    stream.state();
    Ok(())
}
