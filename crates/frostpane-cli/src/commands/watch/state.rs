//! `frostpane watch DIR`: continual release of a state, also across restarts.

use std::path::Path;

use frostpane_store::{ContinualRelease, Store};

use super::WatchArgs;
use super::output::SharedOutput;
use crate::commands::ingest::{self, IngestTime};
use crate::commands::state;
use crate::events::TextKey;
use crate::failure::{Failure, Result};
use crate::settings::values::count_of;
use crate::settings::{InputArgs, WindowArg, check_column};
use crate::terminal::tell;
use frostpane_events::{Schema, Source};

pub fn run<K: TextKey>(args: &WatchArgs, dir: &Path) -> Result<()> {
    let mut store = Store::<K>::open(dir)?;
    let spec = store.header().spec.clone();
    if !spec.continual {
        return Err(Failure::Message(format!(
            "{} has no continual release: begin one with `frostpane init --watch`, or ask this one with \
             `frostpane release`",
            dir.display()
        )));
    }
    let clock = args.clock.resolve()?;
    let input =
        InputArgs { files: args.input.files[1..].to_vec(), ..state::input_of(store.header(), &args.input) };
    check_column(&spec, input.has_users())?;
    let time = IngestTime::new(&store, clock, args.accept_clock)?;
    args.output.check(&[])?;
    let output = SharedOutput::<K>::new(args, WindowArg::from(spec.longest()))?;
    let mut show = |lists: Vec<ContinualRelease<K>>| -> Result<()> {
        for list in lists {
            if let Some(release) = list.release {
                output.lock().show(release, None)?;
            }
        }
        Ok(())
    };
    let before = store.stream().lists();
    if before > 0 {
        tell(format_args!(
            "{} made before; --after N writes those after number N again, as JSON and as they were",
            count_of(before, "list was", "lists were")
        ));
    }
    if let Some(after) = args.after {
        for list in store.lists_after(after)? {
            output.lock().write_json(&list.json)?;
        }
    }
    let schema = Schema { live: true, whole_lines: true, ..ingest::schema(&store, &input, &time.clock)? };
    let id = match (&args.id, &input.files[..]) {
        (Some(id), _) => id.clone(),
        (None, [file]) => ingest::name(file)?,
        (None, _) => {
            return Err(Failure::from(
                "what is read must be known again when it comes again: give it an id, with --id",
            ));
        }
    };
    let mut source = Source::new(&input.files, schema)?;
    let taken = ingest::take(&mut store, &mut source, (&id, false), &time, &mut show);
    let lists = time.tick(&mut store)?;
    let shown_last = show(lists);
    output.lock().finish()?;
    tell(format_args!("{id}: {}", taken?));
    shown_last
}
