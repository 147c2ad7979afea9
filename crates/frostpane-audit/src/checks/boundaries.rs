//! Ends of panes under the smooth policy, which are private themselves.

use frostpane::testing::audit::{Audit, Mutant};
use frostpane::{Policy, Window};

use crate::check::{Result, Trial};
use crate::outcome::TrialOutcome;
use crate::setting::Setting;

/// The share of epsilon that boundaries may cost.
pub const SHARE: f64 = 0.25;

const WINDOW: u64 = 1 << 16;
const TICK: u64 = 16;
/// The distance of the norm to the threshold, in units of the noise of a query.
const DISTANCE: f64 = 2.0;
/// The number of queries after the norm has reached this distance.
const QUESTIONS: u64 = 12;

/// A block of one key, or with another key first, so that its norm is one less throughout. It grows to a
/// little below its threshold and stays there. The outcome is the end of the block.
pub fn first_end(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let builder =
        setting.builder(4)?.alpha(0.1).window(Window::events(WINDOW).slide(TICK)).policy(Policy::Smooth);
    let audit = Audit::of(builder, mutant);
    let histogram = audit.plan()?.layout.histogram.ok_or("there is no histogram")?;
    let noise = 4.0 / (histogram.epsilon.as_f64() / 2.0);
    let grown = histogram.first_norm.saturating_sub((DISTANCE * noise).ceil() as u64);
    let events = grown + QUESTIONS * TICK;
    if events > histogram.longest_block {
        return Err("at this epsilon blocks end before their norm can tell: give a larger one".into());
    }
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        let mut event = 0;
        while audited.panes() == 0 && event < events {
            let key = if event == 0 { side as u64 } else { 0 };
            audited.update((event < grown).then_some(key))?;
            event += 1;
        }
        Ok(TrialOutcome::number((event / TICK) as i64))
    }))
}
