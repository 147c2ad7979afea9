//! The nodes of a tree whose noise may still be asked for.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use crate::counting::events::{Timeline, WindowSums};
use crate::error::Result;
use crate::key::Key;
use crate::noise::Entropy;
use crate::pane::Pane;
use crate::release::noise_tree::{Node, NodeKey, Tree};

/// Secrets of nodes: drawn when a node ends, erased when it leaves the window.
#[derive(Debug)]
pub struct Nodes {
    pub(super) tree: Tree,
    /// The panes of a window.
    panes: i64,
    /// Those that have ended, from the first there was.
    pub(super) ended: Option<Range<i64>>,
    /// By their place since the first.
    pub(super) nodes: VecDeque<(Node, NodeKey)>,
}

/// The secrets of the nodes that end with a pane, before it has ended.
#[derive(Debug)]
pub struct NodeSecrets {
    pane: i64,
    nodes: Vec<(Node, NodeKey)>,
}

impl NodeSecrets {
    /// The pane.
    pub fn pane(&self) -> i64 {
        self.pane
    }
}

/// The secrets that a window's noise comes from.
#[derive(Debug)]
pub struct WindowNodes<'a> {
    /// The panes of the window.
    pub panes: Range<i64>,
    /// Keys of nodes that together are the window.
    pub cover: Vec<&'a NodeKey>,
    /// Key of its last pane.
    pub latest: &'a NodeKey,
}

impl WindowNodes<'_> {
    /// The closed panes of the window: only a window whose noise has been drawn is read.
    pub fn panes_in<'t, K: Key>(&self, timeline: &'t Timeline<K>) -> Vec<Cow<'t, Pane<K>>> {
        timeline.panes_of(&self.panes)
    }

    /// The sums of the window, if they were carried on.
    pub fn sums_in<'t, K: Key>(&self, timeline: &'t Timeline<K>) -> Option<&'t WindowSums<K>> {
        timeline.sums_of(&self.panes)
    }
}

impl Nodes {
    /// None so far, for windows of so many panes.
    pub fn new(tree: Tree, panes: u64) -> Self {
        Self { tree, panes: panes as i64, ended: None, nodes: VecDeque::new() }
    }

    /// Draws the secrets of the nodes that end with a pane, which can fail: before anything else is done.
    pub fn draw(&self, pane: i64, entropy: &mut dyn Entropy) -> Result<NodeSecrets> {
        let spans = self.tree.ending_with(pane - self.origin(pane));
        let nodes = spans.map(|span| Ok((span, NodeKey::draw(entropy)?)));
        Ok(NodeSecrets { pane, nodes: nodes.collect::<Result<_>>()? })
    }

    /// The pane has ended: keeps its secrets, and erases those of nodes that are no longer in the window as a
    /// whole. If panes before it were left out it is the first there is: then returns true.
    pub fn complete(&mut self, ending: NodeSecrets) -> bool {
        let NodeSecrets { pane, nodes } = ending;
        let origin = self.origin(pane);
        if origin == pane {
            self.nodes.clear();
        }
        self.nodes.extend(nodes);
        let first = pane + 1 - self.panes - origin;
        self.nodes.retain(|(span, _)| span.start >= first);
        self.ended = Some(origin..pane + 1);
        origin == pane
    }

    /// The panes of the window that ends with this one.
    pub fn window_with(&self, pane: i64) -> Range<i64> {
        self.origin(pane).max(pane + 1 - self.panes)..pane + 1
    }

    /// The first pane of those that have ended one after the other up to this one.
    fn origin(&self, pane: i64) -> i64 {
        let before = self.ended.as_ref().filter(|ended| ended.end == pane);
        before.map_or(pane, |ended| ended.start)
    }

    /// The panes that have ended one after the other.
    pub(crate) fn ended(&self) -> Option<&Range<i64>> {
        self.ended.as_ref()
    }

    /// The window that ends with the latest pane, if there is one.
    pub fn window(&self) -> Option<WindowNodes<'_>> {
        let ended = self.ended.clone()?;
        let panes = ended.start.max(ended.end - self.panes)..ended.end;
        let key = |wanted: Node| {
            let found = self.nodes.iter().rev().find(|(span, _)| *span == wanted);
            found.map(|(_, key)| key)
        };
        let (from, to) = (panes.start - ended.start, panes.end - ended.start);
        let cover = self.tree.cover(from, to);
        Some(WindowNodes {
            cover: cover.into_iter().map(key).collect::<Option<_>>()?,
            latest: key(self.tree.ending_with(to - 1).next()?)?,
            panes,
        })
    }

    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> u64 {
        (self.nodes.len() * (size_of::<(Node, NodeKey)>() + NodeKey::BYTES)) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::noise::OsEntropy;
    use crate::release::noise_tree::node_key::Purpose;

    fn end(nodes: &mut Nodes, pane: i64) {
        let ending = nodes.draw(pane, &mut OsEntropy::new()).unwrap();
        assert_eq!(ending.pane(), pane);
        nodes.complete(ending);
    }

    fn mark(key: &NodeKey) -> u64 {
        key.entropy(Purpose::Norm).word().unwrap()
    }

    /// Two 64-bit outputs of different keys are equal with a chance of 2^-64.
    #[test]
    fn all_nodes_have_keys_of_their_own() {
        let tree = Tree::for_window(1_000);
        assert_eq!(tree.levels(), 3);
        let mut nodes = Nodes::new(tree, 1_000);
        let (mut marks, mut drawn) = (HashSet::new(), 0);
        for pane in 0..2_000 {
            let ending = nodes.draw(pane, &mut OsEntropy::new()).unwrap();
            drawn += ending.nodes.len();
            marks.extend(ending.nodes.iter().map(|(_, key)| mark(key)));
            nodes.complete(ending);
        }
        let size = |level| tree.branching().pow(level) as usize;
        assert_eq!(drawn, 2_000 + 2_000 / size(1) + 2_000 / size(2));
        assert_eq!(marks.len(), drawn);
        let kept: HashSet<u64> = nodes.nodes.iter().map(|(_, key)| mark(key)).collect();
        assert!(kept.len() == nodes.nodes.len() && kept.is_subset(&marks));
    }

    /// A window keeps the keys of its nodes as long as they are in it, erases the others, and takes the norm's noise from its
    /// last pane.
    #[test]
    fn keys_stay_while_their_nodes_are_in_the_window_and_no_longer() {
        let mut nodes = Nodes::new(Tree::for_window(64), 64);
        for pane in 0..200 {
            end(&mut nodes, pane);
            let first = (pane - 63).max(0);
            assert!(nodes.nodes.iter().all(|(span, _)| span.start >= first && span.end <= pane + 1));
            let panes = nodes.nodes.iter().filter(|(span, _)| span.level == 0);
            assert_eq!(panes.count() as i64, pane + 1 - first);
            let window = nodes.window().unwrap();
            let (span, key) = nodes.nodes.iter().rfind(|(span, _)| span.level == 0).unwrap();
            assert_eq!((span.end, mark(key)), (pane + 1, mark(window.latest)));
            let covered = nodes.tree.cover(first, pane + 1);
            let key = |wanted: &Node| mark(&nodes.nodes.iter().find(|(span, _)| span == wanted).unwrap().1);
            let marks: Vec<u64> = window.cover.iter().map(|key| mark(key)).collect();
            assert_eq!(marks, covered.iter().map(key).collect::<Vec<_>>());
            let bytes = nodes.nodes.len() * (size_of::<(Node, NodeKey)>() + 32);
            assert_eq!(nodes.bytes(), bytes as u64);
        }
    }

    #[test]
    fn after_a_gap_windows_begin_anew_and_until_then_the_last_one_stays() {
        let mut nodes = Nodes::new(Tree::for_window(8), 8);
        assert!(nodes.window().is_none());
        (5..30).for_each(|pane| end(&mut nodes, pane));
        let ending = nodes.draw(100, &mut OsEntropy::new()).unwrap();
        assert_eq!(nodes.window().unwrap().panes, 22..30);
        nodes.complete(ending);
        assert_eq!(nodes.window().unwrap().panes, 100..101);
        assert_eq!(nodes.nodes.len(), 1);
        end(&mut nodes, 101);
        assert_eq!(nodes.window().unwrap().panes, 100..102);
    }

    #[test]
    fn every_window_has_all_its_nodes_and_no_more_are_kept() {
        for panes in [1, 32, 200, 2_500] {
            let tree = Tree::for_window(panes);
            let most = tree.most_nodes(panes);
            let mut nodes = Nodes::new(tree, panes);
            for pane in -7..3 * panes as i64 {
                end(&mut nodes, pane);
                let window = nodes.window().unwrap();
                assert_eq!(window.panes, (pane + 1 - panes as i64).max(-7)..pane + 1);
                assert!(window.cover.len() as u64 <= most);
                assert!(nodes.nodes.len() as u64 <= 2 * panes);
            }
        }
    }
}
