#![doc = include_str!("noise_tree.md")]

pub(crate) mod node_key;
pub(crate) mod nodes;
pub(crate) mod stored;
mod window_noise;

pub use node_key::NodeKey;
pub use nodes::{Nodes, WindowNodes};
pub use window_noise::WindowNoise;

/// Grouping of panes, the leaves, into nodes that have noise of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    branching: i64,
    levels: u32,
}

/// Consecutive panes that begin at a multiple of their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// 0 for a single pane.
    pub level: u32,
    /// The first of its panes.
    pub start: i64,
    /// The one after its last.
    pub end: i64,
}

impl Tree {
    /// The tree with the least noise in windows of so many panes.
    pub fn for_window(panes: u64) -> Self {
        let mut best = Self { branching: 2, levels: 1 };
        let mut least = panes;
        // Those that can have the least come first, so that few are looked at whole. Of equals the lowest is taken, and of those the narrowest.
        let mut all: Vec<(u64, u32, i64)> =
            Self::all(panes).map(|tree| (tree.least_noise(panes), tree.levels, tree.branching)).collect();
        all.sort_unstable();
        for (at_least, levels, branching) in all {
            if at_least > least {
                break;
            }
            let tree = Self { branching, levels };
            let noise = tree.noise(panes);
            if (noise, levels, branching) < (least, best.levels, best.branching) {
                best = tree;
                least = noise;
            }
        }
        best
    }

    /// All of several levels whose nodes are no longer than a window of so many panes.
    fn all(panes: u64) -> impl Iterator<Item = Self> {
        (2..=panes.ilog2() + 1).flat_map(move |levels| {
            let fits = move |branching: &i64| {
                let top = branching.checked_pow(levels - 1);
                top.is_some_and(|top| top <= panes as i64)
            };
            let branchings = (2..).take_while(fits);
            branchings.map(move |branching| Self { branching, levels })
        })
    }

    /// In how many nodes each pane is.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Number of nodes of a level that make up one of the next.
    pub fn branching(&self) -> u64 {
        self.branching as u64
    }

    /// The most nodes that a window of so many panes is made of, or a shorter one from the first pane on.
    pub fn most_nodes(&self, panes: u64) -> u64 {
        let panes = panes as i64;
        let sliding = (0..self.size(self.levels - 1)).map(|start| (start, start + panes));
        let first = (1..panes).map(|end| (0, end));
        let nodes = sliding.chain(first).map(|(from, to)| self.nodes(from, to));
        nodes.max().unwrap_or(0) as u64
    }

    /// The fewest nodes that together are the panes `from..to`.
    pub fn cover(&self, from: i64, to: i64) -> Vec<Node> {
        let mut spans = Vec::new();
        let mut start = from;
        let longest = |start| {
            let mut spans = (0..self.levels).rev().map(|level| self.span(level, start));
            spans.find(|span| span.start == start && span.end <= to)
        };
        while let Some(span) = longest(start) {
            spans.push(span);
            start = span.end;
        }
        spans
    }

    /// The nodes that end with a pane.
    pub fn ending_with(&self, pane: i64) -> impl Iterator<Item = Node> {
        let tree = *self;
        (0..self.levels).map(move |level| tree.span(level, pane)).filter(move |span| span.end == pane + 1)
    }

    /// The node of a level that holds a pane.
    fn span(&self, level: u32, pane: i64) -> Node {
        let size = self.size(level);
        let start = pane.div_euclid(size) * size;
        Node { level, start, end: start + size }
    }

    /// Number of panes of a node of a level.
    fn size(&self, level: u32) -> i64 {
        self.branching.pow(level)
    }

    /// Number of nodes of the cover of `from..to`.
    fn nodes(&self, mut from: i64, mut to: i64) -> i64 {
        let mut nodes = 0;
        for _ in 1..self.levels {
            let first = (from + self.branching - 1) / self.branching;
            let last = to / self.branching;
            if first >= last {
                break;
            }
            nodes += first * self.branching - from + to - last * self.branching;
            (from, to) = (first, last);
        }
        nodes + to - from
    }

    /// In proportion to the variance of the noise of a window.
    fn noise(&self, panes: u64) -> u64 {
        u64::from(self.levels).pow(2) * self.most_nodes(panes)
    }

    /// No more than that, and quickly: a window can end with all but one node of every level below the top, and has
    /// all but two of the top level.
    fn least_noise(&self, panes: u64) -> u64 {
        let levels = u64::from(self.levels);
        let end = (self.branching() - 1) * (levels - 1);
        let whole = panes / self.size(self.levels - 1) as u64;
        levels * levels * end.max(whole.saturating_sub(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of all trees whose top nodes fit a window, in order of their levels and then of their branching. Windows of 53 and 55
    /// panes have several that are best; for 63, 80 and 657 panes the best has no room for a node of a further level.
    #[test]
    fn the_tree_is_the_first_of_those_with_the_least_noise() {
        for panes in (1..200_u64).chain([365, 600, 657, 1_000, 1_440, 4_096]) {
            let trees = (1..=panes.ilog2() + 1).flat_map(|levels| {
                let branchings = (2..=panes.max(2) as i64).take(if levels == 1 { 1 } else { usize::MAX });
                branchings.map(move |branching| Tree { branching, levels })
            });
            let fitting =
                trees.filter(|tree| (tree.branching as f64).powi(tree.levels as i32 - 1) <= panes as f64);
            let best = fitting.min_by_key(|tree| tree.noise(panes));
            assert_eq!(Some(Tree::for_window(panes)), best, "{panes}");
        }
        // The table in tree.md.
        let noise = |panes| {
            let tree = Tree::for_window(panes);
            (tree.levels(), tree.noise(panes))
        };
        assert_eq!(
            [32, 64, 128, 365, 1_000, 4_380, 10_000, 100_000].map(noise),
            [(1, 32), (2, 60), (2, 92), (2, 160), (3, 252), (3, 486), (3, 567), (5, 1_150)]
        );
    }

    #[test]
    fn a_cover_has_every_pane_once() {
        for (branching, levels) in [(2, 1), (2, 4), (3, 3), (7, 2)] {
            let tree = Tree { branching, levels };
            for from in -20..20 {
                for to in from..from + 40 {
                    let panes: Vec<i64> =
                        tree.cover(from, to).iter().flat_map(|span| span.start..span.end).collect();
                    assert_eq!(panes, (from..to).collect::<Vec<_>>());
                    if from >= 0 {
                        assert_eq!(tree.nodes(from, to), tree.cover(from, to).len() as i64);
                    }
                }
            }
        }
    }

    #[test]
    fn every_node_of_a_cover_has_ended_with_one_of_its_panes() {
        let tree = Tree { branching: 3, levels: 3 };
        let ended: Vec<Node> = (-9..50).flat_map(|pane| tree.ending_with(pane)).collect();
        for from in -5..20 {
            for span in tree.cover(from, from + 25) {
                assert_eq!(ended.iter().filter(|other| **other == span).count(), 1);
            }
        }
        for pane in 0..27 {
            let holding = ended.iter().filter(|span| (span.start..span.end).contains(&pane));
            assert_eq!(holding.count(), 3);
        }
    }

    /// Over all windows of a while, first ones and full ones.
    #[test]
    fn no_window_has_more_nodes_than_stated_and_one_has_as_many() {
        for (branching, levels) in [(2, 1), (2, 3), (3, 3), (5, 2)] {
            let tree = Tree { branching, levels };
            for panes in [1_i64, 2, 9, 10, 26] {
                let nodes = (1..200).map(|end| tree.cover((end - panes).max(0), end).len() as u64);
                assert_eq!(tree.most_nodes(panes as u64), nodes.max().unwrap());
            }
        }
    }
}
