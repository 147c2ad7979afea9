//! Continual release as bytes: what comes after a restart is what would have come without one.

use super::Continual;
use crate::codec::{Reader, Writer};
use crate::counting::events::intake::ReadPane;
use crate::error::Result;
use crate::key::Key;
use crate::release::noise_tree::stored::{Mark, SecretBytes};

impl<K: Key> Continual<K> {
    /// Writes everything but the closed panes and the secrets of nodes, of which the marks are written.
    pub(crate) fn save(&mut self, to: &mut Writer) {
        let (events, nodes) = (&self.events, &self.nodes);
        self.counter.save(to, |to| {
            to.each(events.iter(), |to, events| to.number(*events));
            nodes.save(to);
        });
    }

    pub(crate) fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut ReadPane<'_>,
        secret: impl FnMut(&Mark) -> Option<SecretBytes>,
    ) -> Result<()> {
        let (events, nodes) = (&mut self.events, &mut self.nodes);
        self.counter.load(from, panes, |from| {
            *events = from.each(Reader::count_of_pane)?;
            nodes.load(from, secret)?;
            Ok([nodes.ended().cloned(), nodes.window().map(|nodes| nodes.panes)])
        })
    }

    pub(crate) fn secrets(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.nodes.secrets()
    }
}
