//! `frostpane compare`: exact counting, Frostpane and the published algorithms on one stream.

mod contender;
mod report;
mod score;
mod stream;

use std::io::{self, BufWriter, Write};

use frostpane::Norm;

use crate::args::CompareArgs;
use crate::failure::{Failure, Result};
use crate::list::lines_of;
use crate::screen::Screen;
use crate::warnings::tell;
use contender::Contest;
use report::Report;
use stream::Stream;

/// What every output says first.
pub const EVALUATION: &str = "An evaluation: it looks at the true counts, releases many times over, and is not private. Do not publish it.";

pub fn run(args: &CompareArgs) -> Result<()> {
    let request = args.request.resolve(false)?;
    if let [_, another, ..] = &request.windows[..] {
        return Err(Failure::Message(format!(
            "a comparison looks at one window: leave out --window {}, and run it again for that one",
            another.text
        )));
    }
    if request.is_of_users() || args.input.user.is_some() {
        return Err(Failure::Message(
            "a comparison is of single events, because the published algorithms know no people: leave out --user, --per-user, --per-key, \
             --epoch and --sample-users"
                .to_owned(),
        ));
    }
    if request.is_printed(lines_of)? {
        return Ok(());
    }
    let stream = Stream::read(args, &request)?;
    let norms = match (args.request.norm, &args.request.spec) {
        (None, None) => vec![Norm::L1, Norm::L2],
        _ => vec![request.spec.norm],
    };
    let mut contests = Vec::new();
    for norm in norms {
        contests.push(Contest::hold(&request, &stream, norm, &mut |contender| {
            tell(format_args!("{contender} ..."));
        })?);
    }
    let report = Report::new(&request, &stream, contests);
    let stdout = io::stdout().lock();
    let screen = Screen::of(&stdout);
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        report.write(&mut out, &screen)?;
    }
    Ok(out.flush()?)
}
