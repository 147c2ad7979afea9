//! Secrets of nodes, as bytes: which there are in one place, and they themselves in another, where they can be overwritten.

use zeroize::Zeroizing;

use super::nodes::Nodes;
use super::{Node, NodeKey};
use crate::codec::{Reader, Writer, damaged};
use crate::error::{Error, ErrorKind, Result};

/// The sampler that makes noise of a node's secret: another one would make other noise of it.
const SAMPLER: u64 = 1;
const CONTEXT: &str = "frostpane 2026-11-17 the mark of a node's secret";

/// Tells a secret from others, and says nothing about it.
pub type SecretId = [u8; blake3::OUT_LEN];

/// A secret as bytes.
pub type SecretBytes = Zeroizing<[u8; NodeKey::BYTES]>;

/// Identifier of a secret.
pub fn secret_id(secret: &[u8; NodeKey::BYTES]) -> SecretId {
    blake3::derive_key(CONTEXT, secret)
}

impl Nodes {
    /// Writes which nodes there are, and the marks of their secrets.
    pub(crate) fn save(&self, to: &mut Writer) {
        to.number(SAMPLER);
        to.number(self.tree.branching());
        to.number(self.tree.levels().into());
        to.maybe(self.ended.as_ref(), Writer::range);
        to.each(self.nodes.iter(), |to, (node, key)| {
            to.number(node.level.into());
            to.range(&(node.start..node.end));
            to.raw(&secret_id(key.secret()));
        });
    }

    /// Goes on with secrets that another has kept, by their marks. One that is missing is never drawn again: it would meet data
    /// that another one has met.
    pub(crate) fn load(
        &mut self,
        from: &mut Reader<'_>,
        mut secret: impl FnMut(&SecretId) -> Option<SecretBytes>,
    ) -> Result<()> {
        let nodes = self.load_ended(from)?.into_iter().map(|(node, mark)| {
            let secret = secret(&mark).filter(|secret| secret_id(secret) == mark);
            Ok((node, NodeKey::from_secret(secret.ok_or_else(missing)?)))
        });
        self.nodes = nodes.collect::<Result<_>>()?;
        Ok(())
    }

    /// Reads which panes have ended, and returns the nodes with their marks: none of them is kept.
    pub(crate) fn load_ended(&mut self, from: &mut Reader<'_>) -> Result<Vec<(Node, SecretId)>> {
        if from.number()? != SAMPLER {
            return Err(Error::new(
                ErrorKind::State,
                "the noise of these lists was made by another version of the program: go on with that version",
            ));
        }
        if (from.number()?, from.number()?) != (self.tree.branching(), self.tree.levels().into()) {
            return Err(damaged("the tree is another"));
        }
        self.ended = from.maybe(Reader::range)?;
        from.each(|from| {
            let level = from.at_most(self.tree.levels().into())? as u32;
            let panes = from.range()?;
            Ok((Node { level, start: panes.start, end: panes.end }, from.array()?))
        })
    }

    /// All secrets that may still be asked for.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &[u8; NodeKey::BYTES]> {
        self.nodes.iter().map(|(_, key)| key.secret())
    }
}

fn missing() -> Error {
    Error::new(
        ErrorKind::State,
        "a secret of noise is missing, and is never drawn again: restore the file of keys, or begin a new state whose lists go on with the next \
         whole epoch",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::OsEntropy;
    use crate::release::noise_tree::Tree;

    fn ended(panes: i64) -> Nodes {
        let mut nodes = Nodes::new(Tree::for_window(9), 9);
        for pane in 0..panes {
            let ending = nodes.draw(pane, &mut OsEntropy::new()).unwrap();
            nodes.complete(ending);
        }
        nodes
    }

    #[test]
    fn nodes_are_found_again_by_their_marks_and_a_missing_one_is_an_error() {
        let nodes = ended(20);
        let mut to = Writer::default();
        nodes.save(&mut to);
        let bytes = to.finish();
        let kept: Vec<_> = nodes.secrets().map(|secret| (secret_id(secret), *secret)).collect();
        let read = |kept: &[(SecretId, [u8; 32])]| {
            let mut again = ended(0);
            let find = |mark: &SecretId| {
                kept.iter().find(|(held, _)| held == mark).map(|(_, key)| Zeroizing::new(*key))
            };
            again.load(&mut Reader::new(&bytes), find).map(|()| again)
        };
        let again = read(&kept).unwrap();
        assert!(again.secrets().eq(nodes.secrets()));
        assert_eq!(again.window().unwrap().panes, nodes.window().unwrap().panes);
        assert_eq!(read(&kept[1..]).unwrap_err().kind(), ErrorKind::State);
        let swapped = [(kept[0].0, kept[1].1), (kept[1].0, kept[0].1)];
        assert!(read(&[&swapped, &kept[2..]].concat()).is_err(), "a secret that is another's");
    }
}
