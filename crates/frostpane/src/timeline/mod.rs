//! Where panes end.

pub mod uniform;
pub mod window;

pub use uniform::Timeline;
pub use window::{ClockWindow, EventWindow, Span, Window};
