//! State and privacy budget of Frostpane that outlive the process.
//!
//! A [`Store`] is a folder. It takes events in batches, each of which is there once and for all when it has been acknowledged; it closes
//! panes, makes releases and charges them, each in one transaction, before anything is shown. Whatever ends the process, the next one goes on where
//! it was: with the same counts, the same noise and the same accounts. `docs/state.md` is about using it, `docs/format.md` about its bytes.
//!
//! ```
//! use frostpane::{Bytes, Event, Keys, Span, Spec};
//! use frostpane_store::{Begin, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("frostpane-doc-{}", std::process::id()));
//! # let _ = std::fs::remove_dir_all(&folder);
//! let spec: Spec = serde_json::from_str(r#"{ "window": 1000, "slide": 100, "top": 3, "releases": 2 }"#)?;
//! let mut store = Store::<Bytes>::create(&folder, spec, Keys::open(), Begin::default())?;
//! let mut feed = store.feed("monday.txt")?;
//! for number in 0..900_u32 {
//!     feed.push(Event::of(if number % 3 == 0 { b"snow".as_slice() } else { b"rain" }))?;
//! }
//! feed.finish(false)?;
//! drop(store);
//!
//! // Another day, another process.
//! let mut store = Store::<Bytes>::open(&folder)?;
//! let first = store.release("monday", Span::Events(1_000))?;
//! let again = store.release("monday", Span::Events(1_000))?;
//! assert_eq!(first.json, again.json, "the same bytes, and charged once");
//! assert_eq!(store.budget()?.left, 1);
//! # drop(store);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

mod backend;
mod budget;
mod built;
mod check;
mod checksums;
mod clock;
mod compact;
mod creation;
mod delivery;
mod error;
mod feed;
mod files;
mod header;
mod history;
mod log;
mod packed;
mod release;
mod scratch;
mod secrets;
mod stopped;
mod store;
mod tables;
mod transfer;
mod witness;

pub use budget::{Budget, Period, Summary};
pub use built::Awaited;
pub use check::Checked;
pub use clock::{Clock, ClockError};
pub use compact::Dropped;
pub use delivery::{Delivery, Outcome};
pub use error::{Error, Result, Unaffordable};
pub use feed::Feed;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use files::points;
pub use header::{Header, KeyKind, StoredKey};
pub use history::{Deed, Head, Record};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use log::replay;
pub use release::{DryRun, Forms, Released};
pub use scratch::scratch;
pub use store::{Begin, List, Store};
pub use transfer::Panes;
pub use witness::remove_witness;

/// Bytes as text.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// So many random bytes from the operating system.
fn random<const N: usize>() -> Result<zeroize::Zeroizing<[u8; N]>> {
    let mut bytes = zeroize::Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|cause| {
        Error::File(format!(
            "the operating system gave no random bytes ({cause}): nothing was done"
        ))
    })?;
    Ok(bytes)
}
