//! `frostpane audit`: evidence for and against what is claimed about privacy.

#[cfg(feature = "mutants")]
mod mutants;
mod picture;
mod progress;
mod report;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use frostpane_audit::check::Whose;
use frostpane_audit::{Audit, Check, Deployment, Finding, KeyKind, Mutant};

use crate::args::AuditArgs;
use crate::failure::{Failure, Result};
use crate::screen::Screen;
use crate::warnings::tell;
#[cfg(feature = "mutants")]
pub use mutants::MutantArgs;
use progress::Progress;
use report::Report;

/// Whether keys are declared.
#[derive(Clone, Copy, ValueEnum)]
pub enum KeysArg {
    Open,
    Declared,
}

impl From<KeysArg> for KeyKind {
    fn from(keys: KeysArg) -> Self {
        match keys {
            KeysArg::Open => KeyKind::Open,
            KeysArg::Declared => KeyKind::Declared,
        }
    }
}

pub fn run(args: &AuditArgs) -> Result<()> {
    #[cfg(feature = "mutants")]
    if args.broken.mutants {
        return Ok(io::stdout().write_all(mutants::table().as_bytes())?);
    }
    let wanted = wanted(args)?;
    let picture = args.picture.as_deref().map(open).transpose()?;
    let mutant = mutant(args);
    let audit = Audit::new(sampled(), args.short, mutant);
    let findings = find(&audit, &wanted, has_deployment(args))?;
    let report = Report::new(&audit, args.short, findings);
    write(args, &report)?;
    if let Some((file, path)) = picture {
        let svg = picture::draw(&report.findings);
        (&file)
            .write_all(svg.as_bytes())
            .map_err(|cause| refusal(path, &cause))?;
        tell(format_args!("the picture is in {}", path.display()));
    }
    match report.fallen() {
        0 => Ok(()),
        fallen => Err(Failure::Violated(format!(
            "{fallen} of {} checks found that a claim of {} does not hold",
            report.of_frostpane(),
            if mutant.is_some() {
                "this mutant"
            } else {
                "Frostpane"
            }
        ))),
    }
}

/// How the mechanism is broken, if it is.
fn mutant(args: &AuditArgs) -> Option<Mutant> {
    #[cfg(feature = "mutants")]
    return args.broken.mutant();
    #[cfg(not(feature = "mutants"))]
    {
        let _ = args;
        None
    }
}

/// How many sampled checks there are in all: what a check says does not depend on which others run.
fn sampled() -> usize {
    frostpane_audit::all()
        .iter()
        .filter(|check| check.is_sampled())
        .count()
}

/// The checks to run, with the parameters asked for.
fn wanted(args: &AuditArgs) -> Result<Vec<Check>> {
    let all = frostpane_audit::all();
    let names: Vec<&str> = all.iter().map(|check| check.name).collect();
    if let Some(unknown) = args.checks.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(Failure::Message(format!(
            "there is no check {unknown:?}, only {}",
            names.join(", ")
        )));
    }
    let deployment = Deployment {
        keys: args.keys.map(KeyKind::from),
        norm: args.norm.map(frostpane::Norm::from),
        epsilon: args.epsilon,
        delta: args.delta,
    };
    let frostpane_only = mutant(args).is_some() || has_deployment(args);
    let wanted: Vec<Check> = all
        .into_iter()
        .filter(|check| args.checks.is_empty() || args.checks.iter().any(|name| name == check.name))
        .filter(|check| check.whose == Whose::Frostpane || !frostpane_only)
        .filter_map(|check| {
            let setting = check.setting.with(&deployment)?;
            Some(Check { setting, ..check })
        })
        .collect();
    if wanted.is_empty() {
        return Err(Failure::Message(
            "no check has these keys and this norm: leave out --keys, --norm or --check".to_owned(),
        ));
    }
    Ok(wanted)
}

/// Whether a deployment's parameters were given.
fn has_deployment(args: &AuditArgs) -> bool {
    args.keys.is_some() || args.norm.is_some() || args.epsilon.is_some() || args.delta.is_some()
}

/// Runs the checks. Those that cannot be made at the parameters asked for are left out, and that is told.
fn find(audit: &Audit, checks: &[Check], may_leave_out: bool) -> Result<Vec<Finding>> {
    let progress = Progress::new(checks.len());
    let mut findings = Vec::new();
    for (number, check) in checks.iter().enumerate() {
        match audit.run(check, &|share| progress.look(number, check.name, share)) {
            Ok(finding) => findings.push(finding),
            Err(cause) if may_leave_out => {
                progress.erase();
                tell(format_args!("{} is left out: {cause}", check.name));
            }
            Err(cause) => return Err(Failure::Message(format!("{}: {cause}", check.name))),
        }
    }
    match findings.is_empty() {
        true => Err(Failure::Message("no check could be made: see above".to_owned())),
        false => Ok(findings),
    }
}

fn write(args: &AuditArgs, report: &Report) -> Result<()> {
    let stdout = io::stdout().lock();
    let screen = Screen::of(&stdout);
    let mut out = BufWriter::new(stdout);
    if args.json {
        serde_json::to_writer(&mut out, report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        report.write(&mut out, &screen)?;
    }
    Ok(out.flush()?)
}

/// Before the runs: nobody wants to learn after ten minutes that there is no such directory.
fn open(path: &Path) -> Result<(File, &Path)> {
    let file = File::create(path).map_err(|cause| refusal(path, &cause))?;
    Ok((file, path))
}

fn refusal(path: &Path, cause: &io::Error) -> Failure {
    Failure::Message(format!(
        "cannot write the picture {}: {cause}; give another name",
        path.display()
    ))
}
