//! What an audit breaks on purpose: the few places of the private path that ask for it.
//!
//! Without the feature `audit` a fault is nothing and every question about it is answered with a constant "no".
//! With it, only [`audit`](crate::audit) makes one that is something.

/// A way to break the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// All noise is drawn for twice the epsilon: half as much as is claimed.
    HalfNoise,
    /// Open keys are listed from one below the least threshold that delta allows.
    ThresholdLessOne,
    /// What is cut from the counts of a pane follows from its keys: the decrements that Misra-Gries made.
    DataDependentCut,
    /// A continual list draws its noise again at every reading.
    RedrawnNoise,
    /// Declared keys that do not occur receive no noise.
    SilentAbsentKeys,
    /// The list comes in the order of the table it was made from.
    TableOrder,
    /// The threshold of open keys is that of continuous Laplace noise, where the noise is discrete.
    OtherThreshold,
}

/// None, or a mutant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fault {
    #[cfg(feature = "audit")]
    mutant: Option<Mutant>,
}

impl Fault {
    #[cfg(feature = "audit")]
    pub(crate) fn of(mutant: Option<Mutant>) -> Self {
        Self { mutant }
    }

    /// Whether this is how the mechanism is broken.
    #[inline(always)]
    pub(crate) fn is(self, mutant: Mutant) -> bool {
        #[cfg(feature = "audit")]
        return self.mutant == Some(mutant);
        #[cfg(not(feature = "audit"))]
        {
            let _ = mutant;
            false
        }
    }
}
