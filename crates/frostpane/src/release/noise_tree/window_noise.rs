//! The noise of a window of many panes.

use crate::error::{Error, Result};
use crate::noise::gaussian_delta::rho_for;
use crate::noise::{DiscreteGaussian, DiscreteLaplace, Inversion, Noise, NoiseSum};
use crate::privacy::Epsilon;
use crate::release::noise_tree::Tree;
use crate::spec::{Bounds, Unit};

/// Entries of its tables for each unit of the scale, beside those for each noise value that adds up.
const TABLE_ENTRIES: f64 = 320.0;
/// The same of a Gaussian distribution, for each unit of its standard deviation.
const GAUSSIAN_ENTRIES: f64 = 10.0;
const ENTRY: f64 = 16.0;
/// The most entries, however much memory there is: more would take minutes to compute.
const MOST_ENTRIES: f64 = (1 << 24) as f64;
/// While an entry of a Gaussian distribution is computed it takes as much as so many.
const GAUSSIAN_RECKONING: f64 = 8.0;
/// The part of delta that Gaussian noise takes: the tails of a threshold are the steeper, so that they get by with less.
const GAUSSIAN_SHARE: f64 = 0.75;

/// One value for each node of a tree, and the sum of those that make up a window.
#[derive(Clone, Debug)]
pub struct WindowNoise {
    /// Which panes share noise.
    pub tree: Tree,
    /// Draws the noise of a node.
    pub sampler: Inversion,
    /// The noise of a window.
    pub sum: NoiseSum,
    /// The noise of a node that was not chosen, if there was a choice.
    pub other: Option<Noise>,
}

impl WindowNoise {
    /// For windows of so many panes, at an epsilon for the counts of all windows together, with tables that fit the memory. The noise is
    /// Laplace noise, which takes no delta.
    pub fn new(panes: u64, unit: Unit, epsilon: Epsilon, memory: u64) -> Result<Self> {
        let tree = Tree::for_window(panes);
        let laplace = DiscreteLaplace::new(unit.tree(tree.levels()), epsilon);
        Self::of(tree, panes, laplace.into(), memory)
    }

    /// The same for open keys of users who contribute within these bounds, in epochs of so many panes: of Laplace and Gaussian noise the
    /// one with the lower threshold, which `threshold` knows of the noise of a window and of what is left of delta for it, or that there
    /// is none.
    pub fn for_open_users(
        (panes, epoch): (u64, u64),
        bounds: Bounds,
        epsilon: Epsilon,
        delta: f64,
        memory: u64,
        threshold: impl Fn(&NoiseSum, f64) -> Option<u64>,
    ) -> Result<Self> {
        let laplace = Self::new(panes, Unit::User(bounds), epsilon, memory);
        let Some(gaussian) = Self::by_gaussian((panes, epoch), bounds, epsilon, delta, memory) else {
            return laplace;
        };
        let of = |noise: &Self| threshold(&noise.sum, delta * noise.delta_left()).unwrap_or(u64::MAX);
        laplace.or_else(|_| Ok(gaussian.clone())).map(|laplace| {
            let [chosen, other] =
                if of(&gaussian) < of(&laplace) { [gaussian, laplace] } else { [laplace, gaussian] };
            Self { other: Some(other.sum.noise()), ..chosen }
        })
    }

    /// With its share of delta. None where no such noise is offered, or its table does not fit.
    fn by_gaussian(
        (panes, epoch): (u64, u64),
        bounds: Bounds,
        epsilon: Epsilon,
        delta: f64,
        memory: u64,
    ) -> Option<Self> {
        let tree = Tree::for_window(panes);
        let delta = delta * GAUSSIAN_SHARE;
        let gaussian = match epoch == 1 || bounds.per_key == 1 {
            // Of each level one node has all that a user did at a key.
            true => {
                let counts = bounds.per_user.checked_mul(tree.levels())?;
                DiscreteGaussian::for_keys(counts, bounds.per_key, epsilon, delta)?
            }
            false => {
                let squares = bounds.squares().checked_mul(tree.levels().into())?;
                DiscreteGaussian::for_rho(squares, rho_for(epsilon, delta))?
            }
        };
        Self::of(tree, panes, gaussian.into(), memory).ok()
    }

    fn of(tree: Tree, panes: u64, noise: Noise, memory: u64) -> Result<Self> {
        let nodes = tree.most_nodes(panes);
        let (entries, each) = match noise {
            Noise::Laplace(_) => (nodes as f64 + TABLE_ENTRIES, 1.0),
            Noise::Gaussian(_) => (GAUSSIAN_ENTRIES, GAUSSIAN_RECKONING),
        };
        if entries * noise.scale() * ENTRY > memory as f64 {
            return Err(Error::parameter(format!(
                "epsilon is so small that tables of the noise, of scale {}, do not fit the memory: give a larger epsilon or \
                 more memory",
                noise.scale()
            )));
        }
        if entries * noise.scale() * each > MOST_ENTRIES {
            return Err(Error::parameter(format!(
                "epsilon is so small that tables of the noise, of scale {}, would take too long to compute: give a larger epsilon, or longer slides",
                noise.scale()
            )));
        }
        Ok(Self { tree, sampler: Inversion::new(noise), sum: NoiseSum::new(noise, nodes), other: None })
    }

    /// The share of delta that is left for a threshold: all of it, or what the noise does not take.
    pub fn delta_left(&self) -> f64 {
        match self.sum.noise() {
            Noise::Laplace(_) => 1.0,
            Noise::Gaussian(_) => 1.0 - GAUSSIAN_SHARE,
        }
    }

    /// Memory of the tables, in bytes.
    pub fn bytes(&self) -> u64 {
        self.sampler.bytes() + self.sum.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However much memory is said to be there.
    #[test]
    fn tables_that_take_too_long_are_not_computed() {
        let noise = |epsilon| WindowNoise::new(8, Unit::Event, Epsilon::new(epsilon).unwrap(), u64::MAX);
        assert!(noise(0.000_01).unwrap_err().to_string().contains("too long to compute"));
        assert!(noise(0.01).is_ok());
    }

    /// A pane is in as many nodes as there are levels, and moves two counts by 1 in each.
    #[test]
    fn every_level_takes_its_share_of_epsilon() {
        for (panes, levels, nodes) in [(1, 1, 1), (32, 1, 32), (64, 2, 15), (365, 2, 40), (1_000, 3, 28)] {
            let noise = WindowNoise::new(panes, Unit::Event, Epsilon::new(0.5).unwrap(), u64::MAX).unwrap();
            assert_eq!((noise.tree.levels(), noise.sum.terms()), (levels, nodes), "{panes}");
            let scale = 4.0 * f64::from(levels);
            assert_eq!(noise.sum.scale(), scale);
            let q = (-1.0 / scale).exp();
            let variance = 2.0 * q / (1.0 - q).powi(2);
            let deviation = (nodes as f64 * variance).sqrt();
            assert!((noise.sum.deviation() / deviation - 1.0).abs() < 1e-12);
            assert_eq!(noise.bytes(), noise.sampler.bytes() + noise.sum.bytes());
        }
    }

    #[test]
    fn tables_are_as_large_as_estimated() {
        for (panes, epsilon) in [(1, 1.0), (32, 0.01), (32, 4.0), (1_000, 0.1), (20_000, 1.0)] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let noise = WindowNoise::new(panes, Unit::Event, epsilon, u64::MAX).unwrap();
            let estimated = (noise.sum.terms() as f64 + TABLE_ENTRIES) * noise.sum.scale() * ENTRY;
            let bytes = noise.bytes() as f64;
            assert!(
                bytes < estimated + 10_000.0 && bytes > estimated / 3.0,
                "{panes}: {bytes} of {estimated}"
            );
        }
        // (32 + 320) * 2/0.01 * 16 bytes.
        let epsilon = Epsilon::new(0.01).unwrap();
        assert!(WindowNoise::new(32, Unit::Event, epsilon, 352 * 200 * 16).is_ok());
        assert!(WindowNoise::new(32, Unit::Event, epsilon, 352 * 200 * 16 - 1).is_err());
        let refused = WindowNoise::new(32, Unit::Event, Epsilon::new(1e-6).unwrap(), 64 << 20);
        assert!(refused.unwrap_err().to_string().contains("give a larger epsilon or more memory"));
    }

    /// The tail that a threshold has, at what is left of delta.
    fn reach(sum: &NoiseSum, left: f64) -> Option<u64> {
        Some(1 + sum.reach(left / 1e6))
    }

    /// What a user's keys take at all levels, with three quarters of delta: of counts that move once, or in steps that adapt.
    fn gaussian(levels: u32, bounds: Bounds, epoch: u64, epsilon: Epsilon, delta: f64) -> DiscreteGaussian {
        let Bounds { per_user, per_key, .. } = bounds;
        if epoch == 1 || per_key == 1 {
            return DiscreteGaussian::for_keys(levels * per_user, per_key, epsilon, 0.75 * delta).unwrap();
        }
        let squares = f64::from(levels * per_user * per_key * per_key);
        let variance = squares / (2.0 * rho_for(epsilon, 0.75 * delta));
        DiscreteGaussian::new((variance * 64.0).ceil() as u64, 64).unwrap()
    }

    /// Few keys of a user have Laplace noise of scale `levels c m / epsilon`, many have Gaussian noise.
    #[test]
    fn users_have_the_noise_with_the_lower_threshold() {
        let epsilon = Epsilon::new(1.0).unwrap();
        for (panes, levels, nodes, epoch) in [(1, 1, 1, 1), (32, 1, 32, 1), (32, 1, 32, 24), (64, 2, 15, 24)]
        {
            for (per_user, per_key) in [(1, 1), (1, 2), (4, 1), (50, 1), (50, 3)] {
                let bounds = Bounds::new(per_user).per_key(per_key);
                let found =
                    WindowNoise::for_open_users((panes, epoch), bounds, epsilon, 1e-9, u64::MAX, reach)
                        .unwrap();
                assert_eq!((found.tree.levels(), found.sum.terms()), (levels, nodes));
                let scale = f64::from(levels * per_user * per_key);
                let laplace =
                    NoiseSum::new(DiscreteLaplace::new(levels * per_user * per_key, epsilon), nodes);
                let gaussian = gaussian(levels, bounds, epoch, epsilon, 1e-9);
                let by_laplace = laplace.reach(1e-15);
                let by_gaussian = NoiseSum::new(gaussian, nodes).reach(0.25e-15);
                match found.sum.noise() {
                    Noise::Laplace(_) => {
                        assert!(by_laplace <= by_gaussian, "{panes} {bounds:?}");
                        assert_eq!((found.sum.scale(), found.delta_left()), (scale, 1.0));
                    }
                    Noise::Gaussian(found_gaussian) => {
                        assert!(by_gaussian < by_laplace, "{panes} {bounds:?}");
                        assert_eq!(found_gaussian, gaussian);
                        assert_eq!(found.delta_left(), 0.25);
                        let deviation = (nodes as f64 * gaussian.variance()).sqrt();
                        assert!((found.sum.deviation() / deviation - 1.0).abs() < 1e-3);
                        assert_eq!(found.bytes(), found.sampler.bytes());
                        let estimated = GAUSSIAN_ENTRIES * found.sum.scale() * ENTRY;
                        let bytes = found.bytes() as f64;
                        assert!(bytes < estimated && bytes > estimated / 1.2, "{bytes} of {estimated}");
                    }
                }
                assert_eq!(
                    matches!(found.sum.noise(), Noise::Gaussian(_)),
                    by_gaussian < by_laplace,
                    "{panes} {bounds:?}"
                );
            }
        }
    }

    /// Where the tables of one kind do not fit, or it has no threshold, the other is taken; if both are out, so is the list.
    #[test]
    fn the_kind_of_noise_that_fits_is_taken() {
        let epsilon = Epsilon::new(1.0).unwrap();
        let taken = |per_user: u32, memory: u64, threshold: &dyn Fn(&NoiseSum, f64) -> Option<u64>| {
            WindowNoise::for_open_users((8, 1), Bounds::new(per_user), epsilon, 1e-9, memory, threshold)
                .map(|noise| matches!(noise.sum.noise(), Noise::Gaussian(_)))
        };
        let never = |_: &NoiseSum, _: f64| None;
        let only_laplace =
            |sum: &NoiseSum, _: f64| matches!(sum.noise(), Noise::Laplace(_)).then_some(1_000_000);
        assert!(!taken(1, u64::MAX, &reach).unwrap() && taken(1, 2_000, &reach).unwrap());
        assert!(taken(1, 800, &reach).is_err());
        assert!(!taken(50, u64::MAX, &never).unwrap() && !taken(50, u64::MAX, &only_laplace).unwrap());
        assert!(taken(50, u64::MAX, &reach).unwrap());
        // No Gaussian noise is offered at so small an epsilon.
        let tiny = Epsilon::new(1e-6).unwrap();
        let found = WindowNoise::by_gaussian((8, 1), Bounds::new(1), tiny, 1e-9, u64::MAX);
        assert!(found.is_none());
    }
}
