//! Faults: ways to break the mechanism on purpose, at the few places of the private path that ask for them.
//!
//! Without the feature `mutants` a fault is nothing and every question about it is answered with a constant "no".
//! With it, only `audit` makes one that is something.

macro_rules! mutants {
    ($($(#[$doc:meta])* $mutant:ident $name:literal)*) => {
        /// A way to break the mechanism. Without the feature it is only what questions are about: the `Mutant` of `audit`,
        /// with which one is asked for, is then another, that has no values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutant {
            $($(#[$doc])* $mutant,)*
        }

        #[cfg(feature = "mutants")]
        impl Mutant {
            /// All of them.
            pub const ALL: [Self; 14] = [$(Self::$mutant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$mutant => $name,)*
                }
            }
        }
    };
}

mutants! {
    /// All noise is drawn for twice the epsilon: half as much as is claimed.
    HalfNoise "half-noise"
    /// Open keys are listed from one below the least threshold that delta allows.
    ThresholdLessOne "threshold-less-one"
    /// What is cut from the counts of a pane follows from its keys: the decrements that Misra-Gries made. Where users are protected:
    /// from how much they did.
    DataDependentCut "data-dependent-cut"
    /// A continual list draws its noise again at every reading.
    RedrawnNoise "redrawn-noise"
    /// Declared keys that do not occur receive no noise.
    SilentAbsentKeys "silent-absent-keys"
    /// The list comes in the order of the table it was made from.
    TableOrder "table-order"
    /// The threshold of open keys is that of continuous Laplace noise, where the noise is discrete.
    OtherThreshold "other-threshold"
    /// Where users are protected, events move the clock: one from the future closes panes.
    ClockFromData "clock-from-data"
    /// Noise and threshold are those for users with a single key.
    ForgottenKeys "forgotten-keys"
    /// Norms are measured as if an epoch were in no more windows than a pane is.
    ForgottenWindows "forgotten-windows"
    /// The number of events of users is shown without noise.
    TrueTotal "true-total"
    /// Epochs without events have no account.
    NoEmptyEpochs "no-empty-epochs"
    /// A key that a user comes to later in an epoch takes the place of one that has been counted.
    RevisedAdmission "revised-admission"
    /// What users had contributed before a pane is not known any more.
    SecondMap "second-map"
}

/// None, or a mutant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fault {
    #[cfg(feature = "mutants")]
    mutant: Option<Mutant>,
}

impl Fault {
    #[cfg(feature = "mutants")]
    pub(crate) fn of(mutant: Option<Mutant>) -> Self {
        Self { mutant }
    }

    /// Returns true if this is how the mechanism is broken.
    #[inline(always)]
    pub(crate) fn is(self, mutant: Mutant) -> bool {
        #[cfg(feature = "mutants")]
        return self.mutant == Some(mutant);
        #[cfg(not(feature = "mutants"))]
        {
            let _ = mutant;
            false
        }
    }
}

#[cfg(not(feature = "mutants"))]
const _: () = assert!(size_of::<Fault>() == 0, "without the feature a fault is nothing");
