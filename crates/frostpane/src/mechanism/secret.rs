//! Values that only a private mechanism may read.

/// A number that depends on the events. It can be passed to a mechanism of this module and nothing
/// else: the output is private, and the input cannot be read.
#[derive(Clone, Copy)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    pub(in crate::mechanism) fn open(self) -> T {
        self.0
    }
}

/// A secret number with a bound that is cheaper to compute.
pub trait Bounded {
    /// An upper bound on the number.
    fn at_most(&mut self) -> Secret<u64>;

    /// The number.
    fn exactly(&mut self) -> Secret<u64>;
}

impl Bounded for Secret<u64> {
    fn at_most(&mut self) -> Secret<u64> {
        *self
    }

    fn exactly(&mut self) -> Secret<u64> {
        *self
    }
}
