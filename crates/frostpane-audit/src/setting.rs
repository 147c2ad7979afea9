//! The parameters that a check runs the mechanism with.

use frostpane::audit::{Audit, Mutant};
use frostpane::{Bounds, Builder, HeavyHitters, Keys, Norm, Policy, Result, Unit};
use serde::Serialize;

/// Whether keys are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// Any key that occurs may be named.
    Open,
    /// Keys are known in advance.
    Declared,
}

/// The parameters that a privacy claim is made for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Whether keys are declared.
    pub keys: KeyKind,
    /// What heavy is relative to.
    pub norm: Norm,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
}

/// Parameters of a deployment, in place of those that checks choose for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deployment {
    /// Only checks of such keys.
    pub keys: Option<KeyKind>,
    /// Only checks of this norm.
    pub norm: Option<Norm>,
    /// This epsilon.
    pub epsilon: Option<f64>,
    /// This delta, for open keys.
    pub delta: Option<f64>,
}

impl Setting {
    /// Open keys.
    pub const fn open(norm: Norm, epsilon: f64, delta: f64) -> Self {
        Self {
            keys: KeyKind::Open,
            norm,
            epsilon,
            delta,
        }
    }

    /// Declared keys.
    pub const fn declared(norm: Norm, epsilon: f64) -> Self {
        Self {
            keys: KeyKind::Declared,
            norm,
            epsilon,
            delta: 0.0,
        }
    }

    /// With the parameters of a deployment, unless that has other keys or another norm.
    pub fn with(self, deployment: &Deployment) -> Option<Self> {
        if deployment.keys.is_some_and(|keys| keys != self.keys)
            || deployment.norm.is_some_and(|norm| norm != self.norm)
        {
            return None;
        }
        Some(Self {
            epsilon: deployment.epsilon.unwrap_or(self.epsilon),
            delta: match self.keys {
                KeyKind::Open => deployment.delta.unwrap_or(self.delta),
                KeyKind::Declared => 0.0,
            },
            ..self
        })
    }

    /// A builder with these parameters; so small an alpha that it asks for less than privacy does.
    /// Declared keys are `0..universe`.
    pub fn builder(&self, universe: u64) -> Result<Builder<u64>> {
        Ok(self.plain(universe)?.policy(Policy::Uniform).sketch(3, 64))
    }

    /// The same where people are protected. For L1 every key is listed that privacy allows: the norm is noisy, and would decide.
    pub fn builder_of_users(&self, universe: u64, bounds: Bounds) -> Result<Builder<u64>> {
        let builder = self.plain(universe)?.unit(Unit::User(bounds));
        Ok(match self.norm {
            Norm::L1 => builder.all(),
            Norm::L2 => builder,
        })
    }

    fn plain(&self, universe: u64) -> Result<Builder<u64>> {
        let keys = match self.keys {
            KeyKind::Open => Keys::open(),
            KeyKind::Declared => Keys::range(0..universe)?,
        };
        Ok(HeavyHitters::builder(keys)
            .norm(self.norm)
            .alpha(0.1)
            .epsilon(self.epsilon)
            .delta(self.delta))
    }

    /// The least noisy count that is listed.
    pub fn threshold(&self, universe: u64, mutant: Option<Mutant>) -> Result<u64> {
        let mut audited = Audit::of(self.builder(universe)?, mutant).build()?;
        Ok(audited.inside()?.threshold.value())
    }
}
