//! Windows, in events or by the clock.

use std::time::Duration;

use super::policy::Policy;
use crate::error::{Error, Result};
use crate::privacy::Bounds;
use crate::quantity::span::{Span, micros};

const PANES_BY_COUNT: u64 = 64;
/// Default panes of a window by the clock: an hour slides by the minute.
const PANES_BY_CLOCK: u64 = 60;
/// The youngest panes of a window with panes of all ages are this part of it, unless that makes panes
/// by count so short that closing them costs more than filling them.
const YOUNGEST: u64 = 1_024;
const WORTH_CLOSING: u64 = 32_768;
/// Events between two questions to a block that ends by its norm.
const TICK: u64 = 1_024;
/// Far above any stream and any calendar, and far from overflow.
pub(crate) const LONGEST: u64 = 1 << 60;

/// The longest window that a release may ask for, and the step by which it slides. The default step is a 64th
/// of the window (a 1,000th if all panes can then be counted exactly), or by the clock a 60th, and less where
/// several windows ask for it. A release covers whole panes: up to one slide less than was asked for.
///
/// ```
/// use std::time::Duration;
/// use frostpane::Window;
///
/// let last_million = Window::events(1_000_000);
/// let hour = Duration::from_secs(3_600);
/// // The last day, to the hour; events may come a minute late.
/// let last_day = Window::clock(24 * hour).slide(hour).lateness(hour / 60);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub(super) length: Span,
    pub(super) slide: Option<Span>,
    pub(super) lateness: Duration,
}

impl Window {
    /// The last `length` events.
    pub fn events(length: u64) -> Self {
        Self::over(Span::Events(length))
    }

    /// The last `length` of time.
    pub fn clock(length: Duration) -> Self {
        Self::over(Span::Clock(length))
    }

    pub(super) fn over(length: Span) -> Self {
        Self { length, slide: None, lateness: Duration::ZERO }
    }

    /// Sets the length of a pane, in events or time like the window: the window slides by this.
    pub fn slide(self, slide: impl Into<Span>) -> Self {
        Self { slide: Some(slide.into()), ..self }
    }

    /// Sets, by the clock, how long a pane waits after its end for late events. An event for a pane that no longer waits is dropped.
    pub fn lateness(self, lateness: Duration) -> Self {
        Self { lateness, ..self }
    }

    pub(crate) fn is_by_count(&self) -> bool {
        self.length.is_by_count()
    }

    /// Sets the number of panes, rounded up to whole positions, unless the slide is given.
    pub(crate) fn in_panes(self, panes: u64) -> Self {
        if self.slide.is_some() {
            return self;
        }
        let slide = self.length.length().div_ceil(panes).max(1);
        let of = |length| self.length.with_length(length);
        Self { length: of(self.length.length().next_multiple_of(slide)), slide: Some(of(slide)), ..self }
    }

    /// Sets slides of one epoch, unless the slide is given.
    pub(crate) fn in_epochs(self, bounds: &Bounds) -> Self {
        Self { slide: self.slide.or(Some(Span::Clock(bounds.epoch))), ..self }
    }

    pub(crate) fn check_whole(&self, grid: &Grid) -> Result<()> {
        if grid.length % grid.slide == 0 {
            return Ok(());
        }
        let say = self.say();
        let (length, slide) = (grid.length as u64, grid.slide as u64);
        Err(Error::window(format!(
            "the window of {} is not a whole number of slides of {}: make it {}, or leave the slide out",
            say(length),
            say(slide),
            say(length.next_multiple_of(slide))
        )))
    }

    /// As numbers on the line of positions: event numbers, or microseconds.
    pub(crate) fn grid(&self, policy: Policy) -> Result<Grid> {
        // Fixed panes are cut to fit, so a window may begin anywhere.
        let given = self.slide.filter(|_| policy != Policy::Fixed);
        if let Some(slide) = given.filter(|slide| !slide.is_of_kind(&self.length)) {
            return Err(Error::parameter(format!(
                "the window is {} and the slide {slide}, but they must both be numbers of events or both be times",
                self.length
            )));
        }
        let length = self.length.length();
        let (usual, lateness) = match self.length {
            // By count no event is late.
            Span::Events(_) => (usual_slide_by_count(length, policy), 0),
            Span::Clock(_) => (usual_slide_by_clock(length, policy)?, micros(self.lateness)),
        };
        Grid::new(length, given.map_or(usual, |slide| slide.length()), lateness, self.say())
    }

    pub(crate) fn longest(&self) -> Span {
        self.length
    }

    /// The length of a shorter window, if the panes of this one allow it.
    pub(crate) fn shorter(&self, span: Span, grid: &Grid) -> Result<u64> {
        if !span.is_of_kind(&self.length) {
            return Err(Error::window(match self.length {
                Span::Clock(_) => "this window goes by the clock: ask for a duration, not for events",
                Span::Events(_) => {
                    "this window goes by the number of events: ask for events, not for a duration"
                }
            }));
        }
        let (length, slide, longest) = (span.length(), grid.slide as u64, grid.length as u64);
        if (slide..=longest).contains(&length) {
            return Ok(length);
        }
        let say = self.say();
        Err(Error::window(format!(
            "a window of {} was asked for, but it must be at least the slide of {} and at most the longest window of {}: \
             take a longer window or a shorter slide",
            say(length),
            say(slide),
            say(longest)
        )))
    }

    fn say(&self) -> fn(u64) -> String {
        match self.length {
            Span::Events(_) => |events| format!("{events} events"),
            Span::Clock(_) => say_micros,
        }
    }
}

fn usual_slide_by_count(length: u64, policy: Policy) -> u64 {
    let uniform = length.div_ceil(PANES_BY_COUNT);
    match policy {
        Policy::Uniform => uniform,
        Policy::Exponential => length.div_ceil(YOUNGEST).max(uniform.min(WORTH_CLOSING)),
        Policy::Smooth => uniform.min(TICK),
        Policy::Fixed => 1,
    }
}

fn usual_slide_by_clock(length: u64, policy: Policy) -> Result<u64> {
    match policy {
        Policy::Uniform => Ok(length.div_ceil(PANES_BY_CLOCK)),
        Policy::Exponential => Ok(length.div_ceil(YOUNGEST)),
        Policy::Fixed => Ok(1),
        Policy::Smooth => Err(Error::parameter(
            "the smooth policy was asked for with a window by the clock, but it is for windows by count: use \
             the exponential policy, or give the window as a number of events",
        )),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub length: i64,
    pub slide: i64,
    pub lateness: i64,
}

impl Grid {
    fn new(length: u64, slide: u64, lateness: u64, say: fn(u64) -> String) -> Result<Self> {
        if length == 0 || length > LONGEST {
            return Err(Error::parameter(format!(
                "the window is {}, but must be above 0 and at most {}",
                say(length),
                say(LONGEST)
            )));
        }
        if slide == 0 || slide > length {
            return Err(Error::parameter(format!(
                "the slide is {}, but must be above 0 and at most the window's {}",
                say(slide),
                say(length)
            )));
        }
        if lateness > length {
            return Err(Error::parameter(format!(
                "the lateness is {}, but can be at most the window's {}",
                say(lateness),
                say(length)
            )));
        }
        Ok(Self { length: length as i64, slide: slide as i64, lateness: lateness as i64 })
    }
}

fn say_micros(micros: u64) -> String {
    /// Beyond a hundred years hours are left out.
    const LONG: u64 = 36_525 * DAY;
    const DAY: u64 = 86_400_000_000;
    let shown = if micros > LONG { micros - micros % DAY } else { micros };
    Span::Clock(Duration::from_micros(shown)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid_of(window: Window, policy: Policy) -> [i64; 3] {
        let grid = window.grid(policy).unwrap();
        [grid.length, grid.slide, grid.lateness]
    }

    #[test]
    fn a_window_slides_by_a_64th_or_a_60th_unless_told() {
        use Policy::{Exponential, Smooth, Uniform};
        let events = Window::events;
        assert_eq!(grid_of(events(6_400), Uniform), [6_400, 100, 0]);
        assert_eq!(grid_of(events(6_401), Uniform), [6_401, 101, 0]);
        assert_eq!(grid_of(events(1), Uniform), [1, 1, 0]);
        // As panes of all ages: a 1,024th, but not shorter than is worth closing, nor longer than a 64th.
        assert_eq!(grid_of(events(6_400), Exponential), [6_400, 100, 0]);
        assert_eq!(grid_of(events(6_400_000), Exponential), [6_400_000, 32_768, 0]);
        assert_eq!(grid_of(events(102_400_000), Exponential), [102_400_000, 100_000, 0]);
        // For the private histogram at most one tick.
        assert_eq!(grid_of(events(6_400), Smooth), [6_400, 100, 0]);
        assert_eq!(grid_of(events(6_400_000), Smooth), [6_400_000, 1_024, 0]);
        assert_eq!(grid_of(events(50).slide(7), Smooth), [50, 7, 0]);

        let hour = Duration::from_secs(3_600);
        assert_eq!(grid_of(Window::clock(hour), Uniform), [3_600_000_000, 60_000_000, 0]);
        assert_eq!(grid_of(Window::clock(hour), Exponential), [3_600_000_000, 3_515_625, 0]);
        let told = Window::clock(hour).slide(hour / 2).lateness(hour / 4);
        assert_eq!(grid_of(told, Uniform), [3_600_000_000, 1_800_000_000, 900_000_000]);
        assert!(Window::clock(hour).grid(Smooth).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused_at_its_edge() {
        let refused = |window: Window| window.grid(Policy::Uniform).is_err();
        assert!(refused(Window::events(0)));
        assert!(!refused(Window::events(LONGEST)));
        assert!(refused(Window::events(LONGEST + 1)));
        assert!(refused(Window::events(10).slide(0)));
        assert!(!refused(Window::events(10).slide(10)));
        assert!(refused(Window::events(10).slide(11)));
        let second = Duration::from_secs(1);
        assert!(!refused(Window::clock(second).lateness(second)));
        assert!(refused(Window::clock(second).lateness(second * 2)));
    }

    #[test]
    fn a_shorter_window_by_the_clock_is_a_time() {
        let minute = Duration::from_secs(60);
        let window = Window::clock(minute);
        let grid = window.grid(Policy::Uniform).unwrap();
        assert_eq!(window.shorter(minute.into(), &grid).unwrap(), 60_000_000);
        assert!(window.shorter(Span::Events(5), &grid).is_err());
    }

    #[test]
    fn a_window_in_panes_is_rounded_up_to_whole_ones_unless_the_slide_is_given() {
        let cut = |window: Window| grid_of(window.in_panes(32), Policy::Uniform);
        assert_eq!(cut(Window::events(1_000)), [1_024, 32, 0]);
        assert_eq!(cut(Window::events(10)), [10, 1, 0]);
        assert!(Window::events(0).in_panes(32).grid(Policy::Uniform).is_err());
        assert_eq!(cut(Window::events(1_000).slide(7)), [1_000, 7, 0]);
        let late = Window::clock(Duration::from_micros(1_000)).lateness(Duration::from_micros(9));
        assert_eq!(cut(late), [1_024, 32, 9]);
        let whole = |window: Window| window.check_whole(&window.grid(Policy::Uniform).unwrap());
        assert!(whole(Window::events(70).slide(7)).is_ok());
        let error = whole(Window::events(71).slide(7)).unwrap_err();
        assert!(error.to_string().contains("make it 77 events"), "{error}");
    }
}
