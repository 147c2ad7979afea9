//! `frostpane inspect`: what a state is, and nothing of what is in it.

use std::io::{self, Write};
use std::path::PathBuf;

use frostpane_store::{Head, Header, Summary};
use serde::Serialize;

use crate::failure::{Failure, Result};

/// Show what a state is asked for and how far it has come: nothing of what is in it.
///
/// It can be asked while another process has the state.
#[derive(clap::Args)]
pub struct InspectArgs {
    /// The folder of the state
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,

    /// Write it as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    header: &'a Header,
    history: &'a Head,
}

pub fn run(args: &InspectArgs) -> Result<()> {
    let Summary {
        header, head, in_use, ..
    } = Summary::read(&args.dir)?;
    if in_use {
        super::tell_in_use();
    }
    let mut out = io::stdout().lock();
    let shown = Shown {
        header: &header,
        history: &head,
    };
    if args.json {
        serde_json::to_writer(&mut out, &shown).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(out, "format {}, state {}", header.format, header.store)?;
    writeln!(
        out,
        "history of {} records, of which the last has the mark {}",
        head.generation, head.mark
    )?;
    match &header.witness {
        Some(witness) => writeln!(out, "witness {}", witness.display())?,
        None => writeln!(out, "no witness: a restored copy would not be noticed")?,
    }
    let spec = toml::to_string(&header.spec).map_err(|cause| Failure::Message(cause.to_string()))?;
    write!(out, "\n{spec}")?;
    Ok(())
}
