use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use zeroize::Zeroizing;

use super::*;
use crate::codec::Reader;
use crate::counting::Event;
use crate::error::ErrorKind;
use crate::key::Bytes;
use crate::key::mix::mix;
use crate::noise::{Entropy, InsecureSeededEntropy};
use crate::pane::Pane;
use crate::privacy::{Delta, Epsilon};
use crate::spec::{Bounds, Norm, Policy, Unit};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const SECRET: [u8; 32] = [7; 32];

fn known() -> Box<dyn Entropy + Send> {
    Box::new(InsecureSeededEntropy::new(11))
}

#[derive(Clone, Default)]
struct Memory {
    state: Vec<u8>,
    accounts: Vec<u8>,
    panes: BTreeMap<(i64, i64), Vec<u8>>,
    secrets: BTreeMap<SecretId, [u8; 32]>,
    log: Vec<(Entry, i64)>,
    pieces: BTreeMap<(RunOfUsers, u64), Vec<u8>>,
    /// How much memory users may take, if not what was planned.
    for_users: Option<u64>,
}

#[derive(Clone)]
enum Entry {
    Events(Batch<Bytes>),
    Tick,
}

impl SnapshotSource for Memory {
    fn pane(&mut self, bounds: Range<i64>) -> Option<Vec<u8>> {
        self.panes.get(&(bounds.start, bounds.end)).cloned()
    }

    fn secret(&mut self, mark: &SecretId) -> Option<SecretBytes> {
        self.secrets.get(mark).map(|secret| Zeroizing::new(*secret))
    }

    fn scratch(&mut self) -> Option<SpillFactory> {
        self.for_users.map(|_| scratch())
    }

    fn piece(&mut self, run: &RunOfUsers, piece: u64) -> Option<Vec<u8>> {
        self.pieces.get(&(*run, piece)).cloned()
    }
}

fn scratch() -> SpillFactory {
    SpillFactory::new(|| Ok(Box::new(std::io::Cursor::new(Vec::new()))))
}

impl Memory {
    /// Keeps a stream as it is now. A pane that was kept is never written again: what lies where does not change.
    fn keep(&mut self, stream: &mut Stream<Bytes>) {
        let closed = stream.closed();
        self.panes.retain(|(start, end), _| closed.contains(&(*start..*end)));
        for bounds in closed {
            let pane = stream.closed_pane(&bounds).unwrap();
            assert_eq!(*self.panes.entry((bounds.start, bounds.end)).or_insert(pane.clone()), pane);
        }
        self.secrets = stream.secrets().into_iter().map(|secret| (secret_id(secret), *secret)).collect();
        self.keep_pieces(stream);
        (self.state, self.accounts) = (stream.state(), stream.accounts());
        self.log.clear();
    }

    fn keep_pieces(&mut self, stream: &mut Stream<Bytes>) {
        let runs = stream.runs_of_users();
        self.pieces.retain(|(run, _), _| runs.iter().any(|(there, _)| there == run));
        for (run, pieces) in runs {
            for piece in 0..pieces {
                let bytes = stream.piece_of_run(&run, piece).unwrap();
                assert_eq!(*self.pieces.entry((run, piece)).or_insert(bytes.clone()), bytes);
            }
        }
    }

    fn restored(&self, spec: &Spec) -> Result<Stream<Bytes>> {
        let mut kept = self.clone();
        let mut stream =
            Stream::restore(spec.clone(), Keys::open(), [&self.state, &self.accounts], &mut kept)?;
        self.limit(&mut stream);
        for (entry, present) in &self.log {
            match entry {
                Entry::Events(batch) => stream.replay(batch, *present)?,
                Entry::Tick => assert!(!stream.advance(*present)?.ended),
            }
        }
        Ok(stream)
    }

    fn limit(&self, stream: &mut Stream<Bytes>) {
        if let (Some(bytes), Some(live)) = (self.for_users, stream.engine.counter_mut().live_mut()) {
            live.most_bytes = bytes;
        }
    }
}

fn spec(change: impl FnOnce(&mut Spec)) -> Spec {
    let mut spec = Spec { norm: Norm::L1, releases: Some(9), ..Spec::default() };
    change(&mut spec);
    spec
}

fn by_count(policy: Policy, norm: Norm) -> Spec {
    spec(|spec| {
        (spec.policy, spec.norm) = (Some(policy), norm);
        spec.windows = vec![Span::Events(20_000)];
        spec.slide = Some(Span::Events(if policy == Policy::Smooth { 100 } else { 500 }));
        spec.entries = Some(90);
    })
}

fn by_clock(length: i64, slide: i64) -> Spec {
    let span = |hours: i64| Span::Clock(Duration::from_micros((hours * HOUR) as u64));
    spec(|spec| {
        spec.windows = vec![span(length)];
        spec.slide = Some(span(slide));
        spec.lateness = Duration::from_secs(1_800);
    })
}

fn of_people(length: i64, slide: Option<i64>) -> Spec {
    let mut spec = by_clock(length, slide.unwrap_or(1));
    let bounds = Bounds { per_key: 2, epoch: Duration::from_secs(6 * 3_600), ..Bounds::new(3) };
    spec.unit = Unit::User(bounds);
    spec.slide = spec.slide.filter(|_| slide.is_some());
    spec
}

fn continual(spec: Spec) -> Spec {
    Spec {
        epsilon: Epsilon::new(40.0).unwrap(),
        continual: true,
        policy: None,
        releases: None,
        entries: None,
        ..spec
    }
}

/// Every policy, both units, single lists and one at every slide.
fn all() -> Vec<(&'static str, Spec)> {
    vec![
        ("uniform", by_count(Policy::Uniform, Norm::L1)),
        ("uniform, L2", by_count(Policy::Uniform, Norm::L2)),
        ("exponential", by_count(Policy::Exponential, Norm::L2)),
        ("smooth", by_count(Policy::Smooth, Norm::L2)),
        ("by the clock", by_clock(24, 1)),
        ("people", of_people(24, None)),
        ("at every slide, by count", continual(by_count(Policy::Uniform, Norm::L2))),
        ("at every slide", continual(by_clock(24, 1))),
        ("people at every slide", continual(of_people(24, Some(2)))),
        ("people at every slide of two epochs", continual(of_people(24, Some(12)))),
    ]
}

fn batch(number: i64, by_count: bool) -> Batch<Bytes> {
    let mut batch = Batch::new();
    for event in 0..700_i64 {
        let random = mix((number * 700 + event) as u64);
        let key = match random % 4 {
            0 => random % 400,
            _ => random % 7,
        };
        let time = number * HOUR + event * 5 * SECOND - (random % 100) as i64 * 20 * SECOND;
        let (key, user) = (key.to_be_bytes(), (random / 400 % 90).to_be_bytes());
        batch.push(if by_count { Event::of(key.as_slice()) } else { Event::by(&user, time, key.as_slice()) });
    }
    batch
}

/// A stream that so many batches have come to, by the hour.
fn filled(spec: Spec, batches: i64) -> Stream<Bytes> {
    let by_count = spec.longest().is_by_count();
    let mut stream = Stream::new(spec, Keys::open(), 0).unwrap();
    for number in 0..batches {
        stream.ingest(&batch(number, by_count), (number + 1) * HOUR).unwrap();
        stream.advance((number + 1) * HOUR).unwrap();
    }
    stream
}

/// Everything that a run showed, to anybody and to the operator.
type Shown = (Vec<Release<Bytes>>, Tally);

/// A run, written down and read again after each step, if it is to be.
fn shown(spec: &Spec, restarts: bool, whole: bool) -> Shown {
    shown_with(spec, restarts, whole, None).0
}

/// The same with so much memory for users, and a disk. Also how many runs went there.
fn shown_with(spec: &Spec, restarts: bool, whole: bool, for_users: Option<u64>) -> (Shown, usize) {
    let by_count = spec.longest().is_by_count();
    let builder = Builder::from_spec(spec.clone(), Keys::open());
    let mut stream = Stream::with_seed(&builder, 0, 5).unwrap().drawing_from(known);
    let mut memory = Memory { for_users, ..Memory::default() };
    if for_users.is_some() {
        stream.spill_to(&scratch());
        memory.limit(&mut stream);
    }
    memory.keep(&mut stream);
    let (mut shown, mut runs) = (Vec::new(), 0);
    for number in 0..60 {
        let batch = batch(number, by_count);
        let now = (number + 1) * HOUR;
        for entry in [Entry::Events(batch), Entry::Tick] {
            let outcome = match &entry {
                Entry::Events(batch) => stream.ingest(batch, now),
                Entry::Tick => stream.advance(now),
            }
            .unwrap();
            shown.extend(outcome.releases);
            runs = runs.max(stream.runs_of_users().len());
            memory.log.push((entry, now));
            if outcome.ended || whole {
                memory.keep(&mut stream);
            }
            if restarts {
                stream = memory.restored(spec).unwrap().drawing_from(known);
            }
        }
        if number % 20 == 19 && !spec.continual {
            let paid = stream.pay(spec.longest()).unwrap().unwrap();
            let paid = Grant::from_bytes(&paid.to_bytes()).unwrap();
            shown.push(stream.release(paid, &Zeroizing::new(SECRET)).unwrap());
            memory.keep(&mut stream);
        }
    }
    ((shown, stream.tally()), runs)
}

/// Lists are the same, whether users went to disk or not and whether the process ended or not: also where several panes make an epoch.
#[test]
fn users_who_went_to_disk_are_released_as_if_they_had_stayed() {
    for (name, spec) in all().into_iter().filter(|(_, spec)| spec.unit.is_user()) {
        let expected = shown(&spec, false, false);
        for (restarts, whole) in [(false, false), (true, false), (true, true)] {
            let (found, runs) = shown_with(&spec, restarts, whole, Some(4_000));
            assert!(runs >= 2, "{name}: {runs} runs");
            assert_eq!(found, expected, "{name}, {restarts}, {whole}");
        }
    }
}

/// Of users on disk that are missing, shorter or others nothing is made.
#[test]
fn users_on_disk_that_are_not_what_was_written_are_noticed() {
    let spec = of_people(24, None);
    let mut memory = Memory { for_users: Some(1_000), ..Memory::default() };
    let mut stream = Stream::<Bytes>::new(spec.clone(), Keys::open(), 0).unwrap();
    stream.spill_to(&scratch());
    memory.limit(&mut stream);
    for number in 0..8 {
        stream.ingest(&batch(number, false), (number + 1) * HOUR).unwrap();
    }
    memory.keep(&mut stream);
    assert!(memory.restored(&spec).is_ok() && !memory.pieces.is_empty());
    for damage in 0..4 {
        let mut damaged = memory.clone();
        let (name, mut piece) = damaged.pieces.pop_first().unwrap();
        match damage {
            0 => piece.truncate(1),
            1 => piece.push(0),
            2 => piece[0] ^= 1,
            _ => {}
        }
        if damage < 3 {
            damaged.pieces.insert(name, piece);
        }
        assert_eq!(damaged.restored(&spec).err().unwrap().kind(), ErrorKind::State, "{damage}");
    }
}

/// Smooth panes end by noise that comes from one source in the first run, and begins anew after each restart in the others.
#[test]
fn what_comes_after_a_restart_is_what_would_have_come_without_one() {
    for (name, spec) in all() {
        if name == "smooth" {
            continue;
        }
        let (expected, tally) = shown(&spec, false, false);
        assert!(expected.len() >= 3, "{name}");
        assert!(expected.iter().any(|release| !release.heavy.is_empty()), "{name}");
        for whole in [false, true] {
            let (found, tally_found) = shown(&spec, true, whole);
            assert_eq!(found.len(), expected.len(), "{name}");
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{name}, list {number}");
            }
            assert_eq!(tally_found, tally, "{name}");
        }
    }
}

/// Lists of keys that come in one pane each, which are followed after they have left the window.
fn lists_of_new_keys(restarts: bool) -> Vec<Release<Bytes>> {
    let spec = Spec {
        epsilon: Epsilon::new(1.0).unwrap(),
        delta: Delta::new(0.4),
        all: true,
        windows: vec![Span::Events(200)],
        slide: Some(Span::Events(50)),
        ..continual(by_count(Policy::Uniform, Norm::L1))
    };
    let builder = Builder::from_spec(spec.clone(), Keys::open());
    let mut stream = Stream::with_seed(&builder, 0, 5).unwrap().drawing_from(known);
    let mut lists = Vec::new();
    for pane in 0..200_u8 {
        let mut batch = Batch::new();
        (0..50).for_each(|_| batch.push(Event::of([pane].as_slice())));
        lists.extend(stream.ingest(&batch, 0).unwrap().releases);
        if restarts {
            let mut memory = Memory::default();
            memory.keep(&mut stream);
            stream = memory.restored(&spec).unwrap().drawing_from(known);
            assert_eq!(stream.state(), memory.state);
        }
    }
    lists
}

#[test]
fn listed_keys_are_followed_across_restarts() {
    let lists = lists_of_new_keys(false);
    let gone = |(pane, list): (usize, &Release<Bytes>)| {
        list.heavy.iter().filter(|heavy| usize::from(heavy.key[0]) + 4 <= pane).count()
    };
    let followed: usize = lists.iter().enumerate().map(gone).sum();
    assert!(lists.len() == 200 && followed > 5, "{followed}: the test has no power");
    assert!(lists_of_new_keys(true) == lists);
}

/// With real noise: what was drawn for a threshold, and what was answered, is never drawn or asked again.
#[test]
fn a_restart_draws_no_threshold_and_asks_no_question_again() {
    let spec = by_count(Policy::Smooth, Norm::L2);
    let mut stream = Stream::<Bytes>::new(spec.clone(), Keys::open(), 0).unwrap();
    let mut memory = Memory::default();
    for number in 0..30 {
        assert!(stream.ingest(&batch(number, true), 0).unwrap().ended);
        memory.keep(&mut stream);
        for _ in 0..3 {
            let mut again = memory.restored(&spec).unwrap();
            assert_eq!(again.state(), memory.state, "batch {number}");
            assert_eq!(again.closed(), stream.closed());
        }
        stream = memory.restored(&spec).unwrap();
    }
    assert!(stream.closed().len() > 3);
}

/// With real noise: a step that has drawn secrets is never outcome again, which would draw others for the same panes.
#[test]
fn a_restart_draws_no_secret_again() {
    for (name, spec) in all().into_iter().filter(|(_, spec)| spec.continual) {
        let by_count = spec.longest().is_by_count();
        let mut stream = Stream::<Bytes>::new(spec.clone(), Keys::open(), 0).unwrap();
        let mut memory = Memory::default();
        memory.keep(&mut stream);
        for number in 0..30 {
            let (batch, now) = (batch(number, by_count), (number + 1) * HOUR);
            let outcome = stream.ingest(&batch, now).unwrap();
            memory.log.push((Entry::Events(batch), now));
            if outcome.ended || stream.advance(now).unwrap().ended {
                memory.keep(&mut stream);
            }
            let again = memory.restored(&spec).unwrap();
            assert_eq!(again.secrets(), stream.secrets(), "{name}, batch {number}");
        }
        assert!(!stream.secrets().is_empty(), "{name}");
    }
}

#[test]
fn a_batch_is_taken_whole_or_not_at_all() {
    for (name, spec) in all() {
        let by_count = spec.longest().is_by_count();
        let mut stream = Stream::<Bytes>::new(spec, Keys::open(), 0).unwrap();
        stream.ingest(&batch(0, by_count), HOUR).unwrap();
        let before = stream.state();
        let mut wrong = batch(1, by_count);
        let events = wrong.events();
        assert_eq!(events.count(), 700);
        wrong.push(if by_count { Event::at(5, b"late".as_slice()) } else { Event::of(b"when".as_slice()) });
        assert_eq!(stream.ingest(&wrong, HOUR).unwrap_err().kind(), ErrorKind::Window, "{name}");
        assert_eq!(stream.state(), before, "{name}");
    }
}

#[test]
fn a_refused_release_charges_nobody_and_says_who_cannot_pay() {
    for spec in [by_count(Policy::Exponential, Norm::L1), of_people(24, None)] {
        let mut stream = filled(Spec { releases: Some(1), ..spec }, 30);
        let longest = stream.spec().longest();
        assert_eq!(stream.releases_left(longest).unwrap(), 1);
        let paid = stream.pay(longest).unwrap().unwrap();
        let before = stream.accounts();
        let refusal = stream.pay(longest).unwrap().unwrap_err();
        assert_eq!(refusal, stream.try_pay(longest).unwrap().unwrap_err());
        assert_eq!(refusal.of, paid.numbers());
        assert_eq!((stream.accounts(), stream.releases_left(longest).unwrap()), (before, 0));
    }
}

/// The pane that a window begins within is charged with the release that measures it.
#[test]
fn every_pane_that_is_read_is_charged() {
    let mut stream = filled(by_count(Policy::Exponential, Norm::L1), 40);
    let born = stream.ledger().clone();
    let paid = stream.pay(Span::Events(9_876)).unwrap().unwrap();
    let charged: Vec<i64> = stream
        .numbers()
        .filter(|number| stream.ledger().account(*number..number + 1) != born.account(*number..number + 1))
        .collect();
    let release = stream.release(paid, &Zeroizing::new(SECRET)).unwrap();
    let Some(crate::Edge::Event(from)) = release.window.from else { panic!("a window by count") };
    let Some(crate::Edge::Event(asked)) = release.asked.from else { panic!("a window by count") };
    assert!(asked < from && release.asked.slack.is_some());
    assert!(charged.contains(&(asked as i64 / 500)), "the pane that it begins within");
    assert!((from as i64 / 500..=stream.now() / 500).all(|number| charged.contains(&number)));
}

/// A copy of a stream that was gone on with elsewhere: nothing of its past is released again.
#[test]
fn the_past_of_a_restored_copy_is_spent() {
    for (name, spec) in all() {
        let by_count = spec.longest().is_by_count();
        let mut stream = filled(spec, 30);
        let lists = stream.lists();
        let accepted = stream.distrust_past(30 * HOUR, lists + 5);
        if by_count {
            assert_eq!(accepted.unwrap_err().kind(), ErrorKind::Window, "{name}");
            continue;
        }
        accepted.unwrap();
        if stream.spec().continual {
            assert!(stream.closed().is_empty() && stream.secrets().is_empty(), "{name}");
            let outcome = stream.ingest(&batch(30, by_count), 31 * HOUR).unwrap();
            let first =
                outcome.releases.into_iter().chain(stream.advance(60 * HOUR).unwrap().releases).next();
            if let Some(first) = first {
                // Its pane had not ended, so nobody has seen anything of it.
                let to = first.window.to.map(|edge| edge.position());
                assert!(to > Some(30 * HOUR), "{name}: {to:?}");
                // And numbers go on after all that any copy can have shown.
                assert_eq!(first.continual.map(|continual| continual.number), Some(lists + 6));
            }
            assert!(stream.lists() < lists + 50, "{name}");
        } else {
            assert!(stream.pay(stream.spec().longest()).unwrap().is_err(), "{name}");
        }
    }
}

/// Every flipped byte and every cut is an error or another state, and never a panic.
#[test]
fn a_damaged_state_is_refused_or_read_and_never_a_panic() {
    for (name, spec) in all() {
        let mut stream = filled(spec.clone(), 7);
        let mut memory = Memory::default();
        memory.keep(&mut stream);
        let state = memory.state.clone();
        for place in (0..state.len()).step_by(state.len() / 60 + 1) {
            memory.state = state[..place].to_vec();
            assert!(memory.restored(&spec).is_err(), "{name} cut at {place}");
            for bit in [0, 3, 7] {
                memory.state = state.clone();
                memory.state[place] ^= 1 << bit;
                let _ = memory.restored(&spec);
            }
        }
    }
}

/// The panes of some numbers, each from two parts with different keys.
fn build(recipe: &PaneRecipe<Bytes>, events: &Batch<Bytes>, numbers: Range<i64>) -> Vec<Vec<u8>> {
    let mut counts = BTreeMap::<(i64, Vec<u8>), u64>::new();
    let events =
        events.events().map(|event| (event.time.unwrap().div_euclid(recipe.length()), event.user, event.key));
    if recipe.is_of_people() {
        let mut bounder = recipe
            .bounding(numbers.clone(), 1 << 20, || Ok(Box::new(std::io::Cursor::new(Vec::new()))))
            .unwrap();
        bounder.extend(events).unwrap();
        bounder
            .finish(|number, key, count| {
                counts.insert((number, key.to_vec()), count);
            })
            .unwrap();
    } else {
        events.for_each(|(number, _, key)| *counts.entry((number, key.unwrap().to_vec())).or_default() += 1);
    }
    let pane = |number| {
        let mut parts = [recipe.part(), recipe.part()];
        for ((_, key), count) in counts.iter().filter(|((other, _), _)| *other == number) {
            parts[usize::from(key[0] % 2)].add(Some(key), *count);
        }
        recipe.close(parts.map(PartialPane::finish).iter().map(Vec::as_slice)).unwrap()
    };
    numbers.map(pane).collect()
}

/// Panes that are built elsewhere are those that the stream itself would have counted. They can be built again until a release covers
/// them: what was bounded apart is never added up, and what was released never replaced.
#[test]
fn panes_built_elsewhere_are_those_of_the_stream_and_stay_once_released() {
    let events = Spec { policy: Some(Policy::Uniform), ..by_clock(24, 6) };
    for (name, spec) in [("events", events), ("users", of_people(24, None))] {
        let mut counted = Stream::<Bytes>::seeded(spec, Keys::open(), 0, 5).unwrap();
        let mut built = counted.like(0).unwrap();
        let mut batch = Batch::new();
        for number in 0..3_000 {
            let (key, user) = ([(mix(number) % 9) as u8], [(mix(number) / 9 % 90) as u8]);
            batch.push(Event::by(&user, number as i64 * 28 * SECOND, key.as_slice()));
        }
        // The last pane of events ends because one comes after it.
        batch.push(Event::by(b"u", 24 * HOUR + 2_400 * SECOND, b"after".as_slice()));
        counted.ingest(&batch, 25 * HOUR).unwrap();
        counted.advance(25 * HOUR).unwrap();
        let panes = build(&built.recipe().unwrap(), &batch, 0..4);
        for _ in 0..2 {
            built.take_built(0, &panes).unwrap();
        }
        assert_eq!(built.closed(), counted.closed(), "{name}");
        let counts = |stream: &Stream<Bytes>, bounds: &Range<i64>| {
            let bytes = stream.closed_pane(bounds).unwrap();
            let pane = Pane::<Bytes>::load(&mut Reader::new(&bytes), stream.made_with().0).unwrap();
            let counts = pane.counts().iter().map(|(key, count)| (key.to_vec(), count));
            (pane.events(), counts.collect::<BTreeMap<_, _>>())
        };
        for bounds in built.closed() {
            assert_eq!(counts(&built, &bounds), counts(&counted, &bounds), "{name}, {bounds:?}");
        }
        if name == "events" {
            assert_eq!(built.ingest(&batch, 25 * HOUR).unwrap_err().kind(), ErrorKind::Window);
        }
        drop(built.pay(built.spec().longest()).unwrap().unwrap());
        assert_eq!(built.take_built(0, &panes).unwrap_err().kind(), ErrorKind::Window, "{name}");
    }
}
