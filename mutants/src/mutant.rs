//! A small change of the source.

use serde::{Deserialize, Serialize};

/// The kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Genre {
    /// A function returns a typical value at once.
    Body,
    /// A binary operator becomes another.
    Operator,
    /// A `!` or `-` is removed.
    Unary,
    /// An arm of a `match` with a wildcard is deleted.
    Arm,
    /// The guard of an arm is always true, or never.
    Guard,
    /// The condition of an `if` or `while` is always true, or never.
    Condition,
    /// A statement is deleted.
    Statement,
    /// An integer is one less, and 0 is 1.
    Literal,
    /// A named number is one less, and half of it if it is a float, wherever it is used at run time.
    Constant,
}

#[derive(Clone, Debug)]
pub struct SourceMutant {
    /// Number in the instrumented copy, from 1.
    pub id: u32,
    /// Relative to `src`, after the name of the package if it is not the library's.
    pub file: String,
    /// From 1.
    pub line: usize,
    pub genre: Genre,
    /// File, function and change, so that edits elsewhere do not change it.
    pub name: String,
}

/// A place of the source with mutants.
#[derive(Clone, Debug)]
pub struct Site {
    /// Byte range in the source.
    pub range: std::ops::Range<usize>,
    pub shape: SiteShape,
    /// Number and replacement of each mutant.
    pub mutants: Vec<(u32, String)>,
}

/// The form of the switch between the original and its mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SiteShape {
    /// At the beginning of a function: the replacements are returned.
    Body,
    /// After the pattern of an arm without a guard.
    Arm,
    /// Around the guard of an arm that is deleted.
    GuardedArm,
    /// Around a statement that is deleted.
    Statement,
    /// Around an expression that is replaced.
    Expression,
}
