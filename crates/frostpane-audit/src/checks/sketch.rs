//! Declared keys, estimated from the noisy sketch of the window.

use frostpane::testing::audit::{Audit, Mutant};
use frostpane::{Estimator, Window};

use crate::check::{Result, Trial};
use crate::checks::distinguisher::Distinguisher;
use crate::outcome::TrialOutcome;
use crate::setting::Setting;

const UNIVERSE: u64 = 4;
const EVENTS: u64 = 4_000;
/// Above the threshold that the noise of the cells requires.
const COUNT: u64 = 300;

/// Two keys that the sketch can distinguish, among so many events that counts would be cut to nothing.
pub fn estimates(setting: &Setting, mutant: Option<Mutant>) -> Result<Trial> {
    let builder =
        setting.builder(UNIVERSE)?.window(Window::events(EVENTS).slide(EVENTS)).entries(1).sketch(1, 1_024);
    let audit = Audit::of(builder, mutant);
    let distinguisher = Distinguisher::at(&[(0, COUNT + 1, COUNT), (1, COUNT, COUNT + 1)]);
    Ok(Box::new(move |side| {
        let mut audited = audit.clone().build()?;
        for event in 0..EVENTS {
            audited.update(match event {
                event if event < 2 * COUNT => Some(event % 2),
                event if event == 2 * COUNT => Some(side as u64),
                _ => None,
            })?;
        }
        let release = audited.release()?;
        if release.estimator != Estimator::Sketch {
            return Err("the release did not come from the sketch".into());
        }
        Ok(TrialOutcome {
            label: distinguisher.label(&release),
            shown: distinguisher.shown(&release).clamp(COUNT as i64 - 40, COUNT as i64 + 40),
        })
    }))
}
