//! A value that only a private mechanism may look at.

/// A number that depends on the events. Whoever holds it can hand it to a mechanism of this module and
/// nothing else: what comes back is private, what went in cannot be read.
#[derive(Clone, Copy)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Seals a value.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    pub(in crate::mechanism) fn open(self) -> T {
        self.0
    }
}

/// A secret number of which a bound is known sooner than the number.
pub trait Bounded {
    /// No less than the number.
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
