//! Tokens: who may do what with which stream. They are kept as hashes alone.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::file;
use crate::lock::Lock;

const FILE: &str = "tokens.json";
/// What every token begins with, so that it is known for one where it should not be.
const PREFIX: &str = "frostpane_";
/// Characters after that: 256 bits.
const DIGITS: usize = 64;
/// Milliseconds that a token which is not known waits for another request to have read the file.
const PATIENCE: u32 = 50;
/// The hash is of this kind of text, and of no other.
const CONTEXT: &str = "frostpane 2026-11-17 the hash of a token of the service";
/// All streams.
const ALL: &str = "*";

/// What a token may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Bring in events.
    Ingest,
    /// Read what is published of a stream that is not public.
    Read,
    /// Ask for releases, which cost budget.
    Release,
    /// Create, change, close and delete streams, and see how they are.
    Admin,
}

/// A token, without what it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Token {
    /// By which it can be revoked.
    pub id: String,
    /// Whoever sends events with it: what they sent is known again under this name, also with another token.
    pub producer: String,
    /// The stream that it is for, or * for all.
    pub stream: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// When it was made.
    pub made: String,
    hash: String,
}

impl Token {
    /// Whether it may do this with a stream; none for what is of no single stream.
    pub fn may(&self, scope: Scope, stream: Option<&str>) -> bool {
        let of_stream = self.stream == ALL || stream == Some(self.stream.as_str());
        of_stream && self.scopes.contains(&scope)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    tokens: Vec<Token>,
}

/// The tokens of a service, read again whenever their file has changed.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    known: RwLock<(Seen, Arc<ByHash>)>,
    /// One request at a time looks at the file; the others go by what is known.
    looking: Mutex<()>,
}

/// Tokens by their hashes.
type ByHash = HashMap<[u8; blake3::OUT_LEN], Arc<Token>>;

/// What tells one version of the file from another: each is a file of its own.
type Seen = Option<(u64, i64, i64, u64)>;

impl Tokens {
    /// Those of a service's folder.
    pub fn of(folder: &Path) -> Self {
        Self {
            path: folder.join(FILE),
            known: RwLock::default(),
            looking: Mutex::default(),
        }
    }

    /// The token that this text is, if it is one: found by its hash, however many there are. Only whoever knows a token can make its hash,
    /// so how long that takes tells nothing.
    pub fn find(&self, text: &str) -> Option<Arc<Token>> {
        let secret = text.strip_prefix(PREFIX)?;
        if secret.len() != DIGITS {
            return None;
        }
        let hash = hash(text);
        let get = || {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            known.1.get(hash.as_bytes()).cloned()
        };
        // It may be one that another request is just reading.
        let mut looked = self.look();
        let mut found = get();
        for _ in 0..PATIENCE {
            if looked || found.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
            looked = self.look();
            found = get();
        }
        found
    }

    /// All of them.
    pub fn all(&self) -> Vec<Token> {
        self.read_now().map(|kept| kept.tokens).unwrap_or_default()
    }

    /// Makes one. It is returned once, and cannot be found out again.
    pub fn make(&self, producer: &str, stream: &str, scopes: &[Scope]) -> Result<(Token, String), String> {
        let secret = random::<32>()?;
        let text = format!("{PREFIX}{}", hex(&secret));
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

    /// Revokes the one with this id.
    pub fn revoke(&self, id: &str) -> Result<(), String> {
        self.change(|kept| {
            let before = kept.tokens.len();
            kept.tokens.retain(|token| token.id != id);
            match kept.tokens.len() < before {
                true => Ok(()),
                false => Err(format!(
                    "there is no token {id}: `frostpane-server token list` shows them"
                )),
            }
        })
    }

    /// Changes what is kept, one process at a time.
    fn change(&self, change: impl FnOnce(&mut Kept) -> Result<(), String>) -> Result<(), String> {
        let failed = |cause: io::Error| format!("{}: {cause}", self.path.display());
        let _alone = Lock::wait(&self.path.with_extension("lock")).map_err(failed)?;
        let mut kept = self.read_now().map_err(failed)?;
        change(&mut kept)?;
        let bytes = serde_json::to_vec_pretty(&kept).map_err(|cause| cause.to_string())?;
        file::replace(&self.path, &bytes).map_err(failed)
    }

    fn read_now(&self) -> io::Result<Kept> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(cause) => Err(cause),
        }
    }

    /// Reads the file if it is another than the one that is known. Returns false where another request does.
    fn look(&self) -> bool {
        // A disk that does not answer keeps one request waiting, and no other.
        let Ok(_alone) = self.looking.try_lock() else {
            return false;
        };
        let seen = seen(&self.path);
        let known = |tokens: &Self| tokens.known.read().unwrap_or_else(PoisonError::into_inner).0;
        if seen.is_some() && known(self) == seen {
            return true;
        }
        // As long as it cannot be read nobody has a token; that is not remembered.
        let (seen, kept) = match self.read_now() {
            Ok(kept) => (seen, kept),
            Err(_) => (None, Kept::default()),
        };
        let by_hash = kept.tokens.into_iter().filter_map(|token| {
            let hash = blake3::Hash::from_hex(&token.hash).ok()?;
            Some((*hash.as_bytes(), Arc::new(token)))
        });
        let by_hash = Arc::new(by_hash.collect());
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = (seen, by_hash);
        true
    }
}

/// Which version of the file is there.
fn seen(path: &Path) -> Seen {
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

    /// However many tokens there are, none is compared with what was sent: it is found where its hash is, whatever stands in it and in the others.
    #[test]
    fn a_token_is_found_by_its_hash_and_the_others_are_not_looked_at() {
        let folder = std::env::temp_dir().join(format!("frostpane-tokens-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        file::make_folder(&folder).unwrap();
        let tokens = Tokens::of(&folder);
        let all = ["one", "other"].map(|producer| tokens.make(producer, ALL, &[Scope::Read]).unwrap());
        let found = |text: &str| tokens.find(text).map(|token| token.id.clone());
        let is_found = || {
            all.iter()
                .all(|(token, text)| found(text).as_ref() == Some(&token.id))
        };
        assert!(is_found());
        let without_hash = |token: &Token| Token {
            hash: String::new(),
            ..token.clone()
        };
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
