//! Access tokens: each has scopes for one stream or for all. Only their hashes are stored.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::lock::Lock;
use crate::{atomic_file, sync};

const FILE: &str = "tokens.json";
/// Begins every token, so that leaked ones can be found.
const PREFIX: &str = "frostpane_";
/// Hexadecimal digits after the prefix: 256 bits.
const DIGITS: usize = 64;
/// Milliseconds for which an unknown token waits until another request has read the file.
const PATIENCE: u32 = 50;
/// Context of the hash, which separates it from every other use.
const CONTEXT: &str = "frostpane 2026-11-17 the hash of a token of the service";
const ALL: &str = "*";

/// A permission of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Send events.
    Ingest,
    /// Read the releases of a stream that is not public.
    Read,
    /// Request releases, which cost budget.
    Release,
    /// Create, change, close and delete streams, and see their health.
    Admin,
}

/// A token without its secret.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Token {
    /// Identifies the token when it is revoked.
    pub id: String,
    /// The sender of events: repeated requests are recognized by this name, also with another token.
    pub producer: String,
    /// The stream that it is for, or * for all.
    pub stream: String,
    /// Its permissions.
    pub scopes: Vec<Scope>,
    /// The time at which it was created.
    pub made: String,
    hash: String,
}

impl Token {
    /// Returns true if it has this scope for a stream; `None` is what belongs to no single stream.
    pub fn may(&self, scope: Scope, stream: Option<&str>) -> bool {
        let of_stream = self.stream == ALL || stream == Some(self.stream.as_str());
        of_stream && self.scopes.contains(&scope)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct TokenFile {
    tokens: Vec<Token>,
}

/// The tokens of a service, read again whenever their file has changed.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    known: RwLock<(FileVersion, Arc<ByHash>)>,
    /// Held by the one request that reads the file; the others use what is known.
    looking: Mutex<()>,
}

type ByHash = HashMap<[u8; blake3::OUT_LEN], Arc<Token>>;

/// Identifies a version of the file: each is a file of its own.
type FileVersion = Option<(u64, i64, i64, u64)>;

impl Tokens {
    /// The tokens in the folder of a service.
    pub fn of(folder: &Path) -> Self {
        Self { path: folder.join(FILE), known: RwLock::default(), looking: Mutex::default() }
    }

    /// Finds a token by its hash, however many there are. Only a client that knows a token can compute its
    /// hash, so the time that this takes reveals nothing.
    pub fn find(&self, text: &str) -> Option<Arc<Token>> {
        if text.strip_prefix(PREFIX)?.len() != DIGITS {
            return None;
        }
        let hash = hash(text);
        let get = || sync::read(&self.known).1.get(hash.as_bytes()).cloned();
        for _ in 0..=PATIENCE {
            let (looked, found) = (self.look(), get());
            if looked || found.is_some() {
                return found;
            }
            // Another request is reading the file, and the token may be in it.
            thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// All tokens.
    pub fn all(&self) -> Vec<Token> {
        self.read_now().map(|kept| kept.tokens).unwrap_or_default()
    }

    /// Creates a token and returns its text, which is not stored.
    pub fn make(&self, producer: &str, stream: &str, scopes: &[Scope]) -> Result<(Token, String), String> {
        let text = format!("{PREFIX}{}", hex(&random::<32>()?));
        let token = Token {
            id: hex(&random::<6>()?),
            producer: producer.to_owned(),
            stream: stream.to_owned(),
            scopes: scopes.to_vec(),
            made: Timestamp::now().to_string(),
            hash: hash(&text).to_hex().to_string(),
        };
        self.change(|kept| {
            kept.tokens.push(token.clone());
            Ok(())
        })?;
        Ok((token, text))
    }

    /// Revokes the token with this id.
    pub fn revoke(&self, id: &str) -> Result<(), String> {
        self.change(|kept| {
            let before = kept.tokens.len();
            kept.tokens.retain(|token| token.id != id);
            if kept.tokens.len() < before {
                return Ok(());
            }
            Err(format!("there is no token {id}: `frostpane-server token list` shows them"))
        })
    }

    /// Changes the file, one process at a time.
    fn change(&self, change: impl FnOnce(&mut TokenFile) -> Result<(), String>) -> Result<(), String> {
        let failed = |cause: io::Error| format!("{}: {cause}", self.path.display());
        let _alone = Lock::wait(&self.path.with_extension("lock")).map_err(failed)?;
        let mut kept = self.read_now().map_err(failed)?;
        change(&mut kept)?;
        let bytes = serde_json::to_vec_pretty(&kept).map_err(|cause| cause.to_string())?;
        atomic_file::replace(&self.path, &bytes).map_err(failed)
    }

    fn read_now(&self) -> io::Result<TokenFile> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(TokenFile::default()),
            Err(cause) => Err(cause),
        }
    }

    /// Reads the file if it has changed. Returns false if another request is reading it.
    fn look(&self) -> bool {
        // A disk that hangs delays one request and no other.
        let Ok(_alone) = self.looking.try_lock() else {
            return false;
        };
        let seen = seen(&self.path);
        if seen.is_some() && sync::read(&self.known).0 == seen {
            return true;
        }
        // While the file cannot be read, no token is valid; that is not remembered.
        let (seen, kept) = match self.read_now() {
            Ok(kept) => (seen, kept),
            Err(_) => (None, TokenFile::default()),
        };
        let by_hash = kept.tokens.into_iter().filter_map(|token| {
            Some((*blake3::Hash::from_hex(&token.hash).ok()?.as_bytes(), Arc::new(token)))
        });
        *sync::write(&self.known) = (seen, Arc::new(by_hash.collect()));
        true
    }
}

fn seen(path: &Path) -> FileVersion {
    let file = fs::metadata(path).ok()?;
    Some((file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}

fn hash(text: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(text.as_bytes());
    hasher.finalize()
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|cause| format!("the operating system gave no random bytes ({cause})"))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens are never compared with the text that was sent: a token is found by its hash alone.
    #[test]
    fn a_token_is_found_by_its_hash_and_the_others_are_not_looked_at() {
        let folder = std::env::temp_dir().join(format!("frostpane-tokens-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        atomic_file::make_folder(&folder).unwrap();
        let tokens = Tokens::of(&folder);
        let all = ["one", "other"].map(|producer| tokens.make(producer, ALL, &[Scope::Read]).unwrap());
        let found = |text: &str| tokens.find(text).map(|token| token.id.clone());
        let is_found = || all.iter().all(|(token, text)| found(text).as_ref() == Some(&token.id));
        assert!(is_found());
        let without_hash = |token: &Token| Token { hash: String::new(), ..token.clone() };
        let mut known = tokens.known.write().unwrap();
        let by_hash = known.1.iter();
        let by_hash = by_hash.map(|(hash, token)| (*hash, Arc::new(without_hash(token))));
        known.1 = Arc::new(by_hash.collect());
        drop(known);
        assert!(is_found(), "by its hash alone");
        assert_eq!(found(&all[0].1.to_uppercase()), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
