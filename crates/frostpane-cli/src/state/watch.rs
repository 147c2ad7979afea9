//! `frostpane watch DIR`: lists at every slide that go on where they were.

use std::path::Path;

use frostpane_store::List;

use super::columns::Columns;
use super::ingest;
use crate::args::{InputArgs, WatchArgs};
use crate::failure::{Failure, Result};
use crate::input::{Selection, Source};
use crate::list::TextKey;
use crate::units::Asked;
use crate::warnings::tell;
use crate::watch::Shared;

pub fn run<K: TextKey>(args: &WatchArgs, dir: &Path) -> Result<()> {
    let mut store = super::open::<K>(dir)?;
    let spec = store.header().spec.clone();
    if !spec.continual {
        return Err(Failure::Message(format!(
            "{} has no list at every slide: begin one with `frostpane init --watch`, or ask this one with `frostpane release`",
            dir.display()
        )));
    }
    let clock = args.clock.resolve()?;
    let input = InputArgs {
        files: args.input.files[1..].to_vec(),
        ..Columns::complete(store.header(), &args.input)
    };
    ingest::check(&store, &input)?;
    let wall = ingest::wall(&store, &clock, args.accept_clock)?;
    let shown = Shared::<K>::new(args, Asked::from(spec.longest()))?;
    let mut show = |lists: Vec<List<K>>| -> Result<()> {
        for list in lists {
            if let Some(release) = list.release {
                shown.lock().show(release, None)?;
            }
        }
        Ok(())
    };
    let before = store.stream().lists();
    if before > 0 {
        tell(format_args!(
            "{before} lists were made before; --after N writes those after number N again, as JSON and as they were"
        ));
    }
    if let Some(after) = args.after {
        for list in store.lists_after(after)? {
            shown.lock().write_json(&list.json)?;
        }
    }
    let selection = Selection {
        live: true,
        whole_lines: true,
        ..ingest::selection_of(&store, &input, &clock)?
    };
    let id = match (&args.id, &input.files[..]) {
        (Some(id), _) => id.clone(),
        (None, [file]) => ingest::name(file)?,
        (None, _) => {
            return Err(Failure::Message(
                "what is read must be known again when it comes again: give it an id, with --id".to_owned(),
            ));
        }
    };
    let mut source = Source::new(&input.files, selection)?;
    let taken = ingest::take(
        &mut store,
        &mut source,
        (&id, false),
        (&clock, wall.as_ref()),
        &mut show,
    );
    let lists = ingest::tick(&mut store, &clock, wall.as_ref())?;
    let shown_last = show(lists);
    shown.lock().finish()?;
    tell(format_args!("{id}: {}", taken?));
    shown_last
}
