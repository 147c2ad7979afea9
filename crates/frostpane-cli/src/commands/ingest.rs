//! `frostpane ingest`: takes events into a state, each of them once.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use frostpane::{Batch, Span, Tally};
use frostpane_store::{ContinualRelease, SourceOutcome, SourceWriter, Store, WallClock};

use super::notes::read_notes;
use super::state;
use crate::events::TextKey;
use crate::events::feed::{Gather, feed};
use crate::failure::{Failure, Result};
use crate::settings::values::{count_of, grouped};
use crate::settings::{InputArgs, TimeArgs, TimeSettings, check_column};
use crate::terminal::progress::Progress;
use crate::terminal::{lock, tell};
use frostpane_events::{EventRef, Schema, Source};

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(200);

const BYTES: usize = 1 << 18;

/// Take events into a state.
///
/// What has been taken when this ends is there for good, whatever happens to the machine. A file is known by
/// its name: if it comes again only what was added at its end is taken, and if it begins with other events it
/// is refused. So a run that was interrupted, or whose pipe broke, is simply started again, with all of its
/// events from the first on. A last line without an end is left out until it has one. Where users are
/// protected, --until says what time it is: epochs that have ended by then are closed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  Yesterday's log, from a cron job that may run twice:
    frostpane ingest searches /var/log/searches-2025-11-01.tsv
  Of users, a day that is over:
    frostpane ingest searches day.tsv.zst --until 2025-11-02
  A pipe, which has no name and needs an id:
    zcat part-17.gz | frostpane ingest searches --format tsv --id part-17")]
pub struct IngestArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    /// An id of these events, instead of the name of their file: what was taken under an id is passed over
    /// when it comes again
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Nothing will be added any more: a last line without an end is taken too
    #[arg(long)]
    pub whole: bool,

    #[command(flatten)]
    pub clock: TimeArgs,

    /// With --user: accept the clock of this machine, however far it is ahead of the state
    #[arg(long)]
    pub accept_clock: bool,
}

pub fn run<K: TextKey>(args: &IngestArgs) -> Result<()> {
    let mut store = Store::<K>::open(&args.dir)?;
    let clock = args.clock.resolve()?;
    let input = state::input_of(store.header(), &args.input);
    check_column(&store.header().spec, input.has_users())?;
    let schema = schema(&store, &input, &clock)?;
    let ids = ids(args, &schema)?;
    let time = IngestTime::new(&store, clock, args.accept_clock)?;
    let mut all = 0;
    for (id, files) in &ids {
        let mut source = Source::new(files, Schema { whole_lines: !args.whole, ..schema.clone() })?;
        let taken = take(&mut store, &mut source, (id, args.whole), &time, &mut |_| Ok(()))?;
        tell(format_args!("{id}: {taken}"));
        all += taken.new;
    }
    let lists = time.tick(&mut store)?;
    if !lists.is_empty() || store.header().spec.continual {
        tell(format_args!(
            "{}: frostpane watch {} shows them",
            count_of(store.stream().lists(), "list is there", "lists are there"),
            args.dir.display()
        ));
    } else if all > 0 {
        tell(format_args!("next: frostpane release {}", args.dir.display()));
    }
    Ok(())
}

/// The columns to read: no times where windows go by the number of events.
pub fn schema<K: TextKey>(store: &Store<K>, input: &InputArgs, clock: &TimeSettings) -> Result<Schema> {
    let longest = store.header().spec.longest();
    let schema = input.schema(longest, &clock.timezone)?;
    Ok(match longest {
        Span::Events(_) => Schema { time: None, ..schema },
        Span::Clock(_) => schema,
    })
}

/// The files, each with its id: also those of a folder or a pattern one by one.
fn ids(args: &IngestArgs, schema: &Schema) -> Result<Vec<(String, Vec<PathBuf>)>> {
    let files = &args.input.files;
    let is_pipe = files.is_empty() || files.iter().any(|file| file == Path::new("-"));
    match &args.id {
        Some(id) => Ok(vec![(id.clone(), files.clone())]),
        None if is_pipe => {
            Err(Failure::from("a pipe has no name by which it could be known again: give it one, with --id"))
        }
        None => {
            let each = Source::new(files, schema.clone())?;
            each.files().into_iter().map(|file| Ok((name(file)?, vec![file.to_owned()]))).collect()
        }
    }
}

/// The name of a file, the same from every folder.
pub fn name(file: &Path) -> Result<String> {
    let whole =
        fs::canonicalize(file).map_err(|cause| Failure::Message(format!("{}: {cause}", file.display())))?;
    Ok(whole.display().to_string())
}

impl<K: TextKey> Gather for Batch<K> {
    /// As many events as are kept together: reading goes on while they are counted.
    const WAITING: usize = 64;

    #[inline]
    fn push(&mut self, event: EventRef<'_>) {
        self.push(K::event(event));
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.as_bytes().len() >= BYTES
    }

    fn clear(&mut self) {
        self.clear();
    }
}

/// Events of a source, for the operator alone.
pub struct IngestCounts {
    new: u64,
    before: u64,
    tally: Tally,
}

impl fmt::Display for IngestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { new, before, tally } = *self;
        if new == 0 && before == 0 {
            return f.write_str("no events");
        }
        if new == 0 {
            let before = count_of(before, "event", "events");
            return write!(f, "nothing is new ({before} had been taken before, counted or not)");
        }
        f.write_str(&count_of(new, "event was taken", "events were taken"))?;
        if before > 0 {
            write!(f, ", after {} before", grouped(before))?;
        }
        let not_counted = [
            (tally.late, "came too late"),
            (tally.ahead, "of the future"),
            (tally.without_key, "without a key that counts"),
            (tally.without_user, "without a user"),
            (tally.not_sampled, "of users that are not in the sample"),
        ];
        let mut parts = not_counted.into_iter().filter(|(events, _)| *events > 0).peekable();
        if parts.peek().is_some() {
            write!(f, ": {} counted", grouped(new.saturating_sub(tally.not_counted())))?;
        }
        parts.try_for_each(|(events, why)| write!(f, ", {} {why}", grouped(events)))
    }
}

/// The time by which epochs of users end.
pub struct IngestTime {
    pub clock: TimeSettings,
    /// The clock of this machine, where it ends slides.
    wall: Option<WallClock>,
}

impl IngestTime {
    /// The clock of this machine ends slides of users unless --until was given. It is refused if the state
    /// does not trust it.
    pub fn new<K: TextKey>(store: &Store<K>, clock: TimeSettings, accepted: bool) -> Result<Self> {
        let (None, Some(_)) = (clock.until, store.header().spec.unit.bounds()) else {
            return Ok(Self { clock, wall: None });
        };
        let wall = store.clock(clock.ahead, accepted);
        if let Err(cause) = store.present(&wall) {
            return Err(Failure::Message(format!(
                "{cause}; the state has come to {}, and --until TIME tells it what time it is instead",
                store.moment(store.stream().clock())
            )));
        }
        Ok(Self { clock, wall: Some(wall) })
    }

    fn present(&self) -> i64 {
        match self.clock.until {
            // The end itself is excluded.
            Some(until) => until.as_microsecond() - 1,
            None => self.clock.latest_now(),
        }
    }

    /// Advances the state to the present, which ends epochs of users.
    pub fn tick<K: TextKey>(&self, store: &mut Store<K>) -> Result<Vec<ContinualRelease<K>>> {
        match (self.clock.until, &self.wall) {
            (Some(until), _) => Ok(store.tick(until.as_microsecond())?),
            (None, Some(wall)) => Ok(store.tick_by(wall)?),
            (None, None) => Ok(Vec::new()),
        }
    }
}

type Show<'a, K> = dyn FnMut(Vec<ContinualRelease<K>>) -> Result<()> + Send + 'a;

/// Takes the events of a source; lists that they bring about are shown once they are kept.
pub fn take<K: TextKey>(
    store: &mut Store<K>,
    source: &mut Source,
    (id, complete): (&str, bool),
    time: &IngestTime,
    show: &mut Show<'_, K>,
) -> Result<IngestCounts> {
    let wall = time.wall.as_ref().filter(|_| source.is_live());
    wall.into_iter().for_each(WallClock::drain);
    let ahead = store.ahead();
    let feeding = store.feed(id)?.at(time.present());
    let (before, was_complete) = (feeding.before(), feeding.was_complete());
    let feeding = Mutex::new((feeding, show));
    let read = read(source, &feeding, time, wall);
    wall.into_iter().for_each(WallClock::drained);
    read_notes(source).into_iter().for_each(tell);
    let (feeding, show) = feeding.into_inner().unwrap_or_else(PoisonError::into_inner);
    read?;
    let SourceOutcome { events, tally, lists } = feeding.finish(complete)?;
    show(lists)?;
    if was_complete && events > before {
        tell(format_args!("{id} was said to be complete, and had more events all the same: they were taken"));
    }
    if store.ahead() > ahead {
        let end = if time.clock.until.is_some() { "at or after --until" } else { "in the future" };
        tell(format_args!(
            "{} {end}, and left out for good: not counted when {id} comes again (this number is for you, not \
             for publication); to count them, ingest them under another --id, with an --until after them",
            count_of(store.ahead() - ahead, "event lies", "events lie")
        ));
    }
    Ok(IngestCounts { new: events - before, before, tally })
}

/// Reads a source to its end. If a clock ends slides, it waits until a pipe has given what it held.
fn read<K: TextKey>(
    source: &mut Source,
    feeding: &Mutex<(SourceWriter<'_, K>, &mut Show<'_, K>)>,
    time: &IngestTime,
    wall: Option<&WallClock>,
) -> Result<()> {
    let live = source.is_live();
    let mut progress = Progress::new(source);
    let drain = Drain::default();
    // The id stands for all events of a source: the state leaves out those that come from the future.
    let admit = |_: EventRef<'_>| {
        drain.come();
        progress.step();
        true
    };
    let step = |wall: &WallClock, batch: Option<&Batch<K>>| -> Result<()> {
        let (feeding, show) = &mut *lock(feeding);
        step(feeding, time.present(), (wall, &drain), batch)?;
        show(feeding.lists())
    };
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        // The clock ends slides of users, whether events come or not.
        let ticking = wall.map(|wall| {
            let (ended, step) = (&ended, &step);
            scope.spawn(move || tick_until(ended, || step(wall, None)))
        });
        let read = feed(source, admit, |batch: &Batch<K>| match wall {
            Some(wall) => step(wall, Some(batch)).inspect(|()| drain.wait()),
            None => {
                let (feeding, show) = &mut *lock(feeding);
                feeding.append(batch)?;
                if live {
                    feeding.acknowledge(false)?;
                }
                show(feeding.lists())
            }
        });
        ended.store(true, Ordering::Relaxed);
        match ticking.map(thread::ScopedJoinHandle::join) {
            Some(Ok(ticked)) => read.and(ticked),
            _ => read,
        }
    })
}

/// Takes what has come at the present moment, and then lets time go on.
fn step<K: TextKey>(
    feeding: &mut SourceWriter<'_, K>,
    present: i64,
    (wall, drain): (&WallClock, &Drain),
    batch: Option<&Batch<K>>,
) -> Result<()> {
    feeding.set_present(present);
    if let Some(batch) = batch.filter(|batch| !batch.is_empty()) {
        if feeding.is_behind() {
            wall.drain();
        }
        feeding.append(batch)?;
    }
    if !feeding.is_behind() && drain.is_over() {
        wall.drained();
    }
    if !wall.is_draining() {
        feeding.tick_by(wall)?;
    }
    Ok(())
}

fn tick_until(ended: &AtomicBool, mut tick: impl FnMut() -> Result<()>) -> Result<()> {
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(TICK);
        // Told at once, because the reader may wait for long.
        tick().inspect_err(|cause| tell(cause))?;
    }
    Ok(())
}

/// A pipe does not say how much it holds. What it holds at the start comes without a pause: a reader that has
/// waited for so long, in all, has read it.
const WAITED: Duration = Duration::from_secs(3);

/// Adds up how long a reader has waited for more.
#[derive(Default)]
pub struct Drain {
    is_waiting: AtomicBool,
    waited: Mutex<(Duration, Option<Instant>)>,
}

impl Drain {
    pub fn wait(&self) {
        lock(&self.waited).1 = Some(Instant::now());
        self.is_waiting.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn come(&self) {
        if self.is_waiting.swap(false, Ordering::Relaxed) {
            let (all, since) = &mut *lock(&self.waited);
            *all += since.take().map_or(Duration::ZERO, |since| since.elapsed());
        }
    }

    pub fn is_over(&self) -> bool {
        let (all, since) = *lock(&self.waited);
        all + since.map_or(Duration::ZERO, |since| since.elapsed()) >= WAITED
    }
}
