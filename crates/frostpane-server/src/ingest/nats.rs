//! Messages of NATS JetStream, by a durable consumer.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::{self, consumer, consumer::PullConsumer};
use futures_util::StreamExt;

/// The most messages of a batch.
const TOGETHER: usize = 512;
/// The most time for the first message of a batch.
const WAIT: Duration = Duration::from_secs(1);
/// The time after which a message that was not acknowledged comes again.
const AGAIN: Duration = Duration::from_secs(10);

/// A stream of JetStream, which delivers each message until it is acknowledged.
pub struct JetStream {
    server: String,
    stream: String,
    durable: String,
    credentials: Option<PathBuf>,
    connected: Option<(PullConsumer, jetstream::stream::Stream)>,
}

impl JetStream {
    /// A stream at `nats://HOST[:PORT]/STREAM`, read by a durable consumer of this name.
    pub fn new(address: &str, durable: &str, credentials: Option<PathBuf>) -> Result<Self, String> {
        let wrong =
            || "give --from as nats://HOST:PORT/STREAM, with the name of a JetStream stream".to_owned();
        let rest = address.strip_prefix("nats://").ok_or_else(wrong)?;
        let (server, stream) = rest.rsplit_once('/').ok_or_else(wrong)?;
        if server.contains('@') {
            return Err(
                "the address of --from has a password in it, which every user of this machine can see: write USER:PASSWORD into a file that \
                 only the service can read, name it with --from-credentials, and give --from as nats://HOST:PORT/STREAM"
                    .to_owned(),
            );
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if server.is_empty() || stream.is_empty() || !stream.chars().all(is_name) {
            return Err(wrong());
        }
        Ok(Self {
            server: format!("nats://{server}"),
            stream: stream.to_owned(),
            durable: format!("frostpane-{durable}"),
            credentials,
            connected: None,
        })
    }

    async fn connect(&self) -> Result<(PullConsumer, jetstream::stream::Stream), async_nats::Error> {
        let options = match &self.credentials {
            None => async_nats::ConnectOptions::new(),
            Some(path) => with_credentials(path)?,
        };
        let client = options.connect(&self.server).await?;
        let stream = jetstream::new(client).get_stream(&self.stream).await?;
        let config = consumer::pull::Config {
            durable_name: Some(self.durable.clone()),
            ack_policy: consumer::AckPolicy::Explicit,
            ack_wait: AGAIN,
            max_ack_pending: 4 * TOGETHER as i64,
            ..Default::default()
        };
        Ok((stream.get_or_create_consumer(&self.durable, config).await?, stream))
    }

    /// The next messages, each with an id of its own among all sources. After an error it connects anew.
    pub async fn next(&mut self) -> Result<Vec<(String, jetstream::Message)>, String> {
        let fetched = self.fetch().await;
        if fetched.is_err() {
            // The stream may be another by now.
            self.connected = None;
        }
        fetched.map_err(|cause| format!("{}: {cause}", self.server))
    }

    async fn fetch(&mut self) -> Result<Vec<(String, jetstream::Message)>, async_nats::Error> {
        if self.connected.is_none() {
            self.connected = Some(self.connect().await?);
        }
        let Some((consumer, stream)) = &self.connected else {
            return Ok(Vec::new());
        };
        // A stream that was deleted and created again under its name is another.
        let identity = format!("nats\n{}\n{}", self.stream, stream.get_info().await?.created);
        let batch = consumer.batch().max_messages(TOGETHER).expires(WAIT);
        let mut messages = batch.messages().await?;
        let mut all = Vec::new();
        while let Some(message) = messages.next().await {
            let message = message?;
            let sequence = message.info()?.stream_sequence;
            all.push((format!("{identity}\n{sequence}"), message));
        }
        Ok(all)
    }
}

/// Connection options with USER:PASSWORD, or with a token, from a file that is read at every connect.
fn with_credentials(path: &Path) -> Result<async_nats::ConnectOptions, async_nats::Error> {
    let text = fs::read_to_string(path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    let options = async_nats::ConnectOptions::new();
    Ok(match text.trim_end_matches(['\r', '\n']).split_once(':') {
        Some((user, password)) => options.user_and_password(user.to_owned(), password.to_owned()),
        None => options.token(text.trim_end().to_owned()),
    })
}
