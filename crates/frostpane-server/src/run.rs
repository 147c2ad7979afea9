//! The command line: commands, or a service that runs until it is stopped.

use std::fmt::Display;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use frostpane_store::{Header, KeyKind, Store, StoredKey};
use jiff::Timestamp;
use rustix::process::{Resource, geteuid, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

use crate::args::{ServeArgs, ServerArgs, ServerCommand, TokenCommand};
use crate::auth::{Scope, Tokens};
use crate::demo::Demo;
use crate::http::certificates::Certificates;
use crate::http::probe;
use crate::http::serve::serve;
use crate::http::{app, openapi};
use crate::ingest::{JetStream, pull};
use crate::limits::Limits;
use crate::log::{self, tell};
use crate::service::{Service, lock_folder};
use crate::{atomic_file, name};

type Result<T> = std::result::Result<T, String>;

/// Runs the command line and reports the outcome.
pub fn run() -> ExitCode {
    let args = ServerArgs::parse();
    // The message of a panic may contain input.
    panic::set_hook(Box::new(|panic| log::panicked(panic.location())));
    let done = match args.command {
        Some(ServerCommand::Token(command)) => token(command),
        Some(ServerCommand::Restore { dir, stream }) => restore(&dir, &stream),
        Some(ServerCommand::Openapi) => {
            openapi().to_pretty_json().map_err(|cause| cause.to_string()).and_then(|text| print(&text))
        }
        None => begin(&args.serve),
    };
    log::close();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            note(format_args!("frostpane-server: {cause}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes output that was asked for.
fn print(line: &str) -> Result<()> {
    let written = writeln!(io::stdout(), "{line}").and_then(|()| io::stdout().flush());
    written.map_err(|cause| format!("what was asked for could not be written: {cause}"))
}

/// Writes a line about what was done. If that fails, it is done all the same.
fn note(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn token(command: TokenCommand) -> Result<()> {
    match command {
        TokenCommand::Add { dir, stream, scope, producer } => {
            if stream != "*" {
                name::check_stream(&stream)?;
            }
            if producer.is_empty() || producer.contains('\n') {
                return Err(
                    "the name of a producer is one line of text: give one, with --producer".to_owned()
                );
            }
            atomic_file::make_folder(&dir).map_err(|cause| format!("{}: {cause}", dir.display()))?;
            check_owner(&dir)?;
            let (token, text) = Tokens::of(&dir).make(&producer, &stream, &scope)?;
            note(format_args!("token {} was made: this is the only time that it is shown", token.id));
            print(&text)
        }
        TokenCommand::List { dir } => {
            check_owner(&dir)?;
            for token in Tokens::of(&dir).all() {
                let scopes = token.scopes.iter().filter_map(Scope::to_possible_value);
                let scopes: Vec<String> = scopes.map(|scope| scope.get_name().to_owned()).collect();
                let (id, stream, producer, made) = (token.id, token.stream, token.producer, token.made);
                print(&format!(
                    "{id}  stream {stream}  producer {producer}  {}  made {made}",
                    scopes.join(",")
                ))?;
            }
            Ok(())
        }
        TokenCommand::Revoke { dir, id } => {
            check_owner(&dir)?;
            Tokens::of(&dir).revoke(&id)?;
            note(format_args!("token {id} is revoked"));
            Ok(())
        }
    }
}

/// Fails if the service, which runs as the owner of the folder, could not read files created here.
fn check_owner(dir: &Path) -> Result<()> {
    let owner = std::fs::metadata(dir).map_err(|cause| format!("{}: {cause}", dir.display()))?;
    if owner.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(format!(
        "{} belongs to another user, who could not read what is written here: run this as that user, with `sudo -u`",
        dir.display()
    ))
}

fn restore(dir: &Path, stream: &str) -> Result<()> {
    name::check_stream(stream)?;
    let folder = dir.join("streams").join(stream);
    check_owner(dir)?;
    let _alone = lock_folder(dir)?;
    let header = Header::read(&folder).map_err(|cause| cause.to_string())?;
    // Without a witness only the operator knows that it is a copy.
    let force = header.witness.is_none();
    let goes_on = match header.keys {
        KeyKind::Bytes => accept::<frostpane::Bytes>(&folder, force)?,
        KeyKind::Integers => accept::<u64>(&folder, force)?,
    };
    let goes_on = Timestamp::from_microsecond(goes_on).map_or_else(|_| String::new(), |at| at.to_string());
    note(format_args!("all of the past of {stream} is spent: it takes events again from {goes_on} on"));
    Ok(())
}

/// Marks the past of a state as spent, if necessary. Returns the moment from which it continues.
fn accept<K: StoredKey>(folder: &Path, force: bool) -> Result<i64> {
    let store = Store::<K>::accept_restored(folder, force).map_err(|cause| cause.to_string())?;
    Ok(store.stream().now())
}

fn begin(args: &ServeArgs) -> Result<()> {
    let is_open = !args.listen.ip().is_loopback();
    if is_open && args.tls_cert.is_none() && !args.behind_proxy {
        return Err(format!(
            "{} can be reached from other machines, and tokens would go there unencrypted: give --tls-cert and --tls-key, or --behind-proxy if \
             something in front of it has them",
            args.listen
        ));
    }
    let files = args.tls_cert.as_ref().zip(args.tls_key.as_ref());
    let tls = files.map(|(certificate, key)| Certificates::read(certificate, key)).transpose()?.map(Arc::new);
    let made_up = args.demo.then(Demo::folder).transpose()?;
    let dir = made_up.clone().or(args.dir.clone()).unwrap_or_default();
    // One more than processors, because one thread may wait for a file.
    let workers = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // Polls sockets after a few tasks rather than dozens.
        .event_interval(4)
        .global_queue_interval(4)
        .worker_threads(workers)
        .enable_all()
        .build()
        .map_err(|cause| cause.to_string())?;
    let done = runtime.block_on(until_stopped(args, &dir, tls));
    // Does not wait for threads that a hung disk blocks.
    runtime.shutdown_background();
    if let Some(made_up) = made_up {
        let _ = std::fs::remove_dir_all(made_up);
    }
    done
}

async fn until_stopped(args: &ServeArgs, dir: &Path, tls: Option<Arc<Certificates>>) -> Result<()> {
    let to_text = |cause: std::io::Error| cause.to_string();
    let listener =
        TcpListener::bind(args.listen).await.map_err(|cause| format!("{}: {cause}", args.listen))?;
    let witness = args.witness.as_deref();
    let witness = witness.map(|witness| witness_folder(witness, dir)).transpose()?;
    if args.demo {
        tell("making up the last minutes of three streams");
        Demo::prepare(dir)?;
    }
    let mut interrupt = signal(SignalKind::interrupt()).map_err(to_text)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(to_text)?;
    let mut reloading = JoinSet::new();
    reloading.spawn(reload(signal(SignalKind::hangup()).map_err(to_text)?, tls.clone()));
    let mut service = Service::open(dir, witness, limits(args))?;
    service.demo = args.demo;
    let service = Arc::new(service);
    let pulling = sources(args, &service)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = listener.local_addr().map_err(to_text)?;
    let demo = args.demo.then(|| Demo::begin(&service)).transpose()?;
    if let Some(probe) = args.probe {
        let probe = probe::start(probe, service.clone())?;
        tell(format_args!("probes are answered at http://{probe}"));
    }
    tell(format_args!("listening on {scheme}://{address}"));
    if let Some(demo) = &demo {
        tell(format_args!("look at {scheme}://{address}/ - the events are made up"));
        tell(format_args!("the operator's token of this demo: {}", demo.token));
    }
    let _pulling = pulling;
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tell("stopping: what was acknowledged is kept, and no slide ends early");
    };
    serve(listener, tls, app(service.clone()), service, stop).await;
    drop(demo);
    tell("stopped");
    Ok(())
}

/// Starts pulling from sources; stops when the result is dropped.
fn sources(args: &ServeArgs, service: &Service) -> Result<JoinSet<()>> {
    let mut pulling = JoinSet::new();
    for (number, (from, into)) in args.from.iter().zip(&args.into).enumerate() {
        let source = JetStream::new(from, into, credentials(args, number)?)?;
        match service.stream(into) {
            Some(stream) => drop(pulling.spawn(pull(source, stream))),
            None if service.failed().contains(into) => {
                log::of_stream(into, "nothing is pulled into it, because its state cannot be opened")
            }
            None => {
                return Err(format!(
                    "there is no stream {into}: start without --from first, and create it with PUT /v1/streams/{into}"
                ));
            }
        }
    }
    if args.from.len() != args.into.len() {
        return Err("give as many --into as --from: the stream that each source goes to".to_owned());
    }
    Ok(pulling)
}

fn credentials(args: &ServeArgs, source: usize) -> Result<Option<PathBuf>> {
    match args.from_credentials.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        all if all.len() == args.from.len() => Ok(Some(all[source].clone())),
        _ => Err("give --from-credentials once for all sources, or as often as --from".to_owned()),
    }
}

fn witness_folder(path: &Path, dir: &Path) -> Result<PathBuf> {
    let failed = |cause: std::io::Error| format!("{}: {cause}", path.display());
    atomic_file::make_folder(path).map_err(failed)?;
    atomic_file::make_folder(dir).map_err(failed)?;
    let (path, dir) = (path.canonicalize().map_err(failed)?, dir.canonicalize().map_err(failed)?);
    if path.starts_with(dir) {
        return Err(format!(
            "the witnesses would lie in the folder of the service, {}, and be restored with it: give --witness another \
             place, on another disk if possible",
            path.display()
        ));
    }
    Ok(path)
}

fn limits(args: &ServeArgs) -> Limits {
    let asked = args.limits.connections;
    let connections = leave_room(asked, raise_file_limit());
    if connections < asked {
        tell(format_args!(
            "at most {connections} connections, as many again are left for files of the streams: let it have more files for more"
        ));
    }
    let (pulled, behind_proxy) = (args.into.clone(), args.behind_proxy);
    Limits { connections, pulled, behind_proxy, ..args.limits.clone() }
}

/// Raises the limit of open files as far as the machine allows and returns it; `None` if there is no limit.
fn raise_file_limit() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).map_or(before, |()| limit.maximum)
}

/// Reduces a number of connections so that half of the files are left to the streams.
fn leave_room(connections: usize, most: Option<u64>) -> usize {
    let half = most.map_or(usize::MAX, |most| usize::try_from(most / 2).unwrap_or(usize::MAX));
    connections.min(half.max(1))
}

/// Reads the certificate again at every SIGHUP. Tokens are read whenever their file changes.
async fn reload(mut hangup: Signal, tls: Option<Arc<Certificates>>) {
    while hangup.recv().await.is_some() {
        match tls.as_ref().map(|tls| tls.reload()) {
            None => tell("SIGHUP: there is no certificate to read; tokens are read whenever they change"),
            Some(Ok(())) => {
                tell("SIGHUP: the certificate was read again, and is used from the next connection on")
            }
            Some(Err(cause)) => tell(format_args!(
                "SIGHUP: the certificate could not be read, and stays what it was: {cause}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_streams() {
        assert_eq!(leave_room(4_096, Some(1_024)), 512);
        assert_eq!(leave_room(4_096, Some(65_536)), 4_096);
        assert_eq!(leave_room(4_096, None), 4_096);
    }
}
