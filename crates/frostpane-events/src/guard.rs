//! A fence around decoders, which panic on some damaged files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}
static QUIET: Once = Once::new();

/// Runs a decoder that may panic; then it returns None, and what it was working on must not be used again.
pub fn guarded<T>(run: impl FnOnce() -> T) -> Option<T> {
    QUIET.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic);
            }
        }));
    });
    GUARDED.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(false);
    outcome.ok()
}
