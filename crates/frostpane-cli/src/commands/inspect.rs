//! `frostpane inspect`: the settings of a state and how far it has come.

use std::io::Write;
use std::path::PathBuf;

use frostpane_store::{ChainHead, Header, Summary};
use serde::Serialize;

use super::state::tell_in_use;
use crate::failure::Result;
use crate::terminal::print;

/// Show the settings of a state and how far it has come, but none of its data.
///
/// Another process may have the state open meanwhile.
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
struct StateInfo<'a> {
    #[serde(flatten)]
    header: &'a Header,
    history: &'a ChainHead,
}

pub fn run(args: &InspectArgs) -> Result<()> {
    let Summary { header, head, in_use, .. } = Summary::read(&args.dir)?;
    if in_use {
        tell_in_use();
    }
    print(args.json, &StateInfo { header: &header, history: &head }, |out, _| write(out, &header, &head))
}

fn write(out: &mut impl Write, header: &Header, head: &ChainHead) -> Result<()> {
    writeln!(out, "format {}, state {}", header.format, header.store)?;
    writeln!(out, "history of {} records, of which the last has the mark {}", head.generation, head.mark)?;
    match &header.witness {
        Some(witness) => writeln!(out, "witness {}", witness.display())?,
        None => writeln!(out, "no witness: a restored copy would not be noticed")?,
    }
    Ok(write!(out, "\n{}", toml::to_string(&header.spec)?)?)
}
