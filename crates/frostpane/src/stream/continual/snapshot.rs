//! Continual release as bytes: what comes after a restart is what would have come without one.

use super::Continual;
use crate::codec::{MOST, Reader, Writer, damaged};
use crate::counting::events::intake::Panes;
use crate::counting::users::StreamingBounder;
use crate::error::Result;
use crate::key::Key;
use crate::release::noise_tree::stored::{Mark, SecretBytes};
use crate::spec::window::Grid;

impl<K: Key> Continual<K> {
    /// Writes everything but the closed panes and the secrets of nodes, of which the marks are written.
    pub(crate) fn save(&mut self, to: &mut Writer) {
        to.maybe(self.open, Writer::signed);
        to.each(self.busy.iter(), |to, pane| to.signed(*pane));
        to.signed(self.quiet);
        to.number(self.ended);
        to.signed(self.now);
        to.number(self.missed);
        to.each(self.events.iter(), |to, events| to.number(*events));
        self.nodes.save(to);
        to.maybe(self.people.as_ref(), |to, people| people.save(to));
        self.intake.save(to);
    }

    /// Goes on from what was written, with the same secrets.
    pub(crate) fn load(
        &mut self,
        from: &mut Reader<'_>,
        panes: &mut Panes<'_>,
        secret: impl FnMut(&Mark) -> Option<SecretBytes>,
    ) -> Result<()> {
        self.open = from.maybe(Reader::position)?;
        self.busy = from.each(Reader::position)?;
        self.quiet = from.position()?;
        self.ended = from.count()?;
        self.now = from.position()?;
        self.missed = from.count()?;
        self.events = from.each(Reader::count_of_pane)?;
        self.nodes.load(from, secret)?;
        match (&mut self.people, from.flag()?) {
            (Some(people), true) => StreamingBounder::load(people, from)?,
            (None, false) => {}
            _ => {
                return Err(damaged("users are missing, or there are some that none was to have"));
            }
        }
        self.intake.load(from, panes)?;
        self.check_panes()?;
        let slide = self.grid.slide;
        if let Some(window) = self.nodes.window().map(|nodes| nodes.panes) {
            self.intake.timeline.join(window.start * slide..window.end * slide);
        }
        Ok(())
    }

    /// That panes have ended whose time is over, and no others.
    fn check_panes(&self) -> Result<()> {
        let Grid { slide, lateness, .. } = self.grid;
        let latest = self.pane_at(self.now());
        let possible = match self.by_count {
            true => latest..=latest,
            // The first of people begins with an epoch, of which a window has one at the least.
            false => self.pane_at(self.now() - lateness)..=latest + self.panes() + 1,
        };
        let open = self.open.map_or(!self.by_count, |open| possible.contains(&open));
        let waits = |pane: &i64| self.open.is_some_and(|open| (open..=latest).contains(pane));
        let reaches = -(MOST as i64) / slide..=self.open.unwrap_or(i64::MIN);
        let ended = self.nodes.ended().is_none_or(|ended| !ended.is_empty() && reaches.contains(&ended.end));
        match open && ended && self.busy.iter().all(waits) && self.quiet >= 0 {
            true => Ok(()),
            false => Err(damaged("panes have ended that are to come, or have not that are over")),
        }
    }

    /// Returns true if a pane ends, or the first begins, if it is this late.
    pub(crate) fn ends_by(&self, now: i64) -> bool {
        let waiting = self.pane_at(now.saturating_sub(self.grid.lateness));
        !self.by_count && self.open.map_or(self.people.is_some(), |open| open < waiting)
    }

    /// All secrets of noise that may still be asked for.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.nodes.secrets()
    }
}
