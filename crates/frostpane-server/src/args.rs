//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::auth::Scope;

/// Private heavy hitters as a service: events come in over HTTP, releases go out.
///
/// All data is in one folder. Without --tls-cert it listens on this machine alone, unless a proxy in front of
/// it has the certificate (--behind-proxy).
#[derive(Parser)]
#[command(
    name = "frostpane-server",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
#[command(after_help = "\
Examples:
  Try it:
    frostpane-server --demo
  A service, and a token for its operator:
    frostpane-server token add state --scope admin --scope ingest --scope release --scope read --producer me
    frostpane-server state")]
pub struct ServerArgs {
    #[command(subcommand)]
    pub command: Option<ServerCommand>,

    #[command(flatten)]
    pub serve: ServeArgs,
}

#[derive(clap::Args)]
pub struct ServeArgs {
    /// The folder of all data; created if necessary
    #[arg(value_name = "DIR", required_unless_present = "demo", conflicts_with = "demo")]
    pub dir: Option<PathBuf>,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878")]
    pub listen: SocketAddr,

    /// Also answer probes here (/healthz, /readyz, and /metrics on this machine), on a thread of their own
    /// without TLS
    #[arg(long, value_name = "ADDRESS")]
    pub probe: Option<SocketAddr>,

    /// Show streams of synthetic events, in a folder that is deleted afterwards
    #[arg(long, conflicts_with_all = ["witness", "from"])]
    pub demo: bool,

    /// A folder outside of DIR, on another disk if possible, for a witness of each stream: it reveals a
    /// restored copy
    #[arg(long, value_name = "DIR")]
    pub witness: Option<PathBuf>,

    /// The certificate and its chain, in PEM; without it, only this machine can connect
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// A proxy in front of the service has the certificate: listen also where others can connect
    #[arg(long)]
    pub behind_proxy: bool,

    /// Pull events from a NATS JetStream stream, as JSON Lines: nats://HOST:PORT/STREAM; may be repeated
    #[arg(long, value_name = "URL", requires = "into")]
    pub from: Vec<String>,

    /// A file with USER:PASSWORD, or with a token, for --from; once for all, or once for each. Read at every
    /// connect
    #[arg(long, value_name = "FILE", requires = "from")]
    pub from_credentials: Vec<PathBuf>,

    /// The stream that the events of --from go to; once for each
    #[arg(long, value_name = "NAME", requires = "from")]
    pub into: Vec<String>,

    /// Trust the clock of this machine, although a stream stood still for more than a day
    #[arg(long)]
    pub accept_clock: bool,

    /// By how many seconds an event may be ahead of the clock and count as of now; events further ahead are
    /// left out
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub tolerance: u32,

    /// An origin whose pages may read, such as https://example.org; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Vec<String>,

    /// The most megabytes of events in one request, decompressed
    #[arg(long, value_name = "MB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub most_body: u32,

    /// The most events in one request
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_events: u32,

    /// The most megabytes of memory that a new stream may use
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_memory: u32,

    /// The most megabytes on disk of one stream: above them it takes no events and ends no slides
    #[arg(long, value_name = "MB", default_value_t = 16_384, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_disk: u32,

    /// The most transactions a second of one stream: requests that arrive meanwhile share one
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_commits: u32,

    /// The most connections at once
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub most_connections: u32,

    /// The most requests a second from one address without a token
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub most_requests: u32,

    /// The most seconds that a request may take
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub most_seconds: u32,
}

#[derive(Subcommand)]
pub enum ServerCommand {
    /// Create, list or revoke tokens; also while the service runs
    #[command(subcommand)]
    Token(TokenCommand),
    /// Continue a stream that was restored from a copy, with all of its past marked as spent; while the
    /// service is stopped
    Restore {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// The stream
        #[arg(value_name = "NAME")]
        stream: String,
    },
    /// Print the OpenAPI document of all routes
    Openapi,
}

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Create a token; it is printed once, and not stored
    Add {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// The stream that it is for; all streams by default
        #[arg(long, default_value = "*")]
        stream: String,
        /// A permission; may be repeated
        #[arg(long, required = true)]
        scope: Vec<Scope>,
        /// The sender of events: requests with an Idempotency-Key are recognized by this name, also with
        /// another token
        #[arg(long, value_name = "NAME")]
        producer: String,
    },
    /// List tokens and their permissions
    List {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Revoke a token at once
    Revoke {
        /// The folder of the service
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Its id, as shown by `list`
        #[arg(value_name = "ID")]
        id: String,
    },
}
