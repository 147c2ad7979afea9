//! A release that has been paid for, with the panes that it opens.

use super::one_shot::OneShot;
use crate::error::Result;
use crate::key::Key;
use crate::noise::{Entropy, OsEntropy};
use crate::privacy::ledger::Grant;
use crate::release::Release;

/// A [`Grant`] with the panes that it opens: the way from panes to a [`Release`].
/// [`HeavyHitters::pay`](crate::HeavyHitters::pay) gives one out, and nothing else does: what was not charged is not released.
///
/// It is used up by the release that it pays for:
///
/// ```compile_fail,E0382
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// let receipt = ports.pay(1_000).unwrap();
/// let first = receipt.release();
/// let second = receipt.release();
/// ```
///
/// There is no other way to one:
///
/// ```compile_fail,E0451
/// use frostpane::Receipt;
///
/// fn forged(paid: Receipt<'_, u64>) -> Receipt<'_, u64> {
///     Receipt { ..paid }
/// }
/// ```
///
/// ```compile_fail,E0599
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// let receipt = ports.pay(1_000).unwrap();
/// let copy = receipt.clone();
/// ```
///
/// And no event comes between paying and the release, which would be of events that were not charged:
///
/// ```compile_fail,E0499
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// let receipt = ports.pay(1_000).unwrap();
/// ports.update(5).unwrap();
/// let release = receipt.release();
/// ```
///
/// This compiles:
///
/// ```
/// # use frostpane::{HeavyHitters, Keys};
/// # let mut ports = HeavyHitters::builder(Keys::range(0..9).unwrap()).build().unwrap();
/// ports.update(5).unwrap();
/// let receipt = ports.pay(1_000_000).unwrap();
/// let release = receipt.release().unwrap();
/// assert!(ports.pay(1_000_000).is_err(), "an event may be in one release");
/// ```
#[must_use]
pub struct Receipt<'a, K: Key> {
    pub(super) one_shot: &'a mut OneShot<K>,
    pub(super) grant: Grant,
}

impl<K: Key> Receipt<'_, K> {
    /// Releases what was paid for. Whatever comes of it, it stays paid.
    pub fn release(self) -> Result<Release<K>> {
        self.release_with_entropy(&mut OsEntropy::new())
    }

    /// Releases with noise from a source of entropy: the privacy of the release is no better than the source.
    pub(crate) fn release_with_entropy(self, entropy: &mut impl Entropy) -> Result<Release<K>> {
        self.one_shot.release(self.grant, entropy)
    }

    #[cfg(feature = "internals")]
    pub(crate) fn inside(self) -> Result<crate::release::Unnoised<K>> {
        self.one_shot.unnoised(self.grant)
    }
}
