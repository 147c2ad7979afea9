//! `frostpane compare`: exact counting, Frostpane and the published algorithms on one stream.

mod contender;
mod report;
mod score;
mod stream;

use frostpane::Norm;

use crate::failure::{Failure, Result};
use crate::settings::{InputArgs, RequestArgs};
use crate::terminal::print;
use contender::Contest;
use report::ComparisonReport;
use stream::NumberedStream;

/// The beginning of every output.
pub const EVALUATION: &str = "An evaluation: it looks at the true counts, releases many times over, and is \
                              not private. Do not publish it.";

/// Compare with exact counting and with the published algorithms, on a stream whose truth may be looked at.
///
/// Runs exact counting, Frostpane, and the algorithms of Blocki, Lee, Mukherjee and Zhou (2023), with
/// constants that fit into the same memory, over the last two windows of a stream, and scores the lists of
/// the last window against the true counts. It is an evaluation: its output is not private.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  Both norms, on the last 200,000 of the last 400,000 lines of a file:
    frostpane compare --window 200000 searches.txt
  One norm and its alpha, for another program:
    frostpane compare --norm l1 --alpha 0.002 --key 2 --time 1 --window 30d --json log.tsv.zst")]
pub struct CompareArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub request: RequestArgs,

    /// Write the outcome as one JSON object
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &CompareArgs) -> Result<()> {
    let request = args.request.resolve(false)?;
    if let [_, another, ..] = &request.windows[..] {
        return Err(Failure::Message(format!(
            "a comparison looks at one window: leave out --window {}, and run it again for that one",
            another.text
        )));
    }
    if request.is_of_users() || args.input.columns.user.is_some() {
        return Err(Failure::from(
            "a comparison is of single events, because the published algorithms know no people: leave out \
             --user, --per-user, --per-key, --epoch and --sample-users",
        ));
    }
    if request.is_printed()? {
        return Ok(());
    }
    let stream = NumberedStream::read(args, &request)?;
    let norms = match (args.request.norm, &args.request.spec) {
        (None, None) => vec![Norm::L1, Norm::L2],
        _ => vec![request.spec.norm],
    };
    let contests = norms.into_iter().map(|norm| Contest::hold(&request, &stream, norm));
    let report = ComparisonReport::new(&request, &stream, contests.collect::<Result<_>>()?);
    print(args.json, &report, |out, screen| Ok(report.write(out, screen)?))
}
