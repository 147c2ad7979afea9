//! Durable streams and privacy budgets of Frostpane.
//!
//! A [`Store`] is a folder. It ingests events in batches, which are durable once they are acknowledged. It
//! closes panes, and charges and makes releases, each in one transaction before anything is shown. If the
//! process ends, the next one goes on with the same counts, the same noise and the same accounts.
//! `docs/nightly.md` is about its use, `docs/format.md` about its bytes.
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
//! // In another process.
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

mod atomic_file;
mod backend;
mod budget;
mod check;
mod checksums;
mod clock;
mod compact;
mod creation;
mod delivery;
mod error;
mod external_panes;
mod files;
mod forget;
mod header;
mod history;
mod ingest;
mod log;
mod open;
mod packed;
mod release;
mod restore;
mod secrets;
mod source;
mod stopped;
mod store;
mod tables;
mod transaction;
mod witness;

pub use atomic_file::AtomicFile;
pub use budget::{BudgetPeriod, BudgetReport, Summary};
pub use check::CheckReport;
pub use clock::{ClockError, WallClock};
pub use compact::DropReport;
pub use delivery::{Delivery, DeliveryOutcome};
pub use error::{Error, Result, Unaffordable};
pub use external_panes::AwaitedPane;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use files::points;
pub use files::scratch;
pub use header::{Header, KeyKind, StoredKey};
pub use history::{Action, ChainHead, Record};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use log::replay;
pub use release::{DryRun, Renderings, StoredRelease};
pub use source::{SourceOutcome, SourceWriter};
pub use store::{Begin, ContinualRelease, Store};
pub use witness::remove_witness;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn random<const N: usize>() -> Result<zeroize::Zeroizing<[u8; N]>> {
    let mut bytes = zeroize::Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|cause| {
        Error::File(format!("the operating system gave no random bytes ({cause}): nothing was done"))
    })?;
    Ok(bytes)
}
