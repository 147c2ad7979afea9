//! What the program can be told.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::token::Scope;

/// Private lists of what is trending, as a service: events in over HTTP, lists out at every slide.
///
/// Everything is kept in one folder. Without --tls-cert it listens on this machine alone, unless a proxy in front of it has the
/// certificate (--behind-proxy).
#[derive(Parser)]
#[command(
    name = "frostpane-server",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
#[command(after_help = "\
Examples:
  Something to look at, at once:
    frostpane-server --demo
  A service, and a token for its operator:
    frostpane-server token add state --scope admin --scope ingest --scope release --scope read --producer me
    frostpane-server state")]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(clap::Args)]
pub struct ServeArgs {
    /// The folder that keeps everything; made if it is not there
    #[arg(value_name = "DIR", required_unless_present = "demo", conflicts_with = "demo")]
    pub dir: Option<PathBuf>,

    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub listen: SocketAddr,

    /// Where probes are answered too (/healthz, /readyz, and /metrics if it is on this machine), on a thread of their own without TLS
    #[arg(long, value_name = "ADDRESS")]
    pub probe: Option<SocketAddr>,

    /// Make up streams, in a folder that is gone afterwards, and show them
    #[arg(long, conflicts_with_all = ["witness", "from"])]
    pub demo: bool,

    /// A folder outside of DIR, on another disk if possible, for a witness of each stream: a copy that was restored is then noticed
    #[arg(long, value_name = "DIR")]
    pub witness: Option<PathBuf>,

    /// The certificate and those above it, in PEM: without it, only this machine can connect
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// A proxy in front of it has the certificate: listen also where others can connect
    #[arg(long)]
    pub behind_proxy: bool,

    /// Pull events from a stream of NATS JetStream, as JSON Lines: nats://HOST:PORT/STREAM; may be given several times
    #[arg(long, value_name = "URL", requires = "into")]
    pub from: Vec<String>,

    /// A file with USER:PASSWORD, or with a token, for --from; once for all of them, or as often as --from. It is read at every connect
    #[arg(long, value_name = "FILE", requires = "from")]
    pub from_credentials: Vec<PathBuf>,

    /// The stream that the events of --from go to; as often as that
    #[arg(long, value_name = "NAME", requires = "from")]
    pub into: Vec<String>,

    /// The clock of this machine is right, although a stream's stood still for more than a day
    #[arg(long)]
    pub accept_clock: bool,

    /// How many seconds later than the clock of this machine an event may be, and count as of now; what is later is left out
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub tolerance: u32,

    /// Pages of this origin may read, such as https://example.org; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Vec<String>,

    /// The most megabytes of events in one request, unpacked
    #[arg(long, value_name = "MB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub most_body: u32,

    /// The most events in one request
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_events: u32,

    /// The most megabytes of memory that a new stream may be asked to take
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_memory: u32,

    /// The most megabytes on disk of one stream: it takes no events and ends no slides while it has more
    #[arg(long, value_name = "MB", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_disk: u32,

    /// The most transactions a second of one stream: requests that come meanwhile share one
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_commits: u32,

    /// The most connections at once
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub most_connections: u32,

    /// The most requests a second from one address that have no token
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_requests: u32,

    /// How many seconds a request may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub most_seconds: u32,
}

#[derive(Subcommand)]
pub enum Command {
    /// Make, show or revoke tokens; also while the service runs
    #[command(subcommand)]
    Token(TokenCommand),
    /// Go on with a stream that was restored from a copy, after marking all of its past as spent; while the service is stopped
    Restore {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// The stream
        #[arg(value_name = "NAME")]
        stream: String,
    },
    /// Write the description of all routes, as OpenAPI
    Openapi,
}

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make a token; it is written once, and cannot be found out again
    Add {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Which stream it is for; all of them unless told
        #[arg(long, default_value = "*")]
        stream: String,
        /// What it may do; may be given several times
        #[arg(long, required = true)]
        scope: Vec<Scope>,
        /// Whoever sends events with it: requests with an Idempotency-Key are known again by this name, also with another token
        #[arg(long, value_name = "NAME")]
        producer: String,
    },
    /// Show who may do what
    List {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Revoke a token, at once
    Revoke {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Its id, as `list` shows it
        #[arg(value_name = "ID")]
        id: String,
    },
}
