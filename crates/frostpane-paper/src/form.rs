//! The printed and the intended form of an algorithm.

/// The form of a line of the paper that runs: as printed, or as its proof reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgorithmForm {
    /// Word for word.
    ///
    /// Algorithm 3 deletes `t_s` if `x_{s-1} <= (1 - beta/2) x_{s+1}`. A suffix that starts earlier has the
    /// larger value, so this is never true of exact values and nothing is deleted. Its query takes the
    /// *smallest* index with `t_s <= m-W+1`, which is `t_1`: the whole stream, whatever the window.
    ///
    /// Algorithm 4's query takes the *largest* index with `t_s > m-W+1`, which is the last timestamp: the
    /// answer is 1 or 0, whatever the count.
    Printed,
    /// The form that the proofs use.
    ///
    /// Algorithm 3 deletes `t_s` if `x_{s+1} >= (1 - beta/2) x_{s-1}`, and its query takes the *largest*
    /// index with `t_s <= m-W+1`. Algorithm 4's query takes the *smallest* index with `t_s >= m-W+1`.
    Intended,
}
