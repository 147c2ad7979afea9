//! `frostpane audit`: evidence for and against the claims about privacy.

#[cfg(feature = "mutants")]
mod mutants;
mod picture;
mod report;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::ValueEnum;
use frostpane_audit::{Audit, Check, Deployment, Finding, KeyDomain, Mutant};

use crate::failure::{Failure, Result};
use crate::settings::NormArg;
use crate::terminal::progress::{self, StatusLine, bar_line};
use crate::terminal::{print, tell};
#[cfg(feature = "mutants")]
use mutants::MutantArgs;
use report::AuditReport;

/// Look for evidence against what Frostpane claims about privacy.
///
/// Runs the mechanism many times on pairs of neighbouring streams that were chosen to hurt, and says what
/// epsilon is at least, with 99 % confidence for all checks together; where everything is finite it
/// calculates instead. Reads no data. It is evidence, not proof. Also audits the published algorithms, which
/// do not keep what they claim.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  In less than two minutes:
    frostpane audit --short
  The parameters of your own deployment, with a picture:
    frostpane audit --epsilon 0.5 --delta 1e-8 --norm l2 --keys open --picture audit.svg")]
pub struct AuditArgs {
    /// A tenth of the runs
    #[arg(long)]
    pub short: bool,

    /// Only this check; may be given several times [default: all]
    #[arg(long = "check", value_name = "NAME")]
    pub checks: Vec<String>,

    #[cfg(feature = "mutants")]
    #[command(flatten)]
    pub broken: MutantArgs,

    /// Check at this epsilon, instead of where a violation would show best
    #[arg(long, allow_negative_numbers = true)]
    pub epsilon: Option<f64>,

    /// Check open keys at this delta
    #[arg(long, allow_negative_numbers = true)]
    pub delta: Option<f64>,

    /// Check this norm only
    #[arg(long, value_enum, ignore_case = true)]
    pub norm: Option<NormArg>,

    /// Check such keys only
    #[arg(long, value_enum, ignore_case = true)]
    pub keys: Option<KeysArg>,

    /// Draw what came out on both streams of each check, as SVG
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,

    /// Write the outcome as one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum KeysArg {
    Open,
    Declared,
}

pub fn run(args: &AuditArgs) -> Result<()> {
    #[cfg(feature = "mutants")]
    if args.broken.mutants {
        return Ok(io::stdout().write_all(mutants::table().as_bytes())?);
    }
    let wanted = wanted(args)?;
    let picture = args.picture.as_deref().map(open).transpose()?;
    let mutant = mutant(args);
    let audit = Audit::new(args.short, mutant);
    let findings = find(&audit, &wanted, has_deployment(args))?;
    let report = AuditReport::new(&audit, args.short, findings);
    print(args.json, &report, |out, screen| Ok(report.write(out, screen)?))?;
    if let Some((file, path)) = picture {
        let svg = picture::draw(&report.findings);
        (&file).write_all(svg.as_bytes()).map_err(|cause| refusal(path, &cause))?;
        tell(format_args!("the picture is in {}", path.display()));
    }
    match report.fallen() {
        0 => Ok(()),
        fallen => Err(Failure::Violated(format!(
            "{fallen} of {} checks found that a claim of {} does not hold",
            report.of_frostpane(),
            if mutant.is_some() { "this mutant" } else { "Frostpane" }
        ))),
    }
}

fn mutant(args: &AuditArgs) -> Option<Mutant> {
    #[cfg(feature = "mutants")]
    return args.broken.mutant();
    #[cfg(not(feature = "mutants"))]
    {
        let _ = args;
        None
    }
}

fn wanted(args: &AuditArgs) -> Result<Vec<Check>> {
    let all = frostpane_audit::all();
    let names: Vec<&str> = all.iter().map(|check| check.name).collect();
    if let Some(unknown) = args.checks.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(Failure::Message(format!("there is no check {unknown:?}, only {}", names.join(", "))));
    }
    let deployment = Deployment {
        keys: args.keys.map(|keys| match keys {
            KeysArg::Open => KeyDomain::Open,
            KeysArg::Declared => KeyDomain::Declared,
        }),
        norm: args.norm.map(frostpane::Norm::from),
        epsilon: args.epsilon,
        delta: args.delta,
    };
    let frostpane_only = mutant(args).is_some() || has_deployment(args);
    let wanted: Vec<Check> = all
        .into_iter()
        .filter(|check| args.checks.is_empty() || args.checks.iter().any(|name| name == check.name))
        .filter(|check| !(check.is_published && frostpane_only))
        .filter_map(|check| {
            let setting = check.setting.with(&deployment)?;
            Some(Check { setting, ..check })
        })
        .collect();
    if wanted.is_empty() {
        return Err(Failure::from(
            "no check has these keys and this norm: leave out --keys, --norm or --check",
        ));
    }
    Ok(wanted)
}

fn has_deployment(args: &AuditArgs) -> bool {
    args.keys.is_some() || args.norm.is_some() || args.epsilon.is_some() || args.delta.is_some()
}

/// Runs the checks. With `may_leave_out` those that cannot be made at the given parameters are left out, and
/// told.
fn find(audit: &Audit, checks: &[Check], may_leave_out: bool) -> Result<Vec<Finding>> {
    let line = Mutex::new(StatusLine::new());
    let draw = |number: usize, name: &str, share: f64| {
        // Another thread that holds the lock draws.
        let Ok(mut line) = line.try_lock() else {
            return;
        };
        line.draw(|| {
            let done = (number as f64 + share) / checks.len() as f64;
            let (check, checks, percent) = (number + 1, checks.len(), 100.0 * share);
            bar_line(done, &format!("check {check} of {checks}: {name}, {percent:.0} %"))
        });
    };
    let mut findings = Vec::new();
    for (number, check) in checks.iter().enumerate() {
        match audit.run(check, &|share| draw(number, check.name, share)) {
            Ok(finding) => findings.push(finding),
            Err(cause) if may_leave_out => {
                progress::erase();
                tell(format_args!("{} is left out: {cause}", check.name));
            }
            Err(cause) => return Err(Failure::Message(format!("{}: {cause}", check.name))),
        }
    }
    if findings.is_empty() {
        return Err(Failure::from("no check could be made: see above"));
    }
    Ok(findings)
}

/// Opened before the runs, so that a wrong name is told at once.
fn open(path: &Path) -> Result<(File, &Path)> {
    Ok((File::create(path).map_err(|cause| refusal(path, &cause))?, path))
}

fn refusal(path: &Path, cause: &io::Error) -> Failure {
    Failure::Message(format!("cannot write the picture {}: {cause}; give another name", path.display()))
}
