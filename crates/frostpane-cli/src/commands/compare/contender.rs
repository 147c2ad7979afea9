//! The algorithms that are compared, and how each is run.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Instant;

use frostpane::{Event, HeavyHitters, Norm, Release, Spec};
use frostpane_paper::continual::{ContinualConstants, Draw};
use frostpane_paper::l1::L1Constants;
use frostpane_paper::l2::L2Constants;
use frostpane_paper::preset::readable;
use frostpane_paper::{
    Composition, ConstantChange, L1, L2, NoiseScale, OsEntropy, PresetRefusal, PublishedAnswer,
    PublishedContinual,
};
use serde::Serialize;

use super::score::{Score, TrueCounts};
use super::stream::NumberedStream;
use crate::failure::Result;
use crate::settings::ReleaseRequest;
use crate::terminal::tell;

/// Releases of each private contender: its scores are means.
pub const RELEASES: u32 = 20;

#[derive(Serialize)]
pub struct Contest {
    pub norm: Norm,
    pub heavy_from: f64,
    pub heavy_keys: usize,
    pub distinct_keys: usize,
    pub contenders: Vec<Contender>,
    /// The constants of the published algorithm that were changed to fit.
    pub changes: Vec<ConstantChange>,
    /// The same of the continual algorithm.
    pub continual_changes: Vec<ConstantChange>,
    /// The reason why the continual algorithm did not run, with the memory that it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continual_left_out: Option<String>,
    /// The composition theorem by which the published L2 algorithm needs less noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub composition: Option<CompositionChoice>,
}

#[derive(Serialize)]
pub struct CompositionChoice {
    pub theorem: Composition,
    /// How many times less noise it asks for than basic composition.
    pub gain: f64,
}

#[derive(Serialize)]
pub struct Contender {
    pub name: &'static str,
    /// In bytes, at the end of the stream.
    pub memory: u64,
    pub events_per_second: f64,
    #[serde(flatten)]
    pub score: Score,
    /// The scale of the noise in each count.
    pub noise: f64,
    /// The scale that its own proof requires.
    pub needed_noise: f64,
    pub private: Privacy,
}

#[derive(Serialize)]
pub struct Privacy {
    pub proved: bool,
    pub why: &'static str,
}

const EXACT: Privacy = Privacy { proved: false, why: "exact counts are not private" };
const PROVED: Privacy = Privacy { proved: true, why: "the proof stands beside the code" };
const L1_PRINTED: Privacy = Privacy {
    proved: false,
    why: "the noise is not what the proof asks for, and one event can move a Counter by almost its error",
};
const L1_PROOF: Privacy = Privacy {
    proved: false,
    why: "one event can move a Counter by almost its error, and which keys are named depends on the data",
};
const L2_PRINTED: Privacy = Privacy { proved: false, why: "the noise is less than its own theorem asks for" };
const L2_PROOF: Privacy = Privacy {
    proved: false,
    why: "the proof puts one key's count where the norm belongs, and scaled constants fail more often than delta allows",
};

const CONTINUAL_PRINTED: Privacy = Privacy {
    proved: false,
    why: "the noise is half of what the proof asks for, or less with scaled constants, and one event moves more than the \
          proof says",
};
const CONTINUAL_PROOF: Privacy = Privacy {
    proved: false,
    why: "one event moves all counters of a block by 1, which the proof takes for less, and which keys are named \
          depends on the data",
};

impl Contest {
    pub fn hold(request: &ReleaseRequest, stream: &NumberedStream, norm: Norm) -> Result<Self> {
        let truth = TrueCounts::new(stream.in_window(), norm, request.spec.alpha);
        let Spec { alpha, epsilon, .. } = request.spec;
        let (epsilon, memory) = (epsilon.as_f64(), request.spec.memory.0);
        let builder = request.builder(stream.keys.clone());
        // The policy is chosen for the norm that was asked for.
        let builder = builder.decided()?.norm(norm).program(0).releases(RELEASES);
        let scale = builder.forecast(stream.window as u64, None)?.scale;
        tell("exact counting ...");
        let exact = exact(stream, &truth);
        tell("Frostpane ...");
        let mut contenders = vec![exact, frostpane(builder.build()?, stream, &truth, scale)?];
        let length = stream.events.len() as u64;
        let mut composition = None;
        let changes = match norm {
            Norm::L1 => {
                tell("the published L1 algorithm ...");
                let mut algorithm = L1::new(L1Constants::scaled(alpha, epsilon, length, memory)?);
                let rate = feed(stream, |key| algorithm.update(key));
                for (noise, private) in [(NoiseScale::Printed, L1_PRINTED), (NoiseScale::Proof, L1_PROOF)] {
                    algorithm = algorithm.with_noise(noise);
                    let answers = answers(|entropy| algorithm.query(stream.window as u64, entropy))?;
                    contenders.push(published(
                        name(noise),
                        algorithm.bytes(),
                        rate,
                        answers,
                        &truth,
                        private,
                    ));
                }
                algorithm.constants().changes()
            }
            Norm::L2 => {
                tell("the published L2 algorithm ...");
                let constants = L2Constants::scaled(alpha, epsilon, length, memory)?;
                let mut algorithm = L2::new(constants, 0);
                let rate = feed(stream, |key| algorithm.update(key));
                for (noise, private) in [(NoiseScale::Printed, L2_PRINTED), (NoiseScale::Proof, L2_PROOF)] {
                    algorithm = algorithm.with_noise(noise);
                    let answers = answers(|entropy| algorithm.query(stream.window as u64, entropy))?;
                    contenders.push(published(
                        name(noise),
                        algorithm.bytes(),
                        rate,
                        answers,
                        &truth,
                        private,
                    ));
                }
                let constants = algorithm.constants();
                composition = Some(CompositionChoice {
                    theorem: constants.composition(),
                    gain: constants.composition_gain(),
                });
                constants.changes()
            }
        };
        let mut continual_changes = Vec::new();
        let mut continual_left_out = None;
        match ContinualConstants::scaled(alpha, epsilon, stream.window as u64, memory) {
            Ok(constants) => {
                tell("the published continual algorithm ...");
                continual_changes = constants.changes();
                contenders.extend(continual(constants, stream, &truth, norm)?);
            }
            Err(PresetRefusal::Memory { needed, .. }) => {
                let needed = readable(needed);
                continual_left_out = Some(format!("at this epsilon its coarsest constants need {needed}"));
            }
            Err(refusal) => return Err(refusal.into()),
        }
        Ok(Self {
            norm,
            heavy_from: truth.heavy_from,
            heavy_keys: truth.heavy.len(),
            distinct_keys: truth.counts.len(),
            contenders,
            changes,
            continual_changes,
            continual_left_out,
            composition,
        })
    }
}

/// Feeds all events, and returns their number a second.
fn feed(stream: &NumberedStream, mut update: impl FnMut(u64)) -> f64 {
    let start = Instant::now();
    stream.events.iter().for_each(|event| update(event.key));
    stream.events.len() as f64 / start.elapsed().as_secs_f64()
}

/// Counts exactly, with a ring of the last keys and a table of their counts.
fn exact(stream: &NumberedStream, truth: &TrueCounts) -> Contender {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    let mut arrived = 0;
    let rate = feed(stream, |key| {
        *counts.entry(key).or_insert(0) += 1;
        if arrived >= stream.window
            && let Entry::Occupied(mut oldest) = counts.entry(stream.events[arrived - stream.window].key)
        {
            *oldest.get_mut() -= 1;
            if *oldest.get() == 0 {
                oldest.remove();
            }
        }
        arrived += 1;
    });
    // A table is at most seven eighths full, and has a byte of its own for every slot.
    let slots = (counts.capacity() * 8 / 7).next_power_of_two();
    Contender {
        name: "exact counting",
        memory: (slots * 17 + stream.window * 8) as u64,
        events_per_second: rate,
        score: truth.score(&[truth.list()]),
        noise: 0.0,
        needed_noise: 0.0,
        private: EXACT,
    }
}

fn frostpane(
    mut hitters: HeavyHitters<u64>,
    stream: &NumberedStream,
    truth: &TrueCounts,
    scale: f64,
) -> Result<Contender> {
    let start = Instant::now();
    let events = stream.events.iter();
    hitters.extend(events.map(|event| Event { time: event.time, ..Event::of(event.key) }))?;
    let seconds = start.elapsed().as_secs_f64();
    let list =
        |release: Release<u64>| release.heavy.iter().map(|heavy| (heavy.key, heavy.count as f64)).collect();
    let lists: Vec<_> = (0..RELEASES).map(|_| Ok(list(hitters.release()?))).collect::<Result<_>>()?;
    Ok(Contender {
        name: "Frostpane",
        memory: hitters.bytes(),
        events_per_second: stream.events.len() as f64 / seconds,
        score: truth.score(&lists),
        noise: scale,
        needed_noise: scale,
        private: PROVED,
    })
}

/// The continual algorithm, with an output at the end of the stream for each release. In one output the noise of a block
/// is drawn once whatever the form, so the printed one serves. For L1 its counts are held against the bar of Section 4;
/// for L2 against the one of [`ContinualConstants::bar`], since it has no norm.
fn continual(
    constants: ContinualConstants,
    stream: &NumberedStream,
    truth: &TrueCounts,
    norm: Norm,
) -> Result<[Contender; 2]> {
    let bar = match norm {
        Norm::L1 => 0.75 * constants.alpha * stream.window as f64,
        Norm::L2 => constants.bar(),
    };
    let mut algorithm = PublishedContinual::new(constants, NoiseScale::Printed, Draw::EveryOutput);
    let rate = feed(stream, |key| algorithm.update(key));
    let memory = algorithm.bytes();
    let printed = answers(|entropy| algorithm.query(bar, entropy))?;
    algorithm = algorithm.with_noise(NoiseScale::Proof);
    let proved = answers(|entropy| algorithm.query(bar, entropy))?;
    Ok([
        published("paper, continual, as printed", memory, rate, printed, truth, CONTINUAL_PRINTED),
        published("paper, continual, by its proof", memory, rate, proved, truth, CONTINUAL_PROOF),
    ])
}

fn name(noise: NoiseScale) -> &'static str {
    match noise {
        NoiseScale::Printed => "paper, noise as printed",
        NoiseScale::Proof => "paper, noise by its proof",
    }
}

fn answers(
    mut query: impl FnMut(&mut OsEntropy) -> frostpane::Result<PublishedAnswer>,
) -> Result<Vec<PublishedAnswer>> {
    let mut entropy = OsEntropy::new();
    (0..RELEASES).map(|_| Ok(query(&mut entropy)?)).collect()
}

fn published(
    name: &'static str,
    memory: u64,
    events_per_second: f64,
    answers: Vec<PublishedAnswer>,
    truth: &TrueCounts,
    private: Privacy,
) -> Contender {
    let (noise, needed_noise) =
        answers.last().map_or((0.0, 0.0), |answer| (answer.noise, answer.needed_noise));
    let lists: Vec<_> = answers.into_iter().map(|answer| answer.listed).collect();
    Contender { name, memory, events_per_second, score: truth.score(&lists), noise, needed_noise, private }
}
