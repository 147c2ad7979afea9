//! The parameters that a check runs the mechanism with.

use frostpane::testing::audit::{Audit, Mutant};
use frostpane::{Bounds, Builder, HeavyHitters, Keys, Norm, Policy, Result, Unit};
use serde::Serialize;

/// The keys that a release may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyDomain {
    /// Any key that occurs.
    Open,
    /// Keys that are declared in advance.
    Declared,
}

/// The parameters that a privacy claim is made for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The keys that a release may name.
    pub keys: KeyDomain,
    /// The norm that heaviness is relative to.
    pub norm: Norm,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
}

/// Parameters of a deployment, which override those of checks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deployment {
    /// Selects checks with such keys.
    pub keys: Option<KeyDomain>,
    /// Selects checks of this norm.
    pub norm: Option<Norm>,
    /// This epsilon.
    pub epsilon: Option<f64>,
    /// This delta, for open keys.
    pub delta: Option<f64>,
}

/// Open keys.
pub const fn open(norm: Norm, epsilon: f64, delta: f64) -> Setting {
    Setting { keys: KeyDomain::Open, norm, epsilon, delta }
}

/// Declared keys.
pub const fn declared(norm: Norm, epsilon: f64) -> Setting {
    Setting { keys: KeyDomain::Declared, norm, epsilon, delta: 0.0 }
}

impl Setting {
    /// Applies the parameters of a deployment; none if it has other keys or another norm.
    pub fn with(self, deployment: &Deployment) -> Option<Self> {
        if deployment.keys.is_some_and(|keys| keys != self.keys)
            || deployment.norm.is_some_and(|norm| norm != self.norm)
        {
            return None;
        }
        Some(Self {
            epsilon: deployment.epsilon.unwrap_or(self.epsilon),
            delta: match self.keys {
                KeyDomain::Open => deployment.delta.unwrap_or(self.delta),
                KeyDomain::Declared => 0.0,
            },
            ..self
        })
    }

    /// A builder with these parameters, and an alpha so small that it requires less than privacy does.
    /// Declared keys are `0..universe`.
    pub fn builder(&self, universe: u64) -> Result<Builder<u64>> {
        Ok(self.plain(universe)?.policy(Policy::Uniform).sketch(3, 64))
    }

    /// A builder that protects users. For L1 it lists every key that privacy allows, because the noisy norm
    /// would decide otherwise.
    pub fn builder_of_users(&self, universe: u64, bounds: Bounds) -> Result<Builder<u64>> {
        let builder = self.plain(universe)?.unit(Unit::User(bounds));
        Ok(match self.norm {
            Norm::L1 => builder.all(),
            Norm::L2 => builder,
        })
    }

    fn plain(&self, universe: u64) -> Result<Builder<u64>> {
        let keys = match self.keys {
            KeyDomain::Open => Keys::open(),
            KeyDomain::Declared => Keys::range(0..universe)?,
        };
        Ok(HeavyHitters::builder(keys).norm(self.norm).alpha(0.1).epsilon(self.epsilon).delta(self.delta))
    }

    /// The least noisy count that is listed.
    pub fn threshold(&self, universe: u64, mutant: Option<Mutant>) -> Result<u64> {
        let mut audited = Audit::of(self.builder(universe)?, mutant).build()?;
        Ok(audited.inside()?.threshold.value())
    }
}
