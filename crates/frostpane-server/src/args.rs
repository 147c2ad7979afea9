//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::auth::Scope;
use crate::limits::Limits;

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

    #[command(flatten)]
    pub limits: Limits,
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
