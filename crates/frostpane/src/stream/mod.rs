#![doc = include_str!("stream.md")]

mod builder;
mod continual;
mod engine;
mod external_panes;
mod heavy_hitters;
mod history;
mod one_shot;
mod receipt;
mod snapshot;
mod stages;
#[cfg(test)]
mod tests;

use std::ops::{AddAssign, Range};

use crate::codec::check;
pub use crate::counting::users::{RunOfUsers, SpillFactory};
use crate::counting::{Batch, PaneCounter, Tally};
use crate::error::{Error, Result};
use crate::key::{Key, Keys};
use crate::noise::Entropy;
pub use crate::pane::PartialPane;
pub use crate::privacy::ledger::Grant;
use crate::privacy::ledger::{Account, Accountant, Cap, Charge, Ledger, Price, Quote, Refusal};
use crate::release::Release;
pub use crate::release::noise_tree::stored::{SecretBytes, SecretId, secret_id};
use crate::spec::{Span, Spec};
pub use builder::Builder;
use builder::Charges;
pub use continual::Continual;
use engine::Engine;
pub use external_panes::{PaneBounder, PaneRecipe};
pub use heavy_hitters::HeavyHitters;
pub use history::History;
pub use receipt::Receipt;
pub use snapshot::SnapshotSource;
pub use stages::{Measured, Stage};

/// A stream that outlives the process: its events, panes, noise and accounts, of which everything that must be kept can be written
/// down at any time and read again. It keeps nothing by itself; `frostpane-store` does, in files.
///
/// After an error other than a refusal it may have taken a part of what it was given: go on from what was kept.
pub struct Stream<K: Key> {
    builder: Builder<K>,
    engine: Engine<K>,
    ledger: Ledger,
    /// With all choices made.
    spec: Spec,
    price: Price,
    begin: i64,
    seed: u64,
}

/// Result of events, or of time.
#[derive(Debug)]
pub struct Outcome<K: Key> {
    /// True if a pane may have ended or noise was drawn: then the state is to be kept as it is now, because the same events would not
    /// lead to it again.
    pub ended: bool,
    /// These events by their outcome. For the operator: **it must not be published**.
    pub tally: Tally,
    /// The releases that are due, of continual release.
    pub releases: Vec<Release<K>>,
}

impl<K: Key> Default for Outcome<K> {
    fn default() -> Self {
        Self { ended: false, tally: Tally::default(), releases: Vec::new() }
    }
}

impl<K: Key> AddAssign for Outcome<K> {
    fn add_assign(&mut self, later: Self) {
        self.ended |= later.ended;
        self.tally += later.tally;
        self.releases.extend(later.releases);
    }
}

impl<K: Key> Stream<K> {
    /// Begins a stream, where users are protected at this moment, in microseconds since 1970.
    pub fn new(spec: Spec, keys: Keys<K>, begin: i64) -> Result<Self> {
        let builder = Builder::from_spec(spec, keys).pinned()?;
        Self::with_seed(&builder, begin, crate::noise::OsEntropy::new().word()?)
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
            price: Price { cap: cap(&spec, &born, &release)?, charge: release },
            begin,
            seed,
            spec,
            builder: builder.clone(),
        })
    }

    /// With hashes that follow from a seed. For tests: anyone who knows it can make keys collide.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn seeded(spec: Spec, keys: Keys<K>, begin: i64, seed: u64) -> Result<Self> {
        Self::with_seed(&Builder::from_spec(spec, keys), begin, seed)
    }

    /// With noise of boundaries and lists from another source of entropy. For tests: privacy is no better than it.
    #[cfg(any(test, feature = "testing"))]
    #[doc(hidden)]
    pub fn drawing_from(mut self, source: fn() -> Box<dyn Entropy + Send>) -> Self {
        self.engine.draw_from(source);
        self
    }

    /// The specification, with all choices made.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The most that a pane, or an epoch, may lose by all releases together.
    pub fn cap(&self) -> &Cap {
        &self.price.cap
    }

    /// The cost of one release to each pane, or epoch, that it covers.
    pub fn charge(&self) -> &Charge {
        &self.price.charge
    }

    /// The account of every pane, or epoch, by its number.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns an error unless a batch can be taken. Its keys and users never decide that.
    pub fn check(&self, batch: &Batch<K>) -> Result<()> {
        match &self.engine {
            // Of users a store knows.
            Engine::OneShot(one_shot) if one_shot.counter.is_external() => Err(Error::window(
                "panes of this stream were built elsewhere, where all of its events are counted: it takes none itself",
            )),
            engine => engine.counter().check(batch),
        }
    }

    /// Takes all events of a batch, or refuses it and takes none. Those later than `present` are left out: the moment at which the
    /// batch came, which its source tells and not its events. Of users it may lie ahead of the clock: an event that is later than the
    /// clock belongs to the epoch of its own time all the same, and waits there until the clock has come to it.
    pub fn ingest(&mut self, batch: &Batch<K>, present: i64) -> Result<Outcome<K>> {
        self.check(batch)?;
        let outcome = self.engine.ingest(batch, present)?;
        self.retire();
        Ok(outcome)
    }

    /// Time has come to this moment, whether anything happened or not.
    pub fn advance(&mut self, now: i64) -> Result<Outcome<K>> {
        let outcome = self.engine.advance(now)?;
        self.retire();
        Ok(outcome)
    }

    fn retire(&mut self) {
        let reached = self.numbers().start;
        let oldest = self.engine.counter().oldest_number().map_or(reached, |oldest| oldest.min(reached));
        if oldest > self.ledger.gone() && !self.is_empty() {
            self.ledger.retire(oldest);
        }
    }

    /// Counts a batch again that was counted before the process ended, and did not end a pane then.
    pub fn replay(&mut self, batch: &Batch<K>, present: i64) -> Result<()> {
        // It had room then.
        let limit = |engine: &mut Engine<K>, limited| {
            engine.counter_mut().live_mut().into_iter().for_each(|live| live.is_limited = limited);
        };
        limit(&mut self.engine, false);
        let outcome = self.ingest(batch, present);
        limit(&mut self.engine, true);
        check(!outcome?.ended, "a batch goes on beyond the end of a pane")
    }

    /// Advances again: refused before a pane would end.
    pub fn replay_advance(&mut self, now: i64) -> Result<()> {
        check(!self.engine.counter().ends_by(now), "a tick goes on beyond the end of a pane")?;
        self.advance(now).map(drop)
    }

    /// Charges a release of a window to everyone it covers, or refuses and charges nobody.
    pub fn pay(&mut self, span: impl Into<Span>) -> Result<std::result::Result<Grant, Refusal>> {
        Ok(self.engine.quote(span.into())?.charge(&mut self.ledger, &self.price))
    }

    /// Whom [`pay`](Self::pay) would charge, and the accountant that would let it pass.
    pub fn try_pay(
        &self,
        span: impl Into<Span>,
    ) -> Result<std::result::Result<(Range<i64>, Accountant), Refusal>> {
        let quote = self.engine.quote(span.into())?;
        let accountant = quote.check(&self.ledger, &self.price);
        Ok(accountant.map(|accountant| (quote.numbers.covered, accountant)))
    }

    /// Number of releases of a window that can still be paid for if nothing comes any more.
    pub fn releases_left(&self, span: impl Into<Span>) -> Result<u64> {
        let Quote { numbers, .. } = self.engine.quote(span.into())?;
        let Price { charge, cap } = &self.price;
        Ok(self.ledger.releases_left(numbers.covered, charge, cap))
    }

    /// The release that was granted, with noise that follows from a secret: the same whenever the same grant is read again, as long as
    /// nothing else was taken in between.
    pub fn release(&mut self, grant: Grant, secret: &SecretBytes) -> Result<Release<K>> {
        self.engine.release(grant, secret)
    }

    /// The latest list, of a stream that has one at every slide: the same as when it was made.
    pub fn latest(&self) -> Option<Release<K>> {
        self.engine.continual()?.release().ok()
    }

    /// The numbers of panes, or epochs, from the oldest that a window can reach up to the one that goes on.
    pub fn numbers(&self) -> Range<i64> {
        let open = self.engine.counter().open();
        open - self.panes_of_window()..open + 1
    }

    /// Start of a pane, or an epoch: a moment in microseconds, or the number of an event.
    pub fn begins(&self, number: i64) -> i64 {
        self.engine.counter().begins(number)
    }

    /// Number of panes, or epochs, of the longest window.
    pub fn panes_of_window(&self) -> i64 {
        self.spec().longest().length() as i64 / self.engine.counter().slide()
    }

    /// The number after the last of a window that ends now.
    pub fn end_of_window(&self) -> i64 {
        self.numbers().end - self.engine.counter().panes_not_covered()
    }

    /// From which position on a window ends before this number.
    pub fn window_reaches(&self, end: i64) -> i64 {
        self.begins(end - 1 + self.engine.counter().panes_not_covered())
    }

    /// Time of the clock, where only ticks move it; the end of all time where none do.
    pub fn clock(&self) -> i64 {
        if self.engine.counter().has_clock() { self.now() } else { i64::MAX }
    }

    /// The keys that may be named.
    pub fn keys(&self) -> &Keys<K> {
        &self.builder.keys
    }

    /// A stream that begins now and makes the same panes.
    pub fn like(&self, begin: i64) -> Result<Self> {
        Self::with_seed(&self.builder, begin, self.seed)
    }

    /// The latest moment, or number of events.
    pub fn now(&self) -> i64 {
        self.engine.counter().now()
    }

    /// Returns true if nothing has come yet that says where it is in time: an event, or a tick.
    pub fn is_empty(&self) -> bool {
        self.engine.counter().is_empty()
    }

    /// Number of releases so far, of a continual one.
    pub fn lists(&self) -> u64 {
        self.engine.continual().map_or(0, |continual| continual.counter.ended)
    }

    /// By count: how many events have come.
    pub fn counted(&self) -> u64 {
        u64::try_from(self.engine.counter().events()).unwrap_or(0)
    }

    /// Number of events by their outcome, but for those ahead of the clock. For the operator: **it must not be published**.
    pub fn tally(&self) -> Tally {
        self.engine.counter().tally()
    }

    /// About how many bytes would be kept of what has not ended, against those of a batch.
    pub fn open_bytes(&self) -> u64 {
        self.engine.counter().open_bytes()
    }

    /// A copy that was restored is gone on with: whatever lies before this moment may have been released by another copy, and is spent.
    /// Continual releases go on with a pane, and an epoch, that nobody has seen anything of, and with this many lists before it. By
    /// count it is refused: events that come again would get other numbers, and be released again under those.
    pub fn distrust_past(&mut self, until: i64, lists: u64) -> Result<()> {
        if self.spec.longest().is_by_count() {
            return Err(Error::window(
                "a copy of a state that goes by the number of events cannot be gone on with, because nobody knows which events another copy \
                 has released: begin a new state, and give it events that no list has shown",
            ));
        }
        self.advance(until)?;
        let end = self.numbers().end.max(self.engine.counter().number_at(until) + 1);
        self.ledger.spend_all(end);
        if let Engine::Continual(continual) = &mut self.engine {
            let (until, lists) = (until.max(continual.counter.now()), lists.max(continual.counter.ended));
            **continual = self.builder.clone().seeded(self.seed).continual()?;
            continual.begin_after(until, lists)?;
        }
        Ok(())
    }

    /// Forgets the closed panes that lie within a range of positions. Their accounts stay as they are: later releases are without them.
    pub fn forget(&mut self, positions: Range<i64>) -> Result<()> {
        let of_epochs = matches!(&self.engine, Engine::OneShot(one_shot) if one_shot.counter.has_clock());
        let within = |pane: &Range<i64>| {
            let [start, end] =
                [pane.start, pane.end].map(|edge| if of_epochs { self.begins(edge) } else { edge });
            positions.start <= start && end <= positions.end
        };
        let panes: Vec<Range<i64>> = self.closed().into_iter().filter(within).collect();
        if panes.is_empty() {
            return Err(Error::window("there is no closed pane in that range: nothing was done"));
        }
        let Engine::OneShot(one_shot) = &mut self.engine else {
            return Err(Error::window(
                "a pane of continual release cannot be forgotten: the next list would show what was in it",
            ));
        };
        panes.iter().for_each(|pane| one_shot.counter.remove(pane));
        Ok(())
    }
}

/// The cap that was given or, by default, the cost of as many releases as an event may be in.
fn cap(spec: &Spec, born: &Account, release: &Charge) -> Result<Cap> {
    match &spec.budget {
        Some(budget) => Cap::new(budget.epsilon, budget.delta, budget.slack()),
        None => Ok(Cap::for_releases(born, release, spec.releases().into())),
    }
}
