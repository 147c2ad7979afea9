//! The nodes of a tree whose noise may still be asked for.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::Result;
use crate::noise::entropy::OsEntropy;
use crate::noise::node_key::NodeKey;
use crate::noise::tree::{Span, Tree};

/// Secrets of nodes: drawn when a node ends, erased when it leaves the window.
#[derive(Debug)]
pub struct Nodes {
    tree: Tree,
    /// The panes of a window.
    panes: i64,
    /// Those that have ended, from the first there was.
    ended: Option<Range<i64>>,
    /// By their place since the first.
    nodes: VecDeque<(Span, NodeKey)>,
}

/// The secrets that a window's noise comes from.
#[derive(Debug)]
pub struct WindowNodes<'a> {
    /// The panes of the window.
    pub panes: Range<i64>,
    /// Of nodes that together are the window.
    pub cover: Vec<&'a NodeKey>,
    /// Of its last pane.
    pub latest: &'a NodeKey,
}

impl Nodes {
    /// None so far, for windows of so many panes.
    pub fn new(tree: Tree, panes: u64) -> Self {
        Self {
            tree,
            panes: panes as i64,
            ended: None,
            nodes: VecDeque::new(),
        }
    }

    /// A pane has ended: draws the secrets of the nodes that end with it, and erases those of nodes that are no
    /// longer in the window as a whole.
    pub fn complete(&mut self, pane: i64) -> Result<()> {
        let mut entropy = OsEntropy::new();
        let origin = self.ended.get_or_insert(pane..pane).start;
        for span in self.tree.ending_with(pane - origin) {
            self.nodes.push_back((span, NodeKey::draw(&mut entropy)?));
        }
        let first = pane + 1 - self.panes - origin;
        self.nodes.retain(|(span, _)| span.start >= first);
        self.ended = Some(origin..pane + 1);
        Ok(())
    }

    /// The window that ends with the latest pane, if there is one.
    pub fn window(&self) -> Option<WindowNodes<'_>> {
        let ended = self.ended.clone()?;
        let panes = ended.start.max(ended.end - self.panes)..ended.end;
        let key = |wanted: Span| {
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
        (self.nodes.len() * size_of::<(Span, NodeKey)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_window_has_all_its_nodes_and_no_more_are_kept() {
        for panes in [1, 32, 200, 2_500] {
            let tree = Tree::for_window(panes);
            let most = tree.most_nodes(panes);
            let mut nodes = Nodes::new(tree, panes);
            for pane in -7..3 * panes as i64 {
                nodes.complete(pane).unwrap();
                let window = nodes.window().unwrap();
                assert_eq!(window.panes, (pane + 1 - panes as i64).max(-7)..pane + 1);
                assert!(window.cover.len() as u64 <= most);
                assert!(nodes.nodes.len() as u64 <= 2 * panes);
            }
        }
    }
}
