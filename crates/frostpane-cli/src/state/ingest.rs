//! `frostpane ingest`: takes events into a state, each of them once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use frostpane::Batch;
use frostpane_store::{Clock as WallClock, Feed, List, Store};

use super::columns::Columns;
use super::drain::Drain;
use crate::args::InputArgs;
use crate::clock::{Clock, ClockArgs};
use crate::failure::{Failure, Result};
use crate::feed::{Gathers, feed};
use crate::input::{Event, Selection, Source};
use crate::list::{TextKey, selection};
use crate::progress::Progress;
use crate::units::grouped;
use crate::warnings::tell;

/// The clock on the wall is looked at so often.
const TICK: Duration = Duration::from_millis(200);

/// Bytes of events that are handed over together.
const BYTES: usize = 1 << 18;

/// Take events into a state.
///
/// What has been taken when this ends is there for good, whatever happens to the machine. A file is known by its name: of one that comes again
/// only what was added at its end is taken, and one that begins with other events is refused. So a run that was interrupted, or whose pipe broke, is simply
/// started again, with all of its events from the first on. A last line without an end is left out until it has one. Where people are protected, --until says what time it is: epochs that have ended by then are closed.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  Yesterday's log, from a cron job that may run twice:
    frostpane ingest searches /var/log/searches-2025-11-01.tsv
  Of people, a day that is over:
    frostpane ingest searches day.tsv.zst --until 2025-11-02
  A pipe, which has no name and needs an id:
    zcat part-17.gz | frostpane ingest searches --format tsv --id part-17")]
pub struct IngestArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    /// What tells these events from others, instead of the name of their file: what was taken under an id is passed over when it comes again
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Nothing will be added any more: a last line without an end is taken too
    #[arg(long)]
    pub whole: bool,

    #[command(flatten)]
    pub clock: ClockArgs,

    /// With --user: the clock of this machine is right, however far it is ahead of the state
    #[arg(long)]
    pub accept_clock: bool,
}

pub fn run<K: TextKey>(args: &IngestArgs) -> Result<()> {
    let mut store = super::open::<K>(&args.dir)?;
    let clock = args.clock.resolve()?;
    let input = Columns::complete(store.header(), &args.input);
    check(&store, &input)?;
    let ids = ids(args, || {
        Source::new(&args.input.files, selection_of(&store, &input, &clock)?)
    })?;
    let wall = wall(&store, &clock, args.accept_clock)?;
    let mut all = 0;
    for (id, files) in &ids {
        let selection = Selection {
            whole_lines: !args.whole,
            ..selection_of(&store, &input, &clock)?
        };
        let mut source = Source::new(files, selection)?;
        let taken = take(
            &mut store,
            &mut source,
            (id, args.whole),
            (&clock, wall.as_ref()),
            &mut |_| Ok(()),
        )?;
        tell(format_args!("{id}: {taken}"));
        all += taken.new;
    }
    let lists = tick(&mut store, &clock, wall.as_ref())?;
    if !lists.is_empty() || store.header().spec.continual {
        tell(format_args!(
            "there are {} lists: frostpane watch {} shows them",
            store.stream().lists(),
            args.dir.display()
        ));
    } else if all > 0 {
        tell(format_args!("next: frostpane release {}", args.dir.display()));
    }
    Ok(())
}

/// That people are protected only where something says whose an event is, and are where they are to be.
pub fn check<K: TextKey>(store: &Store<K>, input: &InputArgs) -> Result<()> {
    match store.header().spec.unit.is_user() && !input.has_users() {
        false => Ok(()),
        true => Err(Failure::Message(
            "people are protected, but nothing says whose an event is: say which column holds the user, with --user".to_owned(),
        )),
    }
}

/// What is read of the files: no times where windows go by the number of events.
pub fn selection_of<K: TextKey>(store: &Store<K>, input: &InputArgs, clock: &Clock) -> Result<Selection> {
    let longest = store.header().spec.longest();
    let selection = selection(input, longest)?;
    Ok(Selection {
        timezone: clock.timezone.clone(),
        time: selection.time.clone().filter(|_| !longest.is_by_count()),
        ..selection
    })
}

/// The files, each with what it is known by: also those of a folder or a pattern one by one.
fn ids(args: &IngestArgs, source: impl FnOnce() -> Result<Source>) -> Result<Vec<(String, Vec<PathBuf>)>> {
    let files = &args.input.files;
    let is_pipe = files.is_empty() || files.iter().any(|file| file == Path::new("-"));
    match &args.id {
        Some(id) => Ok(vec![(id.clone(), files.clone())]),
        None if is_pipe => Err(Failure::Message(
            "a pipe has no name by which it could be known again: give it one, with --id".to_owned(),
        )),
        None => {
            let each = source()?;
            let each = each
                .files()
                .into_iter()
                .map(|file| Ok((name(file)?, vec![file.to_owned()])));
            each.collect()
        }
    }
}

/// The one name of a file, from wherever the program was started and by whichever way.
pub fn name(file: &Path) -> Result<String> {
    let whole =
        fs::canonicalize(file).map_err(|cause| Failure::Message(format!("{}: {cause}", file.display())))?;
    Ok(whole.display().to_string())
}

/// Events as a state takes them.
struct Gathered<K>(Batch<K>);

impl<K> Default for Gathered<K> {
    fn default() -> Self {
        Self(Batch::default())
    }
}

impl<K: TextKey> Gathers for Gathered<K> {
    /// As many events as are kept together: reading goes on while they are counted.
    const WAITING: usize = 64;

    #[inline]
    fn push(&mut self, event: Event<'_>) {
        self.0.push(K::event(event));
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.0.as_bytes().len() >= BYTES
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// What was taken of a source.
pub struct Taken {
    pub new: u64,
    before: u64,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.new, self.before) {
            (0, before) => write!(
                f,
                "nothing is new ({} events had been taken before)",
                grouped(before)
            ),
            (new, 0) => write!(f, "{} events were taken", grouped(new)),
            (new, before) => write!(
                f,
                "{} events were taken, after {} before",
                grouped(new),
                grouped(before)
            ),
        }
    }
}

/// Takes the events of a source; lists that they bring about are shown when they are kept. The wall clock, where it ends slides, waits until
/// a pipe has given what it held.
pub fn take<K: TextKey>(
    store: &mut Store<K>,
    source: &mut Source,
    (id, complete): (&str, bool),
    (clock, wall): (&Clock, Option<&WallClock>),
    show: &mut Show<'_, K>,
) -> Result<Taken> {
    let live = source.is_live();
    let mut progress = Progress::new(source.total_bytes());
    let bytes_read = source.bytes_read();
    // A source is told apart by all of its events: the state leaves out those that come from the future.
    let drain = Drain::default();
    let admit = |_: Event<'_>| {
        drain.come();
        progress.step(bytes_read.get());
        true
    };
    let wall = wall.filter(|_| live);
    wall.into_iter().for_each(WallClock::drain);
    let ahead = store.ahead();
    let feeding = store.feed(id)?.at(present(clock));
    let (before, was_complete) = (feeding.before(), feeding.was_complete());
    let feeding = Mutex::new((feeding, show));
    let ended = AtomicBool::new(false);
    let ended = &ended;
    let step = &|wall, batch: Option<&Batch<K>>| step(&feeding, (clock, wall, &drain), batch);
    let read = thread::scope(|scope| {
        // The clock on the wall ends slides of people, whether events come or not.
        let ticking = wall.map(|wall| scope.spawn(move || tick_until(ended, || step(wall, None))));
        let read = feed(source, admit, |Gathered(batch): &Gathered<K>| match wall {
            Some(wall) => step(wall, Some(batch)).inspect(|()| drain.wait()),
            None => {
                let (feeding, show) = &mut *lock(&feeding);
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
    });
    wall.into_iter().for_each(WallClock::drained);
    progress.finish();
    source.notes().into_iter().for_each(tell);
    let (feeding, show) = feeding.into_inner().unwrap_or_else(PoisonError::into_inner);
    read?;
    let (events, lists) = finish(feeding, complete)?;
    show(lists)?;
    if was_complete && events > before {
        tell(format_args!(
            "{id} was said to be complete, and had more events all the same: they were taken"
        ));
    }
    if store.ahead() > ahead {
        tell(format_args!(
            "{} events lie after {}, and are left out for good (this number is for you, not for publication): bring events in when their time has come",
            grouped(store.ahead() - ahead),
            if clock.until.is_some() {
                "--until"
            } else {
                "the present"
            },
        ));
    }
    Ok(Taken {
        new: events - before,
        before,
    })
}

type Feeding<'a, 'b, 'c, K> = Mutex<(Feed<'a, K>, &'b mut Show<'c, K>)>;
type Show<'c, K> = dyn FnMut(Vec<List<K>>) -> Result<()> + Send + 'c;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What has come is taken at the present moment, and then time goes on.
fn step<K: TextKey>(
    feeding: &Feeding<'_, '_, '_, K>,
    (clock, wall, drain): (&Clock, &WallClock, &Drain),
    batch: Option<&Batch<K>>,
) -> Result<()> {
    let (feeding, show) = &mut *lock(feeding);
    feeding.set_present(present(clock));
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
    show(feeding.lists())
}

/// Looks at the clock until it is over.
fn tick_until(ended: &AtomicBool, mut tick: impl FnMut() -> Result<()>) -> Result<()> {
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(TICK);
        // The reader may wait for long: it is said now.
        tick().inspect_err(|cause| tell(cause))?;
    }
    Ok(())
}

fn finish<K: TextKey>(feeding: Feed<'_, K>, complete: bool) -> Result<(u64, Vec<List<K>>)> {
    Ok(feeding.finish(complete)?)
}

/// What time it is, as far as events of people are concerned.
pub fn present(clock: &Clock) -> i64 {
    match clock.until {
        // None of the moment itself and after it.
        Some(until) => until.as_microsecond() - 1,
        None => clock.latest_now(),
    }
}

/// The wall clock where it ends slides, that of people, unless the operator tells the time. One that is not believed takes nothing.
pub fn wall<K: TextKey>(store: &Store<K>, clock: &Clock, accepted: bool) -> Result<Option<WallClock>> {
    if clock.until.is_some() || !store.header().spec.unit.is_user() {
        return Ok(None);
    }
    let wall = store.clock(clock.ahead(), accepted);
    match store.present(&wall) {
        Ok(_) => Ok(Some(wall)),
        Err(cause) => Err(Failure::Message(format!(
            "{cause}; the state has come to {}, and --until TIME tells it what time it is instead",
            store.moment(store.stream().clock())
        ))),
    }
}

/// Lets the time come to where it is, which ends epochs of people.
pub fn tick<K: TextKey>(
    store: &mut Store<K>,
    clock: &Clock,
    wall: Option<&WallClock>,
) -> Result<Vec<List<K>>> {
    match (clock.until, wall) {
        (Some(until), _) => Ok(store.tick(until.as_microsecond())?),
        (None, Some(wall)) => Ok(store.tick_by(wall)?),
        (None, None) => Ok(Vec::new()),
    }
}
