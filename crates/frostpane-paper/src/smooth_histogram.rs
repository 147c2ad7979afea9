//! Algorithm 3: the smooth histogram.
//!
//! Instances of a streaming algorithm that start at different times `t_s` of `H`, with values `x_s`. Every
//! event starts one; instances whose neighbours have nearly the same value are deleted.
//!
//! # Accuracy
//!
//! As intended, and with exact values of a `(rho, beta)`-smooth function `g`, the answer for a window is at
//! least `g` of it and at most `g/(1-rho)`. Let `t_a <= m-W+1 < t_{a+1}`. Either `t_{a+1} = t_a + 1`, and the
//! answer is exact; or what stood between them was deleted, at a time when `x_{a+1} >= (1 - beta/2) x_a`, and
//! by smoothness `x_{a+1} >= (1-rho) x_a` ever after. Values within a factor of `1 +- beta/4` leave as much
//! room as the proof asks for, and the answer has their error besides.
//!
//! For `L_2`, `beta = rho^2/2`. There are at most `2 + 2 ln(x_1)/-ln(1 - beta/2)` timestamps, since `x_{s+1}`
//! is below `(1 - beta/2) x_{s-1}` for those that stay.

use crate::answer::AlgorithmForm;

/// A streaming algorithm that a smooth histogram runs from several times on.
pub trait Instance {
    /// `x_s`, the value of the events so far.
    fn value(&self) -> f64;

    /// Resets to the empty stream: a deleted instance is used again at a later time.
    fn clear(&mut self);

    /// Memory in bytes.
    fn bytes(&self) -> u64;
}

/// An instance with the time that it started at.
#[derive(Clone, Debug)]
pub struct Stamp<A> {
    /// `t_s`.
    pub time: u64,
    /// `x_s` after the last update.
    pub value: f64,
    /// The instance, fed from `t_s` on.
    pub instance: A,
}

/// `H`, with an instance for each of its times.
#[derive(Clone, Debug)]
pub struct SmoothHistogram<A> {
    beta: f64,
    deletion: AlgorithmForm,
    stamps: Vec<Stamp<A>>,
    spare: Vec<A>,
}

impl<A: Instance> SmoothHistogram<A> {
    /// An empty histogram for a `(rho, beta)`-smooth function, with the deletion test of a form.
    pub fn new(beta: f64, deletion: AlgorithmForm) -> Self {
        assert!(0.0 < beta && beta < 1.0, "beta must be between 0 and 1, is {beta}");
        Self { beta, deletion, stamps: Vec::new(), spare: Vec::new() }
    }

    /// Counts the event at time `t`: starts an instance, feeds the event to every instance, and deletes.
    ///
    /// `make` is called if no deleted instance can be used again; `feed` is called once for each instance,
    /// the earliest first.
    pub fn update(&mut self, t: u64, make: impl FnOnce() -> A, mut feed: impl FnMut(&mut A)) {
        debug_assert!(self.stamps.last().is_none_or(|last| last.time < t), "times must rise");
        let instance = self.spare.pop().unwrap_or_else(make);
        self.stamps.push(Stamp { time: t, value: 0.0, instance });
        for stamp in &mut self.stamps {
            feed(&mut stamp.instance);
            stamp.value = stamp.instance.value();
        }
        self.delete();
    }

    /// The stamp that answers for the window that starts at `start = max(1, m-W+1)`; none before the first
    /// event. The form is that of the query; the form of the deletions is a parameter of [`Self::new`].
    pub fn query(&self, start: u64, form: AlgorithmForm) -> Option<&Stamp<A>> {
        match form {
            AlgorithmForm::Printed => self.stamps.first().filter(|first| first.time <= start),
            AlgorithmForm::Intended => {
                let after = self.stamps.partition_point(|stamp| stamp.time <= start);
                Some(&self.stamps[after.checked_sub(1)?])
            }
        }
    }

    /// All instances, the earliest first.
    pub fn stamps(&self) -> &[Stamp<A>] {
        &self.stamps
    }

    /// The times `t_1 < t_2 < ...` of `H`.
    pub fn timestamps(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.stamps.iter().map(|stamp| stamp.time)
    }

    /// Memory of `H` and its instances in bytes, without the deleted instances that are kept for later use:
    /// the paper frees them.
    pub fn bytes(&self) -> u64 {
        let held: u64 = self.stamps.iter().map(|stamp| stamp.instance.bytes()).sum();
        let beside = size_of::<Stamp<A>>() - size_of::<A>();
        held + (size_of::<Self>() + self.stamps.len() * beside) as u64
    }

    /// One pass over `H` by increasing `s`: `s - 1` is the last stamp kept, `s + 1` the next one to examine.
    /// The first and the last lack a neighbour and stay.
    fn delete(&mut self) {
        let Some(last) = self.stamps.len().checked_sub(1).filter(|&last| last >= 2) else {
            return;
        };
        let mut kept = 1;
        for s in 1..=last {
            if s == last || !self.deletes(self.stamps[kept - 1].value, self.stamps[s + 1].value) {
                self.stamps.swap(kept, s);
                kept += 1;
            }
        }
        for mut deleted in self.stamps.drain(kept..) {
            deleted.instance.clear();
            self.spare.push(deleted.instance);
        }
    }

    /// Decides by `x_{s-1}` and `x_{s+1}` whether `t_s` is deleted.
    fn deletes(&self, previous: f64, next: f64) -> bool {
        match self.deletion {
            AlgorithmForm::Printed => previous <= (1.0 - self.beta / 2.0) * next,
            AlgorithmForm::Intended => next >= (1.0 - self.beta / 2.0) * previous,
        }
    }
}
