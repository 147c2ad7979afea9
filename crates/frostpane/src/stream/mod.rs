#![doc = include_str!("stream.md")]

mod building;
mod engine;
mod paid;
mod stored;
#[cfg(test)]
mod tests;
mod transfer;

use std::ops::Range;

use crate::door::{Batch, Builder, Charges};
use crate::error::{Error, Result};
use crate::key::{Key, Keys};
use crate::ledger::{Account, Cap, Charge, Ledger, Refusal};
use crate::noise::Entropy;
pub use crate::people::{RunOfUsers, Scratch};
use crate::release::Release;
use crate::spec::{Span, Spec};
pub use crate::tree::stored::{Mark, SecretBytes, mark_of};
pub use building::{Blueprint, Bounding, Part};
use engine::Engine;
pub use paid::Paid;
pub use stored::Kept;
pub use transfer::Exported;

/// A stream that outlives the process: its events, panes, noise and accounts, of which everything that must be kept can be written
/// down at any time and read again. It keeps nothing by itself; `frostpane-store` does, in files.
///
/// After an error other than a refusal it may have taken a part of what it was given: go on from what was kept.
pub struct Stream<K: Key> {
    builder: Builder<K>,
    engine: Engine<K>,
    terms: Terms,
    ledger: Ledger,
}

/// What was fixed when it began.
#[derive(Clone, Debug)]
struct Terms {
    /// With all choices made.
    spec: Spec,
    cap: Cap,
    /// What one release costs whom it covers.
    charge: Charge,
    begin: i64,
    seed: u64,
}

/// Whether a release can be paid for.
pub type Answer = std::result::Result<Paid, Refusal>;

/// What came of events, or of time.
#[derive(Debug)]
pub struct Taken<K: Key> {
    /// Whether a pane may have ended or noise was drawn: then what is to be kept is kept as it is now, and not by taking the same
    /// again.
    pub ticked: bool,
    /// How many events were later than they may be, and left out. For the operator: **it must not be published**.
    pub ahead: u64,
    /// The lists that are due, of a stream that has one at every slide.
    pub releases: Vec<Release<K>>,
}

impl<K: Key> Stream<K> {
    /// Begins a stream, where people are protected at this moment, in microseconds since 1970.
    pub fn new(spec: Spec, keys: Keys<K>, begin: i64) -> Result<Self> {
        let builder = Builder::from_spec(spec, keys).pinned()?;
        let seed = crate::noise::OsEntropy::new().word()?;
        Self::with_seed(&builder, begin, seed)
    }

    fn with_seed(builder: &Builder<K>, begin: i64, seed: u64) -> Result<Self> {
        let spec = builder.spec()?;
        if spec.until.is_some() {
            return Err(Error::parameter(
                "until is given, but a stream that is kept goes on: leave it out, and the clock says where a window ends",
            ));
        }
        let Charges { born, release } = builder.charges()?;
        let born = Account::default().plus(&born);
        Ok(Self {
            engine: Engine::new(builder, begin, seed)?,
            ledger: Ledger::new(born),
            terms: Terms {
                cap: cap(&spec, &born, &release)?,
                charge: release,
                begin,
                seed,
                spec,
            },
            builder: builder.clone(),
        })
    }

    /// With hashes that follow from a seed. For tests: whoever knows it can make keys collide.
    #[cfg(any(test, feature = "insecure"))]
    #[doc(hidden)]
    pub fn seeded(spec: Spec, keys: Keys<K>, begin: i64, seed: u64) -> Result<Self> {
        Self::with_seed(&Builder::from_spec(spec, keys), begin, seed)
    }

    /// With noise of boundaries and lists at every slide from another source of entropy than the operating system's. For tests: the
    /// privacy of releases is no better than the source.
    #[cfg(any(test, feature = "insecure"))]
    #[doc(hidden)]
    pub fn drawing_from(self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        Self {
            engine: self.engine.drawing_from(source),
            ..self
        }
    }

    /// What was asked for, with all choices made.
    pub fn spec(&self) -> &Spec {
        &self.terms.spec
    }

    /// What a pane, or an epoch, may lose by all releases together.
    pub fn cap(&self) -> &Cap {
        &self.terms.cap
    }

    /// What one release costs whom it covers.
    pub fn charge(&self) -> &Charge {
        &self.terms.charge
    }

    /// The account of every pane, or epoch, by its number.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// That a batch can be taken: what its keys and users are does not matter.
    pub fn check(&self, batch: &Batch<K>) -> Result<()> {
        match self.is_built() {
            false => self.engine.check(batch),
            true => Err(Error::window(
                "panes of this stream were built elsewhere, where all of its events are counted: it takes none itself",
            )),
        }
    }

    /// Takes all events of a batch, or refuses it and takes none. Those later than `present` are left out: the moment at which the
    /// batch came, which its source tells and not its events. Of users it may lie ahead of the clock: an event that is later than the
    /// clock belongs to the epoch of its own time all the same, and waits there until the clock has come to it.
    pub fn take(&mut self, batch: &Batch<K>, present: i64) -> Result<Taken<K>> {
        self.check(batch)?;
        let taken = self.engine.take(batch, present)?;
        self.retire();
        Ok(taken)
    }

    /// Time has come to this moment, whether anything happened or not.
    pub fn tick(&mut self, now: i64) -> Result<Taken<K>> {
        let taken = self.engine.tick(now)?;
        self.retire();
        Ok(taken)
    }

    /// What no window can reach any more has left for good.
    fn retire(&mut self) {
        let oldest = self.engine.oldest_number();
        if oldest > self.ledger.gone() && !self.engine.is_empty() {
            self.ledger.retire(oldest);
        }
    }

    /// Takes a batch again that was taken before the process ended, and did not tick then.
    pub fn replay(&mut self, batch: &Batch<K>, present: i64) -> Result<()> {
        // It had room then.
        self.engine.limit_memory(false);
        let taken = self.take(batch, present);
        self.engine.limit_memory(true);
        match taken?.ticked {
            false => Ok(()),
            true => Err(crate::codec::damaged("a batch goes on beyond the end of a pane")),
        }
    }

    /// The same of a tick: one that would end a pane is refused before it does.
    pub fn replay_tick(&mut self, now: i64) -> Result<()> {
        match self.engine.ends_by(now) {
            false => self.tick(now).map(drop),
            true => Err(crate::codec::damaged("a tick goes on beyond the end of a pane")),
        }
    }

    /// Charges a release of a window to everyone it covers, or refuses and charges nobody.
    pub fn pay(&mut self, span: impl Into<Span>) -> Result<Answer> {
        let paid = self.asks_for(span.into())?;
        let Terms { charge, cap, .. } = &self.terms;
        let accountant = match self.ledger.charge(paid.numbers(), charge, cap) {
            Ok(accountant) => accountant,
            Err(refusal) => return Ok(Err(refusal)),
        };
        // Whoever the window begins within pays if they can; if not, the release says less.
        let beside = paid
            .beside()
            .filter(|beside| self.ledger.charge(beside.clone(), charge, cap).is_ok());
        Ok(Ok(paid.with(accountant, beside)))
    }

    /// What [`pay`](Self::pay) would do.
    pub fn try_pay(&self, span: impl Into<Span>) -> Result<Answer> {
        let paid = self.asks_for(span.into())?;
        let Terms { charge, cap, .. } = &self.terms;
        let accountant = self.ledger.check(paid.numbers(), charge, cap);
        Ok(accountant.map(|accountant| paid.with(accountant, None)))
    }

    /// How many more releases of a window can be paid for if nothing comes any more.
    pub fn releases_left(&self, span: impl Into<Span>) -> Result<u64> {
        let paid = self.asks_for(span.into())?;
        Ok(self
            .ledger
            .releases_left(paid.numbers(), &self.terms.charge, &self.terms.cap))
    }

    fn asks_for(&self, span: Span) -> Result<Paid> {
        match &self.engine {
            Engine::Always(_) => Err(Error::window(
                "a single list was asked for, but this stream has one at every slide, which has its whole budget: read the latest of those",
            )),
            engine => engine.asks_for(span),
        }
    }

    /// The release that was paid for, with noise that follows from a secret: the same as often as it is asked for, as long as nothing
    /// else was taken in between.
    pub fn release(&mut self, paid: &Paid, secret: &SecretBytes) -> Result<Release<K>> {
        self.engine.release(paid, secret)
    }

    /// The latest list, of a stream that has one at every slide: the same as when it was made.
    pub fn latest(&self) -> Option<Release<K>> {
        match &self.engine {
            Engine::Always(continual) => continual.release().ok(),
            _ => None,
        }
    }

    /// The numbers of panes, or epochs, from the oldest that a window can reach up to the one that goes on.
    pub fn numbers(&self) -> Range<i64> {
        self.engine.numbers()
    }

    /// Where a pane, or an epoch, begins: a moment in microseconds, or the number of an event.
    pub fn begins(&self, number: i64) -> i64 {
        self.engine.begins(number)
    }

    /// How many panes, or epochs, the longest window has.
    pub fn panes_of_window(&self) -> i64 {
        self.engine.panes_of_window()
    }

    /// The number after the last of a window that ends now.
    pub fn end_of_window(&self) -> i64 {
        self.engine.end_of_window()
    }

    /// From which position on a window ends before this number.
    pub fn window_reaches(&self, end: i64) -> i64 {
        match self.engine {
            // Of single lists of events the pane that goes on is a part.
            Engine::Once(_) => self.engine.begins(end - 1),
            _ => self.engine.begins(end),
        }
    }

    /// How late it is, where only ticks say; the end of all time where none do.
    pub fn clock(&self) -> i64 {
        match self.engine.has_clock() {
            true => self.engine.now(),
            false => i64::MAX,
        }
    }

    /// The keys that may be named.
    pub fn keys(&self) -> &Keys<K> {
        self.builder.keys()
    }

    /// A stream that begins now and makes the same panes.
    pub fn like(&self, begin: i64) -> Result<Self> {
        Self::with_seed(&self.builder, begin, self.terms.seed)
    }

    /// The latest moment, or number of events.
    pub fn now(&self) -> i64 {
        self.engine.now()
    }

    /// Whether nothing has come yet that says where it is in time: an event, or a tick.
    pub fn is_empty(&self) -> bool {
        self.engine.is_empty()
    }

    /// How many lists there were, of a stream that has one at every slide.
    pub fn lists(&self) -> u64 {
        self.engine.lists()
    }

    /// By count: how many events have come.
    pub fn counted(&self) -> u64 {
        self.engine.counted()
    }

    /// What became of events, for the operator alone: **it must not be published**.
    pub fn dropped(&self) -> u64 {
        self.engine.dropped()
    }

    /// About how many bytes would be kept of what has not ended, against those of a batch.
    pub fn open_bytes(&self) -> u64 {
        self.engine.open_bytes()
    }

    /// A copy that was restored is gone on with: whatever lies before this moment may have been released by another copy, and is spent.
    /// Lists at every slide go on with a pane, and an epoch, that nobody has seen anything of, and with this many lists before it. By
    /// count it is refused: events that come again would get other numbers, and be released again under those.
    pub fn distrust_past(&mut self, until: i64, lists: u64) -> Result<()> {
        if self.terms.spec.longest().is_by_count() {
            return Err(Error::window(
                "a copy of a state that goes by the number of events cannot be gone on with, because nobody knows which events another copy \
                 has released: begin a new state, and give it events that no list has shown",
            ));
        }
        self.tick(until)?;
        let end = self.engine.numbers().end.max(self.engine.number_at(until) + 1);
        self.ledger.spend_all(end);
        self.engine
            .distrust_past(&self.builder, self.terms.seed, (until, lists))
    }
}

/// What was given or, if nothing was, what everyone pays before any release and for as many as they may be in.
fn cap(spec: &Spec, born: &Account, release: &Charge) -> Result<Cap> {
    match &spec.budget {
        Some(budget) => Cap::new(budget.epsilon, budget.delta, budget.slack()),
        None => Ok(Cap::for_releases(born, release, spec.releases().into())),
    }
}
