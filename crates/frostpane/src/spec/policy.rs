use serde::{Deserialize, Serialize};

/// The way in which panes end and are merged as the window moves on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Panes of equal length.
    #[default]
    Uniform,
    /// Panes that are merged as they age, by the clock alone: for windows of many lengths.
    Exponential,
    /// Panes that end where the norm has grown enough, decided privately: keeps the promises on every stream.
    Smooth,
    /// Panes that begin where the windows do, because their end is known before the first event.
    Fixed,
}

/// A policy, or `auto` to choose one.
pub(super) mod or_auto {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Policy;

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum OrAuto {
        Auto,
        Uniform,
        Exponential,
        Smooth,
        Fixed,
    }

    pub fn serialize<S: Serializer>(policy: &Option<Policy>, serializer: S) -> Result<S::Ok, S::Error> {
        match policy {
            None => serializer.serialize_str("auto"),
            Some(policy) => policy.serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Policy>, D::Error> {
        Ok(match OrAuto::deserialize(deserializer)? {
            OrAuto::Auto => None,
            OrAuto::Uniform => Some(Policy::Uniform),
            OrAuto::Exponential => Some(Policy::Exponential),
            OrAuto::Smooth => Some(Policy::Smooth),
            OrAuto::Fixed => Some(Policy::Fixed),
        })
    }
}
