//! A stream as bytes.

use std::ops::Range;

use super::{SecretBytes, SecretId, Stream};
use crate::codec::{Reader, Writer, damaged};
use crate::counting::users::{RunOfUsers, SpillFactory, StreamingBounder};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Keys};
use crate::pane::Parameters;
use crate::privacy::ledger::{Account, Amount, Ledger};
use crate::spec::Spec;
use crate::stream::Builder;

/// The version of what is written, without and with users on disk: `docs/format.md`.
const VERSIONS: [u64; 2] = [1, 2];
/// The same of continual release. Before them it had the others, and no followed keys.
const WITH_FOLLOWED: [u64; 2] = [3, 4];

/// Source of the parts of a stream that are not in its state.
pub trait SnapshotSource {
    /// A closed pane, by where it lies.
    fn pane(&mut self, bounds: Range<i64>) -> Option<Vec<u8>>;

    /// A secret of noise, by its mark.
    fn secret(&mut self, mark: &SecretId) -> Option<SecretBytes>;

    /// Files for users that do not fit into the memory.
    fn scratch(&mut self) -> Option<SpillFactory> {
        None
    }

    /// A piece of a run of users that went to disk.
    fn piece(&mut self, _run: &RunOfUsers, _piece: u64) -> Option<Vec<u8>> {
        None
    }
}

impl<K: Key> Stream<K> {
    /// Everything but the closed panes, the accounts, the secrets of noise and the runs of users on disk, as bytes. They hold what users did: keep them as safe as the events.
    pub fn state(&mut self) -> Vec<u8> {
        let mut to = Writer::default();
        let has_runs = !self.runs_of_users().is_empty();
        let versions = if self.spec.continual { WITH_FOLLOWED } else { VERSIONS };
        to.number(versions[usize::from(has_runs)]);
        to.raw(&self.fingerprint());
        to.raw(&self.seed.to_le_bytes());
        to.signed(self.begin);
        self.engine.save(&mut to);
        if let Some(live) = self.engine.counter().live().filter(|_| has_runs) {
            live.save_runs(&mut to);
        }
        to.finish()
    }

    /// The runs of users that went to disk, each with the number of its pieces: they belong to the state. Runs never change.
    pub fn runs_of_users(&self) -> Vec<(RunOfUsers, u64)> {
        self.engine.counter().live().map_or_else(Vec::new, StreamingBounder::runs)
    }

    /// A piece of such a run. It holds what users did: keep it as safe as the events.
    pub fn piece_of_run(&mut self, run: &RunOfUsers, piece: u64) -> Result<Vec<u8>> {
        match self.engine.counter_mut().live_mut() {
            Some(live) => live.piece(run, piece),
            None => Err(damaged("users on disk are not there")),
        }
    }

    /// Users that do not fit into the memory go to files that this makes. Without it more users than fit are an error.
    pub fn spill_to(&mut self, scratch: &SpillFactory) {
        self.builder.scratch = Some(scratch.clone());
        if let Some(live) = self.engine.counter_mut().live_mut() {
            live.scratch = Some(scratch.clone());
        }
    }

    /// The accounts, as bytes. Nothing in them is private.
    pub fn accounts(&self) -> Vec<u8> {
        Writer::written(|to| self.ledger.save(to))
    }

    /// Goes on with a stream of this specification.
    pub fn restore(
        spec: Spec,
        keys: Keys<K>,
        [state, accounts]: [&[u8]; 2],
        kept: &mut impl SnapshotSource,
    ) -> Result<Self> {
        let mut from = Reader::new(state);
        let version = from.number()?;
        let knows_followed = WITH_FOLLOWED.contains(&version);
        if !knows_followed && !VERSIONS.contains(&version) {
            return Err(Error::new(
                ErrorKind::State,
                "the state was written by a newer version of the program: use that version",
            ));
        }
        let (fingerprint, seed) = (from.array::<32>()?, u64::from_le_bytes(from.array()?));
        let begin = from.position()?;
        let mut builder = Builder::from_spec(spec, keys);
        builder.scratch = kept.scratch();
        let mut stream = Self::with_seed(&builder, begin, seed)?;
        if !stream.fingerprints(knows_followed).contains(&fingerprint) {
            return Err(Error::new(
                ErrorKind::State,
                "the state belongs to another specification, or to a version of the program that plans panes in another way",
            ));
        }
        stream.ledger = Reader::read_all(accounts, Ledger::load)?;
        // Two that look into the same place, one after the other.
        let kept = std::cell::RefCell::new(kept);
        let missing = || damaged("a pane is missing");
        let mut pane = |bounds: Range<i64>| kept.borrow_mut().pane(bounds).ok_or_else(missing);
        let secret = |mark: &SecretId| kept.borrow_mut().secret(mark);
        stream.engine.load(&mut from, &mut pane, secret, knows_followed)?;
        let has_runs = [VERSIONS[1], WITH_FOLLOWED[1]].contains(&version);
        if let Some(live) = stream.engine.counter_mut().live_mut().filter(|_| has_runs) {
            let missing = || damaged("users that went to disk are missing");
            let piece = |run: &RunOfUsers, piece| kept.borrow_mut().piece(run, piece).ok_or_else(missing);
            live.load_runs(&mut from, piece)?;
        }
        from.finish()?;
        if !knows_followed {
            stream.engine.begin_new_tree()?;
        }
        Ok(stream)
    }

    /// Bounds of closed panes, from the oldest on: a pane never changes.
    pub fn closed(&self) -> Vec<Range<i64>> {
        self.engine.counter().closed()
    }

    /// A closed pane, as bytes.
    pub fn closed_pane(&self, bounds: &Range<i64>) -> Result<Vec<u8>> {
        let pane = self.engine.counter().closed_pane(bounds);
        pane.ok_or_else(|| damaged("a pane is not there"))
    }

    /// The secrets of noise that may still be asked for. Keep them where they can be overwritten.
    pub fn secrets(&self) -> Vec<&[u8; 32]> {
        self.engine.continual().into_iter().flat_map(|continual| continual.nodes.secrets()).collect()
    }

    /// Fingerprint of the parameters of its panes: those of streams with another one do not add up with them.
    pub fn fingerprint(&self) -> [u8; 32] {
        let noise = self.engine.continual().map(|continual| continual.releaser.noise());
        self.fingerprint_with(&noise.unwrap_or_default())
    }

    /// The fingerprints that a state of this specification may have: the noise of continual release from before it knew followed keys
    /// was chosen by other thresholds.
    fn fingerprints(&self, knows_followed: bool) -> Vec<[u8; 32]> {
        let releaser =
            self.engine.continual().filter(|_| !knows_followed).map(|continual| &continual.releaser);
        let other = releaser.and_then(|releaser| releaser.other_noise());
        [Some(self.fingerprint()), other.map(|noise| self.fingerprint_with(&noise))]
            .into_iter()
            .flatten()
            .collect()
    }

    fn fingerprint_with(&self, noise: &str) -> [u8; 32] {
        let mut to = Writer::default();
        let (parameters, slide) = self.made_with();
        save_parameters(&mut to, &parameters);
        to.signed(slide);
        to.flag(self.spec.longest().is_by_count());
        to.maybe(self.spec.unit.bounds(), |to, bounds| {
            to.number(bounds.per_user.into());
            to.number(bounds.per_key.into());
            to.number(bounds.epoch.as_micros() as u64);
            to.number(bounds.offset.as_micros() as u64);
            to.bytes(format!("{:?}", bounds.sample_users.and_then(|share| share.limit())).as_bytes());
        });
        to.bytes(&self.builder.keys.to_bytes());
        // Another law or scale would make other noise of the same secrets.
        to.bytes(noise.as_bytes());
        blake3::derive_key("frostpane 2026-11-17 what panes of a stream are made with", &to.finish())
    }

    pub(super) fn made_with(&self) -> (Parameters, i64) {
        (self.engine.request().shape.parameters(), self.engine.counter().slide())
    }
}

/// Writes what panes are made with.
pub(super) fn save_parameters(to: &mut Writer, parameters: &Parameters) {
    to.raw(&parameters.seed().to_le_bytes());
    to.number(parameters.entries());
    to.maybe(parameters.sketch(), |to, sketch| {
        to.number(sketch.rows as u64);
        to.number(sketch.width as u64);
    });
}

impl Ledger {
    fn save(&self, to: &mut Writer) {
        to.signed(self.gone());
        let segments: Vec<_> = self.segments().collect();
        to.each(segments.into_iter(), |to, (start, account)| {
            let Amount { epsilon, delta, rho } = account.amount();
            to.signed(start);
            to.number(epsilon);
            to.raw(&delta.to_le_bytes());
            to.raw(&rho.to_le_bytes());
        });
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let gone = from.signed()?;
        let segments: Vec<_> = from.each(|from| {
            let start = from.signed()?;
            let units = Amount {
                epsilon: from.number()?,
                delta: u128::from_le_bytes(from.array()?),
                rho: u128::from_le_bytes(from.array()?),
            };
            Ok((start, Account::from_amount(units)))
        })?;
        Self::from_parts(gone, segments).map_err(|_| damaged("accounts contradict each other"))
    }
}
